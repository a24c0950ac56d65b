#include "ui/session/plan_axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/activation_need.h"
#include "core/config/bucket_table.h"
#include "core/config/option.h"
#include "core/config/overrides.h"

namespace stagewright::session {

using config::Option;
using config::OptionType;
using config::Stage;
using config::Value;
using Kind = PlanAxis::Kind;

namespace {

constexpr const char *kDepth = "model.grad_ckpt_settings", *kBuffer = "grad_ckpt_buffer_size";
constexpr int kMostBlocks = 200;

PlanAxis depthAxis(Kind kind, int total, int now)
{
    PlanAxis axis{kind, kDepth, {}, std::min(now, total)};
    for (int blocks = 0; blocks <= std::min(total, kMostBlocks); ++blocks)
        axis.values.push_back(std::to_string(blocks));
    return axis;
}

void addCurrent(PlanAxis &axis, const std::string &now)
{
    const auto at = std::find(axis.values.begin(), axis.values.end(), now);
    axis.current = at == axis.values.end() ? -1 : int(at - axis.values.begin());
}

// Halves and doubles of what the stage has, within the option's range.
std::vector<std::string> around(const Option &option, double now)
{
    const bool whole = option.type == OptionType::Int;
    std::vector<std::string> values;
    for (double factor = 1.0 / 8; factor <= 8; factor *= 2) {
        const double value = now == 0 ? (factor < 1 ? 0 : factor) : now * factor;
        const std::string text = whole ? std::to_string(static_cast<std::int64_t>(value)) : formatNumber(value);
        const bool legal = (!option.hardMin || value >= *option.hardMin) && (!option.hardMax || value <= *option.hardMax) && (!whole || value == std::floor(value));
        if (legal && (values.empty() || values.back() != text))
            values.push_back(text);
    }
    return values;
}

PlanAxis bufferAxis(const Stage &stage)
{
    PlanAxis axis{Kind::Option, kBuffer, {"0"}, -1};
    const std::int64_t now = stage.at(kBuffer).type() == config::Type::Int ? stage.integer(kBuffer) : 0;
    std::set<std::int64_t> sizes{now};
    if (const auto largest = config::largestNeed(config::activationNeeds(stage)))
        for (int eighth = 1; eighth <= 8; ++eighth)
            sizes.insert(largest->elements / 8 * eighth);
    for (const std::int64_t size : sizes)
        if (size > 0)
            axis.values.push_back(std::to_string(size));
    addCurrent(axis, std::to_string(now));
    return axis;
}

std::optional<PlanAxis> optionAxis(const Stage &stage, const Option &option)
{
    PlanAxis axis{Kind::Option, std::string(option.path), {}, -1};
    const Value &now = stage.at(option.path);
    if (option.type == OptionType::Bool) {
        axis.values = {"False", "True"};
    } else if (option.type == OptionType::Choice) {
        for (const auto choice : option.choices)
            axis.values.push_back(std::string(choice));
    } else if ((option.type == OptionType::Int || option.type == OptionType::Float) && now.isNumber()) {
        axis.values = around(option, now.number());
    } else {
        return std::nullopt;
    }
    addCurrent(axis, now.type() == config::Type::String ? now.string() : option.type == OptionType::Float && now.isNumber() ? formatNumber(now.number()) : config::toPython(now));
    return axis;
}

PlanAxis batchAxis(const config::BucketRow &row)
{
    PlanAxis axis{Kind::BucketBatch, "bucket_config." + row.resolution + "." + std::to_string(row.frames), {}, -1};
    const int most = std::clamp(2 * row.batchSize, 8, 4096);
    std::set<int> sizes{row.batchSize};
    for (int size = 1; size <= most; size += std::max(1, size / 8))
        sizes.insert(size);
    for (const int size : sizes)
        axis.values.push_back(std::to_string(size));
    addCurrent(axis, std::to_string(row.batchSize));
    return axis;
}

std::string depthText(const std::string &doubles, const std::string &singles) { return "(" + doubles + ", " + singles + ")"; }

// A bucket's value with another batch size; its probability stays.
std::string batchText(const Stage &stage, const std::string &path, const std::string &batch)
{
    const Value *row = config::lookUp(stage.values(), path);
    const bool pair = row && row->isSequence() && row->items().size() == 2;
    return "(" + (pair ? config::toPython(row->items()[0]) : std::string("1.0")) + ", " + batch + ")";
}

std::string textOf(const Stage &stage, const PlanAxis &axis, const std::string &value)
{
    const auto blocks = config::checkpointedBlocks(stage);
    switch (axis.kind) {
    case Kind::DoubleBlocks: return depthText(value, std::to_string(blocks.singles));
    case Kind::SingleBlocks: return depthText(std::to_string(blocks.doubles), value);
    case Kind::BucketBatch: return batchText(stage, axis.path, value);
    case Kind::Option: break;
    }
    return value;
}

bool bothDepths(const PlanAxis &x, const PlanAxis *y) { return y && x.path == y->path && x.kind != y->kind; }

} // namespace

std::vector<PlanAxis> axesOf(const Stage &stage)
{
    const auto blocks = config::checkpointedBlocks(stage);
    std::vector<PlanAxis> axes = {depthAxis(Kind::SingleBlocks, blocks.singleTotal, blocks.singles), depthAxis(Kind::DoubleBlocks, blocks.doubleTotal, blocks.doubles), bufferAxis(stage)};
    const auto add = [&](const Option &option) {
        if (option.keyClass != config::KeyClass::Read || std::any_of(axes.begin(), axes.end(), [&](const PlanAxis &known) { return known.path == option.path; }))
            return;
        if (auto axis = optionAxis(stage, option); axis && !axis->values.empty())
            axes.push_back(std::move(*axis));
    };
    for (const std::string_view path : {"dtype", "grad_checkpoint", "accumulation_steps", "ema_decay"})
        if (const Option *option = config::findOption(path))
            add(*option);
    if (const auto rows = config::bucketRows(stage))
        for (const auto &row : *rows)
            if (row.batchSize > 0 && row.probability > 0)
                axes.push_back(batchAxis(row));
    for (const Option &option : config::allOptions())
        add(option);
    std::erase_if(axes, [](const PlanAxis &axis) { return axis.values.size() < 2; });
    return axes;
}

std::optional<std::vector<std::string>> typedValues(const std::string &text)
{
    std::vector<std::string> values(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        if (c == ',' && depth == 0)
            values.emplace_back();
        else
            values.back() += c;
    }
    for (std::string &value : values)
        value = std::string(trimmed(value));
    std::erase(values, std::string());
    return depth == 0 && !values.empty() ? std::optional(values) : std::nullopt;
}

std::vector<events::PlanValue> valuesAt(const Stage &stage, const PlanAxis &x, std::size_t column, const PlanAxis *y, std::size_t row)
{
    if (bothDepths(x, y)) {
        const bool xIsDouble = x.kind == Kind::DoubleBlocks;
        return {{x.path, xIsDouble ? depthText(x.values[column], y->values[row]) : depthText(y->values[row], x.values[column])}};
    }
    std::vector<events::PlanValue> values;
    if (y)
        values.push_back({y->path, textOf(stage, *y, y->values[row])});
    values.push_back({x.path, textOf(stage, x, x.values[column])});
    return values;
}

std::vector<events::PlanVary> varyOfRow(const Stage &stage, const PlanAxis &x, const PlanAxis *y, std::size_t row)
{
    std::vector<events::PlanVary> vary;
    if (y && !bothDepths(x, y))
        vary.push_back({y->path, {textOf(stage, *y, y->values[row])}});
    events::PlanVary columns{x.path, {}};
    for (std::size_t column = 0; column < x.values.size(); ++column)
        columns.values.push_back(valuesAt(stage, x, column, y, row).back().text);
    vary.push_back(std::move(columns));
    return vary;
}

std::vector<std::size_t> paretoFront(const std::vector<events::PlannedPoint> &points)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i].peakBytes > 0)
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return points[a].peakBytes != points[b].peakBytes ? points[a].peakBytes < points[b].peakBytes : points[a].stepSeconds < points[b].stepSeconds;
    });
    std::vector<std::size_t> front;
    for (const std::size_t i : order)
        if (front.empty() || points[i].stepSeconds < points[front.back()].stepSeconds)
            front.push_back(i);
    return front;
}

Result<Stage> stageWith(const Stage &stage, const std::vector<events::PlanValue> &values)
{
    std::vector<config::Override> overrides;
    for (const auto &value : values)
        overrides.push_back({value.path, value.text, config::OriginKind::Edit});
    return config::overridden(stage, overrides);
}

} // namespace stagewright::session
