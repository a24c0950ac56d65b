// Several runs over one another: memory, step time and loss, a lane each, on one axis of steps or of buckets.
#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <vector>

#include "core/runlog/series.h"

class QCPAxis;
class QCPAxisRect;
class QCPGraph;
class QCPItemText;
class QCPMarginGroup;
class QCustomPlot;

namespace stagewright::plots {

class PlotOverlay;

enum class OverlayLane { Memory, StepTime, Loss };
inline constexpr OverlayLane kOverlayLanes[] = {OverlayLane::Memory, OverlayLane::StepTime, OverlayLane::Loss};

struct OverlayContents {
    // A run's curve in [from, to], of about `most` points: memory in GiB, times in seconds. `faint`: the loss as it is, behind the smoothed one.
    using Points = std::function<std::vector<runlog::Point>(std::size_t run, OverlayLane lane, bool faint, double from, double to, std::size_t most)>;
    QStringList runs;                      // their names
    Points points;
    double first = 0, last = 1;            // of all curves
    QStringList columns;                   // x is an index into these; empty: x is a step
};

// How a run is drawn, here and wherever else it is named: colours alone would not be safe.
QColor runColor(int run);
Qt::PenStyle runLine(int run);

// GUI thread. Wheel and drag zoom and pan the lanes together, a double click shows all; keys: left and right pan, plus and minus zoom, Home all.
class OverlayPlot : public QWidget
{
    Q_OBJECT
public:
    explicit OverlayPlot(QWidget *parent = nullptr);

    // keepRange: what a person zoomed to stays, if they did.
    void setContents(OverlayContents contents, bool keepRange);
    std::pair<double, double> range() const { return {m_from, m_to}; }
    void setRange(double from, double to);
    void showAll();
    QString readoutAt(double x) const;                 // what hovering there says: a line a run
    QString shownReadout() const;                      // what is said now, empty while the pointer is elsewhere
    QWidget *canvas() const;
    double xOf(int pixel) const;
    QString exportPicture(const QString &file);        // an error sentence, empty where it worked
    int drawnPoints(int run, OverlayLane lane) const;
    QSize minimumSizeHint() const override { return {320, 260}; }

Q_SIGNALS:
    void painted();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Parts {
        QCPAxisRect *rect = nullptr;
        QCPItemText *title = nullptr;
        std::vector<QCPGraph *> graphs;                // a run each
        std::vector<QCPGraph *> faint;                 // of the loss
    };
    void createLanes();
    void createGraphs();
    void recolor();
    void retitle();
    void refill();
    void fitLane(OverlayLane lane);
    void hover(const QPoint &at);
    QStringList readoutLines(double x, QString *title) const;
    QString valuesOf(std::size_t run, double x) const;
    QCPAxis *axis() const;

    OverlayContents m_contents;
    QCustomPlot *m_plot;
    PlotOverlay *m_overlay;
    QCPMarginGroup *m_margins;
    std::map<OverlayLane, Parts> m_lanes;
    double m_from = 0, m_to = 1;
    bool m_showsAll = true;                            // then it does so as well when the runs grow
    bool m_dragging = false;
    int m_dragX = 0;
    double m_dragFrom = 0, m_dragTo = 0;
};

} // namespace stagewright::plots
