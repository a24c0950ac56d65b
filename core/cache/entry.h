// One entry of a cache: a tensor in a safetensors file that knows its key and its checksum.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cache/recipe.h"
#include "core/ckptfile/dtype.h"

namespace stagewright::cache {

struct Entry {
    ckptfile::DType dtype = ckptfile::DType::F32;
    std::vector<std::int64_t> shape;
    std::string bytes;
};

// Whole or not at all: written aside and renamed. A tensor with numbers that are not finite is refused (data.not-finite), whoever made it.
Status writeEntry(const std::filesystem::path &file, const Key &key, const Entry &entry);

// Errors (Data): data.cache-missing; data.cache-damaged: cut short, another key, a checksum that does not fit, numbers that are not finite.
Result<Entry> readEntry(const std::filesystem::path &file, const Key &key);

// As far as the header tells: the right key, and as long as it says. Reads no tensor.
Status lookAtEntry(const std::filesystem::path &file, const Key &key);

} // namespace stagewright::cache
