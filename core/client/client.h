// Start, find, watch and command runs: the one way in which window and command line deal with workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/events/record.h"
#include "core/protocol/message.h"
#include "core/runlog/run_list.h"
#include "core/runlog/run_state.h"

namespace stagewright::client {

using protocol::Command;
using protocol::CommandKind;
using protocol::StopMode;
using runlog::listRuns;                                    // listRuns(outputs)
using runlog::RunListing;
using runlog::RunState;

class ChildProcess;                                        // a worker that this process started; reaped in any case

struct LaunchRequest {
    std::optional<config::Stage> stage;                    // resolved; or:
    std::filesystem::path stageFile;                       // read with the overrides below
    std::vector<config::Override> overrides;               // only with stageFile
    std::filesystem::path outputs;                         // empty: the stage's `outputs`
    std::string device;                                    // empty: the stage's `device`
    std::string load;                                      // checkpoint folder or glob; empty: the stage's `load`
    std::string parentRun;                                 // run folder that this one resumes; for run.json
    bool detach = false;                                   // nobody will follow: only the folder and pid are wanted
    std::int64_t stopAfterSteps = 0;                       // the worker stops with a save after this many updates, as if asked to; 0: only when asked
    std::vector<std::pair<std::string, std::string>> environment;    // in addition to ours
    std::filesystem::path worker;                          // empty: $STAGEWRIGHT_WORKER, else stagewright-worker beside this program
    std::vector<std::string> workerArguments;              // further ones, in front of ours (tests)
};

struct RunHandle {
    std::filesystem::path folder;
    std::string name;
    int pid = 0;
    std::shared_ptr<ChildProcess> child;
};

// Makes the run's folder with config.yaml, origins.json and config.txt and starts a worker on it, in a session of its own: it lives on when this
// process dies. Does not wait for the worker (follow it). Errors, each a sentence, and then no folder is left: stage unreadable (Usage), worker missing
// or of another version (Other), folder not writable (InputOutput).
Result<RunHandle> launch(const LaunchRequest &request);

// The folder of a run that a person named: a path to it, a checkpoint or file inside it, or its name below `outputs`.
Result<std::filesystem::path> findRun(const std::string &named, const std::filesystem::path &outputs = "outputs");

enum class Connection {
    Waiting,         // nothing to read yet: the worker is starting
    Replaying,       // reading the history from the folder
    Live,            // records come over the socket as they happen
    Tailing,         // the run has no socket (or it is lost): its files are watched
    Ended
};
const char *connectionName(Connection connection);

struct Ending {
    RunState state = RunState::Finished;
    int exit = 0;                          // CLI.md's exit code; 8 where the worker died
    std::string sentence;                  // empty only for a run that simply finished
};

// What poll() found.
struct News {
    std::int64_t first = 0;                // number of the first record
    std::vector<events::Record> records;   // in order, each once, from the history's beginning
    std::vector<protocol::Reply> replies;  // to commands; one for each, an error reply where its deadline passed or the worker is gone
    std::vector<std::string> notices;      // sentences about the run or the connection: history not writable, damaged line, lost records …
    Connection connection = Connection::Waiting;
    bool silent = false;                   // the worker lives, but gives no sign of life
    bool more = false;                     // there is more to read at once
    std::optional<Ending> ending;          // the run is over and every record has been delivered; set from then on
};

// Follows one run from its first record to its end, through worker death, lost sockets and slow moments of its own; the run does not feel it.
// One thread at a time; poll(0) and command() never block.
class RunFollower
{
public:
    struct Options {
        std::int64_t fromRecord = 0;
        std::size_t recordsPerPoll = 4096;
        double replySeconds = 10;          // deadline for the reply to a command
    };
    static Result<std::unique_ptr<RunFollower>> follow(const RunHandle &run, Options options);
    static Result<std::unique_ptr<RunFollower>> follow(const RunHandle &run) { return follow(run, Options()); }
    // Error: not a run folder.
    static Result<std::unique_ptr<RunFollower>> attach(const std::filesystem::path &runFolder, Options options);
    static Result<std::unique_ptr<RunFollower>> attach(const std::filesystem::path &runFolder) { return attach(runFolder, Options()); }
    ~RunFollower();                        // detaches; the run goes on
    RunFollower(const RunFollower &) = delete;
    RunFollower &operator=(const RunFollower &) = delete;

    // Readable whenever poll() has something to do: for an event loop (level-triggered). Stays the same.
    int descriptor() const;
    // Waits up to `timeout` for news; with 0 only looks.
    News poll(std::chrono::milliseconds timeout);
    // Sends a command; its reply comes with poll(). The id is returned. Where the run has no socket, Stop is sent as a signal.
    std::int64_t command(CommandKind kind, StopMode mode = StopMode::SaveAndStop);

    const std::filesystem::path &folder() const;
    Connection connection() const;
    int pid() const;                       // 0 until known
    std::int64_t nextRecord() const;

private:
    class Implementation;
    explicit RunFollower(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> m_implementation;
};

// For scripts: sends one command and waits until it is done (a save: the checkpoint is committed; a stop: the run is over).
struct CommandOutcome {
    std::filesystem::path run;
    std::string state;                     // of the run, afterwards
    std::string checkpoint;                // path of the checkpoint that was saved; empty where none was
    int exit = 0;                          // 0: obeyed
    std::string sentence;
};
Result<CommandOutcome> commandRun(const std::filesystem::path &runFolder, CommandKind kind, StopMode mode, std::chrono::milliseconds deadline);

// The worker program that launch() would start. Error: missing, not executable.
Result<std::filesystem::path> workerProgram(const std::filesystem::path &asked = {});
// What `stagewright-worker probe` says about the devices here, as its JSON text. Blocks up to the deadline.
Result<std::string> probeDevices(std::chrono::milliseconds deadline, const std::filesystem::path &worker = {});

} // namespace stagewright::client
