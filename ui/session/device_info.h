// The devices of this machine, asked of the worker's probe on another thread; the window itself never touches a GPU.
#pragma once

#include <QObject>
#include <cstdint>

#include "ui/session/job.h"

namespace stagewright::session {

struct Device {
    QString name;                          // "NVIDIA RTX 4090", "CPU · 8 threads"
    std::int64_t totalBytes = 0;           // of the device; RAM for the CPU
    bool isGpu = false;
};

class DeviceInfo : public QObject
{
    Q_OBJECT
public:
    explicit DeviceInfo(QObject *parent = nullptr);
    const Device &device() const { return m_device; }      // the CPU until the probe has answered
    void probe();

Q_SIGNALS:
    void changed();

private:
    Device m_device;
    Job m_job;
};

} // namespace stagewright::session
