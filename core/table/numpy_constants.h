// What defines numpy's default generator, for its two forms here: one generator at a time (random.cpp), many side by side (first_uniforms.cpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stagewright::table::numpy {

// SeedSequence (after O'Neill's seed_seq_fe128): constants of its two hash chains and of the mixer.
inline constexpr std::uint32_t kInitA = 0x43b0d7e5, kMultA = 0x931e8875, kInitB = 0x8b51f9dd, kMultB = 0x58f38ded;
inline constexpr std::uint32_t kMixLeft = 0xca01f9dd, kMixRight = 0x4973f715;
inline constexpr std::size_t kPool = 4;

constexpr unsigned __int128 wide(std::uint64_t high, std::uint64_t low)
{
    return (static_cast<unsigned __int128>(high) << 64) | low;
}
inline constexpr unsigned __int128 kPcgMultiplier = wide(0x2360ED051FC65DA4ULL, 0x4385DF649FCCF645ULL);

// XSL-RR of PCG64's state.
constexpr std::uint64_t pcgOutput(unsigned __int128 state)
{
    const auto high = static_cast<std::uint64_t>(state >> 64), low = static_cast<std::uint64_t>(state);
    return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

// [0,1): numpy's random().
constexpr double uniformOf(std::uint64_t draw) { return static_cast<double>(draw >> 11) * 0x1p-53; }

} // namespace stagewright::table::numpy
