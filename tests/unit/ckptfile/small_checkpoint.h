// Makes checkpoint folders of a few kilobytes without Torch: ours (with a manifest) or as the original would leave them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace stagewright::tests {

struct SmallCheckpoint {
    std::int64_t epoch = 0, step = 1;
    std::string run = "run-a";
    std::string configYaml;
    std::string fingerprint = "fp-1";
    float value = 1;                     // of every weight
    bool ours = true;
    bool verified = true;
    bool ema = false, master = true;
    int worldSize = 1;
    std::int64_t hidden = 4;             // img_in.weight is [hidden, 3]
    bool index = true;
};

// Writes it below `run` under its proper name; returns the folder.
std::filesystem::path writeSmallCheckpoint(const std::filesystem::path &run, const SmallCheckpoint &what);

void cut(const std::filesystem::path &file, std::int64_t bytes);         // shortens a file to so many bytes
void flipByte(const std::filesystem::path &file, std::int64_t offset);
void flipUnseen(const std::filesystem::path &file);       // damage that neither size nor time shows; done twice, it is undone

} // namespace stagewright::tests
