#include "ui/pages/sweep_words.h"

#include <QCoreApplication>
#include <cstdlib>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/option.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/settings/option_words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using session::PlanAxis;
using session::PlanSweep;

namespace {

struct SweepWords {
    Q_DECLARE_TR_FUNCTIONS(Sweep)
};

double deviationPercent(const session::MeasuredPoint &measured, const events::PlannedPoint &predicted)
{
    return 100 * (double(measured.outcome.peakBytes) / double(predicted.peakBytes) - 1);
}

QString measuredWords(const session::MeasuredPoint &measured, const events::PlannedPoint &predicted)
{
    if (measured.outcome.outOfMemory)
        return SweepWords::tr("measured: out of memory");
    if (!measured.sentence.isEmpty())
        return measured.sentence;
    return SweepWords::tr("measured %1 (%2 %), %3 a step").arg(look::bytes(double(measured.outcome.peakBytes)),
        QString::asprintf("%+.1f", deviationPercent(measured, predicted)), look::duration(measured.outcome.stepSeconds));
}

} // namespace

QString axisName(const PlanAxis &axis)
{
    switch (axis.kind) {
    case PlanAxis::Kind::DoubleBlocks: return SweepWords::tr("Double blocks checkpointed");
    case PlanAxis::Kind::SingleBlocks: return SweepWords::tr("Single blocks checkpointed");
    case PlanAxis::Kind::BucketBatch: {
        const auto parts = split(axis.path, '.');
        return parts.size() == 3 ? SweepWords::tr("Batch of %1 × %2 frames").arg(q(parts[1]), q(parts[2])) : q(axis.path);
    }
    case PlanAxis::Kind::Option: break;
    }
    const config::Option *option = config::findOption(axis.path);
    return option ? u"%1 · %2"_s.arg(settings::labelOf(*option), q(axis.path)) : q(axis.path);
}

QStringList axisLabels(const PlanAxis &axis)
{
    constexpr double kMillion = 1e6;
    QStringList labels;
    for (const std::string &value : axis.values) {
        bool isWhole = false;
        const qlonglong number = q(value).toLongLong(&isWhole);
        labels << (isWhole && std::llabs(number) >= qlonglong(kMillion) ? look::figure(double(number) / kMillion, 3) + u" M"_s : q(value));
    }
    return labels;
}

QString valuesWords(const std::vector<events::PlanValue> &values)
{
    QStringList words;
    for (const auto &value : values)
        words << u"%1 = %2"_s.arg(q(value.path), q(value.text));
    return words.join(u", "_s);
}

QString pointWords(const PlanSweep &sweep, const MeasuredPoints &measured, int cell)
{
    if (!sweep.isCell(cell))
        return {};
    const auto &point = sweep.point(cell);
    QString words = valuesWords(sweep.valuesAt(cell)) + u": "_s;
    if (!sweep.isKnown(cell))
        return words + SweepWords::tr("not planned yet");
    if (!point.sentence.empty())
        return words + q(point.sentence);
    words += SweepWords::tr("%1 at the peak, about %2 a step").arg(look::bytes(double(point.peakBytes)), look::duration(point.stepSeconds));
    if (!point.fits)
        words += u", "_s + SweepWords::tr("does not fit");
    if (const auto found = measured.find(cell); found != measured.end())
        words += u"; "_s + measuredWords(found->second, point);
    return words;
}

QString fitWords(const PlanSweep &sweep)
{
    switch (sweep.fit()) {
    case PlanSweep::Fit::NotAsked: return {};
    case PlanSweep::Fit::Looking: return SweepWords::tr("Looking for the fastest values that fit…");
    case PlanSweep::Fit::Failed: return sweep.fitProblem() ? look::problemSentence(*sweep.fitProblem()) : SweepWords::tr("The planner found nothing.");
    case PlanSweep::Fit::Found: break;
    }
    const auto &fitted = sweep.fitted();
    QString words = SweepWords::tr("The fastest that fits: %1, with %2 at the peak and about %3 a step (%4 % of the time now).")
                        .arg(valuesWords(fitted.values), look::bytes(double(fitted.peakBytes)), look::duration(fitted.stepSeconds))
                        .arg(fitted.stepTimeRelative * 100, 0, 'f', 0);
    if (!fitted.stoppedBy.empty())
        words += u' ' + SweepWords::tr("The next faster, %1, takes %2 in bucket %3.")
                            .arg(valuesWords(fitted.stoppedBy), look::bytes(double(fitted.stoppedByPeakBytes)), q(fitted.stoppedByBucket));
    return words;
}

QString bestMeasuredWords(const PlanSweep &sweep, const MeasuredPoints &measured, int cell)
{
    int best = -1, count = 0;
    const auto seconds = [&](int at) { return measured.at(at).outcome.stepSeconds; };
    for (const auto &[at, point] : measured) {
        if (!sweep.isCell(at) || !hasFigures(point) || !sweep.point(at).fits)
            continue;
        ++count;
        best = best < 0 || seconds(at) < seconds(best) ? at : best;
    }
    if (count < 2)
        return {};
    QString words = SweepWords::tr("Fastest of the %1 measured settings that fit: %2, with %3 s a step.").arg(count).arg(valuesWords(sweep.valuesAt(best)), look::figure(seconds(best), 3));
    const auto chosen = measured.find(cell);
    if (chosen != measured.end() && hasFigures(chosen->second))
        words += u' ' + SweepWords::tr("The chosen one took %1 % more.").arg(100 * (seconds(cell) / seconds(best) - 1), 0, 'f', 1);
    return words;
}

QList<QStringList> sweepRows(const PlanSweep &sweep, const MeasuredPoints &measured)
{
    const auto &asked = sweep.question();
    QStringList header;
    if (asked.y)
        header << axisName(*asked.y);
    header << axisName(asked.x) << SweepWords::tr("predicted GiB") << SweepWords::tr("measured GiB") << SweepWords::tr("deviation %") << SweepWords::tr("predicted s a step")
           << SweepWords::tr("measured s a step") << SweepWords::tr("fits");
    QList<QStringList> all{header};
    const auto gib = [](std::int64_t bytes) { return QString::number(double(bytes) / kGiB, 'f', 3); };
    for (int cell = 0; cell < sweep.cells(); ++cell) {
        const auto &point = sweep.point(cell);
        const auto found = measured.find(cell);
        const auto *real = found != measured.end() && hasFigures(found->second) ? &found->second : nullptr;
        const bool predicted = sweep.isPredicted(cell);
        QStringList row;
        if (asked.y)
            row << q(asked.y->values[std::size_t(cell / sweep.columns())]);
        row << q(asked.x.values[std::size_t(cell % sweep.columns())]);
        row << (predicted ? gib(point.peakBytes) : QString()) << (real ? gib(real->outcome.peakBytes) : QString());
        row << (real && predicted ? QString::asprintf("%+.2f", deviationPercent(*real, point)) : QString());
        row << (predicted ? QString::number(point.stepSeconds, 'g', 4) : QString()) << (real ? QString::number(real->outcome.stepSeconds, 'g', 4) : QString());
        row << (!sweep.isKnown(cell) ? QString() : !point.sentence.empty() ? q(point.sentence) : point.fits ? SweepWords::tr("yes") : SweepWords::tr("no"));
        all << row;
    }
    return all;
}

} // namespace stagewright::pages
