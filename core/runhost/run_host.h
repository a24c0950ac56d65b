// What makes a training process a run that others can watch: history, TensorBoard file, lease with heartbeat, viewers, commands, signals.
// No Torch here: the worker and the tests' fake worker are the same run to everybody.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/events/record.h"
#include "core/runlog/run_directory.h"
#include "core/train/sink.h"

namespace stagewright::runhost {

// report() and poll() never block (train::Sink); everything may be called from any thread. What is to be logged is logged by who reports it.
class RunHost : public train::Sink
{
public:
    struct Options {
        std::filesystem::path folder;                  // exists, with the config files; nobody else's
        runlog::RunIdentity identity;                  // written to run.json
        std::int64_t stopAfterSteps = 0;               // after this many Step records: StopRequest::SaveAndStop; 0: never
        bool tensorboard = true;
        bool handleSignals = true;                     // SIGTERM, SIGINT: first StopRequest::SaveAndStop, second Now; crashes leave a word
        double drainSeconds = 2;                       // at the end: how long viewers may take what is left
    };
    // Takes the folder: run.json, lease, history. Errors: another process holds it or has run in it, or it cannot be written.
    // Where no socket can be made the run goes on without one, and a note says so.
    static Result<std::unique_ptr<RunHost>> start(Options options);
    ~RunHost() override;                               // without finish(): the run is reported as failed

    void report(events::Record record) override;       // time is filled in where it is 0
    train::Requests poll() override;

    // Logs and reports.
    void note(const std::string &level, const std::string &sentence, const std::string &code = {});
    void setState(const std::string &state, const std::string &sentence = {});
    // Further facts for run.json (device, dataset fingerprint), known later.
    Status updateIdentity(const std::function<void(runlog::RunIdentity &)> &change);
    // Ends the run: State finished or failed where the trainer has not reported it, the summary, history flushed, last lease, viewers drained. Once.
    void finish(events::Summary summary, const std::string &sentence);
    // Asks as a viewer or a signal would.
    void requestStop(train::StopRequest stop);
    void requestSave();

    const std::filesystem::path &folder() const;
    const std::string &socket() const;                 // empty: none
    std::int64_t lastStep() const;
    bool stopRequested() const;
    bool stopsAtOnce() const;

private:
    class Implementation;
    explicit RunHost(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> m_implementation;
};

} // namespace stagewright::runhost
