// An MMDiT's weights in another layout: the rotary order of queries and keys, and projections that are fused or separate. Rows are moved, never computed with.
//
// Flux rotates neighbours (entries 2p and 2p + 1 of a head are a pair), Open-Sora 2.0 as shipped rotates halves (p and p + D/2, Liger's kernel). The same model in the
// other order has the rows of each head of every query and key projection, and of their norms' scales, as 0, 2, …, D-2, 1, 3, …, D-1. No file says which one it is in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/stored_tensor.h"

namespace stagewright::ckptfile {

enum class RopeOrder { Neighbours, Halves };
// "flux" and "opensora", as people know them.
std::optional<RopeOrder> ropeOrderNamed(std::string_view name);
const char *ropeOrderName(RopeOrder order);
// By the config that a checkpoint of ours lies with (model.use_liger_rope); nothing where there is none: other files do not say.
std::optional<RopeOrder> ropeOrderOf(const std::string &configYaml);

struct LayoutChange {
    RopeOrder from = RopeOrder::Neighbours, to = RopeOrder::Neighbours;
    std::optional<bool> fused;               // what the projections shall be; nothing: as they are
};

// Names without "module."; order kept, with parts of one projection in its place. Nothing is read before the result is. Error (Checkpoint): it is not
// an MMDiT, or the head size cannot be told because a norm's scale is missing, or a projection has other rows than its kind.
Result<std::vector<StoredTensor>> changeLayout(const std::vector<StoredTensor> &weights, const LayoutChange &change);

} // namespace stagewright::ckptfile
