// The words in which memory is told about, everywhere: what a byte is for (kind) and what was going on (phase).
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace stagewright {

enum class MemoryKind { Parameter, Gradient, Optimizer, Ema, Activation, CheckpointedInput, Encoder, Workspace };
enum class Phase { Load, Data, Encode, Forward, Backward, Optimizer, Ema, Save, Idle };
enum class HostKind { PinnedActivations, DataCache, CheckpointStaging, Other };

inline constexpr std::array<std::string_view, 8> kMemoryKindNames{
    "parameter", "gradient", "optimizer", "ema", "activation", "checkpointed_input", "encoder", "workspace"};
inline constexpr std::array<std::string_view, 9> kPhaseNames{
    "load", "data", "encode", "forward", "backward", "optimizer", "ema", "save", "idle"};
inline constexpr std::array<std::string_view, 4> kHostKindNames{"pinned_activations", "data_cache", "checkpoint_staging", "other"};

// How people see the kinds, the same everywhere: English title and colour (Okabe–Ito, safe for colour-blind eyes), by MemoryKind.
inline constexpr std::array<std::string_view, 8> kMemoryKindTitles{
    "Weights", "Gradients", "Optimizer", "EMA", "Activations", "Checkpointed inputs", "Encoders", "Workspace"};
inline constexpr std::array<std::string_view, 8> kMemoryKindColours{
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6BB1", "#9AA0A6"};

inline constexpr std::string_view nameOf(MemoryKind kind) { return kMemoryKindNames[static_cast<std::size_t>(kind)]; }
inline constexpr std::string_view nameOf(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }
inline constexpr std::string_view nameOf(HostKind kind) { return kHostKindNames[static_cast<std::size_t>(kind)]; }

} // namespace stagewright
