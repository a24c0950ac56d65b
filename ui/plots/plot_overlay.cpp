#include "ui/plots/plot_overlay.h"

#include <QPainter>
#include <algorithm>

#include "ui/look/theme.h"

namespace stagewright::plots {

PlotOverlay::PlotOverlay(QWidget *parent) : QWidget(parent)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
}

void PlotOverlay::show(int x, const QRect &area, const QString &title, const QStringList &lines)
{
    m_x = x;
    m_area = area;
    m_title = title;
    m_lines = lines;
    update();
}

void PlotOverlay::clear()
{
    if (m_x < 0)
        return;
    m_x = -1;
    update();
}

QString PlotOverlay::text() const { return isShowing() ? m_title + u'\n' + m_lines.join(u'\n') : QString(); }

void PlotOverlay::paintEvent(QPaintEvent *)
{
    if (m_x < 0)
        return;
    const auto &t = look::tokens();
    QPainter painter(this);
    painter.fillRect(QRect(m_x, m_area.top(), 1, m_area.height()), t.text);
    const QFont strong = look::Theme::uiFont(12, QFont::DemiBold), plain = look::Theme::uiFont(12);
    const QFontMetrics strongMetrics(strong), plainMetrics(plain);
    int width = strongMetrics.horizontalAdvance(m_title);
    for (const auto &line : m_lines)
        width = std::max(width, plainMetrics.horizontalAdvance(line));
    const int lineHeight = 18;
    QRect box(m_x + 10, m_area.top() + 6, width + 20, lineHeight * (1 + int(m_lines.size())) + 14);
    if (box.right() > m_area.right())
        box.moveRight(std::max(m_x - 10, m_area.left() + box.width()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(t.border);
    painter.setBrush(t.panel);
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    QRect line(box.left() + 10, box.top() + 7, width, lineHeight);
    painter.setFont(strong);
    painter.setPen(t.text);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, m_title);
    painter.setFont(plain);
    painter.setPen(t.muted);
    for (const auto &text : m_lines) {
        line.translate(0, lineHeight);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, text);
    }
}

} // namespace stagewright::plots
