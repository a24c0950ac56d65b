// Curves over one axis, with an optional horizontal line to stay below, labels at the curves' ends, and measured points on them.
#pragma once

#include <QColor>
#include <QWidget>
#include <vector>

class QCPGraph;
class QCPItemLine;
class QCPItemText;
class QCustomPlot;

namespace stagewright::plots {

struct Curve {
    QString label;
    std::vector<double> x, y;              // y: NaN breaks it
    bool strong = false;                   // drawn over the others, thicker
    bool dotsOnly = false;                 // measured: circles
    bool quiet = false;                    // thin and grey, without a label
    int color = -1;                        // index into curveColors(); -1: by its place
};

// GUI thread.
class CurvePlot : public QWidget
{
    Q_OBJECT
public:
    // BytesUp: y is in GiB, BytesAcross: x is; the axis has a unit that suits.
    enum class Values { BytesUp, BytesAcross };
    explicit CurvePlot(Values values, QWidget *parent = nullptr);
    void setCurves(std::vector<Curve> curves);
    void setColumns(const QStringList &labels);            // x is an index into these; empty: x is a number
    void setTitles(const QString &x, const QString &y);    // the axis of bytes has its unit besides
    void setLimit(double y, const QString &words);         // 0: none
    QWidget *canvas() const;
    QString exportPicture(const QString &file);
    const std::vector<Curve> &curves() const { return m_curves; }
    QSize sizeHint() const override { return {420, 300}; }
    QSize minimumSizeHint() const override { return {240, 170}; }

Q_SIGNALS:
    void painted();                        // the newest curves are on the canvas

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void refresh();
    void relabel();
    void declutter();
    void setByteUnit(double highest);
    void drawCurve(const Curve &curve, const QColor &color);

    QCustomPlot *m_plot;
    Values m_values;
    QCPItemLine *m_limitLine;
    QCPItemText *m_limitText;
    std::vector<QCPItemText *> m_labels;
    std::vector<Curve> m_curves;
    QStringList m_columns;
    QString m_limitWords, m_xTitle, m_yTitle;
    double m_limit = 0;
};

} // namespace stagewright::plots
