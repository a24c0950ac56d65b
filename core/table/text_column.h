// Many short texts, stored end to end; beyond a limit they lie in a mapped temporary file instead of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::table {

// Filled by one thread, then read by any number of threads. Move-only.
class TextColumn
{
public:
    static constexpr std::int64_t kMemoryLimit = std::int64_t(256) << 20;      // bytes

    explicit TextColumn(std::int64_t memoryLimit = kMemoryLimit);
    ~TextColumn();
    TextColumn(TextColumn &&) noexcept;
    TextColumn &operator=(TextColumn &&) noexcept;

    Status append(std::string_view text);              // an error only where the temporary file cannot grow
    Status finish();                                   // after the last append; at() is valid from here on
    std::int64_t size() const { return static_cast<std::int64_t>(m_ends.size()); }
    std::string_view at(std::int64_t row) const
    {
        const std::uint64_t begin = row == 0 ? 0 : m_ends[row - 1];
        return {m_data + begin, static_cast<std::size_t>(m_ends[row] - begin)};
    }
    bool isSpilled() const { return m_spill != nullptr; }

private:
    struct Spill;
    Status spill();

    std::int64_t m_limit;
    std::string m_memory;                              // everything, or what is not yet written to the spill file
    std::vector<std::uint64_t> m_ends;
    const char *m_data = nullptr;
    std::unique_ptr<Spill> m_spill;
};

} // namespace stagewright::table
