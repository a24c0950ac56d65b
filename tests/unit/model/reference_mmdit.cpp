#include "tests/unit/model/reference_mmdit.h"

#include "core/model/rope.h"

namespace stagewright::reference {

using torch::Tensor;

namespace {

struct Reference {
    model::MmditConfig config;
    torch::OrderedDict<std::string, Tensor> parameters;
    model::RopeTable rope;

    Tensor linear(const Tensor &x, const std::string &name) const
    {
        const Tensor *bias = parameters.find(name + ".bias");
        return torch::nn::functional::linear(x, parameters[name + ".weight"], bias ? *bias : Tensor());
    }
    Tensor embed(const Tensor &x, const std::string &name) const { return linear(torch::silu(linear(x, name + ".in_layer")), name + ".out_layer"); }
    Tensor norm(const Tensor &x) const { return torch::layer_norm(x, {config.hiddenSize}, {}, {}, 1e-6); }
    std::vector<Tensor> modulation(const Tensor &vec, const std::string &name, int parts) const { return linear(torch::silu(vec), name).unsqueeze(1).chunk(parts, -1); }
    static Tensor modulated(const Tensor &x, const Tensor &shift, const Tensor &scale) { return (1 + scale) * x + shift; }

    Tensor heads(const Tensor &x) const { return x.view({x.size(0), x.size(1), config.numHeads, config.headDim()}); }
    Tensor rms(const Tensor &x, const std::string &name) const
    {
        const Tensor wide = x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
        return (wide * torch::rsqrt(wide.square().mean(-1, true) + 1e-6)).to(x.scalar_type()) * parameters[name];
    }
    Tensor rotated(const Tensor &x) const          // [B, L, H, D]
    {
        const std::int64_t half = config.headDim() / 2;
        const Tensor wide = x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
        const Tensor c = rope.cos.unsqueeze(2), s = rope.sin.unsqueeze(2);
        if (rope.liger) {
            const Tensor a = wide.narrow(3, 0, half), b = wide.narrow(3, half, half);
            return torch::cat({a * c - b * s, a * s + b * c}, 3).to(x.scalar_type());
        }
        const Tensor pairs = wide.unflatten(3, {half, 2});
        const Tensor a = pairs.select(4, 0), b = pairs.select(4, 1);
        return torch::stack({a * c - b * s, a * s + b * c}, 4).flatten(3).to(x.scalar_type());
    }
    Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v) const       // [B, L, H, D] -> [B, L, h]
    {
        return at::scaled_dot_product_attention(rotated(q).transpose(1, 2), rotated(k).transpose(1, 2), v.transpose(1, 2)).transpose(1, 2).flatten(2);
    }

    std::vector<Tensor> qkv(const Tensor &x, const std::string &base) const
    {
        std::vector<Tensor> parts = config.fusedQkv ? linear(x, base + "qkv").chunk(3, -1) : std::vector<Tensor>{linear(x, base + "q_proj"), linear(x, base + "k_proj"), linear(x, base + "v_proj")};
        return {rms(heads(parts[0]), base + "norm.query_norm.scale"), rms(heads(parts[1]), base + "norm.key_norm.scale"), heads(parts[2])};
    }

    void doubleBlock(int index, Tensor &img, Tensor &txt, const Tensor &vec) const
    {
        const std::string base = fmt::format("double_blocks.{}.", index);
        const auto imgMod = modulation(vec, base + "img_mod.lin", 6), txtMod = modulation(vec, base + "txt_mod.lin", 6);
        const auto i = qkv(modulated(norm(img), imgMod[0], imgMod[1]), base + "img_attn."), t = qkv(modulated(norm(txt), txtMod[0], txtMod[1]), base + "txt_attn.");
        const Tensor out = attention(torch::cat({t[0], i[0]}, 1), torch::cat({t[1], i[1]}, 1), torch::cat({t[2], i[2]}, 1));
        const std::int64_t text = txt.size(1);
        const auto finish = [&](const Tensor &x, const Tensor &attended, const std::vector<Tensor> &mod, const std::string &stream) {
            const Tensor middle = x + mod[2] * linear(attended, base + stream + "_attn.proj");
            return middle + mod[5] * linear(torch::gelu(linear(modulated(norm(middle), mod[3], mod[4]), base + stream + "_mlp.0"), "tanh"), base + stream + "_mlp.2");
        };
        img = finish(img, out.narrow(1, text, img.size(1)), imgMod, "img");
        txt = finish(txt, out.narrow(1, 0, text), txtMod, "txt");
    }

