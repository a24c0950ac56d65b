// Files as the rest of the program needs them: read with a bound, replaced whole or not at all, flushed when it matters.
// All functions may be called from any thread; all paths are UTF-8.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright {

// The whole file; an error (InputOutput) where it is missing, not a regular file, not readable or larger than maxBytes.
Result<std::string> readFile(const std::filesystem::path &path, std::int64_t maxBytes = std::int64_t(1) << 30);

// Writes to a temporary file beside it, flushes, renames over the old one and flushes the folder. The old content survives every failure.
Status replaceFile(const std::filesystem::path &path, std::string_view content);

Status ensureFolder(const std::filesystem::path &path);
Status flushFolder(const std::filesystem::path &path);          // fsync of the directory entry list
Result<std::int64_t> freeDiskBytes(const std::filesystem::path &path);   // of the file system of path or its nearest existing parent

// All of it to an open descriptor that waits, whatever it takes at once. Returns 0 or the errno of the write that failed.
int writeAll(int fd, std::string_view content);

// "cannot write X: No space left on device; …", with InputOutput and a next step that fits errno.
Error ioError(const std::string &doing, const std::filesystem::path &path, int errorNumber);

} // namespace stagewright
