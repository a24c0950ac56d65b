#include "core/table/buckets.h"

#include <CLI/CLI.hpp>

#include "core/commands/factories.h"
#include "core/table/order.h"
#include "core/table/table.h"

namespace stagewright::commands {

namespace {

class Buckets : public Command
{
public:
    std::string_view name() const override { return "buckets"; }
    std::string_view arguments() const override { return "CONFIG"; }
    std::string_view summary() const override { return "assign the dataset's rows: samples, batches, drops with reasons"; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        app.add_option("--order", m_order, "Also list the rows of the first N batches")->check(CLI::NonNegativeNumber);
        app.add_option("--epoch", m_epoch, "Epoch of the assignment and the order (0)")->check(CLI::NonNegativeNumber);
        app.add_option("--world-size", m_worldSize, "Number of data-parallel ranks (1)")->check(CLI::PositiveNumber);
        app.add_option("--rank", m_rank, "Rank whose order is listed (0)")->check(CLI::NonNegativeNumber);
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        if (m_rank >= m_worldSize)
            return Error(ExitCode::Usage, "run.command-line", "--rank " + std::to_string(m_rank) + " does not exist among " + std::to_string(m_worldSize)
                             + " ranks; ranks count from 0");
        auto stage = openStage(invocation.positionals[0], invocation, output);
        if (!stage)
            return stage.error();
        if (hasErrors(output.problems()))
            return ExitCode::Usage;
        if (!stage->isSet("dataset.data_path"))
            return Error(ExitCode::Usage, "config.missing-key", "dataset.data_path is not set; give it in the stage or as --dataset.data-path TABLE.csv");
        auto rules = table::bucketRules(*stage);
        if (!rules)
            return rules.error();
        auto read = table::readTable(*stage);
        if (!read)
            return read.error();
        const table::Table &data = **read;
        output.problems().insert(output.problems().end(), data.problems().begin(), data.problems().end());
        const table::BucketPlan plan = table::assignBuckets(data, *rules, m_epoch);
        const Problems drops = table::dropProblems(data, *rules, plan);
        output.problems().insert(output.problems().end(), drops.begin(), drops.end());
        fill(*stage, plan, output);
        output.line(table::describePlan(plan, m_worldSize));
        if (auto enough = table::checkBatches(data, plan, m_worldSize); !enough)
            return enough.error();
        return ExitCode::Done;
    }

private:
    void fill(const config::Stage &stage, const table::BucketPlan &plan, Output &output) const
    {
        nlohmann::json &object = output.object();
        object["rows"] = plan.rows;
        object["kept"] = plan.kept;
        object["tail_lost"] = plan.tailLost(m_worldSize);
        auto dropped = nlohmann::json::object();
        for (std::size_t reason = 0; reason < table::kDropReasons; ++reason) {
            if (plan.drops[reason].count > 0)
                dropped[table::reasonName(static_cast<table::DropReason>(reason))] = plan.drops[reason].count;
        }
        object["dropped"] = std::move(dropped);
        auto buckets = nlohmann::json::array();
        for (const table::Bucket &bucket : plan.buckets) {
            buckets.push_back({{"resolution", bucket.resolution}, {"frames", bucket.frames}, {"aspect_ratio", bucket.aspectRatio},
                               {"height", bucket.height}, {"width", bucket.width}, {"samples", bucket.samples()},
                               {"batch_size", bucket.batchSize}, {"batches", bucket.batches()}});
        }
        object["buckets"] = std::move(buckets);
        object["batches_per_epoch"] = plan.batchesPerRank(m_worldSize);
        object["steps_per_epoch"] = plan.batchesPerRank(m_worldSize) / stage.integer("accumulation_steps");
        if (m_order > 0)
            object["order"] = order(plan, output);
    }

    nlohmann::json order(const table::BucketPlan &plan, Output &output) const
    {
        const table::BatchOrder batches(plan, m_epoch, m_worldSize, m_rank);
        auto list = nlohmann::json::array();
        for (std::int64_t index = 0; index < std::min(m_order, batches.size()); ++index) {
            const auto entry = batches.at(index);
            list.push_back(std::vector<std::int64_t>(entry.rows.begin(), entry.rows.end()));
            output.line("batch " + std::to_string(index) + ": " + list.back().dump());
        }
        return list;
    }

    std::int64_t m_order = 0, m_epoch = 0, m_worldSize = 1, m_rank = 0;
};

} // namespace

std::unique_ptr<Command> makeBuckets() { return std::make_unique<Buckets>(); }

} // namespace stagewright::commands
