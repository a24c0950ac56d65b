// Everything that a checkpoint holds, as the trainer sees it. The trainer fills one before a save (handles only, nothing is copied
// here) and hands one in to be filled at a load.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/ckptfile/states.h"

namespace stagewright::checkpoint {

// One entry of the model's state dict with all that hangs on it. Tensors share storage with the trainer's. Any device; strided.
struct ParameterState {
    std::string name;                  // state-dict name without prefix: "double_blocks.0.img_attn.qkv.weight"
    torch::Tensor weight;              // working weights in the training dtype
    torch::Tensor master;              // fp32, weight's shape; undefined where training is in fp32 (the weight is the master) or it is frozen
    torch::Tensor expAvg, expAvgSq;    // fp32, weight's shape; undefined before the first update
    std::int64_t updates = 0;          // of this parameter's moments: the original's `step`
    torch::Tensor ema;                 // weight's shape; undefined without EMA
    torch::Tensor gradient;            // accumulated in a window that is not complete; undefined at a clean boundary
    bool trainable = true;             // the optimizer's index counts trainable ones only
};

// Order of `parameters` = state-dict order = named_parameters() order: it fixes shard cuts and optimizer indices.
struct TrainingState {
    std::vector<ParameterState> parameters;
    ckptfile::ParamGroup group;                              // the one group's hyper-parameters
    std::optional<ckptfile::SchedulerState> scheduler;       // none: constant learning rate
    ckptfile::SamplerState sampler;
    ckptfile::Counters counters;
    std::optional<ckptfile::ScalerState> scaler;             // fp16 only
    std::optional<ckptfile::DataPosition> position;          // of the next batch, this rank
    std::int64_t collectedMicroSteps = 0;                    // of the window that `gradient`s belong to; 0 at a clean boundary
    std::map<std::string, std::string> randomStreams;        // name -> opaque bytes ("torch.cpu", "trainer.draws", …)
    std::string run;                                         // run id; retention looks only at checkpoints of the same one
    std::string datasetFingerprint;                          // data::BatchSource::fingerprint()
    std::string configYaml;                                  // the fully resolved stage
    std::string dtype;                                       // training dtype as the stage says it: "bf16"
    int worldSize = 1;
};

} // namespace stagewright::checkpoint
