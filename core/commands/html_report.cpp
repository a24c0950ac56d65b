#include "core/commands/html_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/units.h"
#include "core/commands/svg_plot.h"

namespace stagewright::commands {

namespace {

using events::Record;

// The parts of a history that the page shows, picked out in one pass. A resumed history may hold a step twice: the last one counts.
struct Digest {
    const events::RunStarted *started = nullptr;
    const events::Summary *summary = nullptr;
    std::map<std::int64_t, const events::Step *> steps;
    std::map<std::string, std::vector<const Record *>> saves;      // by path, progress in order
    std::vector<const events::Buffer *> buffers;
    std::vector<const Record *> notes;                              // notes, problems, bad samples
};

Digest digestOf(const std::vector<Record> &records)
{
    Digest digest;
    for (const Record &record : records) {
        if (const auto *started = std::get_if<events::RunStarted>(&record.payload))
            digest.started = started;
        else if (const auto *summary = std::get_if<events::Summary>(&record.payload))
            digest.summary = summary;
        else if (const auto *step = std::get_if<events::Step>(&record.payload))
            digest.steps[record.step] = step;
        else if (const auto *save = std::get_if<events::Checkpoint>(&record.payload))
            digest.saves[save->path].push_back(&record);
        else if (const auto *buffer = std::get_if<events::Buffer>(&record.payload))
            digest.buffers.push_back(buffer);
        else if (std::holds_alternative<events::Note>(record.payload) || std::holds_alternative<events::ProblemRecord>(record.payload)
                 || std::holds_alternative<events::BadSample>(record.payload))
            digest.notes.push_back(&record);
    }
    return digest;
}

SvgSeries seriesOf(const Digest &digest, const std::string &title, const std::string &colour, double (*value)(const events::Step &))
{
    SvgSeries series{title, colour, {}, {}};
    for (const auto &[number, step] : digest.steps) {
        series.x.push_back(static_cast<double>(number));
        series.y.push_back(value(*step));
    }
    return series;
}

// Exponential mean over about 20 steps; what is not finite is left out.
SvgSeries smoothed(const SvgSeries &series, const std::string &title, const std::string &colour)
{
    SvgSeries out{title, colour, series.x, {}};
    double mean = std::nan("");
    for (const double y : series.y) {
        if (std::isfinite(y))
            mean = std::isfinite(mean) ? mean + (y - mean) / 20 : y;
        out.y.push_back(mean);
    }
    return out;
}

SvgPlot lossPlot(const Digest &digest)
{
    SvgPlot plot{"Loss", "step", formatNumber, {}, {}, false};
    plot.yText = [](double y) { return std::to_string(y).substr(0, 6); };
    const SvgSeries loss = seriesOf(digest, "loss", "#9AA0A6", [](const events::Step &s) { return s.loss; });
    plot.lines = {loss, smoothed(loss, "mean over about 20 steps", "#0072B2")};
    return plot;
}

SvgPlot memoryPlot(const Digest &digest)
{
    SvgPlot plot{"Device memory at each step's peak, by kind", "step", [](double y) { return formatBytes(y); }, {}, {}, true};
    for (std::size_t kind = 0; kind < kMemoryKindNames.size(); ++kind) {
        SvgSeries series{std::string(kMemoryKindTitles[kind]), std::string(kMemoryKindColours[kind]), {}, {}};
        bool any = false;
        for (const auto &[number, step] : digest.steps) {
            series.x.push_back(static_cast<double>(number));
            series.y.push_back(static_cast<double>(step->peakByKind[kind]));
            any = any || step->peakByKind[kind] > 0;
        }
        if (any)
            plot.stacked.push_back(std::move(series));
    }
    return plot;
}

SvgPlot timePlot(const Digest &digest)
{
    SvgPlot plot{"Seconds of each step, by phase", "step", [](double y) { return formatDuration(y); }, {}, {}, true};
    static const std::map<Phase, std::string> colours{{Phase::Data, "#CC79A7"}, {Phase::Encode, "#8C6BB1"}, {Phase::Forward, "#56B4E9"},
                                                      {Phase::Backward, "#D55E00"}, {Phase::Optimizer, "#009E73"}, {Phase::Ema, "#0072B2"},
                                                      {Phase::Save, "#E69F00"}};
    for (const auto &[phase, colour] : colours) {
        SvgSeries series{std::string(nameOf(phase)), colour, {}, {}};
        bool any = false;
        for (const auto &[number, step] : digest.steps) {
            const double seconds = step->phaseSeconds[static_cast<std::size_t>(phase)];
            series.x.push_back(static_cast<double>(number));
            series.y.push_back(seconds);
            any = any || seconds > 0;
        }
        if (any)
            plot.stacked.push_back(std::move(series));
    }
    return plot;
}

SvgPlot plainPlot(const Digest &digest, const std::string &title, double (*value)(const events::Step &))
{
    SvgPlot plot{title, "step", [](double y) { return formatNumber(std::strtod(std::to_string(y).c_str(), nullptr)); }, {}, {}, false};
    plot.yText = [](double y) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", y);
        return std::string(text);
    };
    plot.lines = {seriesOf(digest, title, "#0072B2", value)};
    return plot;
}

std::string figure(const std::string &title, const std::string &value)
{
    return "<div><dt>" + htmlEscaped(title) + "</dt><dd>" + htmlEscaped(value) + "</dd></div>";
}

std::string figures(const Digest &digest)
{
    std::string out = "<dl class=figures>";
    double seconds = 0, waiting = 0, blocked = 0;
    std::int64_t peak = 0, samples = 0;
    for (const auto &[number, step] : digest.steps) {
        seconds += step->seconds;
        waiting += step->dataWaitSeconds;
        blocked += step->blockedSeconds;
        samples += step->samples;
        peak = std::max(peak, step->peakBytes);
    }
    if (digest.started)
        out += figure("Device", digest.started->deviceName + " (" + digest.started->device + ")")
            + figure("Parameters", formatCount(digest.started->parameters));
    out += figure("Steps", formatCount(static_cast<std::int64_t>(digest.steps.size())));
    if (!digest.steps.empty()) {
        out += figure("Last loss", std::to_string(digest.steps.rbegin()->second->loss)) + figure("Peak memory", formatBytes(static_cast<double>(peak)));
        if (seconds > 0) {
            char rate[32];
            std::snprintf(rate, sizeof rate, "%.3g", static_cast<double>(samples) / seconds);
            out += figure("Mean step", formatDuration(seconds / static_cast<double>(digest.steps.size()))) + figure("Samples a second", rate)
                + figure("Waiting for data", formatDuration(waiting)) + figure("Blocked by saves", formatDuration(blocked));
        }
    }
    return out + "</dl>";
}

std::string checkpointTable(const Digest &digest)
{
    if (digest.saves.empty())
        return "<p class=empty>No checkpoint was saved.</p>";
    std::string out = "<table><tr><th>checkpoint</th><th>state</th><th class=n>size</th><th class=n>seconds</th><th class=n>step blocked</th></tr>";
    for (const auto &[path, progress] : digest.saves) {
        const auto &last = std::get<events::Checkpoint>(progress.back()->payload);
        double blocked = 0;
        for (const Record *record : progress)
            blocked = std::max(blocked, std::get<events::Checkpoint>(record->payload).blockedSeconds);
        out += "<tr><td>" + htmlEscaped(path) + "</td><td>" + htmlEscaped(last.sentence.empty() ? last.phase : last.phase + ": " + last.sentence) + "</td><td class=n>"
            + formatBytes(static_cast<double>(last.totalBytes)) + "</td><td class=n>" + formatDuration(last.seconds) + "</td><td class=n>"
            + formatDuration(blocked) + "</td></tr>";
    }
    return out + "</table>";
}

std::string sentenceOf(const Record &record)
{
    if (const auto *note = std::get_if<events::Note>(&record.payload))
        return note->level + ": " + note->sentence;
    if (const auto *problem = std::get_if<events::ProblemRecord>(&record.payload))
        return oneLine(problem->problem);
    const auto &bad = std::get<events::BadSample>(record.payload);
    return "row " + std::to_string(bad.row) + ", " + bad.path + ": " + bad.reason
        + (bad.replacedBy >= 0 ? "; replaced by row " + std::to_string(bad.replacedBy) : "; not replaced");
}

std::string noteList(const Digest &digest)
{
    if (digest.notes.empty())
        return "<p class=empty>Nothing to say.</p>";
    constexpr std::size_t most = 200;
    std::string out = "<ul>";
    for (std::size_t i = 0; i < std::min(most, digest.notes.size()); ++i) {
        const Record &record = *digest.notes[i];
        out += "<li>" + (record.step >= 0 ? "step " + std::to_string(record.step) + ": " : std::string()) + htmlEscaped(sentenceOf(record)) + "</li>";
    }
    if (digest.notes.size() > most)
        out += "<li>and " + std::to_string(digest.notes.size() - most) + " more; all are in events.jsonl</li>";
    return out + "</ul>";
}

constexpr const char *kStyle = R"(<style>
:root{color-scheme:light dark;--ink:#1d2125;--soft:#6b7280;--line:#d8dce1;--page:#f3f4f6;--card:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e4e6e8;--soft:#9aa0a6;--line:#3a3f45;--page:#1c1e21;--card:#25282c}}
body{font:13px/1.5 Inter,system-ui,"Noto Sans CJK SC",sans-serif;color:var(--ink);background:var(--page);margin:0 auto;max-width:960px;padding:24px}
h1{font-size:20px;margin:0}h2{font-size:14px;margin:24px 0 8px}.state,.empty{color:var(--soft)}
.figures{display:flex;flex-wrap:wrap;gap:8px 32px}.figures dt{color:var(--soft)}.figures dd{margin:0;font-size:18px}
figure{background:var(--card);border:1px solid var(--line);margin:0 0 16px;padding:12px}figcaption{font-weight:600}
svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:11px}.grid{stroke:var(--line)}
.legend span{margin-right:16px;color:var(--soft)}.legend i{display:inline-block;width:10px;height:10px;margin-right:5px;border-radius:2px}
table{border-collapse:collapse;width:100%}td,th{text-align:left;border-bottom:1px solid var(--line);padding:4px 8px;overflow-wrap:anywhere}.n{text-align:right;white-space:nowrap}
pre{background:var(--card);border:1px solid var(--line);padding:12px;overflow:auto}
</style>)";

} // namespace

std::string htmlReport(const ReportInput &input)
{
    const Digest digest = digestOf(input.records);
    std::string out = "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\"><title>"
        + htmlEscaped(input.runName) + " · Stagewright</title>" + kStyle + "</head><body>";
    out += "<h1>" + htmlEscaped(input.runName) + "</h1><p class=state>" + htmlEscaped(input.stateSentence) + "</p>" + figures(digest);
    out += "<h2>Plots</h2>" + toHtml(lossPlot(digest)) + toHtml(memoryPlot(digest)) + toHtml(timePlot(digest))
        + toHtml(plainPlot(digest, "Learning rate", [](const events::Step &s) { return s.lr; }))
        + toHtml(plainPlot(digest, "Gradient norm before clipping", [](const events::Step &s) { return s.gradNorm; }));
    out += "<h2>Checkpoints</h2>" + checkpointTable(digest) + "<h2>What the run said</h2>" + noteList(digest);
    out += "<h2>Configuration</h2><pre>" + htmlEscaped(input.configText) + "</pre></body></html>\n";
    return out;
}

} // namespace stagewright::commands
