#include "core/client/last_words.h"

#include <algorithm>
#include <fstream>

#include "core/base/text.h"
#include "core/runlog/run_directory.h"

namespace stagewright::client {

namespace {

constexpr std::streamoff kTailBytes = 8 << 10;
constexpr std::size_t kMaxWords = 400;

} // namespace

std::string lastWords(const std::filesystem::path &runFolder)
{
    std::ifstream file(runlog::consolePath(runFolder), std::ios::binary | std::ios::ate);
    if (!file)
        return {};
    const std::streamoff size = file.tellg();
    file.seekg(std::max<std::streamoff>(0, size - kTailBytes));
    std::string line, last;
    while (std::getline(file, line)) {
        if (!trimmed(line).empty())
            last = std::string(trimmed(line));
    }
    return last.empty() ? std::string() : "; its last words: " + last.substr(0, kMaxWords);
}

} // namespace stagewright::client
