// stagewright/state.json: the numbers for which the original has no place. Its tensors (random streams as bytes, accumulated gradients) lie in
// stagewright/state.safetensors under "rng.NAME" and "gradient.NAME".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/ckptfile/states.h"

namespace stagewright::ckptfile {

inline constexpr std::string_view kRandomPrefix = "rng.";
inline constexpr std::string_view kGradientPrefix = "gradient.";

struct OwnState {
    std::string run;
    std::string dtype;
    int worldSize = 1;
    std::string datasetFingerprint;
    std::int64_t skippedUpdates = 0;
    std::int64_t collectedMicroSteps = 0;    // of a window that is not complete: gradient.* are its sums
    std::optional<DataPosition> position;
    std::optional<ScalerState> scaler;
};

std::string toJsonText(const OwnState &state);
Result<OwnState> parseOwnState(const std::string &text, const std::string &file);

} // namespace stagewright::ckptfile
