#include "core/train/python_random.h"

#include <algorithm>
#include <cstring>

namespace stagewright::train {

// init_by_array of the reference implementation (Matsumoto and Nishimura, 2002), keyed by the seed's 32-bit words, as CPython does.
PythonRandom::PythonRandom(std::uint64_t seed)
{
    const std::array<std::uint32_t, 2> key{std::uint32_t(seed), std::uint32_t(seed >> 32)};
    const std::size_t length = key[1] ? 2 : 1, n = m_words.size();
    m_words[0] = 19650218u;
    for (std::size_t i = 1; i < n; ++i)
        m_words[i] = 1812433253u * (m_words[i - 1] ^ (m_words[i - 1] >> 30)) + std::uint32_t(i);
    std::size_t i = 1, j = 0;
    for (std::size_t k = std::max(n, length); k; --k) {
        m_words[i] = (m_words[i] ^ ((m_words[i - 1] ^ (m_words[i - 1] >> 30)) * 1664525u)) + key[j] + std::uint32_t(j);
        if (++i >= n) {
            m_words[0] = m_words[n - 1];
            i = 1;
        }
        if (++j >= length)
            j = 0;
    }
    for (std::size_t k = n - 1; k; --k) {
        m_words[i] = (m_words[i] ^ ((m_words[i - 1] ^ (m_words[i - 1] >> 30)) * 1566083941u)) - std::uint32_t(i);
        if (++i >= n) {
            m_words[0] = m_words[n - 1];
            i = 1;
        }
    }
    m_words[0] = 0x80000000u;
}

std::uint32_t PythonRandom::next()
{
    constexpr std::size_t n = 624, m = 397;
    if (m_index >= n) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t y = (m_words[k] & 0x80000000u) | (m_words[(k + 1) % n] & 0x7fffffffu);
            m_words[k] = m_words[(k + m) % n] ^ (y >> 1) ^ ((y & 1u) ? 0x9908b0dfu : 0u);
        }
        m_index = 0;
    }
    std::uint32_t y = m_words[m_index++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double PythonRandom::uniform()
{
    const std::uint32_t a = next() >> 5, b = next() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

std::string PythonRandom::state() const
{
    std::string bytes(sizeof(m_words) + sizeof(m_index), '\0');
    std::memcpy(bytes.data(), m_words.data(), sizeof(m_words));
    std::memcpy(bytes.data() + sizeof(m_words), &m_index, sizeof(m_index));
    return bytes;
}

bool PythonRandom::setState(const std::string &bytes)
{
    if (bytes.size() != sizeof(m_words) + sizeof(m_index))
        return false;
    std::uint32_t index = 0;
    std::memcpy(&index, bytes.data() + sizeof(m_words), sizeof(index));
    if (index > m_words.size())
        return false;
    std::memcpy(m_words.data(), bytes.data(), sizeof(m_words));
    m_index = index;
    return true;
}

} // namespace stagewright::train
