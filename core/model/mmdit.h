// The MMDiT of Open-Sora 2.0 (its mmdit/model.py): double blocks with separate weights for image and text tokens and joint attention,
// then single blocks over the concatenation. State-dict names, their order, default initialisation and arithmetic are the original's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/memory/step_memory.h"
#include "core/model/mmdit_config.h"

namespace stagewright::model {

// All in the model's dtype, on its device. B batch, L tokens.
struct MmditInput {
    torch::Tensor img;         // [B, L_img, in_channels] packed noisy latent
    torch::Tensor imgIds;      // [B, L_img, 3] patch indices (t, y, x)
    torch::Tensor txt;         // [B, L_txt, context_in_dim] token states
    torch::Tensor txtIds;      // [B, L_txt, 3] zeros
    torch::Tensor timesteps;   // [B] in (0, 1)
    torch::Tensor yVec;        // [B, vec_in_dim] pooled text
    torch::Tensor cond;        // [B, L_img, in_channels + patch²], only with condEmbed
    torch::Tensor guidance;    // [B], only with guidanceEmbed
};

class MmditImpl : public torch::nn::Module
{
public:
    // Parameters are created on options' device in options' dtype (fp32 draws, then a cast, one parameter at a time), under
    // KindScope(Parameter). Default initialisation draws from the device's default generator in the original's order; on the meta device
    // nothing is drawn. The config must be valid.
    explicit MmditImpl(const MmditConfig &config, const torch::TensorOptions &options = {});
    ~MmditImpl() override;

    // The predicted velocity [B, L_img, in_channels]. Throws c10::Error where an input that the config needs is missing or has another
    // shape, with both shapes; memory::OutOfMemory; memory::ActivationBufferFull. Not to be called from two threads at once.
    torch::Tensor forward(const MmditInput &input, const memory::StepMemory &step = {});

    const MmditConfig &config() const { return m_config; }

private:
    struct Parts;
    MmditConfig m_config;
    std::unique_ptr<Parts> m_parts;
};
TORCH_MODULE(Mmdit);

std::string blockName(const MmditConfig &config, int block);       // "double block 3", "single block 0"; -1: "outside the blocks"

// Sinusoidal embedding of u [B] with 256 entries, cosines first; 1000*u and everything after it in fp32 whatever u's dtype, then cast
// to u's dtype (as the original's compiled function). Differentiable.
torch::Tensor timestepEmbedding(const torch::Tensor &u, std::int64_t dim = 256);

} // namespace stagewright::model
