// The demo: the synthetic dataset together with the stage that trains on it.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/base/result.h"

namespace stagewright::demo {

struct DemoStage {
    std::filesystem::path stage;                   // FOLDER/demo.yaml
    std::vector<std::filesystem::path> files;      // everything that was written, the stage last
};

// Where the window and packaging/run keep their demo: $STAGEWRIGHT_DEMO or $XDG_DATA_HOME/stagewright/demo.
std::filesystem::path defaultDemoFolder();

// Makes the dataset (media::makeDemo) and writes demo.yaml beside it: the ready stage of configs/ with dataset.data_path pointing, absolutely,
// at the table. A demo.yaml that exists is kept (a user may have edited it). Takes seconds: never call it on a GUI thread.
Result<DemoStage> makeDemoStage(const std::filesystem::path &folder, const std::function<void(int done, int total)> &progress = {});

} // namespace stagewright::demo
