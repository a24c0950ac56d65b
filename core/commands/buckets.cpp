#include "core/table/buckets.h"

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/commands/factories.h"
#include "core/commands/look_into_files.h"
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
        app.add_flag("--probe", m_probe, "Measure what the table lacks (num_frames, height, width, fps) and write it beside the table");
        app.add_flag("--verify", m_verify, "Look into every file and compare it with the table");
        app.add_option("--list", m_list, "List the rows of one bucket (256px/33/16:9) or of one reason (too_small)");
        app.add_option("--report", m_report, "Write what becomes of every row to this CSV file");
        app.add_option("--max-drop-ratio", m_maxDropRatio, "Fail (exit code 3) where a larger share of the rows is dropped")->check(CLI::Range(0.0, 1.0));
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
        std::filesystem::path file = stage->string("dataset.data_path");
        table::ReadOptions options = table::readOptions(*stage);
        if (m_probe) {
            auto probed = probeTable(file, options, output);
            if (!probed)
                return probed.error();
            file = *probed;
            options = {};
        }
        auto read = table::readTable(file, options);
        if (!read)
            return read.error();
        const table::Table &data = **read;
        output.problems().insert(output.problems().end(), data.problems().begin(), data.problems().end());
        const table::BucketPlan plan = table::assignBuckets(data, *rules, m_epoch);
        const Problems drops = table::dropProblems(data, *rules, plan);
        output.problems().insert(output.problems().end(), drops.begin(), drops.end());
        fill(*stage, plan, output);
        output.line(table::describePlan(plan, m_worldSize));
        if (m_verify && !m_probe) {
            if (auto found = lookIntoFiles(data, output); !found)
                return found.error();
        }
        if (auto listed = list(data, *rules, plan, output); !listed)
            return listed.error();
        if (auto written = writeReport(data, *rules, plan, output); !written)
            return written.error();
        if (auto fewDrops = checkDrops(plan, data); !fewDrops)
            return fewDrops.error();
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
        const auto use = plan.use(m_worldSize);
        object["tail_lost"] = use.lost;
        object["data_policy"] = stage.string("data_policy");
        object["retimed"] = plan.retimed.count;
        object["repeated"] = use.repeated;
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

    static std::string nameOf(const table::Bucket &bucket) { return bucket.resolution + "/" + std::to_string(bucket.frames) + "/" + bucket.aspectRatio; }

    Status list(const table::Table &data, const table::BucketRules &rules, const table::BucketPlan &plan, Output &output) const
    {
        if (m_list.empty())
            return Done{};
        std::vector<std::int64_t> rows;
        bool known = false;
        for (const table::Bucket &bucket : plan.buckets) {
            if (nameOf(bucket) == m_list) {
                known = true;
                rows.assign(bucket.rows.begin(), bucket.rows.end());
            }
        }
        for (std::size_t reason = 0; reason < table::kDropReasons; ++reason) {
            if (m_list == table::reasonName(static_cast<table::DropReason>(reason))) {
                known = true;
                rows = table::droppedRows(data, rules, plan, static_cast<table::DropReason>(reason));
            }
        }
        if (!known)
            return Error(ExitCode::Usage, "run.command-line", "--list " + m_list + " is neither a bucket with rows (such as "
                         + (plan.buckets.empty() ? std::string("256px/33/16:9") : nameOf(plan.buckets[0])) + ") nor a reason (such as too_small)");
        auto list = nlohmann::json::array();
        for (const std::int64_t row : rows) {
            const std::string why = plan.bucketOfRow[static_cast<std::size_t>(row)] < 0 ? table::explainDrop(data, rules, plan, row) : std::string();
            list.push_back({{"row", row}, {"path", data.mediaPath(row).string()}});
            if (!why.empty())
                list.back()["why"] = why;
            output.line(why.empty() ? "row " + std::to_string(row) + ": " + data.mediaPath(row).string() : why);
        }
        output.object()["list"] = std::move(list);
        return Done{};
    }

    Status writeReport(const table::Table &data, const table::BucketRules &rules, const table::BucketPlan &plan, Output &output) const
    {
        if (m_report.empty())
            return Done{};
        std::string text = "row,path,bucket,why\n";
        for (std::int64_t row = 0; row < data.rowCount(); ++row) {
            const std::int32_t bucket = plan.bucketOfRow[static_cast<std::size_t>(row)];
            text += std::to_string(row) + ',' + table::csvField(data.path(row)) + ',' + (bucket < 0 ? std::string() : nameOf(plan.buckets[static_cast<std::size_t>(bucket)])) + ','
                + table::csvField(bucket < 0 ? table::explainDrop(data, rules, plan, row) : std::string()) + '\n';
        }
        if (auto written = replaceFile(m_report, text); !written)
            return written;
        output.object()["report"] = m_report;
        output.message("wrote " + m_report);
        return Done{};
    }

    Status checkDrops(const table::BucketPlan &plan, const table::Table &data) const
    {
        const double ratio = static_cast<double>(plan.rows - plan.kept) / static_cast<double>(plan.rows);
        if (ratio <= m_maxDropRatio)
            return Done{};
        return Error(ExitCode::Data, "data.too-many-dropped", data.file().string() + ": " + formatCount(plan.rows - plan.kept) + " of " + formatCount(plan.rows)
                     + " rows are dropped, more than --max-drop-ratio " + formatNumber(m_maxDropRatio) + " allows", data.file().string());
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
    bool m_probe = false, m_verify = false;
    std::string m_list, m_report;
    double m_maxDropRatio = 1;
};

} // namespace

std::unique_ptr<Command> makeBuckets() { return std::make_unique<Buckets>(); }

} // namespace stagewright::commands
