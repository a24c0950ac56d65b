// How many parameters the model of a stage has. Formula: Open-Sora 2.0's MMDiT, summed over its layers.
#pragma once

#include <cstdint>
#include <optional>

#include "core/config/stage.h"

namespace stagewright::config {

// Nothing where a size is missing or not valid. Adapters (lora_config) are not counted.
std::optional<std::int64_t> parameterCount(const Stage &stage);

// Bytes of one checkpoint: weights in dtype, fp32 masters unless dtype is fp32, two fp32 moments, fp32 EMA where there is one.
std::optional<std::int64_t> checkpointBytes(const Stage &stage);

} // namespace stagewright::config
