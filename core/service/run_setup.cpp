#include "core/service/run_setup.h"

#include <charconv>
#include <cstdlib>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/log.h"
#include "core/runlog/config_files.h"

namespace stagewright::service {

namespace fs = std::filesystem;

namespace {

std::optional<int> numberIn(const char *variable)
{
    const char *text = std::getenv(variable);
    if (!text || !*text)
        return std::nullopt;
    int number = -1;
    const char *end = text + std::string_view(text).size();
    return std::from_chars(text, end, number).ptr == end ? number : -1;
}

struct Prepared {
    fs::path folder;
    Result<config::Stage> stage;
};

// The launcher has made the folder and put the resolved config there.
Result<Prepared> preparedByLauncher(const WorkerOptions &options)
{
    if (auto made = ensureFolder(options.runFolder); !made)
        return made.error();
    if (!options.config.empty())
        return Prepared{options.runFolder, config::loadStage(options.config, options.overrides)};
    const fs::path file = runlog::configPath(options.runFolder);
    auto yaml = readFile(file);
    return Prepared{options.runFolder, yaml ? config::stageFromYaml(*yaml, file) : Result<config::Stage>(yaml.error())};
}

Result<Prepared> preparedHere(const WorkerOptions &options)
{
    auto stage = config::loadStage(options.config, options.overrides);
    if (!stage)
        return stage.error();
    auto folder = runlog::createRunFolderFor(*stage, wallSeconds());
    if (!folder)
        return folder.error();
    return Prepared{*folder, std::move(*stage)};
}

runlog::RunIdentity identityFor(const WorkerOptions &options, const fs::path &folder)
{
    runlog::RunIdentity identity;
    if (auto known = runlog::readIdentity(folder))
        identity = std::move(*known);
    identity.commandLine = options.commandLine;
    if (identity.stageFile.empty() && !options.config.empty())
        identity.stageFile = fs::absolute(options.config).lexically_normal().string();
    return identity;
}

} // namespace

Status checkWorldSize()
{
    const auto world = numberIn("WORLD_SIZE"), rank = numberIn("RANK");
    if (world.value_or(1) == 1 && rank.value_or(0) == 0)
        return Done{};
    return Error(ExitCode::Usage, "env.world-size",
                 "this is process " + std::to_string(rank.value_or(0)) + " of " + std::to_string(world.value_or(1))
                     + " by RANK and WORLD_SIZE, but training in several processes is not built yet; start one process (torchrun --nproc-per-node 1)");
}

Result<RunSetup> setUpRun(const WorkerOptions &options)
{
    auto prepared = options.runFolder.empty() ? preparedHere(options) : preparedByLauncher(options);
    if (!prepared)
        return prepared.error();
    std::error_code ignored;
    if (prepared->stage && !fs::exists(runlog::configPath(prepared->folder), ignored)) {
        if (auto written = runlog::writeConfigFiles(prepared->folder, runlog::configFilesOf(*prepared->stage)); !written)
            return written.error();
    }
    runhost::RunHost::Options host;
    host.folder = prepared->folder;
    host.identity = identityFor(options, prepared->folder);
    host.stopAfterSteps = options.stopAfterSteps;
    if (auto yaml = readFile(runlog::configPath(prepared->folder)))
        host.identity.configHash = runlog::configHash(*yaml);
    auto started = runhost::RunHost::start(std::move(host));
    if (!started)
        return started.error();
    setUpLogging(spdlog::level::warn, runlog::logPath(prepared->folder));
    return RunSetup{std::move(*started), std::move(prepared->stage)};
}

} // namespace stagewright::service
