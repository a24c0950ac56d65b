#include "core/model/mmdit.h"

#include <cmath>

#include "core/memory/ledger.h"
#include "core/model/mmdit_blocks.h"
#include "core/model/modulation_op.h"

namespace stagewright::model {

using memory::BlockPass;
using torch::Tensor;

std::string blockName(const MmditConfig &config, int block)
{
    if (block < 0)
        return "outside the blocks";
    return block < config.depth ? fmt::format("double block {}", block) : fmt::format("single block {}", block - config.depth);
}

Tensor timestepEmbedding(const Tensor &u, std::int64_t dim)
{
    constexpr double kTimeFactor = 1000.0, kMaxPeriod = 10000.0;
    const std::int64_t half = dim / 2;
    const torch::Dtype inside = u.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    // Rounded from float64: processors round exp in float32 in ways of their own, and angles of thousands make each last bit count.
    const Tensor exponents = -std::log(kMaxPeriod) * torch::arange(0, half, u.options().dtype(inside).requires_grad(false)) / half;
    const Tensor frequencies = torch::exp(exponents.to(torch::kFloat64)).to(inside);
    const Tensor angle = (kTimeFactor * u.to(inside)).unsqueeze(1) * frequencies;
    return torch::cat({torch::cos(angle), torch::sin(angle)}, -1).to(u.scalar_type());
}

struct MmditImpl::Parts {
    std::shared_ptr<Dense> imgIn, condIn, txtIn;
    std::shared_ptr<VectorEmbedder> timeIn, vectorIn, guidanceIn;
    std::vector<std::shared_ptr<DoubleBlock>> doubles;
    std::vector<std::shared_ptr<SingleBlock>> singles;
    std::vector<std::vector<Tensor>> blockParameters;          // of all blocks, for checkpointing
    std::shared_ptr<Dense> finalLinear, finalModulation;
};

MmditImpl::MmditImpl(const MmditConfig &config, const torch::TensorOptions &options) : torch::nn::Module("Mmdit"), m_config(config), m_parts(std::make_unique<Parts>())
{
    if (const Status status = validate(config); !status)
        TORCH_CHECK_VALUE(false, status.error().message());
    memory::KindScope kind(MemoryKind::Parameter);
    const std::int64_t h = config.hiddenSize;
    Parts &p = *m_parts;
    p.imgIn = addDense(*this, "img_in", config.inChannels, h, true, options);
    p.timeIn = register_module("time_in", std::make_shared<VectorEmbedder>(256, h, options));
    p.vectorIn = register_module("vector_in", std::make_shared<VectorEmbedder>(config.vecInDim, h, options));
    if (config.guidanceEmbed)
        p.guidanceIn = register_module("guidance_in", std::make_shared<VectorEmbedder>(256, h, options));
    if (config.condEmbed) {
        p.condIn = addDense(*this, "cond_in", config.condChannels(), h, true, options);
        p.condIn->zero();
    }
    p.txtIn = addDense(*this, "txt_in", config.contextInDim, h, true, options);
    const auto doubles = addGroup(*this, "double_blocks"), singles = addGroup(*this, "single_blocks");
    for (std::int64_t i = 0; i < config.depth; ++i) {
        p.doubles.push_back(doubles->register_module(std::to_string(i), std::make_shared<DoubleBlock>(config, options)));
        p.blockParameters.push_back(p.doubles.back()->parameters());
    }
    for (std::int64_t i = 0; i < config.depthSingleBlocks; ++i) {
        p.singles.push_back(singles->register_module(std::to_string(i), std::make_shared<SingleBlock>(config, options)));
        p.blockParameters.push_back(p.singles.back()->parameters());
    }
    const auto last = addGroup(*this, "final_layer");
    p.finalLinear = addDense(*last, "linear", h, config.inChannels, true, options);
    p.finalModulation = addDense(*addGroup(*last, "adaLN_modulation"), "1", h, 2 * h, true, options);
}

MmditImpl::~MmditImpl() = default;

// --- Inputs ---

static void checkShape(const char *name, const Tensor &tensor, std::vector<std::int64_t> expected, const Tensor &like)
{
    TORCH_CHECK(tensor.defined(), "the model needs the input ", name, " of shape ", at::IntArrayRef(expected), ", but it was not given");
    TORCH_CHECK(tensor.sizes() == at::IntArrayRef(expected), "the input ", name, " has shape ", tensor.sizes(), ", but the model needs ", at::IntArrayRef(expected));
    TORCH_CHECK(tensor.device() == like.device() && tensor.is_floating_point(), "the input ", name, " is ", tensor.scalar_type(), " on ", tensor.device(),
                ", but the model needs floating point numbers on ", like.device());
}

static void checkInput(const MmditConfig &config, const MmditInput &input)
{
    TORCH_CHECK(input.img.defined() && input.img.dim() == 3, "the model needs the input img of shape [batch, tokens, ", config.inChannels, "]");
    TORCH_CHECK(input.txt.defined() && input.txt.dim() == 3, "the model needs the input txt of shape [batch, tokens, ", config.contextInDim, "]");
    const std::int64_t batch = input.img.size(0), image = input.img.size(1), text = input.txt.size(1);
    TORCH_CHECK(batch > 0 && image > 0 && text > 0, "the model needs at least one sample with one image and one text token, but img is ", input.img.sizes(), " and txt ",
                input.txt.sizes());
    const auto axes = static_cast<std::int64_t>(config.axesDim.size());
    checkShape("img", input.img, {batch, image, config.inChannels}, input.img);
    checkShape("img_ids", input.imgIds, {batch, image, axes}, input.img);
    checkShape("txt", input.txt, {batch, text, config.contextInDim}, input.img);
    checkShape("txt_ids", input.txtIds, {batch, text, axes}, input.img);
    checkShape("timesteps", input.timesteps, {batch}, input.img);
    checkShape("y_vec", input.yVec, {batch, config.vecInDim}, input.img);
    if (config.condEmbed)
        checkShape("cond", input.cond, {batch, image, config.condChannels()}, input.img);
    if (config.guidanceEmbed)
        checkShape("guidance", input.guidance, {batch}, input.img);
}

// --- Forward ---

namespace {

// Tells the observer when backward reaches the block: its outputs' gradients are complete, and the first of its nodes is about to run.
void watchBackward(int block, memory::BlockObserver &observer, const std::vector<Tensor> &outputs)
{
    const auto told = std::make_shared<bool>(false);
    for (const Tensor &output : outputs) {
        if (!output.requires_grad())
            continue;
        output.register_hook([block, &observer, told](const Tensor &) {
            if (!std::exchange(*told, true))
                observer.backwardBegins(block);
        });
    }
}

// Runs one block, checkpointed or not, with the ledger and the observer knowing which.
std::vector<Tensor> runBlock(int block, const MmditConfig &config, bool checkpointed, const memory::StepMemory &step, const memory::BlockFunction &function,
                             const std::vector<Tensor> &inputs, std::size_t streams, const std::vector<Tensor> &parameters)
{
    memory::BlockScope scope(block);
    memory::BlockObserver *observer = step.observer;
    const auto observed = [block, observer, function](const std::vector<Tensor> &arguments) {
        const BlockPass pass = memory::isRecomputing() ? BlockPass::Recompute : BlockPass::Forward;
        if (observer)
            observer->blockBegins(block, pass);
        std::vector<Tensor> outputs = function(arguments);
        if (observer)
            observer->blockEnds(block, pass);
        return outputs;
    };
    const std::vector<Tensor> outputs =
        checkpointed ? memory::checkpoint(observed, inputs, {blockName(config, block), streams, parameters, step.offload}) : observed(inputs);
    if (observer && observer->wantsBackward())
        watchBackward(block, *observer, outputs);
    return outputs;
}

} // namespace

Tensor MmditImpl::forward(const MmditInput &input, const memory::StepMemory &step)
{
    checkInput(m_config, input);
    const Parts &p = *m_parts;
    Tensor img = (*p.imgIn)(input.img);
    if (m_config.condEmbed)
        img = img + (*p.condIn)(input.cond);
    Tensor vec = (*p.timeIn)(timestepEmbedding(input.timesteps));
    if (m_config.guidanceEmbed)
        vec = vec + (*p.guidanceIn)(timestepEmbedding(input.guidance));
    vec = vec + (*p.vectorIn)(input.yVec);
    Tensor txt = (*p.txtIn)(input.txt);
    const RopeTable rope = ropeTable(m_config, torch::cat({input.txtIds, input.imgIds}, 1));
    const Tensor siluVec = torch::silu(vec);

    int block = 0;
    for (const auto &module : p.doubles) {
        const auto run = [module = module.get(), rope](const std::vector<Tensor> &x) { return module->forward(x[0], x[1], x[2], rope); };
        const std::vector<Tensor> outputs = runBlock(block, m_config, block < step.depth.doubleBlocks, step, run, {img, txt, siluVec}, 2, p.blockParameters[static_cast<std::size_t>(block)]);
        img = outputs[0];
        txt = outputs[1];
        ++block;
    }
    const std::int64_t textTokens = txt.size(1);
    Tensor z = torch::cat({txt, img}, 1);
    img = txt = Tensor();
    for (const auto &module : p.singles) {
        const auto run = [module = module.get(), rope](const std::vector<Tensor> &x) { return std::vector<Tensor>{module->forward(x[0], x[1], rope)}; };
        const bool checkpointed = block - static_cast<int>(p.doubles.size()) < step.depth.singleBlocks;
        z = runBlock(block, m_config, checkpointed, step, run, {z, siluVec}, 1, p.blockParameters[static_cast<std::size_t>(block)])[0];
        ++block;
    }
    const std::vector<Tensor> mod = (*p.finalModulation)(siluVec).chunk(2, -1);
    return (*p.finalLinear)(modulatedNorm(z, mod[0], mod[1], textTokens));
}

} // namespace stagewright::model
