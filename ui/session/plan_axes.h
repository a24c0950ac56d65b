// The settings that memory can be planned against, each as an axis with values; pure functions of a stage, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/stage.h"
#include "core/events/plan.h"

namespace stagewright::session {

struct PlanAxis {
    enum class Kind { Option, DoubleBlocks, SingleBlocks, BucketBatch };
    Kind kind = Kind::Option;
    std::string path;                      // of the option that is changed; both kinds of blocks share one
    std::vector<std::string> values;       // as Python spells them; counts for blocks and batches
    int current = -1;                      // index of what the stage has; -1: not among the values
    bool operator==(const PlanAxis &other) const { return kind == other.kind && path == other.path; }
};

// Checkpoint depths first, then the options that memory is about, the batch of every bucket, and all other options with numbers or choices.
std::vector<PlanAxis> axesOf(const config::Stage &stage);

// Values as a person types them, separated by commas (those inside brackets do not count); nothing where one of them cannot be read.
std::optional<std::vector<std::string>> typedValues(const std::string &text);

// What the stage is changed to at one point. `y` may be null.
std::vector<events::PlanValue> valuesAt(const config::Stage &stage, const PlanAxis &x, std::size_t column, const PlanAxis *y, std::size_t row);

// The options of a request whose points are the columns of one row, in their order.
std::vector<events::PlanVary> varyOfRow(const config::Stage &stage, const PlanAxis &x, const PlanAxis *y, std::size_t row);

// Indices of the points that no other point beats in both memory and time, by memory; points without figures (memory 0) are left out.
std::vector<std::size_t> paretoFront(const std::vector<events::PlannedPoint> &points);

// The stage as the planner takes it with the values: what is applied, measured and compared.
Result<config::Stage> stageWith(const config::Stage &stage, const std::vector<events::PlanValue> &values);

} // namespace stagewright::session
