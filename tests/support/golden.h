// Where the golden data lies: tensors, tables and checkpoints made by running the original projects.
// STAGEWRIGHT_GOLDEN_DIR points the tests at another folder of the same layout: either one that holds "opensora", or opensora's own content.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace stagewright::support {

// The folder of one part ("mmdit", "config", …) of Open-Sora's golden data; empty where it does not exist.
std::filesystem::path goldenFolder(const std::string &part);

// Files of a part that match a glob ("*.json"), sorted; a test that gets none must fail.
std::vector<std::filesystem::path> goldenFiles(const std::string &part, const std::string &pattern);

nlohmann::json readJson(const std::filesystem::path &path);        // aborts the test program with a sentence when it cannot be read

} // namespace stagewright::support
