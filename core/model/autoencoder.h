// The place where an autoencoder plugs in: pixels to latents, and back where it can. The trainer knows only this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::model {

// How many frames and pixels one latent cell stands for. The size rule is the learned autoencoders' own, causal or not:
// T' = (T-1)/time + 1, H' = (H-1)/space + 1, W' likewise.
struct LatentGeometry {
    std::int64_t time = 4;
    std::int64_t space = 8;

    std::int64_t frames(std::int64_t pixelFrames) const { return (pixelFrames - 1) / time + 1; }
    std::int64_t side(std::int64_t pixels) const { return (pixels - 1) / space + 1; }
};

// Random streams for an encoder that draws noise: none (it uses the mean), one (drawn from for the whole batch, in order), or one for
// each sample of the batch.
using Generators = std::vector<at::Generator>;

// Not thread safe: one thread at a time. Never records a graph.
class Autoencoder
{
public:
    virtual ~Autoencoder() = default;
    virtual std::string name() const = 0;                      // "haar"
    virtual std::int64_t latentChannels() const = 0;
    virtual LatentGeometry geometry() const = 0;
    virtual std::int64_t parameterCount() const { return 0; }
    // What a person should know before training with it, one sentence; empty where there is nothing ("keeps 48 of 768 coefficients …").
    virtual std::string note() const { return {}; }

    // video [B,3,T,H,W] in [-1,1], any floating dtype, on the autoencoder's device -> latents [B,C,T',H',W'] in the autoencoder's dtype.
    virtual torch::Tensor encode(const torch::Tensor &video, const Generators &generators = {}) = 0;
    // latents [B,C,T',H',W'] -> video [B,3,frames,height,width] in [-1,1], or an undefined tensor where there is no decoder.
    virtual torch::Tensor decode(const torch::Tensor &latents, std::int64_t frames, std::int64_t height, std::int64_t width)
    {
        (void)latents, (void)frames, (void)height, (void)width;
        return {};
    }
};

// The autoencoder that the stage's `ae` names, on `device`, computing and answering in `dtype`. Error (Usage): a type that is known but
// not built into this version yet, or one that nobody knows.
Result<std::unique_ptr<Autoencoder>> makeAutoencoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype);

} // namespace stagewright::model
