// The parts of a run, built in the original's order with its milestones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/memory/offload.h"
#include "core/train/engine.h"
#include "core/train/reporter.h"
#include "core/train/trainer.h"

namespace stagewright::train {

struct RunParts {
    std::unique_ptr<Draws> draws;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<memory::ActivationOffload> offload;          // null: none
    std::unique_ptr<Encoding> encoding;
};

// Seeds, then builds model, average, encoders and optimizer on the run's device, with their memory under the right kind, reporting a
// milestone after each. Reports notes (what the autoencoder loses, how deep checkpointing goes, …).
Result<RunParts> buildRun(const TrainerParts &parts, const Settings &settings, Reporter &reporter);

// memory_limit: the ledger's budget on the CPU, the allocator's own limit on a GPU.
Status applyMemoryLimit(torch::Device device, std::int64_t bytes);

// Loads `path` into the engine and moves the data to where the checkpoint stands; says what was decided, and the learning rates to come.
Status resumeRun(const std::filesystem::path &path, const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter);

// Moves the data to a batch of an epoch. The index at the epoch's end is the next epoch's beginning; one beyond it belongs to other data: the epoch
// is read from its beginning, with a warning. Errors: no such epoch, a negative index.
Status seekTo(data::BatchSource &data, data::Position position, Reporter &reporter);

} // namespace stagewright::train
