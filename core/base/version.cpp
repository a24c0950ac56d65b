#include "core/base/version.h"

namespace stagewright {

const char *programVersion() { return STAGEWRIGHT_VERSION; }

} // namespace stagewright
