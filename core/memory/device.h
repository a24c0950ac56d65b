// Which device a run trains on, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"

namespace stagewright::memory {

struct DeviceChoice {
    torch::Device device = torch::kCPU;
    std::string reason;                // one sentence: "no NVIDIA GPU was found (…), so the CPU"
    std::string name;                  // "AMD EPYC", "NVIDIA H100 80GB HBM3"
    std::int64_t totalBytes = 0;       // memory of the device; RAM (or the container's limit) for the CPU
};

// The stage's `device`: auto, cpu, cuda, cuda:N. `auto` and `cuda` take GPU number localRank (env LOCAL_RANK of the launcher). Loads the
// device module when a GPU may be meant. Error (Usage): not a device, or a GPU is asked for and none is there, with the reason.
Result<DeviceChoice> chooseDevice(std::string_view option, int localRank = 0);

struct DeviceInfo {
    int index = 0;
    std::string name;
    std::int64_t totalBytes = 0;
};

std::string cpuName();

// The device whose operators a tensor's computation stands for: its own, or for meta tensors the one that setMetaStandsFor() names
// (per thread; the CPU unless set). Planning sets it, so that the step on meta takes the same operators as on the real device.
torch::DeviceType operatorDevice(const torch::Tensor &tensor);
void setMetaStandsFor(torch::DeviceType type);

} // namespace stagewright::memory
