#include "core/train/gradients.h"

#include <cmath>

#include "core/memory/device.h"
#include "core/train/parallel.h"
#include "core/train/storage.h"

namespace stagewright::train {

namespace {

const char *chunkPointer(const torch::Tensor &tensor, const Chunk &chunk)
{
    return static_cast<const char *>(tensor.const_data_ptr()) + chunk.offset * std::int64_t(tensor.element_size());
}

void addTo(torch::Tensor &sum, const torch::Tensor &gradient)
{
    if (memory::operatorDevice(sum) != torch::kCPU) {
        sum.add_(gradient);
        return;
    }
    if (sum.is_meta())
        return;
    const auto chunks = chunksOf({sum.numel()});
    const auto storage = storageOf(gradient.scalar_type());
    float *values = sum.mutable_data_ptr<float>();
    forEachChunk(chunks.size(), at::get_num_threads(), [&](std::size_t i) {
        accumulate(values + chunks[i].offset, chunkPointer(gradient, chunks[i]), storage, std::size_t(chunks[i].count));
    });
}

double normOnCpu(const std::vector<torch::Tensor> &tensors)
{
    std::vector<std::int64_t> sizes;
    sizes.reserve(tensors.size());
    for (const auto &tensor : tensors)
        sizes.push_back(tensor.defined() ? tensor.numel() : 0);
    const auto chunks = chunksOf(sizes);
    std::vector<double> partial(chunks.size());
    forEachChunk(chunks.size(), at::get_num_threads(), [&](std::size_t i) {
        const auto &tensor = tensors[chunks[i].tensor];
        partial[i] = sumOfSquares(chunkPointer(tensor, chunks[i]), storageOf(tensor.scalar_type()), std::size_t(chunks[i].count));
    });
    double sum = 0;
    for (const double value : partial)
        sum += value;
    return std::sqrt(sum);
}

double normOnDevice(const std::vector<torch::Tensor> &tensors)
{
    std::vector<torch::Tensor> squares;
    for (const auto &tensor : tensors) {
        if (tensor.defined())
            squares.push_back(torch::linalg_vector_norm(tensor, 2, {}, false, torch::kFloat32).to(torch::kFloat64).square());
    }
    if (squares.empty())
        return 0;
    const auto sum = torch::stack(squares).sum();
    return sum.is_meta() ? 1 : std::sqrt(sum.item<double>());
}

} // namespace

Gradients::Gradients(std::vector<checkpoint::ParameterState> &parameters, Accumulation accumulation, std::int64_t microStepsPerUpdate)
    : m_parameters(parameters), m_accumulation(accumulation), m_microStepsPerUpdate(microStepsPerUpdate), m_current(parameters.size()), m_sums(parameters.size())
{
}

bool Gradients::needsSums(const torch::Tensor &weight) const
{
    return m_accumulation == Accumulation::Float32 && m_microStepsPerUpdate > 1 && weight.scalar_type() != torch::kFloat32;
}

void Gradients::collect()
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        auto &parameter = m_parameters[i];
        if (!parameter.trainable)
            continue;
        auto &gradient = parameter.weight.mutable_grad();
        if (!gradient.defined())
            continue;
        if (!gradient.is_contiguous())
            gradient = gradient.contiguous();
        if (!needsSums(parameter.weight)) {
            m_current[i] = gradient;
            continue;
        }
        if (!m_sums[i].defined())
            m_sums[i] = torch::empty_like(parameter.weight, torch::TensorOptions(torch::kFloat32));
        if (m_current[i].defined())
            addTo(m_sums[i], gradient);
        else
            m_sums[i].copy_(gradient);
        m_current[i] = m_sums[i];
        gradient.reset();
    }
    ++m_collected;
}

double Gradients::norm() const
{
    for (const auto &tensor : m_current) {
        if (tensor.defined() && memory::operatorDevice(tensor) == torch::kCPU)
            return tensor.is_meta() ? 1 : normOnCpu(m_current);          // planning: any number that is one
        if (tensor.defined())
            return normOnDevice(m_current);
    }
    return 0;
}

void Gradients::release()
{
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        m_current[i].reset();
        if (m_parameters[i].weight.defined())
            m_parameters[i].weight.mutable_grad().reset();
    }
    m_collected = 0;
}

void Gradients::exportTo(std::vector<checkpoint::ParameterState> &parameters) const
{
    for (std::size_t i = 0; i < parameters.size(); ++i)
        parameters[i].gradient = m_collected ? m_current[i] : torch::Tensor();
}

void Gradients::importFrom(const std::vector<checkpoint::ParameterState> &parameters, std::int64_t collected)
{
    release();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto &gradient = parameters[i].gradient;
        if (!gradient.defined())
            continue;
        auto &weight = m_parameters[i].weight;
        if (needsSums(weight)) {
            m_sums[i] = gradient.to(weight.device(), torch::kFloat32).clone();
            m_current[i] = m_sums[i];
        } else {
            weight.mutable_grad() = gradient.to(weight.device(), weight.scalar_type()).clone();
            m_current[i] = weight.grad();
        }
    }
    m_collected = collected;
}

} // namespace stagewright::train
