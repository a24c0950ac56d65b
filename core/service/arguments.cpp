#include "core/service/arguments.h"

#include <charconv>
#include <iostream>

#include "core/base/version.h"
#include "core/protocol/frame.h"
#include "core/service/cache_builder.h"
#include "core/service/plan_helper.h"

namespace stagewright::service {

namespace {

Error usage(const std::string &sentence)
{
    return Error(ExitCode::Usage, "env.command-line", sentence + "; see stagewright-worker --help");
}

Result<std::uint32_t> wireVersion(const std::string &text)
{
    std::uint32_t version = 0;
    const char *end = text.data() + text.size();
    if (text.empty() || std::from_chars(text.data(), end, version).ptr != end)
        return usage("--wire needs a number, not \"" + text + "\"");
    return version;
}

Result<std::int64_t> stepCount(const std::string &text)
{
    std::int64_t steps = 0;
    const char *end = text.data() + text.size();
    if (text.empty() || std::from_chars(text.data(), end, steps).ptr != end || steps < 1)
        return usage("--stop-after needs a number of updates, not \"" + text + "\"");
    return steps;
}

Result<Arguments> parseTrain(const std::vector<std::string> &tokens)
{
    Arguments parsed{Task::Train, {}};
    WorkerOptions &options = parsed.options;
    std::vector<std::string> rest;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        const std::string &token = tokens[at];
        const bool isOurs = token == "--config" || token == "--run-folder" || token == "--wire" || token == "--stop-after";
        if (!isOurs) {
            rest.push_back(token);
            continue;
        }
        if (at + 1 == tokens.size())
            return usage(token + " needs a value");
        const std::string &value = tokens[++at];
        if (token == "--config") {
            options.config = value;
        } else if (token == "--run-folder") {
            options.runFolder = value;
        } else if (token == "--stop-after") {
            auto steps = stepCount(value);
            if (!steps)
                return steps.error();
            options.stopAfterSteps = *steps;
        } else {
            auto wire = wireVersion(value);
            if (!wire)
                return wire.error();
            options.wire = *wire;
        }
    }
    auto overrides = config::parseOverrides(rest);
    if (!overrides)
        return overrides.error();
    if (overrides->positional.size() > 1 || (!overrides->positional.empty() && !options.config.empty()))
        return usage("one stage file is trained at a time, and \"" + overrides->positional.back() + "\" is one too many");
    if (!overrides->positional.empty())
        options.config = overrides->positional.front();
    if (options.config.empty() && options.runFolder.empty())
        return usage("train needs a stage file or --run-folder");
    if (options.config.empty() && !overrides->overrides.empty())
        return usage("the config of a run folder is resolved already; --" + overrides->overrides.front().path + " needs a stage file to apply to");
    options.overrides = std::move(overrides->overrides);
    return parsed;
}

// plan and cache: what they do stands on standard input.
Result<Arguments> parseHelper(Task task, const std::string &name, const std::vector<std::string> &tokens)
{
    Arguments parsed{task, {}};
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        if (tokens[at] != "--wire" || at + 1 == tokens.size())
            return usage(name + " takes its questions from standard input, not \"" + tokens[at] + "\"");
        auto wire = wireVersion(tokens[++at]);
        if (!wire)
            return wire.error();
        parsed.options.wire = *wire;
    }
    if (parsed.options.wire && *parsed.options.wire != protocol::kWireVersion)
        return protocol::otherVersion(*parsed.options.wire);
    return parsed;
}

} // namespace

Result<Arguments> parseArguments(const std::vector<std::string> &arguments)
{
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h")
        return Arguments{Task::Help, {}};
    if (arguments[0] == "--version")
        return Arguments{Task::Version, {}};
    if (arguments[0] == "probe")
        return Arguments{Task::Probe, {}};
    if (arguments[0] == "plan" || arguments[0] == "cache")
        return parseHelper(arguments[0] == "plan" ? Task::Plan : Task::Cache, arguments[0], {arguments.begin() + 1, arguments.end()});
    if (arguments[0] != "train")
        return usage("\"" + arguments[0] + "\" is nothing that the worker does");
    return parseTrain({arguments.begin() + 1, arguments.end()});
}

std::string helpText()
{
    return "stagewright-worker: trains one stage in this process. Usually started by stagewright or stagewright-cli.\n\n"
           "  train CONFIG [--KEY.SUBKEY VALUE ...]   train a stage file in {outputs}/{exp_name}\n"
           "  train --run-folder FOLDER               train the config.yaml of a run folder that a launcher has made\n"
           "    --stop-after N                        stop with a save after N updates, as if asked to\n"
           "  plan                                    answer questions about memory: a JSON object a line in, one a line out\n"
           "  cache                                   encode a stage's clips and captions: one JSON object in, progress out\n"
           "  probe                                   print the devices of this machine as JSON\n"
           "  --version                               version of the program and of the protocol\n\n"
           "SIGTERM or Ctrl-C: finish the update, save, stop. Twice: stop at once.\n";
}

int runWorker(const std::vector<std::string> &arguments)
{
    auto parsed = parseArguments(arguments);
    if (!parsed) {
        std::cerr << oneLine(parsed.error().problem) << std::endl;
        return static_cast<int>(parsed.error().exit);
    }
    switch (parsed->task) {
    case Task::Help: std::cout << helpText(); return 0;
    case Task::Version: std::cout << "stagewright-worker " << programVersion() << ", protocol " << protocol::kWireVersion << std::endl; return 0;
    case Task::Probe: std::cout << probe() << std::endl; return 0;
    case Task::Plan: return static_cast<int>(runPlanTask());
    case Task::Cache: return static_cast<int>(runCacheTask());
    case Task::Train: break;
    }
    parsed->options.commandLine = arguments;
    parsed->options.commandLine.insert(parsed->options.commandLine.begin(), "stagewright-worker");
    return static_cast<int>(runTraining(parsed->options));
}

} // namespace stagewright::service
