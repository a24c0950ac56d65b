// The devices that a stage can be planned for without having them: one table, read by command line, window and planner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::config {

// A GPU as its driver and its data sheet describe it.
struct KnownDevice {
    std::string_view name;             // "NVIDIA H100 80GB"
    std::vector<std::string_view> aliases;     // what people type, lower case without blanks and dashes
    double totalGiB = 0;               // what the driver reports
    double contextMiB = 0;             // context, kernels and libraries before the first tensor; a usual value, it differs by driver
    double halfTeraflops = 0;          // dense bf16 (fp16 where there is no bf16) with fp32 sums
    double singleTeraflops = 0;        // fp32, TF32 off
    double memoryGBs = 0, linkGBs = 0; // own memory; to the host, one way
};

const std::vector<KnownDevice> &knownDevices();        // in the order of a list to choose from

// A device to plan for.
struct TargetDevice {
    std::string name;
    bool isCpu = false;
    std::int64_t totalBytes = 0;
    std::int64_t contextBytes = 0;
    double halfFlops = 0, singleFlops = 0;             // a second
    double memoryRate = 0, linkRate = 0;               // bytes a second
};

// A name of the table (blanks, dashes, case and "NVIDIA" don't matter), "cpu" for this machine's memory, or a size ("24", "24 GiB": a GPU of that much
// memory). Error (Usage): neither, with the nearest name.
Result<TargetDevice> targetDevice(std::string_view text);
TargetDevice cpuDevice();
// A GPU that is really here, by its reported name and size: rates are those of the table where the name is known, else of its class.
TargetDevice presentDevice(const std::string &name, std::int64_t totalBytes);

} // namespace stagewright::config
