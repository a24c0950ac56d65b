#include "core/base/scratch_folder.h"

#include <cerrno>
#include <cstdlib>

#include "core/base/files.h"

namespace stagewright {

namespace fs = std::filesystem;

Result<ScratchFolder> ScratchFolder::make(const std::string &prefix, const fs::path &below)
{
    std::error_code ignored;
    const fs::path parent = below.empty() ? fs::temp_directory_path(ignored) : below;
    if (Status made = ensureFolder(parent); !made)
        return made.error();
    std::string pattern = (fs::absolute(parent) / (prefix + "-XXXXXX")).string();
    if (!::mkdtemp(pattern.data()))
        return ioError("make a folder in", parent, errno);
    return ScratchFolder(pattern);
}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    if (!m_path.empty())
        fs::remove_all(m_path, ignored);
}

} // namespace stagewright
