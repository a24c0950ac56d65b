#include <CLI/CLI.hpp>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/cache/survey.h"
#include "core/client/cache_build.h"
#include "core/commands/factories.h"
#include "core/commands/stop_signals.h"
#include "core/config/validate.h"

namespace stagewright::commands {

namespace {

constexpr double kTellCacheSeconds = 1;                // between two lines of progress

class Cache : public Command
{
public:
    std::string_view name() const override { return "cache"; }
    std::string_view arguments() const override { return "build|verify|status CONFIG"; }
    std::string_view summary() const override { return "encode a stage's clips and captions once, into encoding_cache; see what is there"; }
    std::size_t fewestPositionals() const override { return 2; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        app.add_option("--epochs", m_epochs, "Epochs whose rows and buckets are wanted (all that the stage trains, until they bring nothing new)")->check(CLI::PositiveNumber);
        app.add_flag("--check", m_check, "build: also read every entry that is there, and make damaged ones again");
        app.footer("build goes on where an earlier one stopped, and leaves what is there. status looks at headers; verify reads every byte, and ends with code 3 where something is missing or damaged.");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const std::string &action = invocation.positionals[0];
        if (action != "build" && action != "verify" && action != "status")
            return Error(ExitCode::Usage, "run.command-line", "\"cache " + action + "\" is nothing that can be done; it is cache build, cache verify or cache status");
        auto stage = openStage(invocation.positionals[1], invocation, output);
        if (!stage)
            return stage.error();
        if (hasErrors(output.problems()))
            return ExitCode::Usage;
        for (const char *key : {"encoding_cache", "dataset.data_path"}) {
            if (!stage->isSet(key))
                return Error(ExitCode::Usage, "config.missing-key", std::string(key) + " is not set; give it in the stage or as --" + key + " PATH");
        }
        if (action != "build")
            return survey(*stage, action == "verify", output);
        output.problems() = config::validate(*stage, config::surroundingsOfThisMachine(*stage));         // as training would
        return hasErrors(output.problems()) ? ExitCode::Usage : build(*stage, output);
    }

private:
    static bool isTimeToTell(double &next)
    {
        if (steadySeconds() < next)
            return false;
        next = steadySeconds() + kTellCacheSeconds;
        return true;
    }

    Result<ExitCode> build(const config::Stage &stage, Output &output) const
    {
        StopSignals signals;
        double next = steadySeconds() + kTellCacheSeconds;
        const auto built = client::buildCache({config::toYaml(stage.values()), m_epochs, m_check}, [&](const events::CacheProgress &progress) {
            if (progress.wanted > 0 && isTimeToTell(next))
                output.message(formatCount(progress.present + progress.encoded + progress.refused) + " of " + formatCount(progress.wanted) + " entries, " + formatCount(progress.encoded) + " encoded now, "
                               + formatBytes(progress.bytes) + " written");
            return signals.count() == 0;
        });
        if (!built)
            return built.error();
        for (const events::CacheRefusal &refusal : built->refusals)
            output.problems().push_back({Severity::Warning, "data.bad-sample", {}, asSentence("row " + std::to_string(refusal.row) + ", " + refusal.path + ": " + refusal.reason), refusal.path, 0, 0, {}});
        for (const std::string &note : built->notes)
            output.problems().push_back({Severity::Warning, "data.cache-damaged", {}, note, {}, 0, 0, {}});
        output.object().update({{"folder", stage.string("encoding_cache")}, {"wanted", built->wanted}, {"present", built->present}, {"encoded", built->encoded}, {"damaged", built->damaged},
                                {"refused", built->refused}, {"bytes", built->bytes}, {"seconds", built->seconds}});
        output.line(stage.string("encoding_cache") + ": " + formatCount(built->wanted) + " entries wanted, " + formatCount(built->present) + " were there, " + formatCount(built->encoded) + " encoded ("
                    + formatBytes(built->bytes) + ", " + formatDuration(built->seconds) + "), " + formatCount(built->refused) + " cannot be made");
        if (built->wanted > 0 && built->refused == built->wanted)
            return Error(ExitCode::Data, "data.no-usable-file", stage.string("dataset.data_path") + ": not a single clip can be encoded", stage.string("dataset.data_path"));
        return ExitCode::Done;
    }

    Result<ExitCode> survey(const config::Stage &stage, bool everyByte, Output &output) const
    {
        const auto rules = table::bucketRules(stage);
        if (!rules)
            return rules.error();
        auto table = table::readTable(stage);
        if (!table)
            return table.error();
        auto store = cache::Store::open(stage, std::move(*table), *rules);
        if (!store)
            return store.error();
        StopSignals signals;
        double next = steadySeconds() + kTellCacheSeconds;
        const auto found = cache::surveyOf(**store, cache::wantedBy(**store, m_epochs), everyByte ? cache::Depth::EveryByte : cache::Depth::Headers, [&](std::int64_t done, std::int64_t wanted) {
            if (isTimeToTell(next))
                output.message("looked at " + formatCount(done) + " of " + formatCount(wanted) + " entries");
            return signals.count() == 0;
        });
        if (!found)
            return found.error();
        for (const Problems *those : {&found->firstDamaged, &found->firstMissing, &found->firstRefused})
            output.problems().insert(output.problems().end(), those->begin(), those->end());
        output.object().update({{"folder", (*store)->folder().string()}, {"wanted", found->wanted}, {"present", found->present}, {"missing", found->missing}, {"damaged", found->damaged},
                                {"refused", found->refused}, {"bytes", found->bytes}, {"unused", {{"files", found->unused}, {"bytes", found->unusedBytes}}}});
        output.line((*store)->folder().string() + ": " + formatCount(found->wanted) + " entries wanted, " + formatCount(found->present) + " there (" + formatBytes(found->bytes) + "), "
                    + formatCount(found->missing) + " missing, " + formatCount(found->damaged) + " damaged, " + formatCount(found->refused) + " cannot be made");
        if (found->unused > 0)
            output.line(formatCount(found->unused) + " entries (" + formatBytes(found->unusedBytes) + ") are not wanted by this stage");
        if (everyByte && !found->isWhole())
            return ExitCode::Data;
        return ExitCode::Done;
    }

    std::int64_t m_epochs = 0;                         // 0: not given
    bool m_check = false;
};

} // namespace

std::unique_ptr<Command> makeCache() { return std::make_unique<Cache>(); }

} // namespace stagewright::commands
