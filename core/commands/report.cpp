#include "core/commands/report.h"

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/client/client.h"
#include "core/commands/factories.h"
#include "core/commands/html_report.h"
#include "core/runlog/event_reader.h"
#include "core/runlog/run_directory.h"
#include "core/runlog/run_state.h"

namespace stagewright::commands {

namespace {

std::string stateSentence(const std::filesystem::path &runFolder)
{
    const runlog::RunCondition condition = runlog::conditionOf(runFolder);
    return std::string(runlog::runStateName(condition.state)) + (condition.sentence.empty() ? "" : ": " + condition.sentence);
}

class Report : public Command
{
public:
    std::string_view name() const override { return "report"; }
    std::string_view arguments() const override { return "RUN"; }
    std::string_view summary() const override { return "one self-contained HTML page with plots of a run"; }

    void declare(CLI::App &app) override
    {
        app.add_option("--outputs", m_outputs, "Folder in which runs are named (outputs)");
        app.add_option("--output", m_out, "File to write (RUN/report.html)");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto folder = client::findRun(invocation.positionals[0], m_outputs);
        if (!folder)
            return folder.error();
        const std::filesystem::path out = m_out.empty() ? *folder / "report.html" : std::filesystem::path(m_out);
        if (auto written = writeReport(*folder, out); !written)
            return written.error();
        output.object()["files"] = {out.string()};
        output.line(out.string());
        return ExitCode::Done;
    }

private:
    std::string m_outputs = "outputs", m_out;
};

} // namespace

Status writeReport(const std::filesystem::path &runFolder, const std::filesystem::path &out)
{
    ReportInput input;
    input.runName = runFolder.filename().string();
    input.stateSentence = stateSentence(runFolder);
    runlog::EventReader reader(runlog::historyPath(runFolder));
    for (;;) {
        auto batch = reader.read();
        if (!batch)
            return batch.error();
        for (events::Record &record : batch->records) {
            // The timelines inside steps are by far the largest part, and the page does not draw them.
            if (!std::holds_alternative<events::MemoryTrace>(record.payload))
                input.records.push_back(std::move(record));
        }
        if (batch->atEnd)
            break;
    }
    if (auto text = readFile(runlog::configPath(runFolder)); text)
        input.configText = *text;
    return replaceFile(out, htmlReport(input));
}

std::unique_ptr<Command> makeReport() { return std::make_unique<Report>(); }

} // namespace stagewright::commands
