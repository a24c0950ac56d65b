// One rank's training run: builds everything that a stage asks for, trains, saves, and says what happens through a Sink.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/data/batch.h"
#include "core/events/record.h"
#include "core/train/sink.h"

namespace stagewright::train {

// What a run is made of. The references must outlive the trainer.
struct TrainerParts {
    const config::Stage &stage;                  // resolved and without errors
    data::BatchSource &data;                     // at its beginning; the trainer seeks it when it resumes
    Sink &sink;
    std::filesystem::path runFolder;             // exists; checkpoints go below it
    torch::Device device = torch::kCPU;
    std::string deviceReason{};                 // why this device; said in the log, the event and the window
    std::string deviceName{};                   // empty: the CPU's own
    std::int64_t deviceTotalBytes = 0;           // 0: this machine's memory, on the CPU
    int rank = 0;
    int worldSize = 1;
    std::optional<std::filesystem::path> load{};  // checkpoint folder to resume from; the stage's own `load` is not looked at
    bool loadIsSound = false;                    // every byte of it has been read and compared (ckptfile::newestSound)
    std::int64_t predictedPeakBytes = 0;         // for the summary; 0: no prediction
    std::string runIdentity{};                    // run id, written into checkpoints: retention looks only at those of the same run
};

// Lives on one thread: create() and run() are called there, and every record is reported there. Nothing here waits without a deadline,
// except for the data source, which has its own.
class Trainer
{
public:
    // Builds model, EMA, encoders, optimizer and schedule, and loads the checkpoint. Reports RunStarted first, then State "starting" and
    // the milestones of the set-up. Errors: what the stage asks for is not built yet (Usage), the checkpoint does not fit (Checkpoint),
    // memory_limit or the device too small (OutOfMemory).
    static Result<std::unique_ptr<Trainer>> create(TrainerParts parts);
    ~Trainer();
    Trainer(const Trainer &) = delete;
    Trainer &operator=(const Trainer &) = delete;

    // Trains until max_train_steps, the last epoch, or a stop request; saves as the stage says, and at the end. Reports State "training",
    // …, and "finished" or "failed". The summary is returned, not reported; its exit is 0, 7 (stopped), or that of the failure which
    // has been reported as a problem. An error only where not even a summary makes sense. Call once.
    Result<events::Summary> run();

private:
    class Impl;
    explicit Trainer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace stagewright::train
