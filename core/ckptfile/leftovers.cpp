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
fs::path damagedName(const fs::path &target) { return target.string() + ".damaged"; }
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

const char *leftoverName(Leftover::Kind kind)
{
    switch (kind) {
    case Leftover::Kind::Unfinished: return "unfinished";
    case Leftover::Kind::HalfReplaced: return "half-replaced";
    case Leftover::Kind::HalfRemoved: return "half-removed";
    case Leftover::Kind::Superseded: return "superseded";
    case Leftover::Kind::Uncommitted: return "uncommitted";
    }
    return "unfinished";
}

Status keepResults(FileSystem &files, const fs::path &from, const fs::path &to)
{
    std::error_code ignored;
    const fs::path mine = from / kEvalFolder, theirs = to / kEvalFolder;
    if (!fs::is_directory(mine, ignored) || fs::exists(theirs, ignored))
        return Done{};
    if (!fs::exists(to, ignored) && files.makeFolder(to) != 0)
        return ioError("make", to, errno);
    if (files.renameFolder(mine, theirs) != 0)
        return ioError("keep the results in", mine, errno);
    return Done{};
}

namespace {

// .tmp-TARGET.MARK, .tmp-TARGET.MARK.replaced or .tmp-remove-TARGET.MARK.
std::string targetOf(std::string_view marked)
{
    marked.remove_prefix(kTemporaryPrefix.size());
    if (marked.starts_with(kRemoving))
        marked.remove_prefix(kRemoving.size());
    return std::string(marked.substr(0, marked.rfind('.')));
}

bool isRemovalName(std::string_view name) { return name.starts_with(kTemporaryPrefix) && name.substr(kTemporaryPrefix.size()).starts_with(kRemoving); }

// Its kind, as the folders are now.
void judge(Leftover &leftover)
{
    using Kind = Leftover::Kind;
    const std::string name = leftover.path.filename().string();
    const bool isReplaced = replacedTarget(name).has_value();
    leftover.kind = Kind::Unfinished;
    const std::string target = leftover.target.filename().string();
    std::error_code ignored;
    if (isRemovalName(name)) {
        leftover.kind = Kind::HalfRemoved;
        leftover.sentence = "an old checkpoint whose removal was interrupted; cleaning finishes it";
        return;
    }
    leftover.sentence = "a save that did not finish; cleaning removes it";
    const auto manifest = readManifest(leftover.path);
    if (!manifest || !isWholeByManifest(leftover.path))
        return;
    if (!fs::exists(leftover.target / kManifestFile, ignored)) {         // none, or only results under its name
        leftover.kind = isReplaced ? Kind::HalfReplaced : Kind::Uncommitted;
        leftover.sentence = isReplaced ? "the only whole copy of " + target + ": its replacement was interrupted; cleaning puts it back"
                                       : "a whole save of " + target + " that had not got its name yet; cleaning gives it";
        return;
    }
    const auto newer = readManifest(leftover.target);
    if (newer && isMarkedVerified(leftover.target, *newer)) {
        leftover.sentence = "an older version of " + target + ", which is verified; cleaning removes it";
    } else if (isReplaced || !newer || manifest->created <= newer->created) {
        leftover.kind = Kind::Superseded;
        leftover.sentence = "the version of " + target + " before its last save, which was not verified; cleaning reads that one, and puts this one back if it is damaged";
    }
}

Status checkByHashes(const fs::path &checkpoint, const ReadProgress &progress)
{
    const auto manifest = readManifest(checkpoint);
    if (!manifest)
        return manifest.error();
    const auto files = compareHashes(checkpoint, *manifest, progress);
    if (!files)
        return files.error();
    if (const InspectedFile *fault = firstFault(*files))
        return Error(ExitCode::Checkpoint, "checkpoint.damaged-file", checkpoint.string() + ": " + fault->sentence, checkpoint.string());
    (void)markVerified(checkpoint, *manifest);
    return Done{};
}

Status giveName(FileSystem &files, const Leftover &leftover)
{
    std::error_code ignored;
    // Results alone may lie under the name already.
    if (Status kept = fs::exists(leftover.target, ignored) ? keepResults(files, leftover.target, leftover.path) : Status(Done{}); !kept)
        return kept;
    fs::remove(leftover.target, ignored);    // if it is empty now
    return files.renameFolder(leftover.path, leftover.target) == 0 ? Status(Done{}) : ioError("clean", leftover.path, errno);
}

Status removeFolder(FileSystem &files, const Leftover &leftover)
{
    if (Status kept = keepResults(files, leftover.path, leftover.target); !kept)
        return kept;
    return files.removeTree(leftover.path) == 0 ? Status(Done{}) : ioError("clean", leftover.path, errno);
}

Status cleanOne(FileSystem &files, const Leftover &leftover, const ReadProgress &progress)
{
    switch (leftover.kind) {
    case Leftover::Kind::HalfReplaced:
    case Leftover::Kind::Uncommitted:
        return giveName(files, leftover);
    case Leftover::Kind::Superseded: {
        const Status newer = checkByHashes(leftover.target, progress);
        if (newer)
            return removeFolder(files, leftover);
        if (newer.error().problem.code == cancelled(leftover.target).problem.code)
            return newer;
        const fs::path damaged = damagedName(leftover.target);
        if (files.removeTree(damaged) != 0 || files.renameFolder(leftover.target, damaged) != 0)
            return ioError("move aside", leftover.target, errno);
        return giveName(files, leftover);
    }
    default:
        return removeFolder(files, leftover);
    }
}

} // namespace

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
        const bool isReplaced = replacedTarget(name).has_value();
        const std::string marked = isReplaced ? name.substr(0, name.size() - kReplaced.size()) : name;
        const auto writer = writerOf(marked);
        if (!writer)
            continue;                        // not a name that we make
        Leftover leftover;
        leftover.path = entries->path();
        leftover.target = run / targetOf(marked);
        leftover.bytes = bytesBelow(entries->path());
        leftover.alive = isSameProcessAlive(writer->pid, writer->startTicks);
        judge(leftover);
        if (leftover.alive)
            leftover.sentence = "process " + std::to_string(writer->pid) + " is still working on it; it is left alone";
        found.push_back(std::move(leftover));
    }
    std::sort(found.begin(), found.end(), [](const Leftover &a, const Leftover &b) { return a.path < b.path; });
    return found;
}

Result<std::vector<fs::path>> cleanLeftovers(const std::vector<Leftover> &leftovers, const ReadProgress &progress)
{
    std::vector<fs::path> gone;
    std::optional<Error> failure;
    for (Leftover leftover : leftovers) {
        if (leftover.alive)
            continue;
        judge(leftover);                     // one that was cleaned before may have changed it
        const Status cleaned = cleanOne(realFileSystem(), leftover, progress);
        if (cleaned)
            gone.push_back(leftover.path);
        else if (!failure)
            failure = cleaned.error();
    }
    if (failure)
        return *failure;
    return gone;
}

} // namespace stagewright::ckptfile
