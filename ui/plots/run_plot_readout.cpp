// What the run plot says in words: under the pointer, and to those who do not see it.
#include "ui/plots/run_plot.h"

#include <algorithm>

#include "ui/look/kind_colors.h"
#include "ui/look/words.h"
#include "ui/plots/plot_overlay.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;

QString RunPlot::readoutAt(double seconds) const
{
    QString title;
    const QStringList lines = readoutLines(seconds, &title);
    return title + u'\n' + lines.join(u'\n');
}

QStringList RunPlot::readoutLines(double x, QString *title) const
{
    QStringList lines;
    const StepMark *step = m_data.stepAt(x);
    *title = look::elapsed(x);
    if (step)
        *title = tr("step %1 · %2").arg(look::count(step->step), look::elapsed(x));
    if (const Stretch *phase = m_data.stretchAt(m_data.phases(), x); phase && phase->phase >= 0)
        *title += u" · "_s + look::wordOf(Phase(phase->phase));
    if (const MemorySample *memory = m_data.memoryAt(x)) {
        const QString limit = m_data.limitBytes() > 0 ? tr(" of %1").arg(look::bytes(double(m_data.limitBytes()))) : QString();
        const bool measured = step && step->traced;
        lines << (measured || !step ? tr("%1%2 at this moment") : tr("%1%2, the step's peak")).arg(look::bytes(memory->total), limit);
        if (step && step->predictedBytes > 0)
            lines << tr("%1 predicted for its peak, give or take %2 %").arg(look::bytes(double(step->predictedBytes))).arg(m_data.predictionBand() * 100, 0, 'f', 0);
        QStringList kinds;
        std::vector<std::pair<float, MemoryKind>> byAmount;
        for (const MemoryKind kind : look::kStackOrder)
            if (memory->bytes[std::size_t(kind)] > 0)
                byAmount.push_back({memory->bytes[std::size_t(kind)], kind});
        std::sort(byAmount.begin(), byAmount.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
        for (const auto &[amount, kind] : byAmount) {
            kinds << look::wordOf(kind) + u' ' + look::bytes(amount);
            if (kinds.size() == 2) {
                lines << kinds.join(u" · "_s);
                kinds.clear();
            }
        }
        if (!kinds.isEmpty())
            lines << kinds.join(u" · "_s);
    }
    if (step) {
        lines << tr("%1 × %2 frames, %3×%4, batch %5").arg(look::q(step->bucket.resolution)).arg(step->bucket.frames).arg(step->bucket.width).arg(step->bucket.height).arg(step->bucket.batchSize);
        lines << tr("loss %1 · lr %2 · grad norm %3").arg(look::figure(step->loss), look::figure(step->lr, 2), look::figure(step->gradNorm, 3));
        lines << tr("%1 a step · %2 clips/s · waited %3 for data").arg(look::duration(step->seconds), look::figure(step->samplesPerSecond, 3), look::duration(step->wait));
        if (step->blocked > 0)
            lines << tr("waited %1 for a save").arg(look::duration(step->blocked));
    }
    if (const Stretch *save = m_data.stretchAt(m_data.saves(), x))
        lines << tr("save: %1").arg(save->text);
    const auto &host = m_data.host();
    const auto after = std::upper_bound(host.begin(), host.end(), x, [](double at, const HostSample &s) { return at < s.at; });
    if (after != host.begin() && (after - 1)->resident > 0)
        lines << tr("host: worker %1").arg(look::bytes(double((after - 1)->resident)));
    return lines;
}

QString RunPlot::shownReadout() const { return m_overlay->text(); }

QString RunPlot::textAlternative() const
{
    if (m_data.steps().empty())
        return tr("No step yet.");
    const StepMark &last = m_data.steps().back();
    QString words = tr("Step %1 at %2: loss %3, peak device memory %4.")
                        .arg(look::count(last.step), look::elapsed(last.to), look::figure(last.loss), look::bytes(double(last.peakBytes)));
    if (last.predictedBytes > 0)
        words += u' ' + tr("Predicted: %1.").arg(look::bytes(double(last.predictedBytes)));
    if (const MemorySample *memory = m_data.memoryAt(m_data.memoryEnd())) {
        QStringList kinds;
        for (const MemoryKind kind : look::kStackOrder)
            if (memory->bytes[std::size_t(kind)] > 0)
                kinds << look::wordOf(kind) + u' ' + look::bytes(memory->bytes[std::size_t(kind)]);
        words += u' ' + kinds.join(u", "_s) + u'.';
    }
    return words;
}

} // namespace stagewright::plots
