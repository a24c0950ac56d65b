#include "ui/session/device_info.h"

#include <QThread>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/base/host.h"
#include "core/client/client.h"

namespace stagewright::session {

using nlohmann::json;

DeviceInfo::DeviceInfo(QObject *parent) : QObject(parent)
{
    m_device.name = tr("CPU · %1 threads").arg(QThread::idealThreadCount());
    m_device.totalBytes = hostTotalBytes();
}

// The first GPU of the probe's answer, where there is one.
static std::optional<Device> firstGpu(const std::string &text)
{
    const json answer = json::parse(text, nullptr, false);
    if (!answer.is_object() || !answer.contains("devices") || !answer["devices"].is_array())
        return std::nullopt;
    for (const auto &entry : answer["devices"]) {
        if (!entry.is_object() || !entry.value("available", false) || entry.value("device", std::string()).rfind("cuda", 0) != 0)
            continue;
        Device device;
        device.name = QString::fromStdString(entry.value("name", std::string("GPU")));
        device.totalBytes = entry.value("total_bytes", std::int64_t(0));
        device.isGpu = true;
        return device;
    }
    return std::nullopt;
}

void DeviceInfo::probe()
{
    m_job.start(this, [] { return client::probeDevices(std::chrono::seconds(20)); }, [this](Result<std::string> answer) {
        if (!answer)
            return;
        if (auto gpu = firstGpu(*answer)) {
            m_device = *gpu;
            Q_EMIT changed();
        }
    });
}

} // namespace stagewright::session
