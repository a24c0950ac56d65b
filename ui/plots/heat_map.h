// Predicted peak over two settings as a heat map: what does not fit hatched, the fastest settings at each memory framed.
#pragma once

#include <QWidget>
#include <vector>

class QCustomPlot;

namespace stagewright::plots {

class HeatCells;

struct HeatCell {
    double bytes = 0;                      // 0: not known (yet)
    bool fits = true;
    QString words;                         // what hovering and screen readers say
};

// GUI thread. Cells are numbered row by row, the lowest row first. A click or the arrow keys move the ring, which chooses.
class HeatMap : public QWidget
{
    Q_OBJECT
public:
    explicit HeatMap(QWidget *parent = nullptr);
    void setAxes(const QStringList &columns, const QStringList &rows, const QString &columnTitle, const QString &rowTitle);
    void setCells(std::vector<HeatCell> cells);            // columns × rows of them
    void setFront(std::vector<int> cells);                 // framed
    void setRing(int cell);                                // -1: none
    int ring() const { return m_ring; }
    void setOwn(int cell);                                 // what the stage has; marked by a dot
    QWidget *canvas() const;
    QPoint pixelOf(int cell) const;                        // the middle of a cell, in the canvas
    QString unit() const;                                  // of the figures in the cells
    QString exportPicture(const QString &file);
    QSize sizeHint() const override { return {480, 320}; }
    QSize minimumSizeHint() const override { return {260, 200}; }

Q_SIGNALS:
    void chosen(int cell);
    void hovered(int cell);                                // -1: none

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;

private:
    int cellAt(const QPointF &pixel) const;
    void relabel();
    void recolor();
    void choose(int cell);

    QCustomPlot *m_plot;
    HeatCells *m_cells;
    QStringList m_columns, m_rows;
    int m_ring = -1;
};

} // namespace stagewright::plots
