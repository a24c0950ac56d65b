#include "core/base/text.h"
#include "core/client/client.h"
#include "core/runlog/lease.h"
#include "core/runlog/run_directory.h"

namespace stagewright::client {

namespace fs = std::filesystem;

namespace {

bool isRun(const fs::path &folder)
{
    std::error_code ignored;
    return runlog::isRunFolder(folder) || fs::exists(runlog::leasePath(folder), ignored);
}

} // namespace

Result<fs::path> findRun(const std::string &named, const fs::path &outputs)
{
    std::error_code ignored;
    if (fs::exists(named, ignored)) {
        for (fs::path at = fs::absolute(named, ignored).lexically_normal(); !at.empty(); at = at.parent_path()) {
            if (isRun(at))
                return at.filename().empty() ? at.parent_path() : at;
            if (at == at.parent_path())
                break;
        }
    }
    if (const fs::path below = outputs / named; !named.empty() && isRun(below))
        return fs::absolute(below, ignored).lexically_normal();
    std::vector<std::string> names;
    if (auto runs = listRuns(outputs)) {
        for (const RunListing &run : *runs)
            names.push_back(run.name);
    }
    const auto near = nearestOf(fs::path(named).filename().string(), names);
    return Error(ExitCode::Usage, "run.not-found",
                 "there is no run " + named + ", neither as a path nor in " + outputs.string() + (near ? "; did you mean " + *near + "?" : "; stagewright-cli runs lists them"));
}

} // namespace stagewright::client
