// The inner loops of an update on the CPU, free of Torch so that they can be compiled for speed. Plain pointers, no allocation, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stagewright::train {

enum class Storage { Float32, BFloat16, Float16 };           // of working weights and gradients

// One step of the rule for one parameter group, all in float32.
struct AdamFactors {
    float beta1 = 0.9f, beta2 = 0.999f;
    float oneMinusBeta1 = 0.1f, oneMinusBeta2 = 0.001f;
    float lr = 0;
    float inverseCorrection1 = 1;                            // 1/(1-beta1^k), 1 without bias correction
    float inverseRootCorrection2 = 1;                        // 1/sqrt(1-beta2^k)
    float eps = 1e-8f;
    float weightDecay = 0;
    bool decoupled = true;                                   // adamw_mode
    float gradScale = 1;                                     // gradients are multiplied by it first: clipping, loss scale
};

// master, m, v float32; grad and weight in `storage` (grad may be float32 while weight is not: gradStorage). weight null: the master is the
// weight. Reads and writes n values from each pointer.
void adamStep(const AdamFactors &factors, float *master, const void *grad, Storage gradStorage, float *m, float *v, void *weight, Storage weightStorage,
              std::size_t n);

double sumOfSquares(const void *values, Storage storage, std::size_t n);          // each value squared and summed in double; order fixed by n alone

void accumulate(float *sum, const void *values, Storage storage, std::size_t n);  // sum += values

void averageStep(float *average, const float *values, float decay, float oneMinusDecay, std::size_t n);      // average = d*average + (1-d)*values

} // namespace stagewright::train
