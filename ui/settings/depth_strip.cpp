#include "ui/settings/depth_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"

namespace stagewright::settings {

static constexpr int kTop = 3, kHeight = 23, kGap = 16;

DepthStrip::DepthStrip(QWidget *parent) : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMaximumWidth(900);
}

void DepthStrip::setBlocks(int doubles, int singles)
{
    m_blocks[0] = std::max(0, doubles);
    m_blocks[1] = std::max(0, singles);
    update();
}

void DepthStrip::setDepths(int doubles, int singles)
{
    m_depth[0] = std::clamp(doubles, 0, m_blocks[0]);
    m_depth[1] = std::clamp(singles, 0, m_blocks[1]);
    describe();
    update();
}

void DepthStrip::setActive(bool active)
{
    m_active = active;
    update();
}

void DepthStrip::describe()
{
    setAccessibleName(tr("Checkpointed blocks"));
    setAccessibleDescription(tr("%1 of %2 double blocks, %3 of %4 single blocks").arg(m_depth[0]).arg(m_blocks[0]).arg(m_depth[1]).arg(m_blocks[1]));
}

double DepthStrip::cell() const
{
    const int all = m_blocks[0] + m_blocks[1];
    const int gap = m_blocks[0] > 0 && m_blocks[1] > 0 ? kGap : 0;
    return all > 0 ? std::min(22.0, (width() - 6.0 - gap) / all) : 0;
}

double DepthStrip::startOf(int part) const { return part == 0 || m_blocks[0] == 0 ? 2 : 2 + m_blocks[0] * cell() + kGap; }

QRect DepthStrip::edgeRect(int part) const
{
    const double x = startOf(part) + m_depth[part] * cell();
    return {int(std::round(x)) - 2, kTop - 2, 4, kHeight + 4};
}

int DepthStrip::depthAt(int part, double x) const
{
    return cell() > 0 ? std::clamp(int(std::round((x - startOf(part)) / cell())), 0, m_blocks[part]) : 0;
}

void DepthStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const auto &t = look::tokens();
    const QColor on = m_active ? look::colorOf(MemoryKind::CheckpointedInput) : t.muted;
    for (int part = 0; part < 2; ++part) {
        for (int i = 0; i < m_blocks[part]; ++i) {
            const double x0 = startOf(part) + i * cell(), x1 = startOf(part) + (i + 1) * cell();
            const int gap = cell() >= 4 ? 1 : 0;
            painter.fillRect(QRect(int(std::round(x0)), kTop, std::max(1, int(std::round(x1)) - int(std::round(x0)) - gap), kHeight),
                             i < m_depth[part] && m_active ? on : t.stripOff);
        }
        if (m_blocks[part] > 0)
            painter.fillRect(edgeRect(part), t.text);
    }
    if (hasFocus() && m_blocks[m_keyPart] > 0) {
        painter.setPen(QPen(t.accent, 1));
        painter.drawRect(edgeRect(m_keyPart).adjusted(-2, 0, 1, -1));
    }
}

void DepthStrip::setDepth(int part, int depth)
{
    depth = std::clamp(depth, 0, m_blocks[part]);
    if (depth == m_depth[part])
        return;
    m_depth[part] = depth;
    describe();
    update();
    Q_EMIT dragged(m_depth[0], m_depth[1]);
}

void DepthStrip::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const double x = event->position().x();
    const double between = startOf(1) - kGap / 2.0;
    m_dragging = m_blocks[1] == 0 || (m_blocks[0] > 0 && x < between) ? 0 : 1;
    m_keyPart = m_dragging;
    setDepth(m_dragging, depthAt(m_dragging, x));
    update();
}

void DepthStrip::mouseMoveEvent(QMouseEvent *event)
{
    if (m_dragging >= 0) {
        setDepth(m_dragging, depthAt(m_dragging, event->position().x()));
        return;
    }
    const bool near = edgeRect(0).adjusted(-4, 0, 4, 0).contains(event->pos()) || edgeRect(1).adjusted(-4, 0, 4, 0).contains(event->pos());
    setCursor(near ? Qt::SplitHCursor : Qt::PointingHandCursor);
}

void DepthStrip::mouseReleaseEvent(QMouseEvent *) { m_dragging = -1; }

void DepthStrip::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left: setDepth(m_keyPart, m_depth[m_keyPart] - 1); break;
    case Qt::Key_Right: setDepth(m_keyPart, m_depth[m_keyPart] + 1); break;
    case Qt::Key_Home: setDepth(m_keyPart, 0); break;
    case Qt::Key_End: setDepth(m_keyPart, m_blocks[m_keyPart]); break;
    case Qt::Key_Up:
    case Qt::Key_Down:
        m_keyPart = 1 - m_keyPart;                     // the other edge
        update();
        break;
    default: QWidget::keyPressEvent(event);
    }
}

bool DepthStrip::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        const int part = m_blocks[0] > 0 && help->pos().x() < startOf(1) - kGap / 2.0 ? 0 : 1;
        const int block = cell() > 0 ? int((help->pos().x() - startOf(part)) / cell()) : -1;
        if (block >= 0 && block < m_blocks[part]) {
            const QString name = part == 0 ? tr("double block %1") : tr("single block %1");
            QToolTip::showText(help->globalPos(), name.arg(block) + QStringLiteral(": ") + (m_active && block < m_depth[part] ? tr("recomputed in the backward pass") : tr("keeps its activations")), this);
        }
        return true;
    }
    return QWidget::event(event);
}

} // namespace stagewright::settings
