#include "ui/plots/stacked_memory.h"

#include "core/base/units.h"
#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"

namespace stagewright::plots {

StackedMemory::StackedMemory(QCPAxis *keyAxis, QCPAxis *valueAxis, const RunPlotData *data)
    : QCPAbstractPlottable(keyAxis, valueAxis), m_data(data)
{
    setSelectable(QCP::stNone);
}

double StackedMemory::highestIn(const QCPRange &range) const
{
    double highest = 0;
    const auto [from, to] = m_data->memoryBetween(range.lower, range.upper);
    for (auto i = from; i < to; ++i)
        highest = std::max(highest, m_data->memory()[i].total);
    return highest / kGiB;
}

QCPRange StackedMemory::getKeyRange(bool &found, QCP::SignDomain) const
{
    found = !m_data->memory().empty();
    return found ? QCPRange(m_data->memory().front().at, m_data->memory().back().at) : QCPRange();
}

QCPRange StackedMemory::getValueRange(bool &found, QCP::SignDomain, const QCPRange &range) const
{
    found = !m_data->memory().empty();
    return {0, highestIn(range)};
}

void StackedMemory::draw(QCPPainter *painter)
{
    const auto &samples = m_data->memory();
    // A lane that was not laid out yet has no width.
    if (samples.empty() || !mKeyAxis || !mValueAxis || mKeyAxis->axisRect()->width() <= 0 || mKeyAxis->axisRect()->height() <= 0)
        return;
    const QCPRange range = mKeyAxis->range();
    const auto [from, to] = m_data->memoryBetween(range.lower, range.upper);
    if (from >= to)
        return;
    // Columns: where a stretch begins (pixel), and the sample with the most memory that began within the pixel.
    struct Column { double x; const MemorySample *sample; };
    std::vector<Column> columns;
    columns.reserve(std::size_t(mKeyAxis->axisRect()->width()) + 8);
    double lastPixel = -1e9;
    for (auto i = from; i < to; ++i) {
        const double x = mKeyAxis->coordToPixel(samples[i].at);
        if (!columns.empty() && std::floor(x) == lastPixel) {
            if (samples[i].total > columns.back().sample->total)
                columns.back().sample = &samples[i];
            continue;
        }
        lastPixel = std::floor(x);
        columns.push_back({x, &samples[i]});
    }
    const double left = mKeyAxis->axisRect()->left(), right = std::min<double>(mKeyAxis->axisRect()->right() + 1, mKeyAxis->coordToPixel(m_data->memoryEnd()));
    const double zero = mValueAxis->coordToPixel(0), perByte = (mValueAxis->coordToPixel(1) - zero) / kGiB;
    painter->setPen(Qt::NoPen);
    painter->setAntialiasing(false);
    const bool dark = look::tokens().dark;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double x0 = std::max(left, std::floor(columns[i].x)), x1 = i + 1 < columns.size() ? std::floor(columns[i + 1].x) : right;
        if (x1 <= x0)
            continue;
        double base = 0;
        for (const MemoryKind kind : look::kStackOrder) {
            const double amount = columns[i].sample->bytes[std::size_t(kind)];
            if (amount <= 0)
                continue;
            const double y0 = std::round(zero + base * perByte), y1 = std::round(zero + (base + amount) * perByte);
            base += amount;
            QColor color = look::colorOf(kind);
            painter->fillRect(QRectF(x0, y1, x1 - x0, y0 - y1), dark ? color.darker(112) : color.lighter(108));
        }
    }
}

} // namespace stagewright::plots
