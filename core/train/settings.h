// What the trainer reads of a stage, once, in its own units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/memory/offload.h"
#include "core/train/conditions.h"
#include "core/train/hybrid_adam.h"
#include "core/train/loss_scaler.h"

namespace stagewright::train {

enum class Compat {
    None,              // the right behaviour
    OpenSora           // the original's arithmetic and order (README.md says what differs)
};
enum class OnNonFinite { Skip, Stop };

struct TextDropout {
    double tokens = 0, pooled = 0;       // probabilities per sample
};

struct Settings {
    Compat compat = Compat::None;
    torch::Dtype dtype = torch::kBFloat16;
    std::string dtypeName;               // as the stage says it
    std::uint64_t seed = 0;

    std::int64_t epochs = 0;
    std::int64_t maxSteps = 0;           // updates over the whole training; 0: no limit but epochs
    std::int64_t accumulation = 1;       // micro-steps an update
    double gradClip = 0;
    OnNonFinite onNonFinite = OnNonFinite::Skip;

    double sigmaMin = 0;
    double guidance = 0;
    std::int64_t patch = 2;
    bool causal = false;                 // is_causal_vae
    ConditionTable conditions;           // empty: none
    std::optional<TextDropout> dropout;
    bool skipReferenceLoss = false;      // no_i2v_ref_loss

    double lr = 0;
    AdamSettings adam;
    std::optional<std::int64_t> warmupSteps;
    bool cosine = false;
    std::optional<double> initialLr;
    bool updateWarmup = false;           // update_warmup_steps
    ScalerSettings scaler;
    std::optional<double> emaDecay;

    std::int64_t ckptEvery = 0;          // updates; 0: never but at the end
    bool stopOnSaveError = false;
    bool loadMasterWeights = false;      // only compat: opensora can do without
    std::optional<std::int64_t> startEpoch, startStep;

    std::int64_t offloadElements = 0;    // grad_ckpt_buffer_size
    memory::OverflowPolicy overflow = memory::OverflowPolicy::Keep;
    std::int64_t memoryLimitBytes = 0;   // 0: none
};

inline constexpr std::int64_t kNonFiniteInARow = 10;     // stops the run whatever on_nonfinite says

// Error (Usage): what the stage asks for is known but not built yet, or does not fit together, with file and line.
Result<Settings> readSettings(const config::Stage &stage, int worldSize);

} // namespace stagewright::train
