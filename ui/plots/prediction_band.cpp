#include "ui/plots/prediction_band.h"

#include <QPainterPath>
#include <algorithm>

#include "core/base/units.h"
#include "ui/look/theme.h"

namespace stagewright::plots {

static constexpr int kBandAlpha = 46, kHaloAlpha = 150;
static constexpr double kLineWidth = 1.4, kHaloWidth = 3.4;

PredictionBand::PredictionBand(QCPAxis *keyAxis, QCPAxis *valueAxis, const RunPlotData *data) : QCPAbstractPlottable(keyAxis, valueAxis), m_data(data)
{
    setSelectable(QCP::stNone);
}

double PredictionBand::highestIn(const QCPRange &range) const
{
    std::int64_t highest = 0;
    const auto [from, to] = m_data->stepsBetween(range.lower, range.upper);
    for (auto i = from; i < to; ++i)
        highest = std::max(highest, m_data->steps()[i].predictedBytes);
    return double(highest) * (1 + m_data->predictionBand()) / kGiB;
}

QCPRange PredictionBand::getKeyRange(bool &found, QCP::SignDomain) const
{
    found = !m_data->steps().empty();
    return found ? QCPRange(m_data->steps().front().from, m_data->steps().back().to) : QCPRange();
}

QCPRange PredictionBand::getValueRange(bool &found, QCP::SignDomain, const QCPRange &range) const
{
    const double highest = highestIn(range);
    found = highest > 0;
    return {0, highest};
}

std::vector<PredictionBand::Level> PredictionBand::levels() const
{
    const QRect area = mKeyAxis->axisRect()->rect();
    const auto [from, to] = m_data->stepsBetween(mKeyAxis->range().lower, mKeyAxis->range().upper);
    std::vector<Level> levels;
    for (auto i = from; i < to; ++i) {
        const StepMark &mark = m_data->steps()[i];
        if (mark.predictedBytes <= 0)
            continue;
        const double begin = std::max<double>(area.left(), std::floor(mKeyAxis->coordToPixel(mark.from)));
        const double end = std::min<double>(area.right() + 1, std::floor(mKeyAxis->coordToPixel(mark.to)) + 1), bytes = double(mark.predictedBytes);
        if (!levels.empty() && end <= levels.back().to) {
            levels.back().bytes = std::max(levels.back().bytes, bytes);
        } else if (!levels.empty() && begin <= levels.back().to && levels.back().bytes == bytes) {
            levels.back().to = end;
        } else {
            const double free = levels.empty() ? begin : std::max(begin, levels.back().to);
            levels.push_back({free, std::max(end, free), bytes});
        }
    }
    return levels;
}

void PredictionBand::draw(QCPPainter *painter)
{
    // A lane that was not laid out yet has no width.
    if (!mKeyAxis || !mValueAxis || mKeyAxis->axisRect()->width() <= 0 || mKeyAxis->axisRect()->height() <= 0)
        return;
    const auto heightOf = [this](double bytes) { return mValueAxis->coordToPixel(bytes / kGiB); };
    const auto &t = look::tokens();
    const double band = m_data->predictionBand();
    QColor shade = t.text, halo = t.ground;
    shade.setAlpha(kBandAlpha);
    halo.setAlpha(kHaloAlpha);
    painter->setAntialiasing(false);
    QPainterPath line;
    double reached = -1;
    for (const Level &level : levels()) {
        const double upper = heightOf(level.bytes * (1 + band)), lower = heightOf(level.bytes * (1 - band)), middle = std::round(heightOf(level.bytes)) + 0.5;
        painter->fillRect(QRectF(level.from, upper, level.to - level.from, lower - upper), shade);
        level.from == reached ? line.lineTo(level.from, middle) : line.moveTo(level.from, middle);
        line.lineTo(level.to, middle);
        reached = level.to;
    }
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(halo, kHaloWidth));
    painter->drawPath(line);
    painter->setPen(QPen(t.text, kLineWidth, Qt::DashLine));
    painter->drawPath(line);
}

} // namespace stagewright::plots
