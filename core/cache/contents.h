// What a file holds, by its XXH3-128, with a memory of files that have not changed since they were read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace stagewright::cache {

// Any thread.
class Contents
{
public:
    // memo: contents.jsonl of a cache; one that is missing or damaged only costs time.
    explicit Contents(std::filesystem::path memo);

    // 32 hexadecimal digits. Reads the file unless its path, size and time are known.
    Result<std::string> hashOf(const std::filesystem::path &file);
    // The same, but only where nothing has to be read.
    std::optional<std::string> knownHashOf(const std::filesystem::path &file) const;
    // A file, or a folder: names and contents of all files in it. What an encoder's weights are.
    Result<std::string> hashOfTree(const std::filesystem::path &path);

    // Writes what was read since to the memo from now on.
    void remember() { m_writes = true; }

private:
    struct Known {
        std::int64_t bytes = 0, time = 0;              // time: in ticks of the file clock
        std::string hash;
    };
    std::optional<Known> look(const std::filesystem::path &file) const;        // without a hash

    const std::filesystem::path m_memo;
    bool m_writes = false;
    mutable std::mutex m_mutex;                        // guards the rest
    std::map<std::string, Known> m_known;              // by path
};

} // namespace stagewright::cache
