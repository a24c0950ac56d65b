// The blocks of the MMDiT. Both take SiLU of the conditioning vector, computed once for all blocks, where the original computes it in each.
#pragma once

#include <memory>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/model/attention_op.h"
#include "core/model/mmdit_config.h"
#include "core/model/mmdit_layers.h"

namespace stagewright::model {

class DoubleBlock : public torch::nn::Module
{
public:
    DoubleBlock(const MmditConfig &config, const torch::TensorOptions &options);
    // img [B, L_img, h], txt [B, L_txt, h], silu(vec) [B, h] -> {img, txt}
    std::vector<torch::Tensor> forward(const torch::Tensor &img, const torch::Tensor &txt, const torch::Tensor &siluVec, const RopeTable &rope) const;

private:
    struct Stream {
        std::shared_ptr<Dense> modulation;
        std::vector<std::shared_ptr<Dense>> projections;       // qkv, or q_proj, k_proj, v_proj
        HeadScales scales;
        std::shared_ptr<Dense> out, mlpIn, mlpOut;
    };
    Stream addStream(const std::string &prefix, const torch::TensorOptions &options);
    TokenGroup groupOf(const Stream &stream, const torch::Tensor &tokens, const std::vector<torch::Tensor> &modulation) const;

    MmditConfig m_config;
    Stream m_img, m_txt;
};

class SingleBlock : public torch::nn::Module
{
public:
    SingleBlock(const MmditConfig &config, const torch::TensorOptions &options);
    // z [B, L, h], text tokens first
    torch::Tensor forward(const torch::Tensor &z, const torch::Tensor &siluVec, const RopeTable &rope) const;

private:
    MmditConfig m_config;
    std::vector<std::shared_ptr<Dense>> m_projections;         // linear1, or q_proj, k_proj, v_mlp
    std::shared_ptr<Dense> m_out;
    HeadScales m_scales;
    std::shared_ptr<Dense> m_modulation;
};

} // namespace stagewright::model
