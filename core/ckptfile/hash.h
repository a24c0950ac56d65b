// XXH3-128 in pieces, and CRC-32 for zip archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stagewright::ckptfile {

class Hasher
{
public:
    Hasher();
    ~Hasher();
    Hasher(Hasher &&) noexcept;
    Hasher &operator=(Hasher &&) noexcept;
    void add(const void *data, std::size_t bytes);
    std::string hex() const;                                     // 32 digits, of everything added so far

private:
    class State;
    std::unique_ptr<State> m_state;
};

std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);       // before: of the bytes in front

} // namespace stagewright::ckptfile
