#include "core/ckptfile/leftovers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/ckptfile/file_system.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/manifest.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kReplaced = ".replaced";
constexpr std::string_view kRemoving = "remove-";

std::string processMark()
{
    static std::atomic<int> count{0};
    const int pid = ::getpid();
    return "." + std::to_string(pid) + "-" + std::to_string(processStartTicks(pid)) + "-" + std::to_string(++count);
}

struct Writer {
    int pid = 0;
    std::uint64_t startTicks = 0;
};

// PID-STARTTICKS-N behind the last dot.
std::optional<Writer> writerOf(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return std::nullopt;
    Writer writer;
    const char *end = name.data() + name.size();
    auto parsed = std::from_chars(name.data() + dot + 1, end, writer.pid);
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '-')
        return std::nullopt;
    parsed = std::from_chars(parsed.ptr + 1, end, writer.startTicks);
    return parsed.ec == std::errc() ? std::optional(writer) : std::nullopt;
}

std::int64_t bytesBelow(const fs::path &folder)
{
    std::int64_t bytes = 0;
    std::error_code failed, ignored;
    for (auto entry = fs::recursive_directory_iterator(folder, failed); !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        if (entry->is_regular_file(ignored))
            bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
    return bytes;
}

// Every listed file is there in its size.
bool isWholeByManifest(const fs::path &folder)
{
    const auto manifest = readManifest(folder);
    if (!manifest)
        return false;
    return std::all_of(manifest->files.begin(), manifest->files.end(), [&](const ManifestFile &file) {
        struct stat info {};
        return ::stat((folder / file.path).c_str(), &info) == 0 && info.st_size == file.bytes;
    });
}

} // namespace

std::string temporaryName(const std::string &targetName) { return std::string(kTemporaryPrefix) + targetName + processMark(); }
std::string removalName(const std::string &targetName) { return std::string(kTemporaryPrefix) + std::string(kRemoving) + targetName + processMark(); }
std::string replacedName(const std::string &temporary) { return temporary + std::string(kReplaced); }

std::optional<std::string> replacedTarget(std::string_view name)
{
    if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kReplaced))
        return std::nullopt;
    name.remove_prefix(kTemporaryPrefix.size());
    name.remove_suffix(kReplaced.size());
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? std::nullopt : std::optional(std::string(name.substr(0, dot)));
}

Result<std::vector<Leftover>> findLeftovers(const fs::path &run)
{
    std::error_code failed;
    fs::directory_iterator entries(run, failed);
    if (failed)
        return ioError("look for leftovers in", run, failed.value());
    std::vector<Leftover> found;
    for (; entries != fs::directory_iterator(); entries.increment(failed)) {
        if (failed)
            return ioError("look for leftovers in", run, failed.value());
        const std::string name = entries->path().filename().string();
        std::error_code ignored;
        if (!name.starts_with(kTemporaryPrefix) || !entries->is_directory(ignored) || entries->is_symlink(ignored))
            continue;
        const auto target = replacedTarget(name);
        const std::string marked = target ? name.substr(0, name.size() - kReplaced.size()) : name;
        const auto writer = writerOf(marked);
        if (!writer)
            continue;                        // not a name that we make
        Leftover leftover;
        leftover.path = entries->path();
        leftover.bytes = bytesBelow(entries->path());
        leftover.alive = isSameProcessAlive(writer->pid, writer->startTicks);
        if (target && !fs::exists(run / *target, ignored) && isWholeByManifest(entries->path())) {
            leftover.kind = Leftover::Kind::HalfReplaced;
            leftover.sentence = "the only whole copy of " + *target + ": its replacement was interrupted; cleaning puts it back";
        } else if (name.starts_with(std::string(kTemporaryPrefix) + std::string(kRemoving))) {
            leftover.kind = Leftover::Kind::HalfRemoved;
            leftover.sentence = "an old checkpoint whose removal was interrupted; cleaning finishes it";
        } else {
            leftover.sentence = "a save that did not finish; cleaning removes it";
        }
        if (leftover.alive)
            leftover.sentence = "process " + std::to_string(writer->pid) + " is still working on it; it is left alone";
        found.push_back(std::move(leftover));
    }
    std::sort(found.begin(), found.end(), [](const Leftover &a, const Leftover &b) { return a.path < b.path; });
    return found;
}

Result<std::vector<fs::path>> cleanLeftovers(const std::vector<Leftover> &leftovers)
{
    std::vector<fs::path> gone;
    std::optional<Error> failure;
    for (const Leftover &leftover : leftovers) {
        if (leftover.alive)
            continue;
        int failed = 0;
        if (leftover.kind == Leftover::Kind::HalfReplaced) {
            const fs::path target = leftover.path.parent_path() / *replacedTarget(leftover.path.filename().string());
            failed = realFileSystem().renameFolder(leftover.path, target) == 0 ? 0 : errno;
        } else {
            failed = realFileSystem().removeTree(leftover.path) == 0 ? 0 : errno;
        }
        if (failed == 0)
            gone.push_back(leftover.path);
        else if (!failure)
            failure = ioError("clean", leftover.path, failed);
    }
    if (failure)
        return *failure;
    return gone;
}

} // namespace stagewright::ckptfile
