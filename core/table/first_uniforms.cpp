// numpy's SeedSequence and PCG64 for many seeds at once: the hashing of 32-bit words, which is most of the work, in lanes side by side.
#include <array>
#include <cstddef>

#include "core/table/random.h"

// Not with the thread sanitizer: the choice among the clones is made before its runtime is there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define STAGEWRIGHT_LANES __attribute__((target_clones("avx2", "default")))
#else
#define STAGEWRIGHT_LANES
#endif

namespace stagewright::table {

namespace {

using namespace numpy;

constexpr std::size_t kLanes = 32, kWords = 8;
using Lanes = std::array<std::uint32_t, kLanes>;

struct Block {
    std::array<Lanes, kPool> pool;
    std::array<Lanes, kWords> words;                   // of the state
};

// pool[0], pool[1]: low and high words of the seeds; pool[2], pool[3]: 0.
STAGEWRIGHT_LANES void generate(Block &block)
{
    std::uint32_t constant = kInitA;
    for (std::size_t i = 0; i < kPool; ++i) {
        const std::uint32_t before = constant, after = constant *= kMultA;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t value = (block.pool[i][lane] ^ before) * after;
            block.pool[i][lane] = value ^ (value >> 16);
        }
    }
    for (std::size_t from = 0; from < kPool; ++from) {
        for (std::size_t to = 0; to < kPool; ++to) {
            if (from == to)
                continue;
            const std::uint32_t before = constant, after = constant *= kMultA;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                std::uint32_t hashed = (block.pool[from][lane] ^ before) * after;
                hashed ^= hashed >> 16;
                const std::uint32_t mixed = kMixLeft * block.pool[to][lane] - kMixRight * hashed;
                block.pool[to][lane] = mixed ^ (mixed >> 16);
            }
        }
    }
    constant = kInitB;
    for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint32_t before = constant, after = constant *= kMultB;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t value = (block.pool[i % kPool][lane] ^ before) * after;
            block.words[i][lane] = value ^ (value >> 16);
        }
    }
}

void draw(const Block &block, std::size_t lane, std::span<double> out)
{
    const auto word = [&](std::size_t i) { return block.words[2 * i][lane] | (static_cast<std::uint64_t>(block.words[2 * i + 1][lane]) << 32); };
    const unsigned __int128 increment = (wide(word(2), word(3)) << 1) | 1;
    unsigned __int128 state = (increment + wide(word(0), word(1))) * kPcgMultiplier + increment;
    for (double &uniform : out) {
        state = state * kPcgMultiplier + increment;
        uniform = uniformOf(pcgOutput(state));
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
