#include "core/ckptfile/predecessor.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/ckptfile/input_file.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/manifest.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> predecessorOf(const fs::path &checkpoint)
{
    std::error_code failed;
    const fs::path own = fs::absolute(checkpoint, failed).lexically_normal(), folder = own.has_filename() ? own : own.parent_path();
    const auto name = parseCheckpointFolderName(folder.filename().string());
    if (!name)
        return std::nullopt;
    std::optional<std::pair<std::int64_t, fs::path>> before;
    for (auto entry = fs::directory_iterator(folder.parent_path(), failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        const auto other = parseCheckpointFolderName(entry->path().filename().string());
        if (other && other->step < name->step && (!before || other->step > before->first))
            before.emplace(other->step, entry->path());
    }
    return before ? std::optional(before->second) : std::nullopt;
}

std::vector<ManifestFile> modelFiles(const Manifest &manifest)
{
    std::vector<ManifestFile> files;
    std::copy_if(manifest.files.begin(), manifest.files.end(), std::back_inserter(files),
                 [](const ManifestFile &file) { return file.path.starts_with(std::string(kModelFolder) + "/") && file.path.ends_with(".safetensors"); });
    return files;
}

std::map<std::string, std::int64_t> weightFiles(const fs::path &checkpoint)      // name to size
{
    std::map<std::string, std::int64_t> files;
    std::error_code failed, ignored;
    for (auto entry = fs::directory_iterator(checkpoint / kModelFolder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (entry->is_regular_file(ignored) && entry->path().extension() != ".json")
            files[entry->path().filename().string()] = static_cast<std::int64_t>(entry->file_size(ignored));
    }
    return files;
}

bool haveEqualBytes(const fs::path &a, const fs::path &b)
{
    const auto first = InputFile::open(a), second = InputFile::open(b);
    if (!first || !second || (*first)->size() != (*second)->size())
        return false;
    constexpr std::int64_t kPiece = 4 << 20;
    std::vector<char> one(kPiece), other(kPiece);
    for (std::int64_t at = 0; at < (*first)->size(); at += kPiece) {
        const std::int64_t bytes = std::min(kPiece, (*first)->size() - at);
        if (!(*first)->readAt(at, one.data(), bytes) || !(*second)->readAt(at, other.data(), bytes) || !std::equal(one.begin(), one.begin() + bytes, other.begin()))
            return false;
    }
    return true;
}

} // namespace

std::optional<fs::path> identicalPredecessor(const fs::path &checkpoint, bool readBytes)
{
    const auto before = predecessorOf(checkpoint);
    if (!before)
        return std::nullopt;
    const auto mine = readManifest(checkpoint), theirs = readManifest(*before);
    if (mine && theirs) {
        const bool same = mine->run == theirs->run && !modelFiles(*mine).empty() && modelFiles(*mine) == modelFiles(*theirs);
        return same ? before : std::nullopt;
    }
    const auto files = weightFiles(checkpoint);
    if (!readBytes || files.empty() || files != weightFiles(*before))
        return std::nullopt;
    const bool same = std::all_of(files.begin(), files.end(), [&](const auto &file) { return haveEqualBytes(checkpoint / kModelFolder / file.first, *before / kModelFolder / file.first); });
    return same ? before : std::nullopt;
}

} // namespace stagewright::ckptfile
