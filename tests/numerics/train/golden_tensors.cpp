#include "tests/numerics/train/golden_tensors.h"

#include <cstdio>
#include <cstdlib>

#include "core/checkpoint/tensor_type.h"
#include "core/ckptfile/safetensors.h"

namespace stagewright::test {

namespace {

[[noreturn]] void giveUp(const std::string &sentence)
{
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::abort();
}

} // namespace

TensorMap readTensors(const std::filesystem::path &file)
{
    const auto opened = ckptfile::SafetensorsFile::open(file);
    if (!opened)
        giveUp(opened.error().message());
    TensorMap tensors;
    const auto &infos = (*opened)->header().tensors;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        auto tensor = torch::empty(infos[i].shape, checkpoint::torchType(infos[i].dtype));
        if (const auto read = (*opened)->read(i, 0, tensor.mutable_data_ptr(), infos[i].bytes()); !read)
            giveUp(read.error().message());
        tensors.emplace(infos[i].name, tensor);
    }
    return tensors;
}

double relativeL2(const torch::Tensor &a, const torch::Tensor &b)
{
    const auto left = a.detach().to(torch::kFloat64).flatten(), right = b.detach().to(torch::kFloat64).flatten();
    const double size = right.norm().item<double>(), distance = (left - right).norm().item<double>();
    return size > 0 ? distance / size : distance;
}

double largestError(const torch::Tensor &a, const torch::Tensor &b)
{
    const auto left = a.detach().to(torch::kFloat64).flatten(), right = b.detach().to(torch::kFloat64).flatten();
    return ((left - right).abs() / right.abs().clamp_min(1)).max().item<double>();
}

} // namespace stagewright::test
