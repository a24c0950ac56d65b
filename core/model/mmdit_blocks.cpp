#include "core/model/mmdit_blocks.h"

#include "core/model/feed_forward_op.h"
#include "core/model/modulation_op.h"

namespace stagewright::model {

using torch::Tensor;

static std::vector<Tensor> project(const Tensor &x, const std::vector<std::shared_ptr<Dense>> &layers)
{
    std::vector<LinearWeights> weights;
    for (const auto &layer : layers)
        weights.push_back(layer->weights());
    return linears(x, weights);
}

// --- Double block ---

DoubleBlock::DoubleBlock(const MmditConfig &config, const torch::TensorOptions &options) : m_config(config)
{
    m_img = addStream("img", options);
    m_txt = addStream("txt", options);
}

DoubleBlock::Stream DoubleBlock::addStream(const std::string &prefix, const torch::TensorOptions &options)
{
    const std::int64_t h = m_config.hiddenSize, m = m_config.mlpHidden();
    Stream stream;
    stream.modulation = addDense(*addGroup(*this, prefix + "_mod"), "lin", h, 6 * h, true, options);
    const auto attention = addGroup(*this, prefix + "_attn");
    if (m_config.fusedQkv) {
        stream.projections = {addDense(*attention, "qkv", h, 3 * h, m_config.qkvBias, options)};
    } else {
        for (const char *name : {"q_proj", "k_proj", "v_proj"})
            stream.projections.push_back(addDense(*attention, name, h, h, m_config.qkvBias, options));
    }
    stream.scales = addHeadScales(*attention, m_config.headDim(), options);
    stream.out = addDense(*attention, "proj", h, h, true, options);
    const auto mlp = addGroup(*this, prefix + "_mlp");
    stream.mlpIn = addDense(*mlp, "0", h, m, true, options);
    stream.mlpOut = addDense(*mlp, "2", m, h, true, options);
    return stream;
}

TokenGroup DoubleBlock::groupOf(const Stream &stream, const Tensor &tokens, const std::vector<Tensor> &modulation) const
{
    const std::int64_t h = m_config.hiddenSize;
    TokenGroup group;
    group.projections = project(modulatedNorm(tokens, modulation[0], modulation[1]), stream.projections);
    group.query = {0, 0};
    group.key = m_config.fusedQkv ? Columns{0, h} : Columns{1, 0};
    group.value = m_config.fusedQkv ? Columns{0, 2 * h} : Columns{2, 0};
    group.queryScale = stream.scales.query;
    group.keyScale = stream.scales.key;
    group.out = stream.out->weights();
    return group;
}

std::vector<Tensor> DoubleBlock::forward(const Tensor &img, const Tensor &txt, const Tensor &siluVec, const RopeTable &rope) const
{
    // shift, scale, gate of the attention, then of the feed-forward part
    const std::vector<Tensor> imgMod = (*m_img.modulation)(siluVec).chunk(6, -1), txtMod = (*m_txt.modulation)(siluVec).chunk(6, -1);
    std::vector<TokenGroup> groups{groupOf(m_txt, txt, txtMod), groupOf(m_img, img, imgMod)};
    const std::vector<Tensor> attended = attendAndProject(groups, rope, m_config.numHeads);
    groups.clear();
    const auto finish = [](const Stream &stream, const Tensor &tokens, const Tensor &attention, const std::vector<Tensor> &mod) {
        const Tensor middle = gatedResidual(tokens, mod[2], attention);
        return gatedResidual(middle, mod[5], feedForward(modulatedNorm(middle, mod[3], mod[4]), stream.mlpIn->weights(), stream.mlpOut->weights()));
    };
    const Tensor imgOut = finish(m_img, img, attended[1], imgMod);
    return {imgOut, finish(m_txt, txt, attended[0], txtMod)};
}

// --- Single block ---

SingleBlock::SingleBlock(const MmditConfig &config, const torch::TensorOptions &options) : m_config(config)
{
    const std::int64_t h = config.hiddenSize, m = config.mlpHidden();
    if (config.fusedQkv) {
        m_projections = {addDense(*this, "linear1", h, 3 * h + m, true, options)};
    } else {
        m_projections = {addDense(*this, "q_proj", h, h, true, options), addDense(*this, "k_proj", h, h, true, options), addDense(*this, "v_mlp", h, h + m, true, options)};
    }
    m_out = addDense(*this, "linear2", h + m, h, true, options);
    m_scales = addHeadScales(*this, config.headDim(), options);
    m_modulation = addDense(*addGroup(*this, "modulation"), "lin", h, 3 * h, true, options);
}

Tensor SingleBlock::forward(const Tensor &z, const Tensor &siluVec, const RopeTable &rope) const
{
    const std::int64_t h = m_config.hiddenSize;
    const std::vector<Tensor> mod = (*m_modulation)(siluVec).chunk(3, -1);
    TokenGroup group;
    group.projections = project(modulatedNorm(z, mod[0], mod[1]), m_projections);
    group.query = {0, 0};
    group.key = m_config.fusedQkv ? Columns{0, h} : Columns{1, 0};
    group.value = m_config.fusedQkv ? Columns{0, 2 * h} : Columns{2, 0};
    group.mlp = m_config.fusedQkv ? Columns{0, 3 * h} : Columns{2, h};
    group.mlpWidth = m_config.mlpHidden();
    group.queryScale = m_scales.query;
    group.keyScale = m_scales.key;
    group.out = m_out->weights();
    const std::vector<Tensor> attended = attendAndProject({std::move(group)}, rope, m_config.numHeads);
    return gatedResidual(z, mod[2], attended[0]);
}

} // namespace stagewright::model
