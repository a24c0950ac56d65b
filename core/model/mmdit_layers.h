// The parameter-carrying parts of the MMDiT: linear layers and RMS scales under the original's names, with its default initialisation.
#pragma once

#include <memory>
#include <string>

#include "core/torchpch/torch.h"

#include "core/model/linear_op.h"

namespace stagewright::model {

class Dense : public torch::nn::Module
{
public:
    // Weight, then bias, drawn uniformly from +-1/sqrt(in) by options' device's generator, in fp32, then cast. On meta nothing is drawn.
    Dense(std::int64_t in, std::int64_t out, bool bias, const torch::TensorOptions &options);
    LinearWeights weights() const { return {m_weight, m_bias}; }
    torch::Tensor operator()(const torch::Tensor &x) const { return linear(x, weights()); }
    void zero();                               // both, after they were drawn

private:
    torch::Tensor m_weight, m_bias;
};

// Adds a linear layer, or an empty group of layers, to a module under a name.
std::shared_ptr<Dense> addDense(torch::nn::Module &parent, const std::string &name, std::int64_t in, std::int64_t out, bool bias, const torch::TensorOptions &options);
std::shared_ptr<torch::nn::Module> addGroup(torch::nn::Module &parent, const std::string &name);

// `norm` with query_norm.scale and key_norm.scale [D], ones.
struct HeadScales { torch::Tensor query, key; };
HeadScales addHeadScales(torch::nn::Module &parent, std::int64_t headDim, const torch::TensorOptions &options);

// Linear, SiLU, Linear: in_layer and out_layer.
class VectorEmbedder : public torch::nn::Module
{
public:
    VectorEmbedder(std::int64_t in, std::int64_t hidden, const torch::TensorOptions &options);
    torch::Tensor operator()(const torch::Tensor &x) const;

private:
    std::shared_ptr<Dense> m_in, m_out;
};

} // namespace stagewright::model
