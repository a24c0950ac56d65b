// A combo box whose value does not change when a form is scrolled over it.
#pragma once

#include <QComboBox>
#include <QPainter>
#include <QWheelEvent>

#include "ui/look/theme.h"

namespace stagewright::settings {

class CalmComboBox : public QComboBox
{
public:
    using QComboBox::QComboBox;

protected:
    void wheelEvent(QWheelEvent *event) override { event->ignore(); }
    void paintEvent(QPaintEvent *event) override
    {
        QComboBox::paintEvent(event);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(look::tokens().muted, 1.6));
        const QPointF at(width() - 14.0, height() / 2.0 - 1.5);
        painter.drawPolyline(QPolygonF{at, at + QPointF(3.5, 3.5), at + QPointF(7, 0)});
    }
};

} // namespace stagewright::settings
