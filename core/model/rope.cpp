#include "core/model/rope.h"

#include <cmath>

namespace stagewright::model {

using torch::Tensor;

// Angle of each pair of a head: position on the pair's axis times theta^(-2j/d).
static Tensor angles(const MmditConfig &config, const Tensor &ids, torch::Dtype precision)
{
    std::vector<Tensor> axes;
    for (std::size_t axis = 0; axis < config.axesDim.size(); ++axis) {
        const std::int64_t dim = config.axesDim[axis];
        const at::TensorOptions options = ids.options().dtype(precision);
        const Tensor exponents = at::arange(0, dim, 2, options) / dim;
        const Tensor frequencies = 1.0 / at::pow(config.theta, exponents);
        axes.push_back(ids.select(2, static_cast<std::int64_t>(axis)).to(precision).unsqueeze(2) * frequencies);
    }
    return at::cat(axes, 2);
}

RopeTable ropeTable(const MmditConfig &config, const Tensor &ids)
{
    at::NoGradGuard unrecorded;
    RopeTable table;
    table.liger = config.useLigerRope;
    const Tensor angle = table.liger ? angles(config, ids.narrow(0, 0, 1), torch::kFloat32) : angles(config, ids, torch::kFloat64);
    table.cos = angle.cos().to(torch::kFloat32);
    table.sin = angle.sin().to(torch::kFloat32);
    return table;
}

} // namespace stagewright::model
