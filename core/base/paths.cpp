#include "core/base/paths.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace stagewright {

namespace fs = std::filesystem;

namespace {

fs::path homeFolder()
{
    if (const char *home = std::getenv("HOME"); home && *home)
        return home;
    if (const passwd *entry = ::getpwuid(::getuid()); entry && entry->pw_dir)
        return entry->pw_dir;
    return "/";
}

fs::path created(const fs::path &folder, fs::perms permissions = fs::perms::owner_all)
{
    std::error_code ignored;
    if (fs::create_directories(folder, ignored))
        fs::permissions(folder, permissions, ignored);
    return folder;
}

fs::path underEnvironment(const char *variable, const char *homeRelative)
{
    const char *set = std::getenv(variable);
    return created((set && *set ? fs::path(set) : homeFolder() / homeRelative) / "stagewright");
}

// Programs lie in PREFIX/bin (installed, with PREFIX/share/stagewright) or in build/PRESET/bin of a clone.
fs::path sharedFolder(const char *name)
{
    if (const char *set = std::getenv("STAGEWRIGHT_SHARE"); set && *set)
        return fs::path(set) / name;
    const fs::path bin = executableFolder();
    std::error_code ignored;
    for (const fs::path &candidate : {bin / "../share/stagewright" / name, bin / "../../.." / name, bin / "../.." / name}) {
        if (fs::is_directory(candidate, ignored))
            return fs::weakly_canonical(candidate, ignored);
    }
#ifdef STAGEWRIGHT_SOURCE_FOLDER
    return fs::path(STAGEWRIGHT_SOURCE_FOLDER) / name;
#else
    return bin / name;
#endif
}

} // namespace

fs::path expandUser(std::string_view path)
{
    if (path == "~")
        return homeFolder();
    if (path.substr(0, 2) == "~/")
        return homeFolder() / path.substr(2);
    return fs::path(path);
}

fs::path executableFolder()
{
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path resourcesFolder() { return sharedFolder("resources"); }
fs::path configsFolder() { return sharedFolder("configs"); }

fs::path runtimeFolder()
{
    if (const char *set = std::getenv("XDG_RUNTIME_DIR"); set && *set && ::access(set, W_OK) == 0)
        return created(fs::path(set) / "stagewright");
    return created("/tmp/stagewright-" + std::to_string(::getuid()));
}

fs::path stateFolder() { return underEnvironment("XDG_STATE_HOME", ".local/state"); }
fs::path cacheFolder() { return underEnvironment("XDG_CACHE_HOME", ".cache"); }

} // namespace stagewright
