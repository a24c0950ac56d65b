#include "core/memory/device_module.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include <dlfcn.h>

#include "core/base/paths.h"

namespace stagewright::memory {

namespace {

constexpr const char *kFileName = "libstagewright-cuda.so";

Error none(std::string sentence) { return Error(ExitCode::Usage, "env.no-gpu", std::move(sentence)); }

std::vector<std::filesystem::path> candidates()
{
    if (const char *named = std::getenv("STAGEWRIGHT_DEVICE_MODULE"); named && *named)
        return {named};
    const std::filesystem::path folder = executableFolder();
    return {folder / kFileName, folder.parent_path() / "bin" / kFileName, folder.parent_path() / "lib" / kFileName};
}

Result<const DeviceModule *> load()
{
    if (!dlopen("libcuda.so.1", RTLD_NOW))
        return none("no NVIDIA driver on this machine (libcuda.so.1 is not there)");
    std::filesystem::path found;
    for (const std::filesystem::path &path : candidates()) {
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) {
            found = path;
            break;
        }
    }
    if (found.empty())
        return none(std::string("an NVIDIA driver is there, but the device module ") + kFileName + " is not beside the program: build it where the CUDA wheels are installed");
    void *library = dlopen(found.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return none("the device module " + found.string() + " cannot be loaded: " + dlerror());
    auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(library, kDeviceModuleEntry));
    if (!entry)
        return none("the device module " + found.string() + " has no entry point");
    const DeviceModule *module = entry();
    if (module->version != kDeviceModuleVersion) {
        return none("the device module " + found.string() + " is of version " + std::to_string(module->version) + ", this program needs "
                    + std::to_string(kDeviceModuleVersion) + ": build both from the same sources");
    }
    int count = 0;
    if (module->deviceCount(&count) != 0)
        return none(std::string("the NVIDIA driver answers no devices: ") + module->lastError());
    if (count == 0)
        return none("no NVIDIA GPU is visible to this process");
    return module;
}

} // namespace

Result<const DeviceModule *> loadDeviceModule()
{
    static std::mutex mutex;
    static std::optional<Result<const DeviceModule *>> answer;
    std::lock_guard lock(mutex);
    if (!answer)
        answer = load();
    return *answer;
}

} // namespace stagewright::memory
