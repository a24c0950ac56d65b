// Reads a checkpoint (ours or the original's, synchronous or asynchronous form) into a training state, and bare weights into a model.
// Everything is opened and checked before anything is changed: after an error the target is as it was.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/training_state.h"
#include "core/ckptfile/relayout.h"

namespace stagewright::checkpoint {

struct LoadOptions {
    bool weightsOnly = false;            // model weights (and masters) only; optimizer, EMA, scheduler, position, RNG, counters stay
    bool emaFromMaster = false;          // where EMA is wanted and not usable in the checkpoint: start it from the (master) weights
    bool allowPartial = false;           // go on although weights are missing or have another shape
    bool verify = true;                  // read every byte before anything is changed (ckptfile::checkSound); else sizes only
    std::function<bool(std::int64_t bytesDone, std::int64_t bytesTotal)> progress;   // false cancels
};

struct PartReport {
    std::string part;                    // "weights", "master", "ema", "optimizer", "scheduler", "sampler", "counters", "position", "rng", "scaler", "gradients"
    bool restored = false;
    std::string sentence;                // what was restored from where, or why not and what happens instead
};

struct LoadReport {
    std::filesystem::path folder;        // the one that was chosen (a glob may have named many)
    std::vector<std::string> rejected;   // sentences about newer candidates of the glob that are not whole
    bool ours = false;                   // written by Stagewright (has a manifest)
    std::vector<PartReport> parts;
    std::vector<std::string> missing;    // names the target has and the checkpoint lacks
    std::vector<std::string> unexpected; // names the checkpoint has and the target lacks
    std::vector<std::string> mismatched; // "img_in.weight: [16, 8] in the checkpoint, [16, 16] here"
    Problems notes;                      // dtype changes, stripped prefixes, another world size …
    const PartReport *part(std::string_view name) const;
};

// path: a checkpoint folder, a run folder, or a glob ("outputs/*/epoch*"): the newest sound checkpoint is taken. In `target` parameters with
// names, shapes and defined tensors say what is wanted: weight always; master, ema where defined. Moments are allocated where undefined.
// Scalars, streams and counters are replaced by the checkpoint's; run, configYaml, dtype and worldSize of the target stay (compare with
// ckptfile::resumePlan for what changed); datasetFingerprint becomes the checkpoint's.
Result<LoadReport> loadCheckpoint(const std::string &path, TrainingState &target, const LoadOptions &options = {});

struct WeightOptions {
    bool strict = false;                 // model.strict_load: any missing, unexpected or reshaped tensor is an error
    bool allowMismatch = false;          // skip tensors of another shape instead of refusing
    double minimumMatch = 0.5;           // share of the model's numbers that must be found, else refused
    // Rotary orders of the model, and of the file as the user says: no file tells (a checkpoint of ours does, by its config). Where they differ rows are moved; where the
    // file's is not known nothing is loaded (config.rope-unsaid), or it is assumed to be the model's, with a warning.
    std::optional<ckptfile::RopeOrder> modelRope, fileRope;
    bool assumeModelRope = false;
};

// Bare weights for fine-tuning: a .safetensors file, a torch.save file (.pt, .pth, .bin), a folder of shards with its index, or a checkpoint
// folder (its model/). Leading "module." (any number), and the usual single wrappers ("model.", "state_dict" …) are stripped with a note.
// Projections that are fused in the file and separate in the model, or the reverse, are cut or joined with a note.
// Writes into each parameter's weight, and into its master where defined, converting the dtype. Before that all is read once: files of a checkpoint of ours are
// compared with its hashes, archives with their sums, and values that are not finite are refused.
Result<LoadReport> loadWeights(const std::filesystem::path &path, TrainingState &target, const WeightOptions &options = {});

} // namespace stagewright::checkpoint
