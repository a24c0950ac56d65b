// Which stored tensor goes into which tensor of the target: decided completely before a byte of the target changes.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/checkpoint/load.h"
#include "core/ckptfile/stored_tensor.h"

namespace stagewright::checkpoint {

struct CopyStep {
    const ckptfile::StoredTensor *from = nullptr;
    torch::Tensor into;                      // same number of elements; the dtype may differ
};

// By name, without "module." on either side.
class TensorMap
{
public:
    explicit TensorMap(const std::vector<ckptfile::StoredTensor> &tensors);
    const ckptfile::StoredTensor *find(const std::string &name) const;
    std::vector<std::string> without(const std::vector<ParameterState> &parameters) const;       // names that no parameter has
    bool hadPrefixes() const { return m_hadPrefixes; }

private:
    std::unordered_map<std::string, const ckptfile::StoredTensor *> m_byName;
    std::vector<std::string> m_order;
    bool m_hadPrefixes = false;
};

bool hasShape(const ckptfile::StoredTensor &stored, const torch::Tensor &tensor);
std::string mismatchText(const std::string &name, const ckptfile::StoredTensor &stored, const torch::Tensor &tensor);

// Reads into the tensors, several at once where all are in host memory; converts dtype and device.
// progress: bytes done so far of these steps; its answer is not looked at, since the target is changing already.
Status copyAll(const std::vector<CopyStep> &steps, const std::function<bool(std::int64_t)> &progress);

} // namespace stagewright::checkpoint
