// Text encoders without weights or vocabulary: every word is a fixed random vector that follows from its letters, so that training needs
// no download and equal captions mean the same on every machine.
//
// Words: runs of letters and digits, lower case (ASCII), any byte above 127 counts as a letter; every other visible byte is a word of its
// own. The vector of a word is standard normal, drawn by a generator seeded with the word's hash. Tokens: (word + position) / sqrt(2), with
// sinusoidal positions; places behind the caption hold the empty word. Pooled: the sum of words and of pairs of neighbours, divided by the
// root of their number. So neither is blind to the order of words.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/text_encoder.h"

namespace stagewright::model {

std::vector<std::string> wordsOf(std::string_view text);

class HashedText final : public TextEncoder
{
public:
    enum class Output { Tokens, Pooled };
    // Words, or pairs of words, whose vectors are not made again. A fixed table, so that captions do not decide what the encoder takes.
    static constexpr std::int64_t kRemembered = 1024;
    // length: tokens; for pooled output how many words count.
    HashedText(Output output, std::int64_t width, std::int64_t length, torch::Device device, torch::Dtype dtype);

    std::string name() const override { return "hashed"; }
    std::int64_t width() const override { return m_width; }
    std::int64_t length() const override { return m_output == Output::Tokens ? m_length : 0; }
    torch::Tensor encode(const std::vector<std::string> &texts, std::int64_t alignment = 0) override;

private:
    torch::Tensor vectorOf(const std::string &word);                 // [width], a view of m_vectors: valid until the next call
    torch::Tensor positions(std::int64_t count);
    torch::Tensor tokens(const std::string &text, std::int64_t count);
    torch::Tensor pooled(const std::string &text);

    Output m_output;
    std::int64_t m_width, m_length;
    torch::Device m_device;
    torch::Dtype m_dtype;
    torch::Tensor m_positions;                                       // [n, width], grown on demand
    torch::Tensor m_vectors;                                         // [kRemembered, width], float32 on the CPU: the words that are remembered
    std::unordered_map<std::string, std::int64_t> m_rows;            // of m_vectors, by word; emptied when there is none left
};

} // namespace stagewright::model