    Tensor singleBlock(int index, const Tensor &z, const Tensor &vec) const
    {
        const std::string base = fmt::format("single_blocks.{}.", index);
        const std::int64_t h = config.hiddenSize, m = config.mlpHidden();
        const auto mod = modulation(vec, base + "modulation.lin", 3);
        const Tensor x = modulated(norm(z), mod[0], mod[1]);
        std::vector<Tensor> parts;
        if (config.fusedQkv) {
            parts = linear(x, base + "linear1").split_with_sizes({h, h, h, m}, -1);
        } else {
            parts = linear(x, base + "v_mlp").split_with_sizes({h, m}, -1);
            parts.insert(parts.begin(), {linear(x, base + "q_proj"), linear(x, base + "k_proj")});
        }
        const Tensor out = attention(rms(heads(parts[0]), base + "norm.query_norm.scale"), rms(heads(parts[1]), base + "norm.key_norm.scale"), heads(parts[2]));
        return z + mod[2] * linear(torch::cat({out, torch::gelu(parts[3], "tanh")}, 2), base + "linear2");
    }
};

} // namespace

Tensor forward(const model::Mmdit &mmdit, const model::MmditInput &input)
{
    const model::MmditConfig &config = mmdit->config();
    const Reference r{config, mmdit->named_parameters(), model::ropeTable(config, torch::cat({input.txtIds, input.imgIds}, 1))};
    Tensor img = r.linear(input.img, "img_in");
    if (config.condEmbed)
        img = img + r.linear(input.cond, "cond_in");
    Tensor vec = r.embed(model::timestepEmbedding(input.timesteps), "time_in");
    if (config.guidanceEmbed)
        vec = vec + r.embed(model::timestepEmbedding(input.guidance), "guidance_in");
    vec = vec + r.embed(input.yVec, "vector_in");
    Tensor txt = r.linear(input.txt, "txt_in");
    for (int i = 0; i < config.depth; ++i)
        r.doubleBlock(i, img, txt, vec);
    Tensor z = torch::cat({txt, img}, 1);
    for (int i = 0; i < config.depthSingleBlocks; ++i)
        z = r.singleBlock(i, z, vec);
    const auto mod = r.modulation(vec, "final_layer.adaLN_modulation.1", 2);
    return r.linear(Reference::modulated(r.norm(z.narrow(1, txt.size(1), img.size(1))), mod[0], mod[1]), "final_layer.linear");
}

model::MmditConfig tinyConfig()
{
    model::MmditConfig config;
    config.inChannels = 16;
    config.vecInDim = 12;
    config.contextInDim = 20;
    config.hiddenSize = 64;
    config.numHeads = 4;
    config.depth = 2;
    config.depthSingleBlocks = 2;
    config.axesDim = {4, 6, 6};
    config.condEmbed = true;
    return config;
}

model::MmditInput randomInput(const model::MmditConfig &config, std::int64_t batch, std::int64_t image, std::int64_t text, const torch::TensorOptions &options)
{
    const auto positions = torch::stack({torch::arange(image) / 6, torch::arange(image) % 6, torch::arange(image) % 5}, 1).to(options.device(), c10::typeMetaToScalarType(options.dtype()));
    return {torch::randn({batch, image, config.inChannels}, options), positions.unsqueeze(0).repeat({batch, 1, 1}),
            torch::randn({batch, text, config.contextInDim}, options), torch::zeros({batch, text, 3}, options), torch::rand({batch}, options), torch::randn({batch, config.vecInDim}, options),
            config.condEmbed ? torch::randn({batch, image, config.condChannels()}, options) : Tensor(), config.guidanceEmbed ? torch::full({batch}, 4.0, options) : Tensor()};
}

} // namespace stagewright::reference
