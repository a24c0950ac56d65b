// The small states of a checkpoint as plain structs, and their forms on disk (Open-Sora 2.0's and, where it has none, ours).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

class PickleValue;

// Where training stands. epoch, step and global_step of running_states.json count micro-steps as the original does; updates is ours (its
// actual_update_step).
struct Counters {
    std::int64_t epoch = 0;
    std::int64_t microStep = 0;              // done in this epoch
    std::int64_t globalMicroStep = 0;        // done overall
    std::int64_t updates = 0;                // optimizer updates done overall
    std::int64_t skippedUpdates = 0;         // of them not finite; kept in stagewright/state.json
    std::optional<std::int64_t> batchSize;   // null for bucketed data
    bool operator==(const Counters &) const = default;
};

// The optimizer's one parameter group, without its list of indices.
struct ParamGroup {
    double lr = 0;
    std::array<double, 2> betas{0.9, 0.999};
    double eps = 1e-8;
    double weightDecay = 0;
    bool biasCorrection = true;
    std::optional<double> initialLr;         // only with a scheduler
    bool operator==(const ParamGroup &) const = default;
};

// Linear: warm-up from initialLr, then constant. Cosine: warm-up from 0, then half a cosine down (ColossalAI's CosineAnnealingWarmupLR).
struct SchedulerState {
    enum class Kind { Linear, Cosine };
    Kind kind = Kind::Linear;
    double initialLr = 0;                    // Linear
    std::int64_t warmupSteps = 0;            // of either
    double baseLr = 0;
    std::int64_t lastEpoch = 0;              // index of the schedule: scheduler steps done
    double lastLr = 0;                       // what the schedule gave last
    std::int64_t cosineSteps = 0;            // Cosine: steps of the decay (T_max), warm-up excluded
    double etaMin = 0;                       // Cosine
    bool operator==(const SchedulerState &) const = default;
};

struct SamplerState {
    std::int64_t seed = 0;
    std::int64_t epoch = 0;
    std::int64_t accessIndex = 0;            // last_micro_batch_access_index: batches of all data-parallel ranks
    bool operator==(const SamplerState &) const = default;
};

struct ScalerState {                         // dynamic loss scale of fp16
    double scale = 65536;
    std::int64_t goodSteps = 0;              // since the last change
    std::int64_t hysteresis = 0;
    bool operator==(const ScalerState &) const = default;
};

struct DataPosition {                        // of the next batch of this rank
    std::int64_t epoch = 0;
    std::int64_t index = 0;
    bool operator==(const DataPosition &) const = default;
};

std::string runningStatesJson(const Counters &counters);                     // bytes as the original's json.dump(indent=4)
Result<Counters> parseRunningStates(const std::string &text, const std::string &file);

// What goes into the torch.save files lr_scheduler, sampler and optimizer/pytorch_optim_group.bin.
PickleValue schedulerDict(const SchedulerState &state);
PickleValue samplerDict(const SamplerState &state);
PickleValue paramGroups(const ParamGroup &group, std::int64_t parameters);   // list of one dict, params = [0 … parameters-1]
Result<SchedulerState> parseScheduler(const PickleValue &value, const std::string &file);
Result<SamplerState> parseSampler(const PickleValue &value, const std::string &file);
struct ParsedGroups { ParamGroup group; std::int64_t groups = 0, parameters = 0; };
Result<ParsedGroups> parseParamGroups(const PickleValue &value, const std::string &file);

} // namespace stagewright::ckptfile
