#include "core/memory/device.h"

#include <charconv>
#include <fstream>
#include <thread>

#include "core/base/host.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/memory/device_module.h"

namespace stagewright::memory {

static thread_local torch::DeviceType t_metaStandsFor = torch::kCPU;

torch::DeviceType operatorDevice(const torch::Tensor &tensor) { return tensor.is_meta() ? t_metaStandsFor : tensor.device().type(); }
void setMetaStandsFor(torch::DeviceType type) { t_metaStandsFor = type; }

std::string cpuName()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name"))
            return std::string(trimmed(std::string_view(line).substr(line.find(':') + 1)));
    }
    return "CPU";
}

static DeviceChoice cpu(std::string reason) { return {torch::kCPU, std::move(reason), cpuName(), hostTotalBytes()}; }

static Result<DeviceChoice> gpu(const DeviceModule &module, int index, const std::string &why)
{
    int count = 0;
    if (module.deviceCount(&count) != 0)
        return Error(ExitCode::Usage, "env.no-gpu", std::string("the NVIDIA driver answers no devices: ") + module.lastError());
    if (index < 0 || index >= count) {
        return Error(ExitCode::Usage, "env.no-gpu", fmt::format("GPU number {} is asked for, but this machine shows {} (numbered from 0): choose device cuda:0 to cuda:{}, or start fewer ranks",
                                                                 index, count, count - 1));
    }
    DeviceModuleDevice description{};
    if (module.describe(index, &description) != 0)
        return Error(ExitCode::Usage, "env.no-gpu", fmt::format("GPU number {} does not answer: {}", index, module.lastError()));
    return DeviceChoice{torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(index)),
                        fmt::format("{} ({}, {})", why, description.name, formatBytes(static_cast<double>(description.totalBytes))), description.name, description.totalBytes};
}

// "cuda" or "cuda:N" to a number; nothing where the option is neither.
static std::optional<int> gpuNumber(std::string_view option, int localRank)
{
    if (option == "cuda")
        return localRank;
    if (!option.starts_with("cuda:"))
        return std::nullopt;
    int number = -1;
    const auto [end, error] = std::from_chars(option.data() + 5, option.data() + option.size(), number);
    if (error != std::errc() || end != option.data() + option.size() || number < 0)
        return std::nullopt;
    return number;
}

Result<DeviceChoice> chooseDevice(std::string_view option, int localRank)
{
    if (option == "cpu")
        return cpu("the CPU, as the stage's device asks for");
    if (option == "auto") {
        auto module = loadDeviceModule();
        if (!module)
            return cpu("the CPU, because there is no GPU to use: " + module.error().message());
        auto chosen = gpu(**module, localRank, "a GPU was found");
        // More ranks than GPUs is no reason to train one rank on the CPU.
        return chosen;
    }
    const std::optional<int> number = gpuNumber(option, localRank);
    if (!number) {
        return Error(ExitCode::Usage, "config.device", fmt::format("device is '{}', which is none of auto, cpu, cuda, cuda:N (N is the number of a GPU)", option));
    }
    auto module = loadDeviceModule();
    if (!module) {
        return Error(ExitCode::Usage, "env.no-gpu",
                     fmt::format("device is '{}', but there is no GPU to use: {}; set device to auto or cpu to train on the CPU", option, module.error().message()));
    }
    return gpu(**module, *number, fmt::format("the stage's device is {}", option));
}

} // namespace stagewright::memory
