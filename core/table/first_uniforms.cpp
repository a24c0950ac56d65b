// numpy's SeedSequence and PCG64 for many seeds at once: the hashing of 32-bit words, which is most of the work, in lanes side by side.
#include <array>
#include <bit>
#include <cstddef>

#include "core/table/random.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define STAGEWRIGHT_LANES __attribute__((target_clones("avx2", "default")))
#else
#define STAGEWRIGHT_LANES
#endif

namespace stagewright::table {

namespace {

constexpr std::size_t kLanes = 32, kPool = 4, kWords = 8;
using Lanes = std::array<std::uint32_t, kLanes>;

struct Block {
    std::array<Lanes, kPool> pool;
    std::array<Lanes, kWords> words;                   // of the state
};

// pool[0], pool[1]: low and high words of the seeds; pool[2], pool[3]: 0. Constants as in random.cpp.
STAGEWRIGHT_LANES void generate(Block &block)
{
    std::uint32_t constant = 0x43b0d7e5;
    for (std::size_t i = 0; i < kPool; ++i) {
        const std::uint32_t before = constant, after = constant *= 0x931e8875;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t value = (block.pool[i][lane] ^ before) * after;
            block.pool[i][lane] = value ^ (value >> 16);
        }
    }
    for (std::size_t from = 0; from < kPool; ++from) {
        for (std::size_t to = 0; to < kPool; ++to) {
            if (from == to)
                continue;
            const std::uint32_t before = constant, after = constant *= 0x931e8875;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                std::uint32_t hashed = (block.pool[from][lane] ^ before) * after;
                hashed ^= hashed >> 16;
                const std::uint32_t mixed = 0xca01f9ddu * block.pool[to][lane] - 0x4973f715u * hashed;
                block.pool[to][lane] = mixed ^ (mixed >> 16);
            }
        }
    }
    constant = 0x8b51f9dd;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint32_t before = constant, after = constant *= 0x58f38ded;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t value = (block.pool[i % kPool][lane] ^ before) * after;
            block.words[i][lane] = value ^ (value >> 16);
        }
    }
}

void draw(const Block &block, std::size_t lane, std::span<double> out)
{
    using Wide = unsigned __int128;
    constexpr Wide multiplier = (static_cast<Wide>(0x2360ED051FC65DA4ULL) << 64) | 0x4385DF649FCCF645ULL;
    const auto word = [&](std::size_t i) { return block.words[2 * i][lane] | (static_cast<std::uint64_t>(block.words[2 * i + 1][lane]) << 32); };
    const Wide increment = (((static_cast<Wide>(word(2)) << 64) | word(3)) << 1) | 1;
    Wide state = increment + ((static_cast<Wide>(word(0)) << 64) | word(1));
    state = state * multiplier + increment;
    for (double &uniform : out) {
        state = state * multiplier + increment;
        const auto high = static_cast<std::uint64_t>(state >> 64), low = static_cast<std::uint64_t>(state);
        uniform = static_cast<double>(std::rotr(high ^ low, static_cast<int>(high >> 58)) >> 11) * 0x1p-53;
    }
}

} // namespace

void firstUniforms(std::uint64_t seed, std::uint64_t step, std::size_t each, std::span<double> out)
{
    Block block;
    const std::size_t generators = out.size() / each;
    for (std::size_t begin = 0; begin < generators; begin += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint64_t value = seed + (begin + lane) * step;
            block.pool[0][lane] = static_cast<std::uint32_t>(value);
            block.pool[1][lane] = static_cast<std::uint32_t>(value >> 32);
            block.pool[2][lane] = block.pool[3][lane] = 0;
        }
        generate(block);
        for (std::size_t lane = 0; lane < std::min(kLanes, generators - begin); ++lane)
            draw(block, lane, out.subspan((begin + lane) * each, each));
    }
}

} // namespace stagewright::table
