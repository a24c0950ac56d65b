// The version of this program, as CMakeLists.txt says it.
#pragma once

namespace stagewright {

const char *programVersion();                      // "0.1.0"

} // namespace stagewright
