// What a pasted training command of another project stands for here: `torchrun … scripts/diffusion/train.py CONFIG …`,
// `colossalai run …`, `accelerate launch … train_t2v_diffusers.py …`. Nothing is executed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::config {

struct FlagNote {
    std::string flag;                      // as typed: "--gradient_checkpointing"
    std::string became;                    // "grad_checkpoint=True", or why it has no counterpart
    bool applied = false;
};

struct LaunchSettings {
    int nproc = 1, nodes = 1, nodeRank = 0;
    std::string masterAddress, hostFile;
    int masterPort = 0;                    // 0: not given
    std::vector<std::pair<std::string, std::string>> environment;   // NAME=VALUE in front of the command
};

struct FromCommand {
    std::optional<std::filesystem::path> config;   // Open-Sora's positional; nothing for projects that have only flags
    std::vector<Override> overrides;
    LaunchSettings launch;
    std::vector<FlagNote> notes;           // one a flag, in order
    std::string program;                   // "opensora" or "opensora-plan"
};

// Splits as a POSIX shell does (quotes, backslashes, line continuations, comments); variables and pipes are refused by name. `folder` is where
// the files that the command names are looked up (accelerate's and DeepSpeed's JSON or YAML); a missing one is a note, not an error.
Result<FromCommand> fromCommand(const std::string &commandLine, const std::filesystem::path &folder = {});

} // namespace stagewright::config
