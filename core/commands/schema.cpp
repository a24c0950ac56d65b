#include "core/config/schema.h"

#include <CLI/CLI.hpp>

#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Schema : public Command
{
public:
    std::string_view name() const override { return "schema"; }
    std::string_view arguments() const override { return ""; }
    std::string_view summary() const override { return "the JSON Schema of a stage; --markdown: the reference page of all options"; }
    std::size_t fewestPositionals() const override { return 0; }

    void declare(CLI::App &app) override
    {
        app.add_flag("--markdown", m_markdown, "Print the reference page instead");
        app.add_flag("--chinese", m_chinese, "With --markdown: the page in Chinese");
    }

    Result<ExitCode> run(const Invocation &, Output &output) override
    {
        const nlohmann::json schema = config::stageSchema();
        output.object()["schema"] = schema;
        if (m_markdown) {
            const std::string page = config::referencePage(m_chinese ? config::Language::Chinese : config::Language::English);
            output.object()["markdown"] = page;
            output.line(page);
        } else {
            output.line(schema.dump(2));
        }
        return ExitCode::Done;
    }

private:
    bool m_markdown = false, m_chinese = false;
};

} // namespace

std::unique_ptr<Command> makeSchema() { return std::make_unique<Schema>(); }

} // namespace stagewright::commands
