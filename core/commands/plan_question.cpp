#include "core/commands/plan_question.h"

#include <CLI/CLI.hpp>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/commands/stop_signals.h"
#include "core/config/text_document.h"
#include "core/config/validate.h"

namespace stagewright::commands {

void PlanFlags::declare(CLI::App &app, const std::string &purpose)
{
    app.add_option("--fit-device", device, purpose + ": a GPU's name, cpu, or a GPU's memory in GiB (the device here)");
    app.add_option("--world-size", world, "Number of processes (as few as the stage's parallel sizes need)")->check(CLI::PositiveNumber);
}

void PlanFlags::declareBucket(CLI::App &app)
{
    app.add_option("--bucket", bucket, "Only this bucket: RESOLUTION/FRAMES, as 256px/129");
}

CLI::Option *PlanFlags::declareVary(CLI::App &app, const std::string &help)
{
    return app.add_option("--vary", vary, help)->take_all()->expected(1);
}

events::PlanRequest PlanFlags::request(const char *ask) const
{
    events::PlanRequest request;
    request.ask = ask;
    request.fitDevice = device;
    request.worldSize = world;
    request.bucket = bucket;
    return request;
}

Result<events::PlanAnswer> askPlanner(client::PlanHelper &helper, const config::Stage &stage, events::PlanRequest request)
{
    request.config = config::toYaml(stage.values());
    StopSignals signals;
    return helper.answerTo(std::move(request), [&] { return signals.count() == 0; });
}

namespace {

Result<config::Stage> openStageToPlan(const std::string &file, const Invocation &invocation, Output &output)
{
    auto stage = config::loadStage(file, invocation.overrides);
    if (!stage)
        return stage;
    std::size_t errors = 0;
    for (Problem &problem : config::validate(*stage)) {
        const bool matters = problem.code.starts_with("config.") || problem.code.starts_with("memory.");
        if (problem.severity != Severity::Error || !matters)
            continue;
        ++errors;
        output.problems().push_back(std::move(problem));
    }
    if (errors > 0)
        return Error(ExitCode::Usage, "config.invalid", file + " cannot be planned until its " + std::to_string(errors) + (errors == 1 ? " error is" : " errors are") + " mended", file);
    return stage;
}

// Splits at commas that are in no bracket and no quote.
std::vector<std::string> splitValues(std::string_view text)
{
    std::vector<std::string> values(1);
    int depth = 0;
    char quote = 0;
    for (const char c : text) {
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && depth <= 0) {
            values.emplace_back();
            continue;
        }
        values.back() += c;
    }
    for (std::string &value : values)
        value = std::string(trimmed(value));
    std::erase(values, std::string());
    return values;
}

Result<std::vector<events::PlanVary>> varied(std::vector<std::string> texts, const Invocation &invocation)
{
    texts.insert(texts.end(), invocation.positionals.begin() + 1, invocation.positionals.end());
    std::vector<events::PlanVary> vary;
    for (const std::string &text : texts) {
        const auto equals = text.find('=');
        events::PlanVary option{std::string(trimmed(text.substr(0, equals))), {}};
        for (char &c : option.path)
            c = c == '-' ? '_' : c;
        if (option.path.empty())
            return Error(ExitCode::Usage, "run.command-line", "--vary needs an option's name, as in --vary model.grad_ckpt_settings or --vary dtype=bf16,fp32");
        if (equals != std::string::npos) {
            option.values = splitValues(std::string_view(text).substr(equals + 1));
            if (option.values.empty())
                return Error(ExitCode::Usage, "run.command-line", "--vary " + text + " names no value");
        }
        vary.push_back(std::move(option));
    }
    return vary;
}

} // namespace

Result<PlannedStage> planned(const char *ask, const PlanFlags &flags, const Invocation &invocation, Output &output)
{
    auto vary = varied(flags.vary, invocation);
    if (!vary)
        return vary.error();
    auto stage = openStageToPlan(invocation.positionals[0], invocation, output);
    if (!stage)
        return stage.error();
    client::PlanHelper helper;
    auto request = flags.request(ask);
    request.vary = std::move(*vary);
    auto answer = askPlanner(helper, *stage, std::move(request));
    if (!answer)
        return answer.error();
    return PlannedStage{std::move(*stage), std::move(*answer)};
}

nlohmann::json valuesJson(const std::vector<events::PlanValue> &values)
{
    auto object = nlohmann::json::object();
    for (const auto &value : values) {
        const auto literal = config::parseLiteral(value.text);
        object[value.path] = literal ? config::toJson(*literal) : nlohmann::json(value.text);
    }
    return object;
}

std::string valuesText(const std::vector<events::PlanValue> &values)
{
    std::vector<std::string> parts;
    for (const auto &value : values)
        parts.push_back(value.path + "=" + value.text);
    return joined(parts, " ");
}

std::string bucketText(const events::PlannedBucket &bucket)
{
    return bucket.resolution + ", " + std::to_string(bucket.frames) + (bucket.frames == 1 ? " frame of " : " frames of ") + std::to_string(bucket.height) + "×" +
           std::to_string(bucket.width) + ", batch " + std::to_string(bucket.batchSize);
}

Problems unfitting(const events::Plan &plan, const config::Stage &stage)
{
    Problems problems;
    for (const auto &bucket : plan.buckets) {
        if (bucket.fits)
            continue;
        Problem problem;
        problem.severity = Severity::Error;
        problem.code = "memory.does-not-fit";
        problem.path = "bucket_config." + bucket.resolution + "." + std::to_string(bucket.frames);
        problem.message = "bucket " + bucketText(bucket) + " takes " + formatBytes(static_cast<double>(bucket.peakReservedBytes + plan.contextBytes)) + " on " + plan.fitDevice + ", which has " +
                          formatBytes(static_cast<double>(plan.capacityBytes)) + "; checkpoint more blocks, offload activations, lower its batch size, or ask stagewright-cli fit";
        if (const config::Value *row = config::lookUp(stage.values(), problem.path)) {
            problem.file = row->origin.fileName();
            problem.line = row->origin.line;
            problem.column = row->origin.column;
        }
        problems.push_back(std::move(problem));
    }
    return problems;
}

} // namespace stagewright::commands
