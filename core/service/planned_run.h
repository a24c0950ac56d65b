// The planner beside a run: what it will take, told while it trains; what it took, remembered at its end; what to change, where memory ran out.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/client/plan_helper.h"
#include "core/events/plan.h"
#include "core/events/record.h"
#include "core/runhost/run_host.h"
#include "core/service/run_measurements.h"

namespace stagewright::service {

// Stands between trainer and host. A thread of the lowest priority asks a planning helper of its own; training never waits for it. Only where memory
// ran out does the run's end wait for the answer, with a deadline. report(), poll() and finish() on the training thread.
class PlannedRun final : public train::Sink
{
public:
    struct Options {
        std::filesystem::path worker;                  // of the helper; empty: as everybody finds it
        std::filesystem::path measurements;            // where they are kept; empty: the machine's own place
        double remedySeconds = 20;                     // how long a run's end waits for what to change
    };
    PlannedRun(const config::Stage &stage, runhost::RunHost &host, Options options);
    ~PlannedRun() override;                            // ends the helper

    // All but the State that ends a run for want of memory go straight on; that one waits for finish().
    void report(events::Record record) override;
    train::Requests poll() override { return m_host.poll(); }

    // After the training, once: remedies are reported (memory.remedy, best first), the summary gets its prediction, measurements are kept.
    void finish(Result<events::Summary> &result);

private:
    void work();
    void ask(const char *what, double seconds);
    void tellPrediction(const events::Plan &plan);
    void begun();
    void reportRemedies();
    void keepMeasurements(bool ranOut);

    const config::Stage &m_stage;
    runhost::RunHost &m_host;
    const Options m_options;
    RunMeasurements m_measurements;                    // training thread
    std::optional<events::Record> m_ending;            // training thread
    bool m_ranOut = false;                             // training thread

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::optional<events::Plan> m_plan;                // of the mutex, as what follows
    std::vector<events::PlannedRemedy> m_remedies;
    bool m_remediesWanted = false, m_remediesDone = false, m_started = false, m_stop = false;
    std::thread m_thread;                              // last
};

} // namespace stagewright::service
