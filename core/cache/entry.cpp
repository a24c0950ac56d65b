#include "core/cache/entry.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>

#include "core/base/files.h"
#include "core/ckptfile/hash.h"
#include "core/ckptfile/safetensors.h"

namespace stagewright::cache {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kLargestEntry = std::int64_t(4) << 30;
constexpr const char *kKeyField = "key", *kSumField = "xxh3_128";

Error damaged(const fs::path &file, const std::string &what)
{
    return Error(ExitCode::Data, "data.cache-damaged", file.string() + ": " + what + "; `stagewright-cli cache build --check` makes it again", file.string());
}

std::string sumOf(const std::string &bytes)
{
    ckptfile::Hasher hasher;
    hasher.add(bytes.data(), bytes.size());
    return hasher.hex();
}

// By the bits: all ones in the exponent are an infinity or no number.
template <class Bits>
bool allFinite(const std::string &bytes, Bits exponent)
{
    for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
        Bits bits;
        std::memcpy(&bits, bytes.data() + at, sizeof bits);
        if ((bits & exponent) == exponent)
            return false;
    }
    return true;
}

bool isFinite(const Entry &entry)
{
    switch (entry.dtype) {
    case ckptfile::DType::F32: return allFinite<std::uint32_t>(entry.bytes, 0x7f800000u);
    case ckptfile::DType::BF16: return allFinite<std::uint16_t>(entry.bytes, std::uint16_t(0x7f80));
    case ckptfile::DType::F16: return allFinite<std::uint16_t>(entry.bytes, std::uint16_t(0x7c00));
    default: return allFinite<std::uint64_t>(entry.bytes, 0x7ff0000000000000u);
    }
}

bool isOurs(ckptfile::DType dtype)
{
    return dtype == ckptfile::DType::F32 || dtype == ckptfile::DType::BF16 || dtype == ckptfile::DType::F16 || dtype == ckptfile::DType::F64;
}

// The one tensor of a file with this key, its place checked against the file's size.
Result<ckptfile::SafetensorsHeader> headerOf(const fs::path &file, const Key &key)
{
    std::error_code error;
    if (!fs::is_regular_file(file, error))
        return Error(ExitCode::Data, "data.cache-missing", file.string() + ": there is no such entry; `stagewright-cli cache build` makes it", file.string());
    const auto opened = ckptfile::SafetensorsFile::open(file);
    if (!opened)
        return damaged(file, opened.error().message());
    const auto &header = (*opened)->header();
    const auto field = [&](const char *name) {
        for (const auto &[field, value] : header.metadata) {
            if (field == name)
                return value;
        }
        return std::string();
    };
    if (header.tensors.size() != 1 || header.tensors[0].name != nameOf(key.part) || !isOurs(header.tensors[0].dtype) || field(kSumField).empty())
        return damaged(file, std::string("is no entry with ") + nameOf(key.part));
    if (field(kKeyField) != key.text)
        return damaged(file, "is the entry of something else");
    return header;
}

} // namespace

Status writeEntry(const fs::path &file, const Key &key, const Entry &entry)
{
    if (!isFinite(entry))
        return Error(ExitCode::Data, "data.not-finite", std::string("the ") + nameOf(key.part) + " hold numbers that are not finite");
    std::vector<ckptfile::TensorInfo> tensors(1);
    tensors[0].name = nameOf(key.part);
    tensors[0].dtype = entry.dtype;
    tensors[0].shape = entry.shape;
    const std::string header = ckptfile::safetensorsHeader(tensors, {{kKeyField, key.text}, {kSumField, sumOf(entry.bytes)}});
    if (Status made = ensureFolder(file.parent_path()); !made)
        return made;
    static std::atomic<std::int64_t> serial{0};
    const fs::path aside = file.parent_path() / (".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++serial));
    std::ofstream out(aside, std::ios::binary);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(entry.bytes.data(), static_cast<std::streamsize>(entry.bytes.size()));
    out.close();
    const int number = errno;
    std::error_code error;
    if (!out) {
        fs::remove(aside, error);
        return ioError("write", file, number);
    }
    fs::rename(aside, file, error);
    if (error)
        return ioError("write", file, error.value());
    return Done{};
}

Result<Entry> readEntry(const fs::path &file, const Key &key)
{
    const auto header = headerOf(file, key);
    if (!header)
        return header.error();
    const auto whole = readFile(file, kLargestEntry);
    if (!whole)
        return damaged(file, whole.error().message());
    Entry entry{header->tensors[0].dtype, header->tensors[0].shape, whole->substr(static_cast<std::size_t>(header->dataBegin))};
    std::string sum;
    for (const auto &[field, value] : header->metadata) {
        if (field == kSumField)
            sum = value;
    }
    if (static_cast<std::int64_t>(entry.bytes.size()) != header->dataBytes || sumOf(entry.bytes) != sum)
        return damaged(file, "its bytes are not those that were written");
    if (!isFinite(entry))
        return damaged(file, "holds numbers that are not finite");
    return entry;
}

Status lookAtEntry(const fs::path &file, const Key &key)
{
    const auto header = headerOf(file, key);
    if (!header)
        return header.error();
    return Done{};
}

} // namespace stagewright::cache
