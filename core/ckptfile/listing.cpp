#include "core/ckptfile/listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <set>
#include <thread>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/leftovers.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/quick_look.h"
#include "core/ckptfile/soundness.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

bool isNewer(const ListedCheckpoint &a, const ListedCheckpoint &b)
{
    return std::tuple(a.step, a.epoch, a.modified) > std::tuple(b.step, b.epoch, b.modified);
}

bool isWhole(const ListedCheckpoint &checkpoint)
{
    return checkpoint.badge == Badge::Verified || checkpoint.badge == Badge::Unverified || checkpoint.badge == Badge::Foreign || checkpoint.badge == Badge::Complete;
}

struct Candidate { fs::path path; CheckpointName name; };

// A few at once: a look waits for the disk, or for a file server, more than it works.
void lookAtAll(const std::vector<Candidate> &candidates, const std::function<bool(const ListedCheckpoint &)> &next, std::vector<ListedCheckpoint> &listed)
{
    constexpr std::size_t kThreads = 4, kRound = 64;
    for (std::size_t from = 0; from < candidates.size(); from += kRound) {
        std::vector<ListedCheckpoint> round(std::min(kRound, candidates.size() - from));
        std::atomic<std::size_t> taken{0};
        const auto look = [&] {
            for (std::size_t at = taken++; at < round.size(); at = taken++)
                round[at] = quickLook(candidates[from + at].path, candidates[from + at].name);
        };
        std::vector<std::thread> others;
        for (std::size_t number = 1; number < std::min(kThreads, round.size()); ++number)
            others.emplace_back(look);
        look();
        for (std::thread &other : others)
            other.join();
        for (ListedCheckpoint &checkpoint : round) {
            listed.push_back(std::move(checkpoint));
            if (next && !next(listed.back()))
                return;
        }
    }
}

} // namespace

Result<std::vector<ListedCheckpoint>> listCheckpoints(const fs::path &folder, const std::function<bool(const ListedCheckpoint &)> &next)
{
    std::error_code failed;
    fs::directory_iterator entries(folder, failed);
    if (failed)
        return ioError("list the checkpoints of", folder, failed.value());
    std::vector<ListedCheckpoint> listed;
    std::vector<Candidate> found;
    std::vector<fs::path> replaced;
    std::set<std::string> names;
    const auto add = [&](const fs::path &path, CheckpointName name) { found.push_back({path, name}); };
    const fs::path own = fs::absolute(folder, failed).lexically_normal();
    const std::string ownName = own.has_filename() ? own.filename().string() : own.parent_path().filename().string();
    if (const auto name = parseCheckpointFolderName(ownName))
        add(folder, *name);
    for (; entries != fs::directory_iterator(); entries.increment(failed)) {
        if (failed)
            return ioError("list the checkpoints of", folder, failed.value());
        const std::string name = entries->path().filename().string();
        std::error_code ignored;
        if (const auto parsed = parseCheckpointFolderName(name); parsed && entries->is_directory(ignored)) {
            names.insert(name);
            add(entries->path(), *parsed);
        } else if (replacedTarget(name)) {
            replaced.push_back(entries->path());
        }
    }
    for (const fs::path &path : replaced) {
        const std::string target = *replacedTarget(path.filename().string());
        const auto name = parseCheckpointFolderName(target);
        if (name && names.count(target) == 0)
            add(path, *name);
    }
    lookAtAll(found, next, listed);
    std::sort(listed.begin(), listed.end(), isNewer);
    return listed;
}

