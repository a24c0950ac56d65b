// The random generators of numpy, torch (CPU) and Python, re-implemented bit for bit from their published definitions, so that data order and crops are the
// original's without Torch or Python. Not for cryptography. Each object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/table/numpy_constants.h"

namespace stagewright::table {

// numpy.random.default_rng(seed): SeedSequence, then PCG64 (O'Neill's XSL-RR 128/64).
class Pcg64
{
public:
    explicit Pcg64(std::uint64_t seed);
    // SeedSequence of several whole numbers, each split into 32-bit words as numpy does.
    explicit Pcg64(std::span<const std::uint64_t> entropy);
    std::uint64_t next();
    double uniform() { return numpy::uniformOf(next()); }
    // Uniform in [low, high], both included, without modulo bias. Ours, not numpy's.
    std::int64_t between(std::int64_t low, std::int64_t high);

private:
    void seedFrom(std::span<const std::uint32_t> words);
    unsigned __int128 m_state = 0, m_increment = 0;
};

// The first `each` uniform() of every generator Pcg64(seed + i × step), i = 0, 1, …: out[i × each + k]. A fraction of the time of making them one by one.
void firstUniforms(std::uint64_t seed, std::uint64_t step, std::size_t each, std::span<double> out);

// Matsumoto and Nishimura's MT19937.
class Mt19937
{
public:
    explicit Mt19937(std::uint32_t seed);                              // init_genrand, as torch's CPU generator
    explicit Mt19937(std::span<const std::uint32_t> key);              // init_by_array, as Python's random
    std::uint32_t next();

private:
    void refill();
    std::array<std::uint32_t, 624> m_state{};
    int m_at = 624;
};

// torch.randperm on the CPU with a generator that was seeded once: draws continue over several calls. n < 2^32 / 20.
class TorchPermuter
{
public:
    explicit TorchPermuter(std::uint64_t seed) : m_generator(static_cast<std::uint32_t>(seed)) {}
    std::vector<std::int32_t> permutation(std::int64_t n);
    void skip(std::int64_t n);                         // as if permutation(n) had been asked for

private:
    Mt19937 m_generator;
};

// Python's random.Random(seed) for whole-number seeds.
class PythonRandom
{
public:
    explicit PythonRandom(std::int64_t seed);
    std::int64_t randint(std::int64_t low, std::int64_t high);         // both included; low ≤ high, high - low < 2^32

private:
    Mt19937 m_generator;
};

} // namespace stagewright::table
