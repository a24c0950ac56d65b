#include "core/table/random.h"

#include <cassert>
#include <numeric>

namespace stagewright::table {

namespace {

using namespace numpy;

using Pool = std::array<std::uint32_t, kPool>;

Pool mixEntropy(std::span<const std::uint32_t> words)
{
    std::uint32_t constant = kInitA;
    const auto hash = [&constant](std::uint32_t value) {
        value ^= constant;
        constant *= kMultA;
        value *= constant;
        return value ^ (value >> 16);
    };
    const auto mix = [](std::uint32_t x, std::uint32_t y) {
        const std::uint32_t result = kMixLeft * x - kMixRight * y;
        return result ^ (result >> 16);
    };
    Pool pool{};
    for (std::size_t i = 0; i < kPool; ++i)
        pool[i] = hash(i < words.size() ? words[i] : 0);
    for (std::size_t from = 0; from < kPool; ++from) {
        for (std::size_t to = 0; to < kPool; ++to) {
            if (from != to)
                pool[to] = mix(pool[to], hash(pool[from]));
        }
    }
    for (std::size_t i = kPool; i < words.size(); ++i) {
        for (std::size_t to = 0; to < kPool; ++to)
            pool[to] = mix(pool[to], hash(words[i]));
    }
    return pool;
}

std::array<std::uint64_t, 4> generateState(const Pool &pool)
{
    std::array<std::uint32_t, 8> words{};
    std::uint32_t constant = kInitB;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::uint32_t value = pool[i % kPool] ^ constant;
        constant *= kMultB;
        value *= constant;
        words[i] = value ^ (value >> 16);
    }
    std::array<std::uint64_t, 4> state{};
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i] = words[2 * i] | (static_cast<std::uint64_t>(words[2 * i + 1]) << 32);
    return state;
}

// At least one word, as numpy splits a whole number.
void appendWords(std::vector<std::uint32_t> &words, std::uint64_t number)
{
    words.push_back(static_cast<std::uint32_t>(number));
    if (number >> 32)
        words.push_back(static_cast<std::uint32_t>(number >> 32));
}

} // namespace

Pcg64::Pcg64(std::uint64_t seed)
{
    const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    seedFrom(std::span(words).first(words[1] ? 2 : 1));
}

Pcg64::Pcg64(std::span<const std::uint64_t> entropy)
{
    std::vector<std::uint32_t> words;
    for (const std::uint64_t number : entropy)
        appendWords(words, number);
    seedFrom(words);
}

void Pcg64::seedFrom(std::span<const std::uint32_t> words)
{
    const auto state = generateState(mixEntropy(words));
    m_increment = (wide(state[2], state[3]) << 1) | 1;
    m_state = m_increment;                             // one step from 0
    m_state += wide(state[0], state[1]);
    m_state = m_state * kPcgMultiplier + m_increment;
}

std::uint64_t Pcg64::next()
{
    m_state = m_state * kPcgMultiplier + m_increment;
    return pcgOutput(m_state);
}

std::int64_t Pcg64::between(std::int64_t low, std::int64_t high)
{
    assert(low <= high);
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    if (range == 0)
        return static_cast<std::int64_t>(next());
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % range;
    std::uint64_t draw = next();
    while (draw >= limit)
        draw = next();
    return low + static_cast<std::int64_t>(draw % range);
}

Mt19937::Mt19937(std::uint32_t seed)
{
    m_state[0] = seed;
    for (std::uint32_t i = 1; i < m_state.size(); ++i)
        m_state[i] = 1812433253U * (m_state[i - 1] ^ (m_state[i - 1] >> 30)) + i;
}

Mt19937::Mt19937(std::span<const std::uint32_t> key) : Mt19937(19650218U)
{
    constexpr std::uint32_t n = 624;
    std::uint32_t i = 1, j = 0;
    const auto length = static_cast<std::uint32_t>(key.size());
    const auto mixed = [this](std::uint32_t at, std::uint32_t factor) {
        return m_state[at] ^ ((m_state[at - 1] ^ (m_state[at - 1] >> 30)) * factor);
    };
    const auto advance = [&] {
        if (++i >= n) {
            m_state[0] = m_state[n - 1];
            i = 1;
        }
    };
    for (std::uint32_t k = std::max(n, length); k > 0; --k) {
        m_state[i] = mixed(i, 1664525U) + key[j] + j;
        advance();
        if (++j >= length)
            j = 0;
    }
    for (std::uint32_t k = n - 1; k > 0; --k) {
        m_state[i] = mixed(i, 1566083941U) - i;
        advance();
    }
    m_state[0] = 0x80000000U;
}

void Mt19937::refill()
{
    constexpr int n = 624, m = 397;
    for (int i = 0; i < n; ++i) {
        const std::uint32_t y = (m_state[i] & 0x80000000U) | (m_state[(i + 1) % n] & 0x7fffffffU);
        m_state[i] = m_state[(i + m) % n] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfU : 0U);
    }
    m_at = 0;
}

std::uint32_t Mt19937::next()
{
    if (m_at == 624)
        refill();
    std::uint32_t y = m_state[m_at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

std::vector<std::int32_t> TorchPermuter::permutation(std::int64_t n)
{
    assert(n < (std::int64_t(1) << 32) / 20);
    std::vector<std::int32_t> result(n);
    std::iota(result.begin(), result.end(), 0);
    for (std::int64_t i = 0; i + 1 < n; ++i)
        std::swap(result[i], result[i + m_generator.next() % static_cast<std::uint32_t>(n - i)]);
    return result;
}

void TorchPermuter::skip(std::int64_t n)
{
    for (std::int64_t i = 0; i + 1 < n; ++i)
        m_generator.next();
}

namespace {

// The absolute value's 32-bit words, little end first, at least one: what Python hands to init_by_array.
std::vector<std::uint32_t> pythonKey(std::int64_t seed)
{
    std::vector<std::uint32_t> words;
    appendWords(words, seed < 0 ? 0 - static_cast<std::uint64_t>(seed) : static_cast<std::uint64_t>(seed));
    return words;
}

} // namespace

PythonRandom::PythonRandom(std::int64_t seed) : m_generator(pythonKey(seed)) {}

std::int64_t PythonRandom::randint(std::int64_t low, std::int64_t high)
{
    assert(low <= high);
    const auto range = static_cast<std::uint64_t>(high - low) + 1;
    const int bits = static_cast<int>(std::bit_width(range));
    assert(bits <= 32);
    std::uint32_t draw = m_generator.next() >> (32 - bits);
    while (draw >= range)
        draw = m_generator.next() >> (32 - bits);
    return low + draw;
}

} // namespace stagewright::table
