#include "core/runlog/run_list.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/runlog/run_directory.h"

namespace stagewright::runlog {

namespace fs = std::filesystem;

namespace {

bool looksLikeRun(const fs::path &folder)
{
    std::error_code ignored;
    return isRunFolder(folder) || fs::exists(leasePath(folder), ignored);
}

} // namespace

RunListing listingOf(const fs::path &runFolder)
{
    RunListing listing;
    listing.folder = runFolder;
    listing.name = runFolder.filename().string();
    const RunCondition condition = conditionOf(runFolder);
    listing.state = condition.state;
    listing.exit = condition.exit;
    listing.sentence = condition.sentence;
    if (condition.lease) {
        listing.step = condition.lease->step;
        if (!isOver(condition.state)) {
            listing.pid = condition.lease->process.pid;
            listing.phase = condition.lease->state;
        }
    }
    if (auto identity = readIdentity(runFolder)) {
        listing.id = identity->id;
        listing.started = identity->started;
        listing.stageFile = identity->stageFile;
        listing.parent = identity->parent;
    } else if (condition.lease) {
        listing.id = condition.lease->runId;
        listing.started = condition.lease->heartbeat;
    }
    return listing;
}

Result<std::vector<RunListing>> listRuns(const fs::path &outputs)
{
    std::error_code failed;
    std::vector<RunListing> runs;
    if (looksLikeRun(outputs)) {
        runs.push_back(listingOf(fs::absolute(outputs, failed).lexically_normal()));
        return runs;
    }
    fs::directory_iterator entries(outputs, failed);
    if (failed)
        return ioError("list the runs in", outputs, failed.value());
    for (const fs::directory_iterator end; entries != end; entries.increment(failed)) {
        std::error_code ignored;
        if (entries->is_directory(ignored) && looksLikeRun(entries->path()))
            runs.push_back(listingOf(entries->path()));
        if (failed)
            return ioError("list the runs in", outputs, failed.value());
    }
    std::sort(runs.begin(), runs.end(), [](const RunListing &a, const RunListing &b) {
        return a.started != b.started ? a.started > b.started : a.name > b.name;
    });
    return runs;
}

} // namespace stagewright::runlog
