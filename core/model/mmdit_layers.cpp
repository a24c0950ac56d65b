#include "core/model/mmdit_layers.h"

#include <cmath>

namespace stagewright::model {

using torch::Tensor;

// Torch's default: kaiming_uniform with a = sqrt(5) for weights, which is +-1/sqrt(in) computed in this order of operations.
static double weightBound(std::int64_t in)
{
    const double a = std::sqrt(5.0);
    const double gain = std::sqrt(2.0 / (1.0 + a * a));
    return std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(in)));
}

static Tensor drawn(at::IntArrayRef sizes, double bound, const torch::TensorOptions &options)
{
    if (options.device().is_meta())
        return torch::empty(sizes, options);
    torch::NoGradGuard unrecorded;
    const Tensor wide = torch::empty(sizes, options.dtype(options.dtype() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32)).uniform_(-bound, bound);
    return wide.to(c10::typeMetaToScalarType(options.dtype()));
}

Dense::Dense(std::int64_t in, std::int64_t out, bool bias, const torch::TensorOptions &options)
{
    m_weight = register_parameter("weight", drawn({out, in}, weightBound(in), options));
    if (bias)
        m_bias = register_parameter("bias", drawn({out}, 1.0 / std::sqrt(static_cast<double>(in)), options));
}

void Dense::zero()
{
    torch::NoGradGuard unrecorded;
    m_weight.zero_();
    m_bias.zero_();
}

std::shared_ptr<Dense> addDense(torch::nn::Module &parent, const std::string &name, std::int64_t in, std::int64_t out, bool bias, const torch::TensorOptions &options)
{
    return parent.register_module(name, std::make_shared<Dense>(in, out, bias, options));
}

std::shared_ptr<torch::nn::Module> addGroup(torch::nn::Module &parent, const std::string &name)
{
    return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

HeadScales addHeadScales(torch::nn::Module &parent, std::int64_t headDim, const torch::TensorOptions &options)
{
    const auto norm = addGroup(parent, "norm");
    const auto ones = [&](const char *name) { return addGroup(*norm, name)->register_parameter("scale", torch::ones({headDim}, options)); };
    const Tensor query = ones("query_norm");
    return {query, ones("key_norm")};
}

VectorEmbedder::VectorEmbedder(std::int64_t in, std::int64_t hidden, const torch::TensorOptions &options)
    : m_in(addDense(*this, "in_layer", in, hidden, true, options)), m_out(addDense(*this, "out_layer", hidden, hidden, true, options))
{
}

Tensor VectorEmbedder::operator()(const Tensor &x) const { return (*m_out)(torch::silu((*m_in)(x))); }

} // namespace stagewright::model
