#include "core/commands/command_line.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/commands/command.h"
#include "core/config/overrides.h"

namespace stagewright::commands {

namespace {

constexpr const char *kProgram = "stagewright-cli";

Error usageError(const std::string &sentence)
{
    return Error(ExitCode::Usage, "run.command-line", sentence);
}

std::string usageOf(const Command &command)
{
    return std::string(kProgram) + " " + std::string(command.name()) + " " + std::string(command.arguments()) + " [OPTIONS]"
        + (command.takesOverrides() ? " [--KEY.SUBKEY VALUE …]" : "");
}

void printHelp(const std::vector<std::unique_ptr<Command>> &commands)
{
    std::printf("%s COMMAND [ARGUMENTS] [OPTIONS] [--KEY.SUBKEY VALUE …]\n\n", kProgram);
    for (const auto &command : commands)
        std::printf("  %-14s %s\n", std::string(command->name()).c_str(), std::string(command->summary()).c_str());
    std::printf("\n%s COMMAND --help lists a command's options. Every command takes --json: one JSON object on standard output.\n", kProgram);
}

// The tokens that belong to the command's own options, and all others.
struct Separated {
    std::vector<std::string> own, rest;
};

Separated separate(const CLI::App &app, const std::vector<std::string> &tokens)
{
    Separated out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string &token = tokens[i];
        const std::string name = token.substr(0, token.find('='));
        const CLI::Option *option = token.size() > 1 && token[0] == '-' ? app.get_option_no_throw(name) : nullptr;
        if (!option) {
            out.rest.push_back(token);
            continue;
        }
        out.own.push_back(token);
        if (option->get_items_expected_max() > 0 && token.find('=') == std::string::npos && i + 1 < tokens.size())
            out.own.push_back(tokens[++i]);
    }
    return out;
}

Error unknownOption(const CLI::App &app, const Command &command, const std::string &token)
{
    std::vector<std::string> known;
    for (const CLI::Option *option : app.get_options())
        known.push_back(option->get_name());
    const auto nearest = nearestOf(token, known);
    return usageError(token + " is not an option of " + std::string(command.name())
                      + (nearest ? "; did you mean " + *nearest + "?" : "; see " + std::string(kProgram) + " " + std::string(command.name()) + " --help"));
}

Result<Invocation> invocationOf(const CLI::App &app, const Command &command, const std::vector<std::string> &rest)
{
    Invocation invocation;
    if (command.takesOverrides()) {
        auto parsed = config::parseOverrides(rest);
        if (!parsed)
            return parsed.error();
        invocation.overrides = std::move(parsed->overrides);
        invocation.positionals = std::move(parsed->positional);
    } else {
        for (const std::string &token : rest) {
            if (token.size() > 1 && token[0] == '-' && !std::isdigit(static_cast<unsigned char>(token[1])))
                return unknownOption(app, command, token);
            invocation.positionals.push_back(token);
        }
    }
    const std::size_t count = invocation.positionals.size();
    if (count < command.fewestPositionals())
        return usageError(std::string(command.name()) + " needs " + std::string(command.arguments()) + ": " + usageOf(command));
    if (count > command.mostPositionals())
        return usageError("\"" + invocation.positionals[command.mostPositionals()] + "\" is one argument too many: " + usageOf(command));
    return invocation;
}

void finish(const Command &command, Output &output)
{
    if (output.isJson()) {
        if (output.streams())
            return;
        output.object()["command"] = command.name();
        output.object()["problems"] = toJson(output.problems());
        output.streamObject(output.object());
    }
    for (const Problem &problem : output.problems())
        output.message(oneLine(problem));
}

int runCommand(Command &command, const std::vector<std::string> &tokens)
{
    CLI::App app{std::string(command.summary()), usageOf(command)};
    app.set_help_flag("-h,--help", "Print this help and exit");
    bool json = false;
    app.add_flag("--json", json, "Print one JSON object on standard output, everything else on standard error");
    command.declare(app);
    Separated separated = separate(app, tokens);
    try {
        std::reverse(separated.own.begin(), separated.own.end());
        app.parse(separated.own);
    } catch (const CLI::CallForHelp &) {
        std::printf("%s", app.help(usageOf(command)).c_str());
        return static_cast<int>(ExitCode::Done);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "%s: %s\n", kProgram, error.what());
        return static_cast<int>(ExitCode::Usage);
    }
    Output output(json);
    ExitCode exit = ExitCode::Done;
    const auto fail = [&](const Error &error) {
        output.problems().push_back(error.problem);
        exit = error.exit;
    };
    if (auto invocation = invocationOf(app, command, separated.rest); !invocation) {
        fail(invocation.error());
    } else if (auto done = command.run(*invocation, output); !done) {
        fail(done.error());
    } else {
        exit = *done;
    }
    finish(command, output);
    return static_cast<int>(exit);
}

int dispatch(int argc, char **argv)
{
    const auto commands = allCommands();
    const std::vector<std::string> tokens(argv + 1, argv + argc);
    if (tokens.empty() || tokens[0] == "--help" || tokens[0] == "-h" || tokens[0] == "help") {
        printHelp(commands);
        return static_cast<int>(tokens.empty() ? ExitCode::Usage : ExitCode::Done);
    }
    if (tokens[0] == "--version") {
        std::printf("%s %s\n", kProgram, STAGEWRIGHT_VERSION);
        return static_cast<int>(ExitCode::Done);
    }
    std::vector<std::string> names;
    for (const auto &command : commands) {
        if (command->name() == tokens[0])
            return runCommand(*command, {tokens.begin() + 1, tokens.end()});
        names.emplace_back(command->name());
    }
    const auto nearest = nearestOf(tokens[0], names);
    std::fprintf(stderr, "%s: there is no command \"%s\"%s; %s --help lists them all\n", kProgram, tokens[0].c_str(),
                 nearest ? (", did you mean " + *nearest + "?").c_str() : "", kProgram);
    return static_cast<int>(ExitCode::Usage);
}

} // namespace

void Output::line(std::string_view text) const
{
    if (!m_json)
        std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}

void Output::message(std::string_view text) const
{
    std::fflush(stdout);
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

void Output::streamLine(std::string_view text) const
{
    std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    std::fflush(stdout);
}

void Output::streamObject(const nlohmann::json &object) const
{
    streamLine(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

int runCommandLine(int argc, char **argv)
{
    try {
        setUpLogging(spdlog::level::warn);
        return dispatch(argc, argv);
    } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "%s: out of host memory; close other programs and try again\n", kProgram);
        return static_cast<int>(ExitCode::OutOfMemory);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: unexpected failure: %s; please report it with the command line\n", kProgram, error.what());
        return static_cast<int>(ExitCode::Other);
    }
}

} // namespace stagewright::commands
