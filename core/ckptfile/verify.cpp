#include "core/ckptfile/verify.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/ckptfile/hash.h"
#include "core/ckptfile/input_file.h"
#include "core/ckptfile/layout.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

Error cancelled(const fs::path &path)
{
    return Error(ExitCode::Checkpoint, "checkpoint.cancelled", "the check of " + path.string() + " was cancelled", path.string());
}

const InspectedFile *firstFault(const std::vector<InspectedFile> &files)
{
    const auto found = std::find_if(files.begin(), files.end(), [](const InspectedFile &file) { return file.state != FileState::Good && file.state != FileState::Foreign; });
    return found == files.end() ? nullptr : &*found;
}

bool allWhole(const std::vector<InspectedFile> &files) { return firstFault(files) == nullptr; }

namespace {

InspectedFile compareSize(const fs::path &checkpoint, const ManifestFile &listed)
{
    InspectedFile file;
    file.path = listed.path;
    struct stat info {};
    if (::stat((checkpoint / listed.path).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
        file.state = FileState::Missing;
        file.sentence = listed.path + " is missing; it had " + std::to_string(listed.bytes) + " bytes";
        return file;
    }
    file.bytes = info.st_size;
    if (file.bytes != listed.bytes) {
        file.state = file.bytes < listed.bytes ? FileState::Truncated : FileState::TooLong;
        file.sentence = listed.path + " has " + std::to_string(file.bytes) + " bytes, " + std::to_string(listed.bytes) + " were written"
            + (file.bytes < listed.bytes ? "; it was cut short" : "; something was added to it");
    }
    return file;
}

void addForeign(const fs::path &checkpoint, const Manifest &manifest, std::vector<InspectedFile> &files)
{
    std::set<std::string> known{std::string(kManifestFile), std::string(kVerifiedFile)};
    for (const ManifestFile &file : manifest.files)
        known.insert(file.path);
    std::error_code failed;
    for (auto entry = fs::recursive_directory_iterator(checkpoint, fs::directory_options::skip_permission_denied, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        const std::string path = entry->path().lexically_relative(checkpoint).string();
        if (entry.depth() > 4)
            entry.disable_recursion_pending();
        std::error_code ignored;
        if (!entry->is_regular_file(ignored) || known.count(path) > 0 || entry->path().filename().string().starts_with("."))
            continue;
        InspectedFile file;
        file.path = path;
        file.bytes = static_cast<std::int64_t>(entry->file_size(ignored));
        file.state = FileState::Foreign;
        file.sentence = path + " was not written by this save; it is left alone";
        files.push_back(std::move(file));
    }
}

} // namespace

std::vector<InspectedFile> compareSizes(const fs::path &checkpoint, const Manifest &manifest)
{
    std::vector<InspectedFile> files;
    for (const ManifestFile &listed : manifest.files)
        files.push_back(compareSize(checkpoint, listed));
    addForeign(checkpoint, manifest, files);
    return files;
}

Result<std::vector<InspectedFile>> compareHashes(const fs::path &checkpoint, const Manifest &manifest, const ReadProgress &progress)
{
    std::vector<InspectedFile> files = compareSizes(checkpoint, manifest);
    std::vector<char> buffer(8 << 20);
    const std::int64_t total = manifest.totalBytes();
    std::int64_t done = 0;
    for (std::size_t index = 0; index < manifest.files.size(); ++index) {
        const ManifestFile &listed = manifest.files[index];
        if (files[index].state != FileState::Good) {
            done += listed.bytes;
            continue;
        }
        auto input = InputFile::open(checkpoint / listed.path);
        if (!input)
            return input.error();
        (*input)->forgetCached();
        Hasher hasher;
        for (std::int64_t at = 0; at < listed.bytes;) {
            const std::int64_t part = std::min<std::int64_t>(static_cast<std::int64_t>(buffer.size()), listed.bytes - at);
            if (Status read = (*input)->readAt(at, buffer.data(), part); !read)
                return read.error();
            hasher.add(buffer.data(), static_cast<std::size_t>(part));
            at += part;
            done += part;
            if (progress && !progress(done, total, listed.path))
                return cancelled(checkpoint);
        }
        if (hasher.hex() != listed.hash) {
            files[index].state = FileState::Damaged;
            files[index].sentence = listed.path + " has other bytes than were written; the disk or a copy damaged it";
        }
    }
    return files;
}

} // namespace stagewright::ckptfile
