// Where things of ours live on a user's machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stagewright {

std::filesystem::path expandUser(std::string_view path);       // a leading "~" becomes the home folder
std::filesystem::path executableFolder();                      // where the running program lies: its siblings are our other programs
std::filesystem::path resourcesFolder();                       // resources/ of the installation or of the source tree
std::filesystem::path configsFolder();                         // configs/, our ready stages and presets
std::filesystem::path runtimeFolder();                         // sockets: $XDG_RUNTIME_DIR/stagewright or /tmp/stagewright-UID, mode 0700, created
std::filesystem::path stateFolder();                           // remembered between starts: $XDG_STATE_HOME/stagewright, created
std::filesystem::path cacheFolder();                           // may be deleted at any time: $XDG_CACHE_HOME/stagewright, created

} // namespace stagewright
