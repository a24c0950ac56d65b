// From a batch to what the objective starts from: latents, what they are conditioned on, and text states.
#pragma once

#include <memory>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/model/autoencoder.h"
#include "core/model/text_encoder.h"
#include "core/train/conditions.h"
#include "core/train/draws.h"
#include "core/train/settings.h"

namespace stagewright::train {

struct Encoded {
    torch::Tensor latents;         // [B,C,T',H',W']
    torch::Tensor cond;            // [B,1+C,T',H',W']; undefined without condition_config
    torch::Tensor masks;           // [B,T',H',W'], 1 where a latent was given; undefined as cond
    torch::Tensor tokens;          // [B,L,W] before drop-out
    torch::Tensor pooled;          // [B,W]
    bool nothingToChoose = false;  // every configured condition needs a longer clip: nothing was given
};

// Training thread. encode() draws, in this order: a condition for each sample, then whatever the autoencoder draws.
class Encoding
{
public:
    virtual ~Encoding() = default;
    virtual Encoded encode(const data::Batch &batch, Draws &draws) = 0;
    virtual const torch::Tensor &nullTokens() = 0;         // [1,L,W]
    virtual const torch::Tensor &nullPooled() = 0;         // [1,W]
};

// The stage's autoencoder and text encoders; null where batches bring what they would make (cached_video, cached_text).
class StageEncoding final : public Encoding
{
public:
    StageEncoding(const Settings &settings, torch::Device device, std::unique_ptr<model::Autoencoder> autoencoder, std::unique_ptr<model::TextEncoder> tokens,
                  std::unique_ptr<model::TextEncoder> pooled);
    Encoded encode(const data::Batch &batch, Draws &draws) override;
    const torch::Tensor &nullTokens() override { return m_tokens ? m_tokens->nullEmbedding() : m_nullTokens; }
    const torch::Tensor &nullPooled() override { return m_pooled ? m_pooled->nullEmbedding() : m_nullPooled; }
    // What takes their place where text comes from a cache; [1,L,W] and [1,W].
    void setNulls(const torch::Tensor &tokens, const torch::Tensor &pooled);

private:
    void encodeVideo(const data::Batch &batch, Draws &draws, Encoded &encoded);
    const Settings &m_settings;
    torch::Device m_device;
    ConditionTable m_conditions;                           // compat opensora: what a short clip removed stays removed, as in the original
    std::unique_ptr<model::Autoencoder> m_autoencoder;
    std::unique_ptr<model::TextEncoder> m_tokens, m_pooled;
    torch::Tensor m_nullTokens, m_nullPooled;
};

} // namespace stagewright::train
