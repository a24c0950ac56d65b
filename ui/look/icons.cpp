#include "ui/look/icons.h"

#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "ui/look/theme.h"

namespace stagewright::look {
namespace {

using namespace Qt::StringLiterals;

void paintSvg(QPainter *painter, const QRectF &rect, const QString &name, const QColor &color)
{
    QFile file(u":/icons/%1.svg"_s.arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return;
    QByteArray svg = file.readAll();
    svg.replace("#000000", color.name().toLatin1());
    QSvgRenderer(svg).render(painter, rect);
}

// Colour is taken when painting, so that a theme change needs no new icons.
class SvgEngine : public QIconEngine
{
public:
    SvgEngine(QString name, QColor color) : m_name(std::move(name)), m_color(color) {}
    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State state) override
    {
        QColor color = m_color;
        if (!color.isValid())
            color = mode == QIcon::Disabled ? tokens().muted : (state == QIcon::On || mode != QIcon::Normal) ? tokens().text : tokens().text;
        const int side = std::min(rect.width(), rect.height());
        QRectF square(0, 0, side, side);
        square.moveCenter(QRectF(rect).center());
        paintSvg(painter, square, m_name, color);
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }
    QIconEngine *clone() const override { return new SvgEngine(m_name, m_color); }

private:
    QString m_name;
    QColor m_color;
};

} // namespace

QIcon icon(const char *name, QColor color) { return QIcon(new SvgEngine(QString::fromLatin1(name), color)); }

QPixmap iconPixmap(const char *name, QColor color, int pixels, double ratio)
{
    QPixmap pixmap(QSize(pixels, pixels) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintSvg(&painter, QRectF(0, 0, pixels, pixels), QString::fromLatin1(name), color);
    return pixmap;
}

} // namespace stagewright::look
