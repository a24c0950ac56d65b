// Starting a run: its folder first, then the worker on it.
#include <fcntl.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/paths.h"
#include "core/base/version.h"
#include "core/client/child_process.h"
#include "core/client/client.h"
#include "core/protocol/frame.h"
#include "core/protocol/socket.h"
#include "core/runlog/config_files.h"
#include "core/runlog/lease.h"
#include "core/runlog/run_directory.h"

namespace stagewright::client {

namespace fs = std::filesystem;

namespace {

Result<config::Stage> stageOf(const LaunchRequest &request)
{
    auto stage = request.stage ? Result<config::Stage>(*request.stage) : config::loadStage(request.stageFile, request.overrides);
    if (!stage)
        return stage;
    const auto set = [&](const char *key, const std::string &text) {
        if (text.empty())
            return;
        config::Value value(text);
        value.origin.kind = config::OriginKind::Override;
        stage->values().set(key, std::move(value));
    };
    set("outputs", request.outputs.string());
    set("device", request.device);
    set("load", request.load);
    return stage;
}

// Removes the folder that was made for a run that could not be started.
class FolderGuard
{
public:
    explicit FolderGuard(fs::path folder) : m_folder(std::move(folder)) {}
    ~FolderGuard()
    {
        std::error_code ignored;
        if (!m_folder.empty())
            fs::remove_all(m_folder, ignored);
    }
    void keep() { m_folder.clear(); }

private:
    fs::path m_folder;
};

Status writeIdentity(const fs::path &folder, const config::Stage &stage, const runlog::ConfigFiles &files, const LaunchRequest &request)
{
    runlog::RunIdentity identity;
    identity.id = runlog::newRunId();
    identity.name = folder.filename().string();
    identity.programVersion = programVersion();
    identity.stageFile = stage.file().empty() ? std::string() : fs::absolute(stage.file()).lexically_normal().string();
    identity.configHash = runlog::configHash(files.yaml);
    identity.started = wallSeconds();
    identity.parent = request.parentRun;
    identity.host = runlog::thisProcess().host;
    return runlog::writeIdentity(folder, identity);
}

// Until the worker writes its own, a lease says which process is about to. link() leaves a lease that is there already alone.
void leaseForTheStart(const fs::path &folder, int pid)
{
    runlog::Lease lease;
    lease.process = runlog::thisProcess();
    lease.process.pid = pid;
    lease.process.startTicks = processStartTicks(pid);
    lease.heartbeat = wallSeconds();
    lease.state = "starting";
    const fs::path scratch = folder / ".starting";
    std::error_code ignored;
    fs::create_directory(scratch, ignored);
    if (runlog::writeLease(scratch, lease))
        (void)!::link(runlog::leasePath(scratch).c_str(), runlog::leasePath(folder).c_str());
    fs::remove_all(scratch, ignored);
}

Result<protocol::Descriptor> openConsole(const fs::path &folder)
{
    const fs::path file = runlog::consolePath(folder);
    protocol::Descriptor console(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (console.get() < 0)
        return ioError("create", file, errno);
    return console;
}

} // namespace

Result<RunHandle> launch(const LaunchRequest &request)
{
    auto program = workerProgram(request.worker);
    if (!program)
        return program.error();
    auto stage = stageOf(request);
    if (!stage)
        return stage.error();
    auto folder = runlog::createRunFolderFor(*stage, wallSeconds());
    if (!folder)
        return folder.error();
    FolderGuard guard(*folder);
    const runlog::ConfigFiles files = runlog::configFilesOf(*stage);
    if (auto written = runlog::writeConfigFiles(*folder, files); !written)
        return written.error();
    if (auto written = writeIdentity(*folder, *stage, files, request); !written)
        return written.error();
    auto console = openConsole(*folder);
    if (!console)
        return console.error();

    SpawnRequest spawn;
    spawn.arguments = {program->string()};
    spawn.arguments.insert(spawn.arguments.end(), request.workerArguments.begin(), request.workerArguments.end());
    for (const std::string &argument : {std::string("train"), std::string("--run-folder"), folder->string(), std::string("--wire"), std::to_string(protocol::kWireVersion)})
        spawn.arguments.push_back(argument);
    if (request.stopAfterSteps > 0) {
        spawn.arguments.push_back("--stop-after");
        spawn.arguments.push_back(std::to_string(request.stopAfterSteps));
    }
    spawn.environment = request.environment;
    spawn.output = console->get();
    auto child = ChildProcess::spawn(spawn);
    if (!child)
        return child.error();
    leaseForTheStart(*folder, (*child)->pid());
    guard.keep();
    return RunHandle{*folder, folder->filename().string(), (*child)->pid(), *child};
}

} // namespace stagewright::client
