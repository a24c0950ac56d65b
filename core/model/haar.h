// An autoencoder without weights: the 3-D Haar transform with the learned autoencoders' geometry, so that training needs no download.
//
// A latent cell stands for 4 frames of 8x8 pixels, 256 numbers a colour. Each axis goes through the whole orthonormal Haar transform of its
// length (4: two levels, 8: three), so a cell has 256 coefficients a colour, 768 in all. They are divided by 16: the coarsest one of a colour
// is then the cell's mean. Order: coarse to fine by the sum of the three axes' levels, then by (time, row, column) index, colours innermost;
// the first latentChannels of them are kept. Clips whose length is not a multiple of 4 get their first frame repeated in front (with 4k+1
// frames: three times, as the causal autoencoders see it), sides that are no multiple of 8 their last row or column behind.
#pragma once

#include "core/model/autoencoder.h"

namespace stagewright::model {

inline constexpr std::int64_t kHaarCoefficients = 768;

class HaarAutoencoder final : public Autoencoder
{
public:
    // latentChannels 1 to 768.
    HaarAutoencoder(std::int64_t latentChannels, torch::Device device, torch::Dtype dtype);

    std::string name() const override { return "haar"; }
    std::int64_t latentChannels() const override { return m_latentChannels; }
    LatentGeometry geometry() const override { return {4, 8}; }
    std::string note() const override;
    torch::Tensor encode(const torch::Tensor &video, const Generators &generators = {}) override;      // draws nothing
    torch::Tensor decode(const torch::Tensor &latents, std::int64_t frames, std::int64_t height, std::int64_t width) override;

private:
    std::int64_t m_latentChannels;
    torch::Dtype m_dtype;
    torch::Tensor m_basis;             // [256 pixels of a cell, coefficients kept of a colour], float32; its inverse is its transpose times 256
};

} // namespace stagewright::model
