// Golden tensors as Torch tensors, and the way they are compared.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/torchpch/torch.h"

#include "core/model/mmdit.h"

namespace stagewright::golden {

struct TensorFile {
    std::map<std::string, torch::Tensor> tensors;
    std::map<std::string, std::string> metadata;

    bool has(const std::string &name) const { return tensors.count(name) > 0; }
    const torch::Tensor &at(const std::string &name) const;            // aborts with a sentence where it is missing
};

TensorFile readTensors(const std::filesystem::path &path);
model::MmditConfig configOf(const nlohmann::json &cfg);                // a model section as the golden files spell it
torch::Dtype dtypeOf(const std::string &name);                         // "float32", "bfloat16"

// |a - b| / |b| in fp64; |a| where b is all zeros.
double relativeL2(const torch::Tensor &a, const torch::Tensor &b);

// A model with the file's "param." tensors, and the inputs "in."; inputs that have a "gin." gradient require one.
model::Mmdit modelOf(const model::MmditConfig &config, torch::Dtype dtype, const TensorFile &file, const std::string &prefix = "param.");
model::MmditInput inputOf(const TensorFile &file);
std::map<std::string, torch::Tensor> named(const model::MmditInput &input);

torch::Tensor lossOf(const torch::Tensor &out, const TensorFile &file);       // mean((float(out) - float(target))^2)

} // namespace stagewright::golden
