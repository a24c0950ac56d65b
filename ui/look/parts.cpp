#include "ui/look/parts.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QStyle>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/look/theme.h"
#include "ui/look/toned_delegate.h"

namespace stagewright::look {

using namespace Qt::StringLiterals;

static void setStyleProperty(QWidget *widget, const char *property, const char *value)
{
    const QString wanted = QString::fromLatin1(value);
    if (widget->property(property).toString() == wanted)
        return;
    widget->setProperty(property, wanted);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

void setRole(QWidget *widget, const char *role) { setStyleProperty(widget, "role", role); }
void setState(QWidget *widget, const char *state) { setStyleProperty(widget, "state", state); }

ElidedLabel::ElidedLabel(QWidget *parent, Qt::TextElideMode mode) : QLabel(parent), m_mode(mode)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    setTextFormat(Qt::PlainText);
}

void ElidedLabel::setFullText(const QString &text)
{
    if (text == m_text)
        return;
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    elide();
}

QSize ElidedLabel::sizeHint() const
{
    ensurePolished();
    return {fontMetrics().horizontalAdvance(m_text) + 2, QLabel::sizeHint().height()};
}

QSize ElidedLabel::minimumSizeHint() const { return {std::min(40, sizeHint().width()), QLabel::minimumSizeHint().height()}; }

void ElidedLabel::resizeEvent(QResizeEvent *event)
{
    QLabel::resizeEvent(event);
    elide();
}

void ElidedLabel::elide()
{
    const QString shown = fontMetrics().elidedText(m_text, m_mode, width());
    QLabel::setText(shown);
    setToolTip(shown == m_text ? QString() : m_text);
}

QLabel *sectionLabel(QWidget *parent) { return label("section", parent); }

QLabel *label(const char *role, QWidget *parent, bool wraps)
{
    auto *made = new QLabel(parent);
    made->setTextFormat(Qt::PlainText);
    made->setWordWrap(wraps);
    made->setProperty("role", QString::fromLatin1(role));
    return made;
}

QTableView *quietTable(QWidget *parent, QAbstractItemModel *model, int rowHeight)
{
    auto *made = new QTableView(parent);
    made->setModel(model);
    made->verticalHeader()->hide();
    made->verticalHeader()->setDefaultSectionSize(rowHeight);
    made->setShowGrid(false);
    made->setSelectionBehavior(QAbstractItemView::SelectRows);
    made->setSelectionMode(QAbstractItemView::SingleSelection);
    made->setEditTriggers(QAbstractItemView::NoEditTriggers);
    made->setTabKeyNavigation(false);
    made->setWordWrap(false);
    made->horizontalHeader()->setHighlightSections(false);
    made->setItemDelegate(new TonedDelegate(made));
    return made;
}

QPushButton *linkButton(QWidget *parent)
{
    auto *button = new QPushButton(parent);
    button->setProperty("role", u"link"_s);
    button->setCursor(Qt::PointingHandCursor);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    return button;
}

QFrame *hairline(QWidget *parent)
{
    auto *line = new QFrame(parent);
    line->setProperty("role", u"hairline"_s);
    return line;
}

Chip::Chip(QWidget *parent) : QFrame(parent)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setFont(Theme::uiFont(12));
    hide();                                // until there is something to show
}

void Chip::show(const QColor &dot, const QString &text)
{
    if (m_dot == dot && m_text == text)
        return;
    m_dot = dot;
    m_text = text;
    setAccessibleName(text);
    setVisible(!text.isEmpty());
    updateGeometry();
    update();
}

QSize Chip::sizeHint() const
{
    const QFontMetrics metrics(Theme::uiFont(12));
    return {std::min(m_maximum, metrics.horizontalAdvance(m_text) + 23 + (m_dot.isValid() ? 15 : 0)), 22};
}

QSize Chip::minimumSizeHint() const { return {std::min(sizeHint().width(), 72), 22}; }

void Chip::resizeEvent(QResizeEvent *event)
{
    QFrame::resizeEvent(event);
    setToolTip(width() < sizeHint().width() || sizeHint().width() == m_maximum ? m_text : QString());
}

void Chip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(tokens().border);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10.5, 10.5);
    int x = 11;
    if (m_dot.isValid()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_dot);
        painter.drawEllipse(QRectF(x, height() / 2.0 - 4.5, 9, 9));
        x += 15;
    }
    painter.setPen(tokens().muted);
    painter.setFont(Theme::uiFont(12));
    const QRect area(x, 0, width() - x - 9, height());
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, painter.fontMetrics().elidedText(m_text, Qt::ElideRight, area.width()));
}

Figure::Figure(QWidget *parent) : QWidget(parent)
{
    m_caption = label("caption", this);
    m_value = label("figure", this);
    m_aside = label("muted", this);
    m_aside->setFont(Theme::uiFont(12));
    auto *line = new QHBoxLayout;
    line->setSpacing(6);
    line->addWidget(m_value, 0, Qt::AlignBottom);
    line->addWidget(m_aside, 0, Qt::AlignBottom);
    line->addStretch();
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(1);
    box->addWidget(m_caption);
    box->addLayout(line);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void Figure::setCaption(const QString &text)
{
    m_caption->setText(text);
    setAccessibleName(text);
}

void Figure::setValue(const QString &value, const QString &aside)
{
    m_value->setText(value);
    m_aside->setText(aside);
    m_aside->setVisible(!aside.isEmpty());
    setAccessibleDescription(value + u' ' + aside);
}

LegendItem::LegendItem(const QColor &color, QWidget *parent) : QWidget(parent), m_color(color) {}

void LegendItem::setText(const QString &text)
{
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize LegendItem::sizeHint() const { return {QFontMetrics(Theme::uiFont(11)).horizontalAdvance(m_text) + 16, 16}; }

void LegendItem::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_color);
    painter.drawRoundedRect(QRectF(0, height() / 2.0 - 4.5, 9, 9), 2, 2);
    painter.setPen(tokens().muted);
    painter.setFont(Theme::uiFont(11));
    painter.drawText(rect().adjusted(14, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, m_text);
}

PartsBar::PartsBar(QWidget *parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); }

void PartsBar::setParts(QList<Part> parts, double whole, double mark)
{
    m_parts = std::move(parts);
    m_whole = whole;
    m_mark = mark;
    update();
}

void PartsBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), tokens().stripOff);
    if (m_whole <= 0)
        return;
    double x = 0;
    for (const auto &part : m_parts) {
        const double w = std::min(part.amount / m_whole * width(), width() - x);
        painter.fillRect(QRectF(x, 0, w, height()), part.color);
        x += w;
    }
    if (m_mark >= 0 && m_mark <= m_whole)
        painter.fillRect(QRectF(std::min(m_mark / m_whole * width(), width() - 2.0), 0, 2, height()), tokens().text);
}

} // namespace stagewright::look
