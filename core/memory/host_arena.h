// A large piece of host memory of which only what is used exists: address space is reserved at once, pages come with the first touch.
#pragma once

#include <cstdint>

namespace stagewright::memory {

class HostArena
{
public:
    // Throws std::bad_alloc-like c10::Error with a sentence where the address space cannot be reserved.
    explicit HostArena(std::int64_t capacityBytes);
    ~HostArena();
    HostArena(const HostArena &) = delete;
    HostArena &operator=(const HostArena &) = delete;

    char *at(std::int64_t offset) { return m_base + offset; }
    std::int64_t capacity() const { return m_capacity; }
    // [0, end) is about to be written. Throws c10::Error when the machine has not that much memory left.
    void touch(std::int64_t end);
    std::int64_t touched() const { return m_touched; }     // whole pages

private:
    char *m_base = nullptr;
    std::int64_t m_capacity = 0;
    std::int64_t m_touched = 0;
};

} // namespace stagewright::memory
