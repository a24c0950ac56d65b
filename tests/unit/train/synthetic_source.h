// A batch source without files: clips that follow from their row numbers, so that every run sees the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/data/batch.h"

namespace stagewright::test {

struct SyntheticBatch {
    std::vector<std::int64_t> rows;
    std::int64_t frames = 5, height = 16, width = 16;
};

// Row r is a drifting colour pattern with its own colours, and a caption that names them. Epochs are all alike, in another order each.
class SyntheticSource final : public data::BatchSource
{
public:
    explicit SyntheticSource(std::vector<SyntheticBatch> epoch);

    Result<std::optional<data::Batch>> next() override;
    std::int64_t batchesPerEpoch() const override { return std::int64_t(m_epoch.size()); }
    data::Position position() const override { return m_position; }
    Status seek(data::Position position) override;
    std::string fingerprint() const override { return name; }

    std::string name = "synthetic";
    bool shuffledCaptions = false;                                   // every caption belongs to another clip
    std::function<void(data::Batch &)> change;                       // called on every batch before it is handed out

    static torch::Tensor clip(std::int64_t row, std::int64_t frames, std::int64_t height, std::int64_t width);      // [3,T,H,W]
    static std::string caption(std::int64_t row);

private:
    std::vector<SyntheticBatch> m_epoch;
    data::Position m_position;
};

// `count` batches of `size` rows each, all of one shape.
std::vector<SyntheticBatch> syntheticEpoch(std::int64_t count, std::int64_t size, std::int64_t frames = 5, std::int64_t height = 16, std::int64_t width = 16);

} // namespace stagewright::test
