#include "tests/unit/train/synthetic_source.h"

#include <array>

namespace stagewright::test {

namespace {

constexpr std::array<const char *, 6> kColours{"red", "green", "blue", "yellow", "violet", "teal"};
constexpr std::array<std::array<float, 3>, 6> kValues{{{0.9f, -0.8f, -0.8f}, {-0.8f, 0.8f, -0.7f}, {-0.8f, -0.7f, 0.9f}, {0.8f, 0.8f, -0.8f}, {0.6f, -0.8f, 0.7f}, {-0.8f, 0.5f, 0.5f}}};

} // namespace

SyntheticSource::SyntheticSource(std::vector<SyntheticBatch> epoch) : m_epoch(std::move(epoch)) {}

torch::Tensor SyntheticSource::clip(std::int64_t row, std::int64_t frames, std::int64_t height, std::int64_t width)
{
    auto video = torch::empty({3, frames, height, width});
    const auto x = torch::arange(width, torch::kFloat32).reshape({1, 1, width}) / double(width);
    const auto t = torch::arange(frames, torch::kFloat32).reshape({frames, 1, 1}) / 8.0;
    for (std::int64_t c = 0; c < 3; ++c) {
        const float left = kValues[std::size_t(row % 6)][std::size_t(c)], right = kValues[std::size_t(row / 6 % 6)][std::size_t(c)];
        video[c] = (left * (1 - x) + right * x + 0.1 * torch::sin(t + double(row))).expand({frames, height, width});
    }
    return video.clamp_(-1, 1);
}

std::string SyntheticSource::caption(std::int64_t row)
{
    return std::string("from ") + kColours[std::size_t(row % 6)] + " on the left to " + kColours[std::size_t(row / 6 % 6)] + " on the right";
}

Result<std::optional<data::Batch>> SyntheticSource::next()
{
    const auto count = batchesPerEpoch();
    if (m_position.index >= count) {
        m_position = {m_position.epoch + 1, 0};
        return std::optional<data::Batch>();
    }
    const auto &plan = m_epoch[std::size_t((m_position.index * 7 + m_position.epoch) % count)];      // 7 and count must have no common factor
    data::Batch batch;
    std::vector<torch::Tensor> clips;
    for (const auto row : plan.rows) {
        clips.push_back(clip(row, plan.frames, plan.height, plan.width));
        batch.texts.push_back(caption(shuffledCaptions ? row * 5 + 11 : row));
    }
    batch.video = torch::stack(clips);
    batch.rows = plan.rows;
    batch.bucket = {"32px", plan.frames, plan.height, plan.width, std::int64_t(plan.rows.size())};
    batch.epoch = m_position.epoch;
    batch.index = m_position.index++;
    if (change)
        change(batch);
    return std::optional(std::move(batch));
}

Status SyntheticSource::seek(data::Position position)
{
    m_position = position;
    return Done{};
}

std::vector<SyntheticBatch> syntheticEpoch(std::int64_t count, std::int64_t size, std::int64_t frames, std::int64_t height, std::int64_t width)
{
    std::vector<SyntheticBatch> epoch;
    for (std::int64_t i = 0; i < count; ++i) {
        SyntheticBatch batch{{}, frames, height, width};
        for (std::int64_t j = 0; j < size; ++j)
            batch.rows.push_back(i * size + j);
        epoch.push_back(batch);
    }
    return epoch;
}

} // namespace stagewright::test
