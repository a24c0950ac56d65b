#include "core/ckptfile/export.h"

#include <CLI/CLI.hpp>

#include "core/ckptfile/listing.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Export : public Command
{
public:
    std::string_view name() const override { return "export"; }
    std::string_view arguments() const override { return "CHECKPOINT OUT"; }
    std::string_view summary() const override { return "weights of a checkpoint as one safetensors file or as shards"; }
    std::size_t fewestPositionals() const override { return 2; }

    void declare(CLI::App &app) override
    {
        auto *ema = app.add_flag("--ema", m_ema, "The EMA instead of the model");
        app.add_flag("--master", m_master, "The fp32 master weights instead of the model")->excludes(ema);
        app.add_option("--for", m_for, "Layout of the file: flux (projections fused, neighbours rotate), opensora (projections separate, halves rotate)")->check(CLI::IsMember({"flux", "opensora"}));
        app.add_option("--from", m_from, "Rotary order of the checkpoint where it has no config of ours that says it")->check(CLI::IsMember({"flux", "opensora"}));
        app.add_flag("--bf16", m_half, "Round fp32 to bf16");
        app.add_option("--shard-mib", m_shardMebibytes, "A folder of shards cut at this size instead of one file")->check(CLI::PositiveNumber);
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto checkpoint = ckptfile::newestOrNamed(invocation.positionals[0]);
        if (!checkpoint)
            return checkpoint.error();
        ckptfile::ExportOptions options;
        options.source = m_ema ? ckptfile::ExportSource::Ema : m_master ? ckptfile::ExportSource::Master : ckptfile::ExportSource::Model;
        options.shardMebibytes = m_shardMebibytes;
        options.halfPrecision = m_half;
        options.rope = ckptfile::ropeOrderNamed(m_for);
        options.storedRope = ckptfile::ropeOrderNamed(m_from);
        if (options.rope)
            options.fused = options.rope == ckptfile::RopeOrder::Neighbours;
        auto written = ckptfile::exportWeights(checkpoint->path, invocation.positionals[1], options);
        if (!written)
            return written.error();
        output.object()["files"] = nlohmann::json::array();
        for (const auto &file : *written) {
            output.object()["files"].push_back(file.string());
            output.line(file.string());
        }
        return ExitCode::Done;
    }

private:
    bool m_ema = false, m_master = false, m_half = false;
    std::string m_for, m_from;
    double m_shardMebibytes = 0;
};

} // namespace

std::unique_ptr<Command> makeExport() { return std::make_unique<Export>(); }

} // namespace stagewright::commands
