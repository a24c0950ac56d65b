#include "ui/pages/compare_rows.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "core/base/units.h"
#include "core/config/option.h"
#include "ui/look/kind_colors.h"
#include "ui/look/words.h"
#include "ui/settings/option_words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using models::Cell;
using models::Row;
using models::Tone;
using session::ComparedRun;
using session::ComparedRunPtr;

namespace {

struct CompareWords {
    Q_DECLARE_TR_FUNCTIONS(Compare)
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

QString stateWords(const ComparedRun &run)
{
    switch (run.state) {
    case runlog::RunState::Unknown: return CompareWords::tr("unknown");
    case runlog::RunState::Starting: return CompareWords::tr("starting");
    case runlog::RunState::Running: return CompareWords::tr("running");
    case runlog::RunState::Finished: return CompareWords::tr("finished");
    case runlog::RunState::Stopped: return CompareWords::tr("stopped");
    case runlog::RunState::Failed: return CompareWords::tr("failed");
    case runlog::RunState::Died: break;
    }
    return CompareWords::tr("died");
}

Row heading(const QString &key, const QString &text, std::size_t runs)
{
    Row row{key, {Cell{text, Tone::Muted}}};
    for (std::size_t i = 0; i < runs; ++i)
        row.cells << Cell{};
    return row;
}

enum class Distance { Said, Unsaid };                  // from the first run's figure

// A figure of every run. NaN: the run has none.
Row figureRow(const QString &key, const QString &name, const ComparedRuns &runs, const std::function<double(const ComparedRun &)> &value, const std::function<QString(double)> &words,
              Distance distance = Distance::Said)
{
    Row row{key, {Cell{name}}};
    const double first = value(*runs.front());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const double own = value(*runs[i]);
        QString text = std::isfinite(own) ? words(own) : u"—"_s;
        if (distance == Distance::Said && i > 0 && std::isfinite(own) && std::isfinite(first) && first != 0)
            text += QString::asprintf("  %+.1f %%", 100 * (own / first - 1));
        row.cells << Cell{text, Tone::Normal, false, true};
    }
    return row;
}

Row stateRow(const ComparedRuns &runs)
{
    Row row{u"figure.state"_s, {Cell{CompareWords::tr("State")}}};
    for (const auto &run : runs) {
        const bool isBad = !run->sentence.empty() || run->state == runlog::RunState::Failed || run->state == runlog::RunState::Died;
        row.cells << Cell{run->sentence.empty() ? stateWords(*run) : q(run->sentence), isBad ? Tone::Error : Tone::Normal, false, true, q(run->sentence)};
    }
    return row;
}

Row settingRow(const session::SettingRow &setting, const ComparedRuns &runs)
{
    const config::Option *option = config::findOption(setting.path);
    Row row{u"setting."_s + q(setting.path), {Cell{option ? u"%1 · %2"_s.arg(settings::labelOf(*option), q(setting.path)) : q(setting.path), setting.changesResults ? Tone::Normal : Tone::Muted}}};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto &value = setting.values[i];
        const QString text = value ? q(config::toPython(*value)) : runs[i]->stage ? CompareWords::tr("not set") : u"—"_s;
        row.cells << Cell{text, setting.changesResults ? Tone::Normal : Tone::Muted, true, true, text};
    }
    return row;
}

QString plain(double value) { return std::isfinite(value) ? QString::number(value, 'g', 6) : QString(); }

// Behind the first column of x: peak, time and loss of each run.
QStringList threeEach(const QString &first, const ComparedRuns &runs)
{
    QStringList header{first};
    for (const auto &run : runs)
        for (const QString &what : {CompareWords::tr("peak GiB"), CompareWords::tr("seconds a step"), CompareWords::tr("loss")})
            header << u"%1: %2"_s.arg(q(run->name), what);
    return header;
}

QList<QStringList> stepRows(const ComparedRuns &runs, std::size_t most)
{
    struct Line { double scale; const char *series; };
    static constexpr Line kLines[] = {{1.0 / kGiB, "peak_bytes"}, {1, "seconds"}, {1, "loss"}};
    std::map<double, std::vector<double>> bySteps;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (std::size_t line = 0; line < std::size(kLines); ++line) {
            const auto *series = runs[i]->series.find(kLines[line].series);
            if (!series)
                continue;
            for (const auto &point : series->all(most)) {
                auto &values = bySteps.try_emplace(point.x, runs.size() * std::size(kLines), kNaN).first->second;
                values[i * std::size(kLines) + line] = point.y * kLines[line].scale;
            }
        }
    }
    QList<QStringList> rows{threeEach(CompareWords::tr("step"), runs)};
    for (const auto &[step, values] : bySteps) {
        QStringList row{QString::number(std::int64_t(step))};
        for (const double value : values)
            row << plain(value);
        rows << row;
    }
    return rows;
}

