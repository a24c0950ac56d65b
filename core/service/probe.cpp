#include "core/base/host.h"
#include "core/memory/device.h"
#include "core/memory/device_module.h"
#include "core/service/worker.h"

namespace stagewright::service {

namespace {

nlohmann::json described(const std::string &device, const std::string &name, std::int64_t totalBytes, const std::string &reason)
{
    return {{"device", device}, {"name", name}, {"total_bytes", totalBytes}, {"available", reason.empty()}, {"reason", reason}};
}

} // namespace

std::string probe()
{
    auto devices = nlohmann::json::array();
    devices.push_back(described("cpu", memory::cpuName(), hostTotalBytes(), {}));
    int count = 0;
    if (auto module = memory::loadDeviceModule(); !module) {
        devices.push_back(described("cuda", "", 0, module.error().message()));
    } else if ((*module)->deviceCount(&count) != 0) {
        devices.push_back(described("cuda", "", 0, (*module)->lastError()));
    } else {
        for (int index = 0; index < count; ++index) {
            memory::DeviceModuleDevice device{};
            const bool known = (*module)->describe(index, &device) == 0;
            devices.push_back(described("cuda:" + std::to_string(index), known ? device.name : "", known ? device.totalBytes : 0,
                                        known ? std::string() : (*module)->lastError()));
        }
    }
    nlohmann::json answer{{"devices", std::move(devices)}};
    if (auto choice = memory::chooseDevice("auto")) {
        answer["auto"] = choice->device.str();
        answer["auto_reason"] = choice->reason;
    } else {
        answer["auto"] = nullptr;
        answer["auto_reason"] = choice.error().message();
    }
    return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace stagewright::service
