#include "core/train/conditions.h"

#include <array>

#include "core/base/text.h"

namespace stagewright::train {

namespace {

constexpr std::array<std::string_view, 8> kNames{"t2v", "i2v_head", "i2v_tail", "i2v_loop", "v2v_head", "v2v_tail", "v2v_head_easy", "v2v_tail_easy"};

// Pixel frames that a video condition gives away, without the causal autoencoder's first; 0 for the others.
std::int64_t givenFrames(Condition condition)
{
    switch (condition) {
    case Condition::V2vHead:
    case Condition::V2vTail:
        return 32;
    case Condition::V2vHeadEasy:
    case Condition::V2vTailEasy:
        return 64;
    default:
        return 0;
    }
}

bool givesHead(Condition condition)
{
    return condition == Condition::I2vHead || condition == Condition::I2vLoop || condition == Condition::V2vHead || condition == Condition::V2vHeadEasy;
}

bool givesTail(Condition condition)
{
    return condition == Condition::I2vTail || condition == Condition::I2vLoop || condition == Condition::V2vTail || condition == Condition::V2vTailEasy;
}

// The generators of one sample: its own, or the one stream that all share.
model::Generators generatorsOf(const model::Generators &generators, std::int64_t sample)
{
    return generators.size() > 1 ? model::Generators{generators[std::size_t(sample)]} : generators;
}

} // namespace

std::string_view nameOf(Condition condition)
{
    return kNames[std::size_t(condition)];
}

std::optional<Condition> conditionByName(std::string_view name)
{
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name)
            return Condition(i);
    }
    return {};
}

Result<ConditionTable> conditionTable(const config::Dict &conditionConfig)
{
    ConditionTable table;
    double total = 0;
    for (const auto &[key, value] : conditionConfig) {
        const auto refuse = [&](const std::string &what) {
            return Error(ExitCode::Usage, "config.condition", "condition_config: " + what, value.origin.fileName(), value.origin.line);
        };
        const auto condition = conditionByName(key.text());
        if (!condition) {
            const std::vector<std::string> names(kNames.begin(), kNames.end());
            const auto nearest = nearestOf(key.text(), names);
            return refuse("there is no condition '" + key.text() + "'" + (nearest ? "; did you mean '" + *nearest + "'?" : "; there are " + joined(names, ", ")));
        }
        if (!value.isNumber() || !(value.number() >= 0))
            return refuse("the weight of '" + key.text() + "' must be a number of 0 or more, not " + config::toPython(value));
        table.push_back({*condition, value.number()});
        total += value.number();
    }
    if (!(total > 0))
        return Error(ExitCode::Usage, "config.condition", "condition_config names no condition with a weight above 0; give t2v a weight, or remove it");
    return table;
}

ConditionTable conditionsForLength(const ConditionTable &table, std::int64_t latentFrames, std::int64_t timeRatio, bool causal)
{
    ConditionTable kept;
    for (const WeightedCondition &entry : table) {
        const auto given = givenFrames(entry.condition);
        const auto needed = given / timeRatio + (causal ? 1 : 0);
        if (given == 0 || latentFrames > needed)
            kept.push_back(entry);
    }
    return kept;
}

Condition chooseCondition(const ConditionTable &table, double uniform)
{
    double total = 0;
    for (const WeightedCondition &entry : table)
        total += entry.weight;
    double sum = 0;
    for (std::size_t i = 0; i + 1 < table.size(); ++i) {
        sum += table[i].weight;
        if (uniform * total < sum)
            return table[i].condition;
    }
    return table.back().condition;
}

Conditioned encodeConditioned(model::Autoencoder &autoencoder, const torch::Tensor &video, const std::function<Condition(std::int64_t)> &choose,
                              bool causal, EncodeOrder order, const model::Generators &generators)
{
    Conditioned result;
    const auto batch = video.size(0), pixelFrames = video.size(2);
    const auto ratio = autoencoder.geometry().time;
    const auto frames = autoencoder.geometry().frames(pixelFrames);
    const bool wholeBatch = order == EncodeOrder::Batch || frames == 1;
    if (wholeBatch)
        result.x0 = autoencoder.encode(video, generators);
    else
        result.x0 = torch::Tensor();

    std::vector<torch::Tensor> latents;
    for (std::int64_t b = 0; b < batch && frames > 1; ++b) {
        const auto condition = choose(b);
        result.chosen.push_back(condition);
        const auto sample = video.narrow(0, b, 1);
        const auto own = generatorsOf(generators, b);
        if (!wholeBatch)
            latents.push_back(autoencoder.encode(sample, own));
        const auto x0 = wholeBatch ? result.x0.narrow(0, b, 1) : latents.back();
        if (!result.cond.defined())
            result.cond = torch::zeros({batch, 1 + x0.size(1), frames, x0.size(3), x0.size(4)}, x0.options());
        const auto target = result.cond.narrow(0, b, 1);
        const auto give = [&](std::int64_t firstFrame, const torch::Tensor &given) {
            target.slice(1, 0, 1).narrow(2, firstFrame, given.size(2)).fill_(1);
            target.slice(1, 1).narrow(2, firstFrame, given.size(2)).copy_(given);
        };
        const auto given = givenFrames(condition);
        if (given == 0) {
            if (givesHead(condition))
                give(0, autoencoder.encode(sample.narrow(2, 0, 1), own));
            if (givesTail(condition))
                give(frames - 1, autoencoder.encode(sample.narrow(2, pixelFrames - 1, 1), own));
        } else if (causal) {
            const auto piece = autoencoder.encode(sample.narrow(2, givesHead(condition) ? 0 : pixelFrames - given - 1, given + 1), own);
            give(givesHead(condition) ? 0 : frames - piece.size(2), piece);
        } else {
            const auto count = given / ratio;
            const auto first = givesHead(condition) ? 0 : frames - count;
            give(first, x0.narrow(2, first, count));
        }
    }
    if (!wholeBatch)
        result.x0 = torch::cat(latents, 0);
    if (!result.cond.defined())
        result.cond = torch::zeros({batch, 1 + result.x0.size(1), frames, result.x0.size(3), result.x0.size(4)}, result.x0.options());
    result.masks = result.cond.select(1, 0);
    return result;
}

} // namespace stagewright::train
