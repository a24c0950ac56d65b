#include "ui/plots/strip_lane.h"

#include "ui/look/theme.h"

namespace stagewright::plots {

StripLane::StripLane(QCPAxis *keyAxis, QCPAxis *valueAxis, const std::deque<Stretch> *stretches, Style style)
    : QCPAbstractPlottable(keyAxis, valueAxis), m_stretches(stretches), m_style(style)
{
    setSelectable(QCP::stNone);
}

QCPRange StripLane::getKeyRange(bool &found, QCP::SignDomain) const
{
    found = !m_stretches->empty();
    return found ? QCPRange(m_stretches->front().from, m_stretches->back().to) : QCPRange();
}

void StripLane::draw(QCPPainter *painter)
{
    if (m_stretches->empty() || !mKeyAxis)
        return;
    const QCPRange range = mKeyAxis->range();
    auto first = std::partition_point(m_stretches->begin(), m_stretches->end(), [&](const Stretch &s) { return s.to < range.lower; });
    auto last = std::partition_point(first, m_stretches->end(), [&](const Stretch &s) { return s.from <= range.upper; });
    const auto from = std::size_t(first - m_stretches->begin()), to = std::size_t(last - m_stretches->begin());
    painter->setAntialiasing(false);
    painter->setFont(look::Theme::uiFont(11));
    m_style == Filled ? drawFilled(painter, from, to) : drawFramed(painter, from, to);
}

void StripLane::drawFilled(QCPPainter *painter, std::size_t from, std::size_t to)
{
    const QRect area = mKeyAxis->axisRect()->rect();
    double drawnTo = area.left();                      // narrower than a pixel: the first one that reaches a new pixel is drawn
    for (std::size_t i = from; i < to; ++i) {
        const Stretch &stretch = (*m_stretches)[i];
        const double x0 = std::max(drawnTo, std::floor(mKeyAxis->coordToPixel(stretch.from)));
        const double x1 = std::min<double>(area.right() + 1, std::max(std::floor(mKeyAxis->coordToPixel(stretch.to)), stretch.open ? x0 + 2 : x0));
        if (x1 <= x0)
            continue;
        painter->fillRect(QRectF(x0, area.top(), x1 - x0, area.height()), stretch.color);
        drawnTo = x1;
        if (stretch.text.isEmpty() || x1 - x0 < 26)
            continue;
        painter->setPen(stretch.color.lightness() > 150 ? QColor(0x16181a) : QColor(Qt::white));
        const QRectF words(x0 + 5, area.top(), x1 - x0 - 8, area.height());
        painter->drawText(words, Qt::AlignVCenter | Qt::AlignLeft, painter->fontMetrics().elidedText(stretch.text, Qt::ElideRight, int(words.width())));
    }
}

void StripLane::drawFramed(QCPPainter *painter, std::size_t from, std::size_t to)
{
    const QRect area = mKeyAxis->axisRect()->rect();
    const auto &t = look::tokens();
    for (std::size_t i = from; i < to;) {
        const Stretch &stretch = (*m_stretches)[i];
        const double x0 = std::max<double>(area.left(), std::floor(mKeyAxis->coordToPixel(stretch.from)));
        std::size_t next = i + 1;
        double x1 = std::floor(mKeyAxis->coordToPixel(stretch.to));
        // Boxes without room for a word are joined with equal neighbours, and below 3 pixels with any.
        while (next < to) {
            const Stretch &other = (*m_stretches)[next];
            const double end = std::floor(mKeyAxis->coordToPixel(other.to));
            const bool equal = other.text == stretch.text && end - x1 < 64;
            if (!equal && x1 - x0 >= 3)
                break;
            x1 = end;
            ++next;
        }
        x1 = std::min<double>(x1, area.right() + 1);
        i = next;
        if (x1 <= x0)
            continue;
        const QRectF box(x0, area.top(), std::max(1.0, x1 - x0 - 1), area.height() - 1);
        painter->fillRect(box, t.raised);
        if (box.width() < 30)
            continue;
        painter->setPen(t.muted);
        painter->drawText(box.adjusted(5, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft,
                          painter->fontMetrics().elidedText(stretch.text, Qt::ElideRight, int(box.width()) - 8));
    }
}

} // namespace stagewright::plots
