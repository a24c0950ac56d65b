// HybridAdam: Open-Sora's optimizer, Adam with decoupled weight decay, in float32 over master weights.
#pragma once

#include <array>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/checkpoint/training_state.h"
#include "core/train/adam_kernel.h"
#include "core/train/storage.h"

namespace stagewright::train {

struct AdamSettings {
    std::array<double, 2> betas{0.9, 0.999};
    double eps = 1e-8;
    double weightDecay = 0;
    bool biasCorrection = true;
    bool decoupled = true;                   // adamw_mode; false adds weight_decay*p to the gradient
};

enum class UpdatePath {
    ByDevice,          // the loops of adam_kernel.h on the CPU, Torch's foreach operators elsewhere
    Foreach            // the operators everywhere (tests compare the two)
};

// m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; p -= lr * ((m/(1-b1^k)) / (sqrt(v/(1-b2^k)) + eps) + wd*p), k from 1; then the working weight is
// p rounded to its dtype. On the CPU one pass over each parameter, chunks side by side on Torch's threads; elsewhere Torch's foreach
// operators, in slices so that the scratch memory stays small. Results do not depend on the number of threads. Training thread.
class HybridAdam
{
public:
    // Makes the moments that are not there yet with the first step. parameters must outlive this and keep their order.
    HybridAdam(std::vector<checkpoint::ParameterState> &parameters, AdamSettings settings, UpdatePath path = UpdatePath::ByDevice);

    // Allocates missing moments; step() does it where it was not called.
    void ensureMoments();

    // gradients by parameter, contiguous, in float32 or the weight's dtype; undefined: the parameter stays as it is. They are multiplied by
    // gradScale first and not changed on the CPU.
    void step(const std::vector<torch::Tensor> &gradients, double lr, double gradScale);

    AdamSettings &settings() { return m_settings; }

private:
    AdamFactors factorsFor(std::int64_t updates, double lr, double gradScale) const;
    void stepOnCpu(const std::vector<torch::Tensor> &gradients, double lr, double gradScale);
    void stepOnDevice(const std::vector<torch::Tensor> &gradients, double lr, double gradScale);
    std::vector<checkpoint::ParameterState> &m_parameters;
    AdamSettings m_settings;
    UpdatePath m_path;
    std::vector<Chunk> m_chunks;             // over trainable parameters
};

// The factor that clips gradients of this norm to `limit`: 1/c with c = (norm + 1e-6)/limit where c > 1, else 1. limit 0: no clipping.
double clipFactor(double norm, double limit);

} // namespace stagewright::train
