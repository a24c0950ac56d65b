// All lanes of a run on one time axis, zoomed and panned together.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <map>
#include <set>
#include <vector>

#include "core/events/record.h"
#include "ui/plots/lanes.h"
#include "ui/plots/run_plot_data.h"

class QCPAxis;
class QCPAxisRect;
class QCPGraph;
class QCPItemLine;
class QCPItemText;
class QCPMarginGroup;
class QCustomPlot;

namespace stagewright::plots {

class PlotOverlay;
class PredictionBand;
class StackedMemory;

// GUI thread. Takes records at any rate; paints at most 15 times a second, and not at all while hidden.
// Keys: left and right pan, plus and minus zoom, Home the whole run, End the newest.
class RunPlot : public QWidget
{
    Q_OBJECT
public:
    static constexpr int kReplotMs = 66;

    explicit RunPlot(QWidget *parent = nullptr);
    ~RunPlot() override;

    void take(const std::vector<events::Record> &records);
    void clear();
    const RunPlotData &data() const { return m_data; }

    void setLaneVisible(Lane lane, bool visible);
    bool isLaneVisible(Lane lane) const { return m_visible.count(lane) > 0; }
    bool isFollowing() const { return m_following; }
    void setFollowing(bool following);
    void showWholeRun();
    std::pair<double, double> range() const;           // seconds since the run's start
    void setRange(double from, double to);             // by a person: stops following unless the newest is inside

    QString readoutAt(double seconds) const;           // what hovering there says
    QString shownReadout() const;                      // what is said now, empty while the pointer is elsewhere
    QWidget *canvas() const;                           // where the lanes are; takes the mouse
    QString textAlternative() const;                   // the plot in sentences, for screen readers

    // Each returns an error sentence, empty where it worked.
    QString exportPicture(const QString &file);        // .png, .pdf or .svg by its ending
    QString exportCsv(const QString &file) const;      // a row a step

Q_SIGNALS:
    void followingChanged(bool following);
    void plotted(double newestRecordTime);             // wall time of the newest record that is on the screen now
    void kindsChanged();                               // a kind of memory was seen for the first time

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    struct LaneParts {
        QCPAxisRect *rect = nullptr;
        QCPItemText *title = nullptr;
        std::vector<QCPGraph *> graphs;
    };
    void createLanes();
    void createCurves();
    void layOut();
    void recolor();
    void retitle();
    void fillGraphs();
    void scheduleReplot();
    void replotNow();
    void followNewest();
    void applyRange(double from, double to);
    void fitValues();
    void fitLane(Lane lane);
    void fitMemory();
    void fitCurves(Lane lane);
    void hover(const QPoint &at);
    QStringList readoutLines(double seconds, QString *title) const;
    void wheel(class QWheelEvent *event);
    QCPAxis *timeAxis(Lane lane) const;

    RunPlotData m_data;
    QCustomPlot *m_plot;
    PlotOverlay *m_overlay;
    QCPMarginGroup *m_margins;
    std::map<Lane, LaneParts> m_lanes;
    std::set<Lane> m_visible;
    StackedMemory *m_memory = nullptr;
    PredictionBand *m_predicted = nullptr;
    QCPItemLine *m_limitLine = nullptr;
    QCPItemText *m_limitText = nullptr;
    QCPItemText *m_hostText = nullptr;
    bool m_following = true, m_dirty = false;
    double m_from = 0, m_to = 30, m_span = 300;
    double m_smoothLoss = 0, m_smoothWeight = 0;
    std::size_t m_stepsDrawn = 0, m_hostDrawn = 0;
    double m_newest = 0;
    QTimer m_timer;
    QElapsedTimer m_sinceReplot;
    QPoint m_dragFrom;
    bool m_dragging = false;
    double m_dragRangeFrom = 0, m_dragRangeTo = 0;
    QPoint m_hoverAt{-1, -1};
};

} // namespace stagewright::plots
