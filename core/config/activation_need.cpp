#include "core/config/activation_need.h"

#include <algorithm>
#include <map>

#include "core/config/findings.h"

namespace stagewright::config {

namespace {

int blockCount(const Facts &facts, std::string_view path)
{
    return static_cast<int>(std::clamp<std::int64_t>(facts.integer(path).value_or(0), 0, 1 << 20));
}

// As Python slices blocks[:n].
int firstBlocks(std::int64_t n, int total)
{
    return static_cast<int>(std::clamp<std::int64_t>(n < 0 ? total + n : n, 0, total));
}

// Sequence parallelism divides the tokens, unless a part would hold no image token; text is padded to a multiple first.
std::int64_t tokensOfRank(std::int64_t imageTokens, std::int64_t textTokens, int parts)
{
    std::int64_t all = imageTokens + textTokens;
    if (parts <= 1)
        return all;
    const std::int64_t padding = (parts - all % parts) % parts;
    all += padding;
    return all / parts > textTokens + padding ? all / parts : all;
}

int sequenceParts(const Facts &facts)
{
    if (!facts.is("plugin", "hybrid") || !facts.isOn("plugin_config.enable_sequence_parallelism"))
        return 1;
    return static_cast<int>(std::clamp<std::int64_t>(facts.integer("plugin_config.sp_size").value_or(1), 1, 4096));
}

} // namespace

CheckpointedBlocks checkpointedBlocks(const Stage &stage)
{
    const Facts facts(stage);
    CheckpointedBlocks blocks;
    blocks.doubleTotal = blockCount(facts, "model.depth");
    blocks.singleTotal = blockCount(facts, "model.depth_single_blocks");
    if (!facts.isOn("grad_checkpoint"))
        return blocks;
    blocks.doubles = blocks.doubleTotal;
    blocks.singles = blocks.singleTotal;
    const Value &settings = stage.at("model.grad_ckpt_settings");
    if (settings.isSequence() && settings.items().size() == 2 && settings.items()[0].type() == Type::Int && settings.items()[1].type() == Type::Int) {
        blocks.doubles = firstBlocks(settings.items()[0].integer(), blocks.doubleTotal);
        blocks.singles = firstBlocks(settings.items()[1].integer(), blocks.singleTotal);
    }
    return blocks;
}

std::string words(const CheckpointedBlocks &blocks)
{
    return "double " + std::to_string(blocks.doubles) + " of " + std::to_string(blocks.doubleTotal) + ", single " + std::to_string(blocks.singles) + " of "
        + std::to_string(blocks.singleTotal) + " checkpointed";
}

std::vector<ActivationNeed> activationNeeds(const Stage &stage)
{
    const Facts facts(stage);
    const auto rows = bucketRows(stage);
    const auto width = facts.integer("model.hidden_size");
    if (!rows || !width)
        return {};
    const std::int64_t blocks = checkpointedBlocks(stage).count();
    const std::int64_t textTokens = std::clamp<std::int64_t>(facts.integer("t5.max_length").value_or(0), 0, 1 << 20);
    const int parts = sequenceParts(facts);
    const LatentGeometry geometry = latentGeometry(stage);
    const int granularity = aspectGranularity(stage);

    std::map<std::string, std::vector<AspectSize>> tables;
    std::vector<ActivationNeed> needs;
    for (const BucketRow &row : *rows) {
        if (row.probability <= 0 || row.batchSize < 1)
            continue;
        const auto [table, isNew] = tables.try_emplace(row.resolution);
        if (isNew)
            table->second = aspectTable(row.resolution, granularity);
        ActivationNeed worst;
        for (const AspectSize &size : table->second) {
            const std::int64_t tokens = tokensOfRank(imageTokens(row.frames, size.height, size.width, geometry), textTokens, parts);
            if (tokens > worst.tokens)
                worst = {row, size, tokens, blocks * row.batchSize * tokens * *width};
        }
        if (worst.tokens > 0)
            needs.push_back(worst);
    }
    return needs;
}

std::optional<ActivationNeed> largestNeed(const std::vector<ActivationNeed> &needs)
{
    const auto largest = std::max_element(needs.begin(), needs.end(), [](const auto &a, const auto &b) { return a.elements < b.elements; });
    return largest == needs.end() ? std::nullopt : std::optional(*largest);
}

} // namespace stagewright::config
