// The gradients of one update: collected over micro-steps, their norm, and where to find them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/checkpoint/training_state.h"

namespace stagewright::train {

// In what micro-steps are added up. Training in float32 has only the one.
enum class Accumulation {
    Float32,               // exact sums, kept beside the half-precision gradients where more than one micro-step is added
    ParameterDtype         // in bfloat16 or float16, as the original
};

// Belongs to the training thread. Holds no copy where one is not needed: one micro-step an update, or float32, uses autograd's own tensors.
class Gradients
{
public:
    // parameters must outlive this and keep their order; only trainable ones are looked at.
    Gradients(std::vector<checkpoint::ParameterState> &parameters, Accumulation accumulation, std::int64_t microStepsPerUpdate);

    void collect();                              // after each backward
    std::int64_t collected() const { return m_collected; }       // micro-steps since the last release
    const std::vector<torch::Tensor> &tensors() const { return m_current; }      // by parameter; undefined where it had none. Contiguous
    double norm() const;                         // global L2 norm of what was collected, as it is (a loss scale not removed); waits for the device
    void release();                              // forgets everything; the next window begins

    // For checkpoints in the middle of a window: hands over, and takes back.
    void exportTo(std::vector<checkpoint::ParameterState> &parameters) const;
    void importFrom(const std::vector<checkpoint::ParameterState> &parameters, std::int64_t collected);

private:
    bool needsSums(const torch::Tensor &weight) const;
    std::vector<checkpoint::ParameterState> &m_parameters;
    Accumulation m_accumulation;
    std::int64_t m_microStepsPerUpdate, m_collected = 0;
    std::vector<torch::Tensor> m_current;
    std::vector<torch::Tensor> m_sums;           // float32, kept between updates; undefined where not needed
};

} // namespace stagewright::train
