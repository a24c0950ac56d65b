#include "core/model/hashed_text.h"

#include <cmath>
#include <numbers>

namespace stagewright::model {

namespace {

std::uint64_t hashOf(std::string_view word)                          // FNV-1a, 64 bits
{
    std::uint64_t hash = 14695981039346656037ull;
    for (const char c : word)
        hash = (hash ^ std::uint8_t(c)) * 1099511628211ull;
    return hash;
}

std::uint64_t nextWord(std::uint64_t &state)                         // splitmix64
{
    std::uint64_t x = (state += 0x9e3779b97f4a7c15ull);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// Box and Muller's transform over splitmix64: the same numbers whatever Torch's version does.
void drawNormal(std::uint64_t seed, float *values, std::int64_t width)
{
    for (std::int64_t i = 0; i < width; i += 2) {
        const double u = (double(nextWord(seed) >> 11) + 1) * 0x1p-53, angle = 2 * std::numbers::pi * double(nextWord(seed) >> 11) * 0x1p-53;
        const double radius = std::sqrt(-2 * std::log(u));
        values[i] = float(radius * std::cos(angle));
        if (i + 1 < width)
            values[i + 1] = float(radius * std::sin(angle));
    }
}

bool isWordByte(char c)
{
    const auto byte = std::uint8_t(c);
    return byte > 127 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

} // namespace

std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words;
    bool inside = false;
    for (char c : text) {
        if (isWordByte(c)) {
            if (!inside)
                words.emplace_back();
            words.back() += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
            inside = true;
            continue;
        }
        inside = false;
        if (std::uint8_t(c) > ' ')
            words.emplace_back(1, c);
    }
    return words;
}

HashedText::HashedText(Output output, std::int64_t width, std::int64_t length, torch::Device device, torch::Dtype dtype)
    : m_output(output), m_width(width), m_length(length), m_device(device), m_dtype(dtype), m_vectors(torch::empty({kRemembered, width}, torch::kFloat32))
{
}

torch::Tensor HashedText::vectorOf(const std::string &word)
{
    if (const auto found = m_rows.find(word); found != m_rows.end())
        return m_vectors.select(0, found->second);
    if (std::int64_t(m_rows.size()) == kRemembered)
        m_rows.clear();
    const auto row = m_rows.emplace(word, std::int64_t(m_rows.size())).first->second;
    auto vector = m_vectors.select(0, row);
    drawNormal(hashOf(word), vector.mutable_data_ptr<float>(), m_width);
    return vector;
}

torch::Tensor HashedText::positions(std::int64_t count)
{
    if (!m_positions.defined() || m_positions.size(0) < count) {
        const auto half = (m_width + 1) / 2;
        const auto frequencies = torch::exp(torch::arange(half, torch::kFloat64) * (-std::log(10000.0) / double(half)));
        const auto angles = torch::arange(count, torch::kFloat64).unsqueeze(1) * frequencies.unsqueeze(0);
        const auto pairs = torch::stack({angles.sin(), angles.cos()}, 2).reshape({count, 2 * half}).narrow(1, 0, m_width);
        m_positions = (pairs * std::sqrt(2.0)).to(torch::kFloat32).contiguous();       // unit variance, as the words
    }
    return m_positions.narrow(0, 0, count);
}

torch::Tensor HashedText::tokens(const std::string &text, std::int64_t count)
{
    auto states = torch::empty({count, m_width}, torch::kFloat32);
    auto words = wordsOf(text);
    if (std::int64_t(words.size()) > m_length)
        words.resize(std::size_t(m_length));
    const auto used = std::int64_t(words.size());
    for (std::int64_t i = 0; i < used; ++i)
        states.select(0, i).copy_(vectorOf(words[std::size_t(i)]));
    if (used < count)
        states.narrow(0, used, count - used).copy_(vectorOf("").unsqueeze(0).expand({count - used, m_width}));
    return states.add_(positions(count)).mul_(1 / std::sqrt(2.0));
}

torch::Tensor HashedText::pooled(const std::string &text)
{
    auto words = wordsOf(text);
    if (std::int64_t(words.size()) > m_length)
        words.resize(std::size_t(m_length));
    auto sum = vectorOf("").clone();
    double count = 1;
    for (std::size_t i = 0; i < words.size(); ++i) {
        sum.add_(vectorOf(words[i]));
        ++count;
        if (i > 0) {
            sum.add_(vectorOf(words[i - 1] + " " + words[i]));
            ++count;
        }
    }
    return sum.mul_(1 / std::sqrt(count));
}

torch::Tensor HashedText::encode(const std::vector<std::string> &texts, std::int64_t alignment)
{
    torch::NoGradGuard noGrad;
    std::vector<torch::Tensor> rows;
    rows.reserve(texts.size());
    for (const std::string &text : texts)
        rows.push_back(m_output == Output::Tokens ? tokens(text, m_length + alignment) : pooled(text));
    return torch::stack(rows).to(m_device, m_dtype);
}

} // namespace stagewright::model
