#include "core/model/convert_rope.h"

#include <map>

#include "core/model/mmdit.h"

namespace stagewright::model {

using torch::Tensor;

std::vector<std::int64_t> standardToLigerPermutation(std::int64_t headDim)
{
    std::vector<std::int64_t> permutation;
    for (std::int64_t first : {0, 1}) {
        for (std::int64_t i = first; i < headDim; i += 2)
            permutation.push_back(i);
    }
    return permutation;
}

namespace {

// How the rows inside each head move; empty where they stay.
std::vector<std::int64_t> headOrder(const MmditConfig &from, const MmditConfig &to)
{
    if (from.useLigerRope == to.useLigerRope)
        return {};
    std::vector<std::int64_t> order = standardToLigerPermutation(from.headDim());
    if (to.useLigerRope)
        return order;
    std::vector<std::int64_t> inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    return inverse;
}

Tensor reordered(const Tensor &rows, std::int64_t headDim, const std::vector<std::int64_t> &order)
{
    if (order.empty())
        return rows;
    const Tensor index = torch::tensor(order, torch::TensorOptions(torch::kInt64).device(rows.device()));
    std::vector<std::int64_t> split = rows.sizes().vec();
    split[0] = headDim;
    split.insert(split.begin(), rows.size(0) / headDim);
    return rows.reshape(split).index_select(1, index).reshape(rows.sizes());
}

// Where the projections of one attention lie in each layout: name of the fused layer, and of the separate ones with their row counts.
struct Projection {
    std::string fused;
    std::vector<std::pair<std::string, std::int64_t>> parts;       // query, key, value (and MLP)
};

class Converter
{
public:
    Converter(const NamedTensors &parameters, const MmditConfig &from, const MmditConfig &to) : m_from(from), m_to(to), m_order(headOrder(from, to))
    {
        for (const auto &[name, tensor] : parameters)
            m_source[name] = tensor;
    }

    Result<NamedTensors> run()
    {
        collectProjections();
        NamedTensors result;
        const Mmdit shapes(m_to, torch::TensorOptions(torch::kMeta));
        for (const auto &parameter : shapes->named_parameters()) {
            const Tensor value = m_made.count(parameter.key()) ? m_made[parameter.key()] : sourceOf(parameter.key());
            if (!value.defined())
                return Error(ExitCode::Checkpoint, "checkpoint.missing-parameter", fmt::format("the parameter {} is missing, so the layout cannot be converted", m_missing));
            if (value.sizes() != parameter.value().sizes()) {
                std::ostringstream shape;
                shape << value.sizes() << ", but the model needs " << parameter.value().sizes();
                return Error(ExitCode::Checkpoint, "checkpoint.shape", fmt::format("the parameter {} has shape {}", parameter.key(), shape.str()));
            }
            result.emplace_back(parameter.key(), value);
        }
        return result;
    }

private:
    void collectProjections()
    {
        const std::int64_t h = m_from.hiddenSize, m = m_from.mlpHidden();
        for (std::int64_t i = 0; i < m_from.depth; ++i) {
            for (const char *stream : {"img", "txt"}) {
                const std::string base = fmt::format("double_blocks.{}.{}_attn.", i, stream);
                convert({base + "qkv", {{base + "q_proj", h}, {base + "k_proj", h}, {base + "v_proj", h}}}, m_from.qkvBias);
                convertScales(base);
            }
        }
        for (std::int64_t i = 0; i < m_from.depthSingleBlocks; ++i) {
            const std::string base = fmt::format("single_blocks.{}.", i);
            convert({base + "linear1", {{base + "q_proj", h}, {base + "k_proj", h}, {base + "v_mlp", h + m}}}, true);
            convertScales(base);
        }
    }

    Tensor sourceOf(const std::string &name)
    {
        const auto found = m_source.find(name);
        if (found != m_source.end())
            return found->second;
        if (m_missing.empty())
            m_missing = name;
        return {};
    }

    void convertScales(const std::string &base)
    {
        for (const char *norm : {"norm.query_norm.scale", "norm.key_norm.scale"}) {
            if (const Tensor scale = sourceOf(base + norm); scale.defined() && scale.dim() == 1 && scale.size(0) == m_from.headDim())
                m_made[base + norm] = reordered(scale, m_from.headDim(), m_order);
        }
    }

    void convert(const Projection &projection, bool bias)
    {
        for (const char *kind : {".weight", ".bias"}) {
            if (kind[1] == 'b' && !bias)
                continue;
            std::vector<Tensor> parts = readParts(projection, kind);
            if (parts.empty())
                continue;                      // run() names what is missing
            for (std::size_t i : {0, 1})
                parts[i] = reordered(parts[i], m_from.headDim(), m_order);
            if (m_to.fusedQkv) {
                m_made[projection.fused + kind] = torch::cat(parts, 0);
                continue;
            }
            for (std::size_t i = 0; i < parts.size(); ++i)
                m_made[projection.parts[i].first + kind] = parts[i].contiguous();
        }
    }

    std::vector<Tensor> readParts(const Projection &projection, const char *kind)
    {
        std::vector<Tensor> parts;
        std::int64_t row = 0;
        for (const auto &[name, rows] : projection.parts) {
            const Tensor source = sourceOf((m_from.fusedQkv ? projection.fused : name) + kind);
            if (!source.defined() || source.dim() < 1 || source.size(0) < (m_from.fusedQkv ? row + rows : rows))
                return {};
            parts.push_back(m_from.fusedQkv ? source.narrow(0, row, rows) : source);
            row += rows;
        }
        return parts;
    }

    MmditConfig m_from, m_to;
    std::vector<std::int64_t> m_order;
    std::map<std::string, Tensor> m_source, m_made;
    std::string m_missing;
};

} // namespace

Result<NamedTensors> convertLayout(const NamedTensors &parameters, const MmditConfig &from, const MmditConfig &to)
{
    MmditConfig alike = from;
    alike.fusedQkv = to.fusedQkv;
    alike.useLigerRope = to.useLigerRope;
    if (alike != to)
        return Error(ExitCode::Checkpoint, "checkpoint.layout", "only the rotary order and the fusing of qkv can be converted, but the two models differ in more than that");
    if (Status status = validate(from); !status)
        return status.error();
    torch::NoGradGuard unrecorded;
    return Converter(parameters, from, to).run();
}

} // namespace stagewright::model
