// Python's random module as far as training draws from it: the Mersenne Twister of random.seed(int) and random.random().
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace stagewright::train {

class PythonRandom
{
public:
    explicit PythonRandom(std::uint64_t seed);
    double uniform();                                // random.random(): 53 bits in [0,1)
    std::string state() const;                       // opaque bytes
    bool setState(const std::string &bytes);         // false: not of state()

private:
    std::uint32_t next();
    std::array<std::uint32_t, 624> m_words{};
    std::uint32_t m_index = 624;
};

} // namespace stagewright::train
