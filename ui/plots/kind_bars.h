// Memory at the peak as bars stacked by kind, one bar a bucket, a run or a setting, against the device's line.
#pragma once

#include <QWidget>
#include <vector>

#include "core/events/record.h"

class QCPBars;
class QCPErrorBars;
class QCPGraph;
class QCPItemLine;
class QCPItemText;
class QCustomPlot;

namespace stagewright::plots {

struct KindBar {
    QString label, remark;                 // remark: behind the bar, what is to be said about it
    events::KindBytes byKind{};
    std::int64_t extra = 0;                // bytes beyond the kinds: held by the allocator, context
    bool fits = true;
    double band = 0;                       // bytes either way; 0: none drawn
};

// GUI thread. A row is kRowPixels high: put it into a scroll area. Up and down move the chosen bar, a click chooses one.
class KindBars : public QWidget
{
    Q_OBJECT
public:
    static constexpr int kRowPixels = 26;

    explicit KindBars(QWidget *parent = nullptr);
    void setBars(std::vector<KindBar> bars, std::int64_t limit, const QString &limitText);     // limit 0: no line
    void setChosen(int bar);               // -1: none
    int chosen() const { return m_chosen; }
    QWidget *canvas() const;
    int yOf(int bar) const;                // the middle of a bar, in the canvas
    QString exportPicture(const QString &file);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void barChosen(int bar);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    void refresh();
    void recolor();
    void choose(int bar);

    QCustomPlot *m_plot;
    std::vector<QCPBars *> m_kinds;        // in look::kStackOrder; then what is beyond the kinds
    QCPGraph *m_totals;
    QCPErrorBars *m_bands;
    QCPItemLine *m_limitLine;
    QCPItemText *m_limitText;
    std::vector<QCPItemText *> m_remarks;
    std::vector<KindBar> m_bars;
    std::int64_t m_limit = 0;
    QString m_limitWords;
    int m_chosen = -1;
};

} // namespace stagewright::plots
