#include "core/config/known_devices.h"

#include <charconv>
#include <cmath>
#include <thread>

#include "core/base/host.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace stagewright::config {

const std::vector<KnownDevice> &knownDevices()
{
    static const std::vector<KnownDevice> devices = {
        {"NVIDIA GeForce RTX 3060 12GB", {"rtx3060", "3060"}, 11.76, 350, 51, 12.7, 360, 24},
        {"NVIDIA GeForce RTX 3090", {"rtx3090", "3090"}, 23.69, 380, 71, 35.6, 936, 24},
        {"NVIDIA GeForce RTX 4070 Ti", {"rtx4070ti", "4070ti"}, 11.72, 400, 80, 40, 504, 24},
        {"NVIDIA GeForce RTX 4080", {"rtx4080", "4080"}, 15.70, 420, 97, 48.7, 717, 24},
        {"NVIDIA GeForce RTX 4090", {"rtx4090", "4090"}, 23.65, 450, 165, 82.6, 1008, 24},
        {"NVIDIA GeForce RTX 5080", {"rtx5080", "5080"}, 15.47, 480, 113, 56, 960, 48},
        {"NVIDIA GeForce RTX 5090", {"rtx5090", "5090"}, 31.36, 520, 209, 104.8, 1792, 48},
        {"NVIDIA T4", {"t4", "teslat4"}, 14.56, 300, 65, 8.1, 320, 12},
        {"NVIDIA V100 16GB", {"v10016gb", "v10016"}, 15.77, 400, 112, 14, 900, 12},
        {"NVIDIA V100 32GB", {"v10032gb", "v10032", "v100"}, 31.74, 400, 112, 14, 900, 12},
        {"NVIDIA A10G", {"a10g", "a10"}, 22.06, 400, 125, 31.2, 600, 24},
        {"NVIDIA L4", {"l4"}, 22.03, 430, 121, 30.3, 300, 24},
        {"NVIDIA A40", {"a40"}, 44.43, 420, 150, 37.4, 696, 24},
        {"NVIDIA RTX A6000", {"rtxa6000", "a6000"}, 47.43, 420, 155, 38.7, 768, 24},
        {"NVIDIA RTX 6000 Ada", {"rtx6000ada", "6000ada"}, 47.37, 460, 364, 91.1, 960, 24},
        {"NVIDIA L40S", {"l40s", "l40"}, 44.39, 460, 362, 91.6, 864, 24},
        {"NVIDIA A100 40GB", {"a10040gb", "a10040"}, 39.39, 450, 312, 19.5, 1555, 24},
        {"NVIDIA A100 80GB", {"a10080gb", "a10080", "a100"}, 79.15, 450, 312, 19.5, 2039, 24},
        {"NVIDIA H800 80GB", {"h80080gb", "h800"}, 79.10, 520, 989, 67, 3350, 55},
        {"NVIDIA H100 80GB", {"h10080gb", "h10080", "h100", "h10080gbhbm3"}, 79.10, 520, 989, 67, 3350, 55},
        {"NVIDIA H100 NVL", {"h100nvl"}, 93.11, 520, 835, 60, 3900, 55},
        {"NVIDIA H20", {"h20"}, 95.10, 520, 148, 44, 4000, 55},
        {"NVIDIA H200", {"h200", "h200141gb", "h200141"}, 139.80, 520, 989, 67, 4800, 55},
        {"NVIDIA B200", {"b200"}, 178.35, 600, 2250, 80, 8000, 55},
    };
    return devices;
}

namespace {

std::string plainName(std::string_view text)
{
    std::string plain;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    for (const std::string_view word : {"nvidia", "geforce", "tesla", "sxm4", "sxm5", "sxm", "pcie"}) {
        if (const auto at = plain.find(word); at != std::string::npos && plain.size() > word.size())
            plain.erase(at, word.size());
    }
    return plain;
}

const KnownDevice *named(std::string_view text)
{
    const std::string plain = plainName(text);
    for (const KnownDevice &device : knownDevices()) {
        if (plain == plainName(device.name))
            return &device;
        for (const auto alias : device.aliases) {
            if (plain == alias)
                return &device;
        }
    }
    return nullptr;
}

TargetDevice described(const KnownDevice &device)
{
    return {std::string(device.name), false, static_cast<std::int64_t>(device.totalGiB * kGiB), static_cast<std::int64_t>(device.contextMiB * 1024 * 1024),
            device.halfTeraflops * 1e12, device.singleTeraflops * 1e12, device.memoryGBs * 1e9, device.linkGBs * 1e9};
}

// A GPU of which only the memory is known: context and rates of the table's nearest in size.
TargetDevice ofSize(std::int64_t bytes)
{
    const KnownDevice *nearest = nullptr;
    const auto distance = [&](const KnownDevice &device) { return std::abs(device.totalGiB * kGiB - static_cast<double>(bytes)); };
    for (const KnownDevice &device : knownDevices()) {
        if (!nearest || distance(device) < distance(*nearest))
            nearest = &device;
    }
    TargetDevice target = described(*nearest);
    target.name = "a GPU of " + formatBytes(static_cast<double>(bytes));
    target.totalBytes = bytes;
    return target;
}

std::optional<std::int64_t> sizeOf(std::string_view text)
{
    double gibibytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gibibytes);
    if (error == std::errc() && end == text.data() + text.size())
        return gibibytes > 0 && gibibytes < 1e6 ? std::optional(static_cast<std::int64_t>(gibibytes * kGiB)) : std::nullopt;
    const auto bytes = parseBytes(text);
    return bytes && *bytes > 0 ? bytes : std::nullopt;
}

} // namespace

TargetDevice cpuDevice()
{
    constexpr double kFlopsOfThread = 90e9, kMemoryRate = 12e9;        // of a usual server core; corrected by measured steps
    const double threads = std::max(1u, std::thread::hardware_concurrency());
    return {"this machine's CPU", true, hostTotalBytes(), 0, kFlopsOfThread * threads, kFlopsOfThread * threads, kMemoryRate, kMemoryRate};
}

TargetDevice presentDevice(const std::string &name, std::int64_t totalBytes)
{
    const KnownDevice *known = named(name);
    TargetDevice target = known ? described(*known) : ofSize(totalBytes);
    target.name = name;
    target.totalBytes = totalBytes;
    return target;
}

Result<TargetDevice> targetDevice(std::string_view text)
{
    const std::string_view typed = trimmed(text);
    if (plainName(typed) == "cpu")
        return cpuDevice();
    if (const KnownDevice *device = named(typed))
        return described(*device);
    if (const auto bytes = sizeOf(typed))
        return ofSize(*bytes);
    std::vector<std::string> names;
    for (const KnownDevice &device : knownDevices())
        names.push_back(std::string(device.aliases.front()));
    const auto nearest = nearestOf(plainName(typed), names);
    return Error(ExitCode::Usage, "config.unknown-device", "there is no device \"" + std::string(typed) + "\" to plan for" + (nearest ? "; did you mean " + *nearest + "?" : ".") +
                 " Give a name (" + joined(names, ", ") + "), cpu, or the memory of a GPU in GiB");
}

} // namespace stagewright::config
