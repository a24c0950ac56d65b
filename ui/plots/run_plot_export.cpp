// Pictures and tables of the run plot as files.
#include "ui/plots/run_plot.h"

#include <QFile>
#include <QSaveFile>
#include <QTextStream>

#include "ui/plots/custom_plot.h"

#include "core/base/units.h"
#include "ui/plots/picture_export.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;

QString RunPlot::exportPicture(const QString &file)
{
    fillGraphs();
    fitValues();
    return plots::exportPicture(m_plot, file, windowTitle());
}

static QString number(double value) { return std::isfinite(value) ? QString::fromStdString(formatNumber(value)) : QString(); }

QString RunPlot::exportCsv(const QString &file) const
{
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return tr("%1 cannot be written: %2").arg(file, out.errorString());
    QTextStream text(&out);
    text << "step,seconds_since_start,step_seconds,loss,lr,grad_norm,samples_per_second,data_wait_seconds,save_wait_seconds,peak_bytes,predicted_peak_bytes";
    for (const auto name : kMemoryKindNames)
        text << ",bytes_at_peak." << QString::fromLatin1(name.data(), qsizetype(name.size()));
    text << ",resolution,frames,height,width,batch_size\n";
    for (const StepMark &mark : m_data.steps()) {
        text << mark.step << ',' << number(mark.to) << ',' << number(mark.seconds) << ',' << number(mark.loss) << ',' << number(mark.lr) << ','
             << number(mark.gradNorm) << ',' << number(mark.samplesPerSecond) << ',' << number(mark.wait) << ',' << number(mark.blocked) << ',' << mark.peakBytes << ',';
        if (mark.predictedBytes > 0)
            text << mark.predictedBytes;
        const auto [from, to] = m_data.memoryBetween(mark.from, mark.to);
        const MemorySample *peak = nullptr;
        for (auto i = from; i < to; ++i)
            if (m_data.memory()[i].at >= mark.from && m_data.memory()[i].at < mark.to && (!peak || m_data.memory()[i].total > peak->total))
                peak = &m_data.memory()[i];
        for (std::size_t kind = 0; kind < kMemoryKindNames.size(); ++kind) {
            text << ',';
            if (peak)
                text << qint64(peak->bytes[kind]);
        }
        text << ',' << QString::fromStdString(mark.bucket.resolution) << ',' << mark.bucket.frames << ',' << mark.bucket.height << ',' << mark.bucket.width << ','
             << mark.bucket.batchSize << '\n';
    }
    text.flush();
    return out.commit() ? QString() : tr("%1 cannot be written: %2").arg(file, out.errorString());
}

} // namespace stagewright::plots
