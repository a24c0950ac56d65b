#include "core/train/draws.h"

#include <ATen/CPUGeneratorImpl.h>

#include "core/train/python_random.h"

namespace stagewright::train {

namespace {

enum Purpose : std::uint64_t { PurposeCondition, PurposeAutoencoder, PurposeTime, PurposeTokens, PurposePooled, PurposeNoise };

std::uint64_t mixed(std::uint64_t x)                 // splitmix64's finaliser
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

class SampleDraws final : public Draws
{
public:
    SampleDraws(std::uint64_t seed, int rank) : m_seed(seed), m_rank(std::uint64_t(rank)), m_generator(at::make_generator<at::CPUGeneratorImpl>(0)) {}

    void beginStep(std::int64_t globalMicroStep, std::int64_t batch) override
    {
        m_microStep = std::uint64_t(globalMicroStep);
        m_batch = batch;
    }
    double conditionUniform(std::int64_t sample) override
    {
        return torch::rand({1}, stream(sample, PurposeCondition), torch::kFloat64).item<double>();
    }
    model::Generators autoencoderStreams() override
    {
        model::Generators streams;
        for (std::int64_t b = 0; b < m_batch; ++b)
            streams.push_back(at::make_generator<at::CPUGeneratorImpl>(seedOf(b, PurposeAutoencoder)));
        return streams;
    }
    torch::Tensor timeNormals() override
    {
        auto values = torch::empty({m_batch});
        for (std::int64_t b = 0; b < m_batch; ++b)
            values.narrow(0, b, 1).normal_(0, 1, stream(b, PurposeTime));
        return values;
    }
    torch::Tensor textUniforms(bool pooled) override
    {
        auto values = torch::empty({m_batch});
        for (std::int64_t b = 0; b < m_batch; ++b)
            values.narrow(0, b, 1).uniform_(0, 1, stream(b, pooled ? PurposePooled : PurposeTokens));
        return values;
    }
    torch::Tensor noise(std::int64_t tokens, std::int64_t width) override
    {
        auto values = torch::empty({m_batch, tokens, width});
        for (std::int64_t b = 0; b < m_batch; ++b)
            values.select(0, b).normal_(0, 1, stream(b, PurposeNoise));
        return values;
    }

private:
    std::uint64_t seedOf(std::int64_t sample, Purpose purpose) const { return streamSeed(m_seed, m_rank, m_microStep, std::uint64_t(sample), purpose); }
    at::Generator stream(std::int64_t sample, Purpose purpose)
    {
        m_generator.set_current_seed(seedOf(sample, purpose));
        return m_generator;
    }

    std::uint64_t m_seed, m_rank, m_microStep = 0;
    std::int64_t m_batch = 0;
    at::Generator m_generator;
};

class StreamDraws final : public Draws
{
public:
    explicit StreamDraws(std::uint64_t seed) : m_python(seed) { torch::manual_seed(seed); }

    void beginStep(std::int64_t, std::int64_t batch) override { m_batch = batch; }
    double conditionUniform(std::int64_t) override { return m_python.uniform(); }
    model::Generators autoencoderStreams() override { return {at::detail::getDefaultCPUGenerator()}; }
    torch::Tensor timeNormals() override { return torch::randn({m_batch}, torch::kFloat32); }
    torch::Tensor textUniforms(bool) override { return torch::rand({m_batch}, torch::kFloat32); }
    torch::Tensor noise(std::int64_t tokens, std::int64_t width) override { return torch::randn({m_batch, tokens, width}, torch::kFloat32); }

    std::map<std::string, std::string> save() const override
    {
        const auto state = at::detail::getDefaultCPUGenerator().get_state().contiguous();
        return {{"torch.cpu", std::string(static_cast<const char *>(state.const_data_ptr()), std::size_t(state.numel()))},
                {"python.random", m_python.state()}};
    }
    Status restore(const std::map<std::string, std::string> &streams) override
    {
        const auto torchState = streams.find("torch.cpu"), pythonState = streams.find("python.random");
        if (torchState == streams.end() || pythonState == streams.end())
            return Done{};                             // the original saves none: the streams begin anew, as they do there
        auto generator = at::detail::getDefaultCPUGenerator();
        const auto bytes = torch::tensor(at::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t *>(torchState->second.data()),
                                                                    torchState->second.size()), torch::kUInt8);
        if (bytes.numel() != generator.get_state().numel() || !m_python.setState(pythonState->second))
            return Error(ExitCode::Checkpoint, "checkpoint.random-streams", "the random streams of the checkpoint are of another form; resume with compat none, "
                         "whose streams need no state");
        generator.set_state(bytes);
        return Done{};
    }

private:
    PythonRandom m_python;
    std::int64_t m_batch = 0;
};

} // namespace

std::uint64_t streamSeed(std::uint64_t seed, std::uint64_t rank, std::uint64_t microStep, std::uint64_t sample, std::uint64_t purpose)
{
    std::uint64_t hash = mixed(seed);
    for (const std::uint64_t part : {rank, microStep, sample, purpose})
        hash = mixed(hash ^ part);
    return hash;
}

std::unique_ptr<Draws> makeSampleDraws(std::uint64_t seed, int rank)
{
    return std::make_unique<SampleDraws>(seed, rank);
}

std::unique_ptr<Draws> makeStreamDraws(std::uint64_t seed)
{
    return std::make_unique<StreamDraws>(seed);
}

} // namespace stagewright::train