namespace {

// Paths that match parts[at …] below `folder`.
void expand(const fs::path &folder, const std::vector<std::string> &parts, std::size_t at, std::vector<fs::path> &found)
{
    std::error_code failed;
    if (at == parts.size()) {
        if (fs::exists(folder, failed))
            found.push_back(folder);
        return;
    }
    if (parts[at].find_first_of("*?[") == std::string::npos) {
        expand(folder / parts[at], parts, at + 1, found);
        return;
    }
    for (auto entry = fs::directory_iterator(folder.empty() ? fs::path(".") : folder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        const bool hidden = name.starts_with(".") && !parts[at].starts_with(".");
        if (!hidden && globMatches(parts[at], name))
            expand(folder / name, parts, at + 1, found);
    }
}

} // namespace

std::vector<fs::path> expandGlob(const std::string &pattern)
{
    // A path that exists is meant literally, brackets and all.
    std::error_code ignored;
    if (fs::exists(pattern, ignored) || pattern.find_first_of("*?[") == std::string::npos)
        return {pattern};
    std::vector<std::string> parts;
    for (const auto &part : fs::path(pattern).relative_path()) {
        if (!part.empty())
            parts.push_back(part.string());
    }
    std::vector<fs::path> found;
    expand(fs::path(pattern).root_path(), parts, 0, found);
    std::sort(found.begin(), found.end());
    return found;
}

namespace {

struct Candidates {
    std::vector<ListedCheckpoint> newestFirst;
    bool exists = false;                     // something lies at the path
};

Result<Candidates> candidatesAt(const std::string &pathOrGlob)
{
    Candidates candidates;
    auto &listed = candidates.newestFirst;
    for (const fs::path &path : expandGlob(pathOrGlob)) {
        std::error_code failed;
        candidates.exists = candidates.exists || fs::exists(path, failed);
        if (!fs::is_directory(path, failed))
            continue;
        auto here = listCheckpoints(path);
        if (!here)
            return here.error();
        listed.insert(listed.end(), here->begin(), here->end());
        if (here->empty() && (fs::exists(path / kRunningStatesFile, failed) || hasManifest(path)))
            listed.push_back(quickLook(path, {}));               // a checkpoint under a name that its owner gave it
    }
    std::sort(listed.begin(), listed.end(), isNewer);
    listed.erase(std::unique(listed.begin(), listed.end(), [](const auto &a, const auto &b) { return a.path == b.path; }), listed.end());
    return candidates;
}

Error noneWhole(const std::string &pathOrGlob, const Candidates &candidates, const std::vector<std::string> &rejected)
{
    std::string sentence = candidates.exists ? "there is no checkpoint at " + pathOrGlob : pathOrGlob + " does not exist";
    if (!rejected.empty())
        sentence = "none of the " + std::to_string(candidates.newestFirst.size()) + " checkpoints at " + pathOrGlob + " is whole; the newest: " + rejected.front();
    return Error(ExitCode::Checkpoint, rejected.empty() ? "checkpoint.none" : "checkpoint.incomplete",
                 sentence + "; give a checkpoint like outputs/RUN/epoch0-global_step100, a run folder or a pattern", pathOrGlob);
}

// Done where every part of it opens.
Result<Contents> openWhole(const ListedCheckpoint &candidate)
{
    auto contents = openCheckpoint(candidate.path);
    if (!contents)
        return contents;
    const auto fault = std::find_if(contents->problems.begin(), contents->problems.end(), [](const Problem &problem) { return problem.severity == Severity::Error; });
    if (fault != contents->problems.end())
        return Error(ExitCode::Checkpoint, *fault);
    return contents;
}

// The newest of which `accept` says Done; it sees those that open.
Result<Newest> newestThat(const std::string &pathOrGlob, const std::function<Status(const Contents &)> &accept)
{
    const auto candidates = candidatesAt(pathOrGlob);
    if (!candidates)
        return candidates.error();
    Newest newest;
    std::optional<Error> fault;              // of the newest that opens and is not accepted
    for (const ListedCheckpoint &candidate : candidates->newestFirst) {
        if (!isWhole(candidate)) {
            newest.rejected.push_back(candidate.path.string() + ": " + candidate.sentence);
            continue;
        }
        const auto contents = openWhole(candidate);
        const Status accepted = contents ? accept(*contents) : Status(contents.error());
        if (accepted) {
            newest.path = candidate.path;
            return newest;
        }
        if (accepted.error().problem.code == cancelled(candidate.path).problem.code)
            return accepted.error();
        if (contents && !fault)
            fault = accepted.error();
        newest.rejected.push_back(candidate.path.string() + ": " + accepted.error().message());
    }
    return fault ? *fault : noneWhole(pathOrGlob, *candidates, newest.rejected);
}

} // namespace

Result<Newest> newestComplete(const std::string &pathOrGlob)
{
    return newestThat(pathOrGlob, [](const Contents &) { return Status(Done{}); });
}

Result<Newest> newestSound(const std::string &pathOrGlob, const ReadProgress &progress)
{
    return newestThat(pathOrGlob, [&](const Contents &contents) { return checkSound(contents, progress); });
}

bool namesCheckpoint(const fs::path &path)
{
    const fs::path normal = path.lexically_normal();
    const fs::path name = normal.has_filename() ? normal.filename() : normal.parent_path().filename();
    constexpr std::array parts{kRunningStatesFile, kManifestFile, kModelFolder, kLoraFolder};
    std::error_code ignored;
    return fs::is_directory(path, ignored)
        && (parseCheckpointFolderName(name.string()) || std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return fs::exists(path / part, ignored); }));
}

Result<Newest> newestOrNamed(const std::string &pathOrGlob)
{
    return namesCheckpoint(pathOrGlob) ? Result<Newest>(Newest{pathOrGlob, {}}) : newestComplete(pathOrGlob);
}

} // namespace stagewright::ckptfile
