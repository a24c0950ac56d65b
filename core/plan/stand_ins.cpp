#include "core/plan/stand_ins.h"

#include "core/memory/ledger.h"
#include "core/model/haar.h"
#include "core/model/hashed_text.h"

namespace stagewright::plan {

namespace {

using torch::Tensor;

const torch::Device kMeta(torch::kMeta);

// A tensor on the host that takes no memory whatever its size; copied to meta it has its full size there.
Tensor hostShape(at::IntArrayRef sizes)
{
    return torch::zeros({1}).expand(sizes);
}

Tensor shapeOn(torch::DeviceType device, at::IntArrayRef sizes)
{
    return device == torch::kCPU ? torch::empty(sizes, torch::TensorOptions(torch::kFloat32).device(kMeta)) : hostShape(sizes);
}

class StandInDraws final : public train::Draws
{
public:
    explicit StandInDraws(torch::DeviceType device) : m_device(device) {}
    void beginStep(std::int64_t, std::int64_t batch) override { m_batch = batch; }
    double conditionUniform(std::int64_t) override { return 0; }
    model::Generators autoencoderStreams() override { return {}; }
    Tensor timeNormals() override { return shapeOn(m_device, {m_batch}); }
    Tensor textUniforms(bool) override { return shapeOn(m_device, {m_batch}); }
    Tensor noise(std::int64_t tokens, std::int64_t width) override { return shapeOn(m_device, {m_batch, tokens, width}); }

private:
    torch::DeviceType m_device;
    std::int64_t m_batch = 0;
};

// The hashed text encoder's memory on the CPU: positions, one state a text, then all of them, and the table of the words that it remembers.
class StandInText final : public model::TextEncoder
{
public:
    StandInText(bool isPooled, bool isHashed, std::int64_t width, std::int64_t length, std::int64_t parameters, torch::DeviceType device, torch::Dtype dtype)
        : m_pooled(isPooled), m_onCpu(device == torch::kCPU && isHashed), m_width(width), m_length(length), m_dtype(dtype)
    {
        if (m_onCpu)
            m_words = torch::empty({model::HashedText::kRemembered, width}, torch::TensorOptions(torch::kFloat32).device(kMeta));
        if (parameters > 0)
            m_weights = torch::empty({parameters}, torch::TensorOptions(dtype).device(kMeta));
    }
    std::string name() const override { return "stand-in"; }
    std::int64_t width() const override { return m_width; }
    std::int64_t length() const override { return m_pooled ? 0 : m_length; }

    Tensor encode(const std::vector<std::string> &texts, std::int64_t alignment) override
    {
        const auto count = std::int64_t(texts.size()), tokens = m_length + alignment;
        const auto fp32 = torch::TensorOptions(torch::kFloat32).device(kMeta), own = fp32.dtype(m_dtype);
        if (!m_onCpu)
            return m_pooled ? torch::empty({count, m_width}, own) : torch::empty({count, tokens, m_width}, own);
        if (!m_pooled && (!m_positions.defined() || m_positions.size(0) < tokens))
            makePositions(tokens);
        std::vector<Tensor> rows;
        for (std::int64_t i = 0; i < count; ++i)
            rows.push_back(m_pooled ? torch::empty({m_width}, fp32) : torch::empty({tokens, m_width}, fp32));
        return torch::stack(rows).to(kMeta, m_dtype);
    }

private:
    void makePositions(std::int64_t tokens)
    {
        const auto half = (m_width + 1) / 2;
        const auto fp64 = torch::TensorOptions(torch::kFloat64).device(kMeta);
        const auto angles = torch::empty({tokens, half}, fp64);
        const auto pairs = torch::stack({angles.sin(), angles.cos()}, 2);
        m_positions = torch::empty({tokens, m_width}, fp64.dtype(torch::kFloat32));
    }

    bool m_pooled, m_onCpu;
    std::int64_t m_width, m_length;
    torch::Dtype m_dtype;
    Tensor m_weights, m_positions, m_words;
};

// A learned autoencoder: its weights, and at encoding what its first level keeps alive of one tile (input, two feature maps, a padded copy), in the
// channels of that level. Source of the sizes: the configuration of HunyuanVideo's autoencoder as Open-Sora 2.0 ships it.
class StandInAutoencoder final : public model::Autoencoder
{
public:
    StandInAutoencoder(const EncoderWork &work, torch::Dtype dtype) : m_work(work), m_dtype(dtype)
    {
        if (work.autoencoderParameters > 0)
            m_weights = torch::empty({work.autoencoderParameters}, torch::TensorOptions(dtype).device(kMeta));
    }
    std::string name() const override { return "stand-in"; }
    std::int64_t latentChannels() const override { return m_work.latentChannels; }
    model::LatentGeometry geometry() const override { return {m_work.timeRatio, m_work.spaceRatio}; }

