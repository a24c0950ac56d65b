// A folder for what is thrown away: made with a name that nobody else has, removed with everything in it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace stagewright {

// Owns the folder; movable. Any thread, one at a time.
class ScratchFolder
{
public:
    // below/prefix-XXXXXX; an empty `below` is the system's folder for temporary files. Error (InputOutput): it cannot be made.
    static Result<ScratchFolder> make(const std::string &prefix, const std::filesystem::path &below = {});
    ~ScratchFolder();
    ScratchFolder(ScratchFolder &&other) noexcept : m_path(std::exchange(other.m_path, {})) {}
    ScratchFolder &operator=(ScratchFolder &&) = delete;
    const std::filesystem::path &path() const { return m_path; }       // absolute

private:
    explicit ScratchFolder(std::filesystem::path path) : m_path(std::move(path)) {}
    std::filesystem::path m_path;
};

} // namespace stagewright
