// A sweep as pictures: a heat map of two settings, curves of one, step time against memory; and all of it as a table.
#pragma once

#include <QWidget>

#include "ui/models/keyed_table_model.h"
#include "ui/pages/sweep_words.h"

class QLabel;
class QSlider;
class QStackedWidget;
class QTableView;

namespace stagewright::plots {
class CurvePlot;
class HeatMap;
}

namespace stagewright::pages {

// The sweep and the measured points belong to the caller, who calls refresh() when they have changed.
class SweepPictures : public QWidget
{
    Q_OBJECT
public:
    SweepPictures(const session::PlanSweep *sweep, const MeasuredPoints *measured, QWidget *parent = nullptr);

    void refresh();
    void setCapacity(std::int64_t bytes);              // the line to stay below
    void setChosen(int cell);                          // -1: none
    void setRow(int row);                              // the curve that is drawn thick
    int row() const { return m_row; }
    void showTable(bool table);
    bool isTable() const;
    QString exportTo(const QString &file) const;       // by its ending; an error sentence, empty where it worked
    plots::HeatMap *heatMap() { return m_heat; }
    plots::CurvePlot *peakPlot() { return m_peaks; }
    plots::CurvePlot *timePlot() { return m_times; }
    QSlider *slider() { return m_slider; }
    QTableView *table() { return m_table; }

Q_SIGNALS:
    void chosen(int cell);
    void rowLookedAt(int row);

private:
    void retranslate();
    void refreshHeat();
    void refreshPeakAxes();
    void refreshPeaks();
    void refreshTimes();
    void fillTable();

    const session::PlanSweep *m_sweep;
    const MeasuredPoints *m_measured;
    std::int64_t m_capacity = 0;
    int m_chosen = -1, m_row = 0;
    QStackedWidget *m_view;
    QWidget *m_sliderHolder;
    QLabel *m_sliderWords;
    QSlider *m_slider;
    plots::HeatMap *m_heat;
    plots::CurvePlot *m_peaks, *m_times;
    QTableView *m_table;
    models::KeyedTableModel m_model;
};

} // namespace stagewright::pages