    Tensor encode(const Tensor &video, const model::Generators &) override
    {
        constexpr std::int64_t kWidth = 128, kAlive = 4;
        const auto options = torch::TensorOptions(m_dtype).device(kMeta);
        const auto input = video.to(kMeta, m_dtype);
        if (m_work.tilePixels > 0) {
            const auto rows = std::min(video.size(3), m_work.tilePixels), columns = std::min(video.size(4), m_work.tilePixels);
            torch::empty({kAlive, video.size(0), kWidth, video.size(2), rows, columns}, options);
        }
        const auto g = geometry();
        return torch::empty({video.size(0), m_work.latentChannels, g.frames(video.size(2)), g.side(video.size(3)), g.side(video.size(4))}, options);
    }

private:
    EncoderWork m_work;
    torch::Dtype m_dtype;
    Tensor m_weights;
};

// One process's part of what the whole sequence's encoding answers.
class DividedEncoding final : public train::Encoding
{
public:
    DividedEncoding(std::unique_ptr<train::Encoding> whole, const Work &work, const ClipShape &shape) : m_whole(std::move(whole)), m_work(work), m_shape(shape) {}

    train::Encoded encode(const data::Batch &batch, train::Draws &draws) override
    {
        auto encoded = m_whole->encode(batch, draws);
        const auto patch = m_work.model.patchSize, columns = patch * imageTokens(m_work, m_shape);
        const auto part = [&](Tensor &tensor, std::int64_t channels) {
            if (tensor.defined())
                tensor = torch::empty({tensor.size(0), channels, 1, patch, columns}, tensor.options());
        };
        part(encoded.latents, encoded.latents.size(1));
        if (encoded.cond.defined())
            part(encoded.cond, encoded.cond.size(1));
        if (encoded.masks.defined())
            encoded.masks = torch::empty({encoded.masks.size(0), 1, patch, columns}, encoded.masks.options());
        encoded.tokens = encoded.tokens.narrow(1, 0, textTokens(m_work, m_shape)).contiguous();
        return encoded;
    }
    const Tensor &nullTokens() override
    {
        if (!m_null.defined())
            m_null = m_whole->nullTokens().narrow(1, 0, textTokens(m_work, m_shape)).contiguous();
        return m_null;
    }
    const Tensor &nullPooled() override { return m_whole->nullPooled(); }

private:
    std::unique_ptr<train::Encoding> m_whole;
    const Work &m_work;
    const ClipShape &m_shape;
    Tensor m_null;
};

} // namespace

data::Batch standInBatch(const Work &work, const ClipShape &shape)
{
    data::Batch batch;
    batch.video = shapeOn(work.device, {shape.batch, 3, shape.frames, shape.height, shape.width});
    batch.texts.resize(std::size_t(shape.batch));
    batch.rows.resize(std::size_t(shape.batch));
    return batch;
}

std::unique_ptr<train::Draws> standInDraws(const Work &work)
{
    return std::make_unique<StandInDraws>(work.device);
}

std::unique_ptr<train::Encoding> standInEncoding(const Work &work, const ClipShape &shape)
{
    memory::KindScope kind(MemoryKind::Encoder);
    const auto &settings = work.settings;
    const auto &e = work.encoders;
    const auto latentDtype = settings.compat == train::Compat::OpenSora ? settings.dtype : torch::kFloat32;
    std::unique_ptr<model::Autoencoder> autoencoder;
    if (e.haar)
        autoencoder = std::make_unique<model::HaarAutoencoder>(e.latentChannels, kMeta, latentDtype);
    else
        autoencoder = std::make_unique<StandInAutoencoder>(e, settings.dtype);
    auto tokens = std::make_unique<StandInText>(false, e.hashedTokens, e.tokenWidth, e.tokenLength, e.tokenParameters, work.device, settings.dtype);
    auto pooled = std::make_unique<StandInText>(true, e.hashedPooled, e.pooledWidth, e.pooledLength, e.pooledParameters, work.device, settings.dtype);
    std::unique_ptr<train::Encoding> encoding =
        std::make_unique<train::StageEncoding>(settings, kMeta, std::move(autoencoder), std::move(tokens), std::move(pooled));
    if (work.division.sequence > 1)
        encoding = std::make_unique<DividedEncoding>(std::move(encoding), work, shape);
    return encoding;
}

} // namespace stagewright::plan
