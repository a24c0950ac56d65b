#include "core/ckptfile/verify.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "core/base/host.h"
#include "core/ckptfile/hash.h"
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

namespace {

// tell gets the bytes of each block; empty: it said to stop.
Result<std::string> hashOfFile(const fs::path &path, ReadThrough through, const std::function<bool(std::int64_t)> &tell)
{
    auto reader = BlockReader::open(path, through);
    if (!reader)
        return reader.error();
    Hasher hasher;
    for (;;) {
        auto bytes = (*reader)->next();
        if (!bytes)
            return bytes.error();
        if (bytes->empty())
            return hasher.hex();
        hasher.add(bytes->data(), bytes->size());
        if (!tell(static_cast<std::int64_t>(bytes->size())))
            return std::string();
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

namespace {

// Hashes the files of one manifest, taken in turn by any number of threads.
class HashComparison
{
public:
    HashComparison(const fs::path &checkpoint, const Manifest &manifest, const ReadProgress &progress, ReadThrough through, std::vector<InspectedFile> &files)
        : m_checkpoint(checkpoint), m_manifest(manifest), m_progress(progress), m_through(through), m_files(files), m_total(manifest.totalBytes())
    {
    }

    void work()
    {
        for (std::size_t index = m_next++; index < m_files.size() && index < m_manifest.files.size() && !hasFailed(); index = m_next++) {
            if (m_files[index].state == FileState::Good)
                compare(m_manifest.files[index], m_files[index]);
            else
                tell(m_manifest.files[index], m_manifest.files[index].bytes);
        }
    }
    const std::optional<Error> &failure() const { return m_failure; }       // after all threads have ended

private:
    void compare(const ManifestFile &listed, InspectedFile &file)
    {
        auto hash = hashOfFile(m_checkpoint / listed.path, m_through, [&](std::int64_t added) { return tell(listed, added); });
        if (!hash) {
            fail(hash.error());
        } else if (hash->empty()) {
            fail(cancelled(m_checkpoint));
        } else if (*hash != listed.hash) {
            file.state = FileState::Damaged;
            file.sentence = listed.path + " has other bytes than were written; the disk or a copy damaged it";
        }
    }
    bool tell(const ManifestFile &listed, std::int64_t added)
    {
        const std::lock_guard lock(m_mutex);
        m_done += added;
        return !m_failure && (!m_progress || m_progress(m_done, m_total, listed.path));
    }
    void fail(Error error)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure)
            m_failure = std::move(error);
    }
    bool hasFailed()
    {
        const std::lock_guard lock(m_mutex);
        return m_failure.has_value();
    }

    const fs::path &m_checkpoint;
    const Manifest &m_manifest;
    const ReadProgress &m_progress;
    const ReadThrough m_through;
    std::vector<InspectedFile> &m_files;     // each by the one thread that took it
    const std::int64_t m_total;
    std::atomic<std::size_t> m_next{0};
    std::mutex m_mutex;
    std::int64_t m_done = 0;                 // guarded by m_mutex, as the next
    std::optional<Error> m_failure;
};

} // namespace

Result<std::vector<InspectedFile>> compareHashes(const fs::path &checkpoint, const Manifest &manifest, const ReadProgress &progress, int threads, ReadThrough through)
{
    std::vector<InspectedFile> files = compareSizes(checkpoint, manifest);
    HashComparison comparison(checkpoint, manifest, progress, through, files);
    std::vector<std::thread> others;
    for (int number = 1; number < threads; ++number)
        others.emplace_back([&] { comparison.work(); });
    comparison.work();
    for (std::thread &other : others)
        other.join();
    if (comparison.failure())
        return *comparison.failure();
    return files;
}

Result<std::vector<InspectedFile>> compareBeforeReading(const fs::path &checkpoint, const Manifest &manifest, const ReadProgress &progress)
{
    const bool staysCached = hostAvailableBytes() > 2 * manifest.totalBytes();
    return compareHashes(checkpoint, manifest, progress, kReaders, staysCached ? ReadThrough::Cache : ReadThrough::Disk);
}

} // namespace stagewright::ckptfile
