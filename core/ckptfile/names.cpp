#include <array>

#include "core/ckptfile/inspect.h"

namespace stagewright::ckptfile {

const char *kindName(PathKind kind)
{
    static constexpr std::array<const char *, 7> names{"checkpoint", "run", "safetensors", "torch-archive", "shards", "lora", "unknown"};
    return names[static_cast<std::size_t>(kind)];
}

const char *badgeName(Badge badge)
{
    static constexpr std::array<const char *, 7> names{"verified", "complete", "unverified", "foreign", "incomplete", "truncated", "damaged"};
    return names[static_cast<std::size_t>(badge)];
}

const char *stateName(FileState state)
{
    static constexpr std::array<const char *, 6> names{"good", "missing", "truncated", "too-long", "damaged", "foreign"};
    return names[static_cast<std::size_t>(state)];
}

} // namespace stagewright::ckptfile
