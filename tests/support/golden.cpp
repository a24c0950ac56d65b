#include "tests/support/golden.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/base/text.h"

namespace stagewright::support {

namespace fs = std::filesystem;

fs::path goldenFolder(const std::string &part)
{
    const char *set = std::getenv("STAGEWRIGHT_GOLDEN_DIR");
    const fs::path root = set && *set ? fs::path(set) : fs::path(STAGEWRIGHT_SOURCE) / "tests/golden";
    for (const fs::path &candidate : {root / "opensora" / part, root / part}) {
        if (fs::is_directory(candidate))
            return candidate;
    }
    return {};
}

std::vector<fs::path> goldenFiles(const std::string &part, const std::string &pattern)
{
    std::vector<fs::path> files;
    const fs::path folder = goldenFolder(part);
    if (folder.empty())
        return files;
    for (const auto &entry : fs::directory_iterator(folder)) {
        if (globMatches(pattern, entry.path().filename().string()))
            files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

nlohmann::json readJson(const fs::path &path)
{
    std::ifstream file(path);
    auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) {
        std::fprintf(stderr, "%s is missing or not JSON\n", path.c_str());
        std::abort();
    }
    return json;
}

} // namespace stagewright::support
