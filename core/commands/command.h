// What a command of stagewright-cli is: its own flags, and a body that fills one JSON object or prints text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace CLI {
class App;
}

namespace stagewright::commands {

// Where a command's answer goes. With --json exactly one object is written at the end and text lines are dropped; without it lines go
// to standard output at once. Messages and progress always go to standard error.
class Output
{
public:
    explicit Output(bool json) : m_json(json) {}
    bool isJson() const { return m_json; }
    nlohmann::json &object() { return m_object; }
    Problems &problems() { return m_problems; }
    void line(std::string_view text = {}) const;               // to standard output, text mode only
    void message(std::string_view text) const;                 // to standard error, both modes
    // For commands that stream JSON Lines themselves (train, attach): the closing object is theirs, too.
    void streamLine(std::string_view text) const;              // to standard output, flushed
    void streamObject(const nlohmann::json &object) const;     // on one line; what is not UTF-8 is replaced
    void setStreams() { m_streams = true; }
    bool streams() const { return m_streams; }

private:
    bool m_json;
    bool m_streams = false;
    nlohmann::json m_object = nlohmann::json::object();
    Problems m_problems;
};

struct Invocation {
    std::vector<std::string> positionals;
    std::vector<config::Override> overrides;                   // empty unless the command takes overrides
};

class Command
{
public:
    virtual ~Command() = default;
    virtual std::string_view name() const = 0;
    virtual std::string_view arguments() const = 0;            // "CONFIG…", for the usage line
    virtual std::string_view summary() const = 0;              // one line of help
    virtual std::size_t fewestPositionals() const { return 1; }
    virtual std::size_t mostPositionals() const { return fewestPositionals(); }
    virtual bool takesOverrides() const { return false; }
    virtual void declare(CLI::App &) {}                        // the command's own flags
    // Problems in output.problems() are shown in both modes; an Error becomes one more, and its exit code wins.
    virtual Result<ExitCode> run(const Invocation &invocation, Output &output) = 0;
};

// All commands, in the order of the help. Every file that defines a command has one factory here.
std::vector<std::unique_ptr<Command>> allCommands();

// Loads a stage and puts what is wrong with it into output; the Error is about a file that cannot be read at all.
Result<config::Stage> openStage(const std::string &file, const Invocation &invocation, Output &output);

} // namespace stagewright::commands