QList<QStringList> bucketRows(const ComparedRuns &runs)
{
    QList<QStringList> rows{threeEach(CompareWords::tr("bucket"), runs)};
    for (const auto &name : session::bucketsOf(runs)) {
        QStringList row{bucketTitle(name)};
        for (const auto &run : runs) {
            const auto found = run->buckets.find(name);
            if (found == run->buckets.end())
                row << QString() << QString() << QString();
            else
                row << plain(double(found->second.peakBytes) / kGiB) << plain(found->second.times.mean()) << plain(found->second.meanLoss());
        }
        rows << row;
    }
    return rows;
}

QList<QStringList> kindRows(const ComparedRuns &runs)
{
    QStringList header{CompareWords::tr("run"), CompareWords::tr("peak GiB")};
    for (const MemoryKind kind : look::kStackOrder)
        header << look::wordOf(kind);
    QList<QStringList> rows{header};
    for (const auto &run : runs) {
        QStringList row{q(run->name), plain(double(run->peakBytes) / kGiB)};
        for (const MemoryKind kind : look::kStackOrder)
            row << plain(double(run->peakByKind[std::size_t(kind)]) / kGiB);
        rows << row;
    }
    return rows;
}

} // namespace

QStringList differenceHeaders(const ComparedRuns &runs)
{
    QStringList headers{QString()};
    for (const auto &run : runs)
        headers << q(run->name);
    return headers;
}

QList<Row> differenceRows(const ComparedRuns &runs)
{
    if (runs.empty())
        return {};
    const auto count = [](double value) { return look::count(std::int64_t(value)); };
    const auto bytes = [](double value) { return look::bytes(value); };
    QList<Row> rows{heading(u"figures"_s, CompareWords::tr("FIGURES"), runs.size()), stateRow(runs)};
    rows << figureRow(u"figure.updates"_s, CompareWords::tr("Updates"), runs, [](const ComparedRun &run) { return double(run.times.updates); }, count, Distance::Unsaid);
    rows << figureRow(u"figure.peak"_s, CompareWords::tr("Highest peak"), runs, [](const ComparedRun &run) { return run.times.updates > 0 ? double(run.peakBytes) : kNaN; }, bytes);
    rows << figureRow(u"figure.seconds"_s, CompareWords::tr("Mean step time"), runs, [](const ComparedRun &run) { return run.times.updates > 0 ? run.times.mean() : kNaN; }, look::duration);
    rows << figureRow(u"figure.loss"_s, CompareWords::tr("Loss, mean of the last %1 updates").arg(ComparedRun::kLastLosses), runs, [](const ComparedRun &run) { return run.lastLoss(); },
                      [](double value) { return look::figure(value); });
    const auto settings = session::settingsThatDiffer(runs);
    rows << heading(u"settings"_s, settings.empty() ? CompareWords::tr("NO SETTING DIFFERS") : CompareWords::tr("SETTINGS THAT DIFFER · %1").arg(settings.size()), runs.size());
    for (const auto &setting : settings)
        rows << settingRow(setting, runs);
    return rows;
}

QList<QStringList> viewRows(const ComparedRuns &runs, CompareView view, std::size_t mostSteps)
{
    switch (view) {
    case CompareView::BySteps: return stepRows(runs, mostSteps);
    case CompareView::ByBuckets: return bucketRows(runs);
    case CompareView::ByKinds:
    case CompareView::Techniques: break;
    }
    return kindRows(runs);
}

QString bucketTitle(const session::BucketName &bucket)
{
    return CompareWords::tr("%1 × %2 frames").arg(q(bucket.resolution)).arg(bucket.frames);
}

double firstStep(const ComparedRuns &runs)
{
    double first = std::numeric_limits<double>::infinity();
    for (const auto &run : runs)
        if (const auto *steps = run->series.find("seconds"); steps && !steps->isEmpty())
            first = std::min(first, steps->first().x);
    return std::isfinite(first) ? first : 0;
}

double lastStep(const ComparedRuns &runs)
{
    double last = 0;
    for (const auto &run : runs)
        last = std::max(last, double(run->lastStep));
    return last;
}

} // namespace stagewright::pages
