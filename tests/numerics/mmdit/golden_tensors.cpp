#include "tests/numerics/mmdit/golden_tensors.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace stagewright::golden {

using torch::Tensor;

[[noreturn]] static void giveUp(const std::string &sentence)
{
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::abort();
}

const Tensor &TensorFile::at(const std::string &name) const
{
    const auto found = tensors.find(name);
    if (found == tensors.end())
        giveUp("golden tensor " + name + " is missing");
    return found->second;
}

static torch::Dtype safetensorsType(const std::string &name)
{
    static const std::map<std::string, torch::Dtype> types{{"F64", torch::kFloat64}, {"F32", torch::kFloat32}, {"F16", torch::kFloat16}, {"BF16", torch::kBFloat16},
                                                           {"I64", torch::kInt64},   {"I32", torch::kInt32},   {"U8", torch::kUInt8},    {"BOOL", torch::kBool}};
    const auto found = types.find(name);
    if (found == types.end())
        giveUp("golden tensors of type " + name + " cannot be read");
    return found->second;
}

TensorFile readTensors(const std::filesystem::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::uint64_t length = 0;
    in.read(reinterpret_cast<char *>(&length), sizeof length);
    std::string header(length, '\0');
    if (!in.read(header.data(), static_cast<std::streamsize>(length)))
        giveUp("cannot read " + path.string());
    const std::string data{std::istreambuf_iterator<char>(in), {}};
    TensorFile file;
    const nlohmann::json entries = nlohmann::json::parse(header);
    for (const auto &[name, entry] : entries.items()) {
        if (name == "__metadata__") {
            file.metadata = entry.get<std::map<std::string, std::string>>();
            continue;
        }
        const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
        Tensor tensor = torch::empty(entry.at("shape").get<std::vector<std::int64_t>>(), safetensorsType(entry.at("dtype")));
        if (offsets[1] > data.size() || offsets[1] - offsets[0] != tensor.nbytes())
            giveUp(path.string() + ": " + name + " lies outside the file");
        std::memcpy(tensor.mutable_data_ptr(), data.data() + offsets[0], tensor.nbytes());
        file.tensors[name] = tensor;
    }
    return file;
}

model::MmditConfig configOf(const nlohmann::json &cfg)
{
    model::MmditConfig config;
    config.inChannels = cfg.at("in_channels");
    config.vecInDim = cfg.at("vec_in_dim");
    config.contextInDim = cfg.at("context_in_dim");
    config.hiddenSize = cfg.at("hidden_size");
    config.mlpRatio = cfg.at("mlp_ratio");
    config.numHeads = cfg.at("num_heads");
    config.depth = cfg.at("depth");
    config.depthSingleBlocks = cfg.at("depth_single_blocks");
    config.axesDim = cfg.at("axes_dim").get<std::vector<std::int64_t>>();
    config.theta = cfg.at("theta");
    config.qkvBias = cfg.at("qkv_bias");
    config.guidanceEmbed = cfg.at("guidance_embed");
    config.condEmbed = cfg.value("cond_embed", false);
    config.fusedQkv = cfg.value("fused_qkv", true);
    config.useLigerRope = cfg.value("use_liger_rope", false);
    config.patchSize = cfg.value("patch_size", 2);
    return config;
}

torch::Dtype dtypeOf(const std::string &name)
{
    if (name == "float32")
        return torch::kFloat32;
    if (name == "bfloat16")
        return torch::kBFloat16;
    if (name == "float16")
        return torch::kFloat16;
    giveUp("golden dtype " + name + " is not known");
}

double relativeL2(const Tensor &a, const Tensor &b)
{
    const Tensor x = a.detach().to(torch::kFloat64), y = b.detach().to(torch::kFloat64);
    const double size = y.norm().item<double>(), difference = (x - y).norm().item<double>();
    return size > 0 ? difference / size : difference;
}

model::Mmdit modelOf(const model::MmditConfig &config, torch::Dtype dtype, const TensorFile &file, const std::string &prefix)
{
    model::Mmdit mmdit(config, torch::TensorOptions(dtype));
    torch::NoGradGuard unrecorded;
    for (auto &parameter : mmdit->named_parameters()) {
        const Tensor &value = file.at(prefix + parameter.key());
        if (value.sizes() != parameter.value().sizes())
            giveUp("golden parameter " + parameter.key() + " has another shape than the model's");
        parameter.value().copy_(value);
    }
    return mmdit;
}

model::MmditInput inputOf(const TensorFile &file)
{
    const auto input = [&](const std::string &name) {
        if (!file.has("in." + name))
            return Tensor();
        const Tensor value = file.at("in." + name).clone();
        return value.set_requires_grad(file.has("gin." + name));
    };
    return {input("img"), input("img_ids"), input("txt"), input("txt_ids"), input("timesteps"), input("y_vec"), input("cond"), input("guidance")};
}

std::map<std::string, Tensor> named(const model::MmditInput &input)
{
    return {{"img", input.img}, {"txt", input.txt}, {"timesteps", input.timesteps}, {"y_vec", input.yVec}, {"cond", input.cond}, {"guidance", input.guidance}};
}

Tensor lossOf(const Tensor &out, const TensorFile &file) { return (out.to(torch::kFloat32) - file.at("target").to(torch::kFloat32)).square().mean(); }

} // namespace stagewright::golden
