// Presets: small YAML files in configs/presets that set a few options for a class of hardware or a purpose. A layer between file and
// command line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::config {

struct Preset {
    std::string id;                        // the file's name without extension: "vram-24"
    std::string titleEn, titleZh;
    std::string helpEn, helpZh;
    double vramGiB = 0;                    // the class of device it is meant for; 0: any
    Dict values;                           // what it sets, nested as a stage is
    std::filesystem::path file;
};

// All presets, by VRAM, then id. A file that cannot be read is left out and told in problems.
std::vector<Preset> presets(Problems *problems = nullptr);
Result<Preset> findPreset(std::string_view id);        // the error lists the presets there are

// Merges the preset's values over the stage's key by key; a table (bucket_config, condition_config) is replaced whole.
Problems applyPreset(Stage &stage, const Preset &preset);

} // namespace stagewright::config
