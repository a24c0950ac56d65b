// The small widgets that pages are made of.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QWidget>

class QAbstractItemModel;
class QHBoxLayout;
class QTableView;
class QVBoxLayout;

namespace stagewright::look {

void setRole(QWidget *widget, const char *role);       // the style sheet's "role"; restyles a live widget
void setState(QWidget *widget, const char *state);     // "", "error", "warning"

// A label that cuts its text with an ellipsis where there is no room, and then shows the whole text as a tooltip.
class ElidedLabel : public QLabel
{
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget *parent = nullptr, Qt::TextElideMode mode = Qt::ElideRight);
    void setFullText(const QString &text);
    QString fullText() const { return m_text; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void elide();
    QString m_text;
    Qt::TextElideMode m_mode;
};

QLabel *sectionLabel(QWidget *parent = nullptr);       // small capitals by wording: "THIS STEP"
QLabel *label(const char *role, QWidget *parent = nullptr, bool wraps = false);
QPushButton *linkButton(QWidget *parent = nullptr);
QFrame *hairline(QWidget *parent = nullptr);
// Rows to read and to choose one of, without a grid; a row's tone stays while it is selected.
QTableView *quietTable(QWidget *parent, QAbstractItemModel *model, int rowHeight = 27);

// A filled dot and a word in a rounded frame: "● Safe to stop". The word says what the colour says.
class Chip : public QFrame
{
    Q_OBJECT
public:
    explicit Chip(QWidget *parent = nullptr);
    void show(const QColor &dot, const QString &text); // an invalid colour: no dot
    void setMaximumText(int pixels) { m_maximum = pixels; updateGeometry(); }
    QString text() const { return m_text; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    QColor m_dot;
    QString m_text;
    int m_maximum = 420;
};

// A caption over a big number with a quiet remark beside it: "Loss 0.2137".
class Figure : public QWidget
{
    Q_OBJECT
public:
    explicit Figure(QWidget *parent = nullptr);
    void setCaption(const QString &text);
    void setValue(const QString &value, const QString &aside = {});
    QString value() const { return m_value->text(); }

private:
    QLabel *m_caption, *m_value, *m_aside;
};

// A small coloured square and a word.
class LegendItem : public QWidget
{
    Q_OBJECT
public:
    LegendItem(const QColor &color, QWidget *parent = nullptr);
    void setText(const QString &text);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QColor m_color;
    QString m_text;
};

// A horizontal bar of coloured parts of a whole, with an optional mark: memory by kind against a limit, a buffer's fill.
class PartsBar : public QWidget
{
    Q_OBJECT
public:
    struct Part { double amount; QColor color; };
    explicit PartsBar(QWidget *parent = nullptr);
    void setParts(QList<Part> parts, double whole, double mark = -1);
    QSize sizeHint() const override { return {160, 12}; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QList<Part> m_parts;
    double m_whole = 0, m_mark = -1;
};

} // namespace stagewright::look
