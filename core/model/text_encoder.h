// The place where text encoders plug in: captions to token states (T5's place) or to one pooled vector (CLIP's place).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::model {

// Not thread safe: one thread at a time. Never records a graph.
class TextEncoder
{
public:
    virtual ~TextEncoder() = default;
    virtual std::string name() const = 0;                      // "hashed"
    virtual std::int64_t width() const = 0;                    // of one state
    virtual std::int64_t length() const = 0;                   // tokens without alignment; 0: one pooled vector
    virtual std::int64_t parameterCount() const { return 0; }

    // B texts -> [B, length + alignment, width], or [B, width] when pooled; on the encoder's device, in its dtype. Texts are cut and padded
    // to length; `alignment` more padding tokens are encoded with them (pooled encoders ignore it). Equal texts give equal rows.
    virtual torch::Tensor encode(const std::vector<std::string> &texts, std::int64_t alignment = 0) = 0;

    // encode of the empty text, [1, length, width] or [1, width]; made on the first call and kept.
    const torch::Tensor &nullEmbedding();

private:
    torch::Tensor m_null;
};

// Padding tokens to append so that image and text tokens together divide by the number of ranks that share a sequence.
std::int64_t alignmentPadding(std::int64_t imageTokens, std::int64_t textTokens, std::int64_t ranks);

// The encoders that the stage's `t5` and `clip` name, on `device`, answering in `dtype`. Error (Usage) as makeAutoencoder's.
Result<std::unique_ptr<TextEncoder>> makeTokenEncoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype);
Result<std::unique_ptr<TextEncoder>> makePooledEncoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype);

} // namespace stagewright::model
