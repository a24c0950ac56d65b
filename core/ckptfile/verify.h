// A checkpoint of ours against its manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/block_reader.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/manifest.h"

namespace stagewright::ckptfile {

using ReadProgress = std::function<bool(std::int64_t done, std::int64_t total, const std::string &file)>;   // bytes; false cancels

// Sizes only: one stat a file. Files that are not listed are Foreign (hidden ones and verified.json are passed over).
std::vector<InspectedFile> compareSizes(const std::filesystem::path &checkpoint, const Manifest &manifest);

// Sizes, then every byte, from the disk; several files at once with more threads. progress is called by one of them at a time. Error: cancelled, unreadable.
Result<std::vector<InspectedFile>> compareHashes(const std::filesystem::path &checkpoint, const Manifest &manifest, const ReadProgress &progress = {}, int threads = 1,
                                                 ReadThrough through = ReadThrough::Disk);

inline constexpr int kReaders = 3;           // threads that read at once: the disk always has a request

// For somebody who reads the files right after: by kReaders threads, and once from the disk where twice the checkpoint's size is free in memory.
Result<std::vector<InspectedFile>> compareBeforeReading(const std::filesystem::path &checkpoint, const Manifest &manifest, const ReadProgress &progress = {});

// Good and Foreign files are no fault.
const InspectedFile *firstFault(const std::vector<InspectedFile> &files);
bool allWhole(const std::vector<InspectedFile> &files);

Error cancelled(const std::filesystem::path &path);      // checkpoint.cancelled

} // namespace stagewright::ckptfile
