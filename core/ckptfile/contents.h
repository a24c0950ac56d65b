// A checkpoint folder opened: every part found, its headers and small files read, nothing loaded yet. Ours and the original's in both forms.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/own_state.h"
#include "core/ckptfile/states.h"
#include "core/ckptfile/stored_tensor.h"

namespace stagewright::ckptfile {

struct OptimizerEntry {                      // of one parameter
    std::optional<std::int64_t> step;
    std::optional<StoredTensor> expAvg, expAvgSq;
};

struct Contents {
    std::filesystem::path folder;
    std::optional<Manifest> manifest;        // only ours has one
    std::optional<Counters> counters;
    std::vector<StoredTensor> weights;       // names as stored
    std::vector<StoredTensor> ema, master;   // names without "module."
    bool emaIsFlat = false;                  // ema.pt: rank 0's flat piece of each tensor, whole only where the world size was 1
    std::map<std::int64_t, OptimizerEntry> optimizer;    // by parameter index
    std::optional<ParsedGroups> groups;
    std::optional<SchedulerState> scheduler;
    std::optional<SamplerState> sampler;
    std::optional<OwnState> own;
    std::vector<StoredTensor> extras;        // rng.* and gradient.*
    std::string configYaml;                  // empty where there is none
    bool isLora = false;
    Problems problems;                       // Error: a part that is there and cannot be used; Warning: a part that is not there

    bool isWhole() const { return !hasErrors(problems); }
};

// Everything that training computes with: weights, EMA, masters, both moments. Valid as long as contents is.
std::vector<const StoredTensor *> valuesOf(const Contents &contents);
// The weights are fp32 ones, from which masters are rebuilt without loss.
bool hasExactWeights(const Contents &contents);

// Error: the folder cannot be read, or is no checkpoint at all. What is wrong with single parts is in problems.
Result<Contents> openCheckpoint(const std::filesystem::path &folder);

} // namespace stagewright::ckptfile
