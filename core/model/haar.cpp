#include "core/model/haar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stagewright::model {

namespace {

constexpr std::int64_t kTime = 4, kSpace = 8, kCell = kTime * kSpace * kSpace, kColours = 3;
constexpr double kScale = 16;                        // sqrt(kCell)

// Row i of the orthonormal Haar transform of a power-of-two length: row 0 is constant, rows 2^l .. 2^(l+1)-1 are the wavelets of level l+1.
std::vector<double> haarRow(std::int64_t length, std::int64_t row)
{
    std::vector<double> values(std::size_t(length), 0.0);
    if (row == 0) {
        std::fill(values.begin(), values.end(), 1 / std::sqrt(double(length)));
        return values;
    }
    std::int64_t count = 1;                          // wavelets of this level
    while (row >= 2 * count)
        count *= 2;
    const std::int64_t support = length / count, start = (row - count) * support;
    const double height = 1 / std::sqrt(double(support));
    for (std::int64_t i = 0; i < support; ++i)
        values[std::size_t(start + i)] = i < support / 2 ? height : -height;
    return values;
}

int levelOf(std::int64_t row)
{
    int level = 0;
    for (; row > 0; row /= 2)
        ++level;
    return level;
}

// Coefficients of a cell (index = (t*8 + y)*8 + x) from coarse to fine.
std::vector<std::int64_t> coarseToFine()
{
    std::vector<std::int64_t> order(kCell);
    std::iota(order.begin(), order.end(), 0);
    const auto level = [](std::int64_t index) {
        return levelOf(index / (kSpace * kSpace)) + levelOf(index / kSpace % kSpace) + levelOf(index % kSpace);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return level(a) < level(b); });
    return order;
}

torch::Tensor basis(std::int64_t kept)
{
    auto matrix = torch::zeros({kCell, kept}, torch::kFloat64);
    auto values = matrix.accessor<double, 2>();
    const auto order = coarseToFine();
    for (std::int64_t k = 0; k < kept; ++k) {
        const auto index = order[std::size_t(k)];
        const auto t = haarRow(kTime, index / (kSpace * kSpace)), y = haarRow(kSpace, index / kSpace % kSpace), x = haarRow(kSpace, index % kSpace);
        for (std::int64_t pixel = 0; pixel < kCell; ++pixel) {
            values[pixel][k] = t[std::size_t(pixel / (kSpace * kSpace))] * y[std::size_t(pixel / kSpace % kSpace)] * x[std::size_t(pixel % kSpace)] / kScale;
        }
    }
    return matrix.to(torch::kFloat32);
}

torch::Tensor repeatedEdge(const torch::Tensor &video, int axis, std::int64_t index, std::int64_t count)
{
    auto shape = video.sizes().vec();
    shape[std::size_t(axis)] = count;
    return video.narrow(axis, index, 1).expand(shape);
}

} // namespace

HaarAutoencoder::HaarAutoencoder(std::int64_t latentChannels, torch::Device device, torch::Dtype dtype)
    : m_latentChannels(latentChannels), m_dtype(dtype), m_basis(basis((latentChannels + kColours - 1) / kColours).to(device))
{
}

std::string HaarAutoencoder::note() const
{
    if (m_latentChannels == kHaarCoefficients)
        return "the Haar autoencoder keeps all 768 coefficients of a 4x8x8 cell: its inverse is exact";
    return "the Haar autoencoder keeps " + std::to_string(m_latentChannels) + " of the 768 coefficients of each 4x8x8 cell, the coarsest first: "
           "finer detail is not trained on and does not come back; ae.latent_channels 768 would keep everything";
}

torch::Tensor HaarAutoencoder::encode(const torch::Tensor &video, const Generators &)
{
    torch::NoGradGuard noGrad;
    const auto batch = video.size(0), frames = geometry().frames(video.size(2));
    const auto rows = geometry().side(video.size(3)), columns = geometry().side(video.size(4));
    auto padded = video;
    if (const auto missing = frames * kTime - video.size(2); missing > 0)
        padded = torch::cat({repeatedEdge(padded, 2, 0, missing), padded}, 2);
    if (const auto missing = rows * kSpace - video.size(3); missing > 0)
        padded = torch::cat({padded, repeatedEdge(padded, 3, video.size(3) - 1, missing)}, 3);
    if (const auto missing = columns * kSpace - video.size(4); missing > 0)
        padded = torch::cat({padded, repeatedEdge(padded, 4, video.size(4) - 1, missing)}, 4);
    const auto cells = padded.to(m_basis.device(), torch::kFloat32)
                           .reshape({batch, kColours, frames, kTime, rows, kSpace, columns, kSpace})
                           .permute({0, 2, 4, 6, 1, 3, 5, 7})
                           .reshape({-1, kCell});
    const auto kept = m_basis.size(1);
    return torch::mm(cells, m_basis)
        .reshape({batch, frames, rows, columns, kColours, kept})
        .permute({0, 5, 4, 1, 2, 3})
        .reshape({batch, kept * kColours, frames, rows, columns})
        .narrow(1, 0, m_latentChannels)
        .to(m_dtype)
        .contiguous();
}

torch::Tensor HaarAutoencoder::decode(const torch::Tensor &latents, std::int64_t frames, std::int64_t height, std::int64_t width)
{
    torch::NoGradGuard noGrad;
    const auto batch = latents.size(0), cells = latents.size(2), rows = latents.size(3), columns = latents.size(4);
    const auto kept = m_basis.size(1);
    auto coefficients = latents.to(m_basis.device(), torch::kFloat32);
    if (const auto missing = kept * kColours - latents.size(1); missing > 0)
        coefficients = torch::cat({coefficients, torch::zeros({batch, missing, cells, rows, columns}, coefficients.options())}, 1);
    coefficients = coefficients.reshape({batch, kept, kColours, cells, rows, columns}).permute({0, 3, 4, 5, 2, 1}).reshape({-1, kept});
    const auto video = torch::mm(coefficients, m_basis.t() * double(kCell))
                           .reshape({batch, cells, rows, columns, kColours, kTime, kSpace, kSpace})
                           .permute({0, 4, 1, 5, 2, 6, 3, 7})
                           .reshape({batch, kColours, cells * kTime, rows * kSpace, columns * kSpace});
    return video.narrow(2, cells * kTime - frames, frames).narrow(3, 0, height).narrow(4, 0, width).contiguous();
}

} // namespace stagewright::model
