// The line under the pointer and the box that reads out all lanes at that moment; lies over the plot, so moving it redraws no curve.
#pragma once

#include <QStringList>
#include <QWidget>

namespace stagewright::plots {

class PlotOverlay : public QWidget
{
    Q_OBJECT
public:
    explicit PlotOverlay(QWidget *parent);
    void show(int x, const QRect &area, const QString &title, const QStringList &lines);
    void clear();
    bool isShowing() const { return m_x >= 0; }
    QString text() const;                              // for screen readers and tests

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int m_x = -1;
    QRect m_area;
    QString m_title;
    QStringList m_lines;
};

} // namespace stagewright::plots
