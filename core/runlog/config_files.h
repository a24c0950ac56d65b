// The resolved config of a stage in the three forms that a run directory keeps.
#pragma once

#include "core/config/stage.h"
#include "core/runlog/run_directory.h"

namespace stagewright::runlog {

ConfigFiles configFilesOf(const config::Stage &stage);
std::string configHash(const std::string &yaml);           // XXH3-64 of the text, 16 hexadecimal digits

// {outputs}/{exp_name, or the default name}: what the stage says about its run folder, made on the disk.
Result<std::filesystem::path> createRunFolderFor(const config::Stage &stage, double wallSeconds);

} // namespace stagewright::runlog
