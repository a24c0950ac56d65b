#include "ui/pages/sweep_pictures.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSlider>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/units.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/plan_panel.h"
#include "ui/plots/curve_plot.h"
#include "ui/plots/heat_map.h"
#include "ui/plots/picture_export.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

namespace {

constexpr int kMostLabelled = 6;                       // curves with a label of their own
constexpr int kMeasuredColor = 3, kAllColor = 6, kBestColor = 0;

} // namespace

SweepPictures::SweepPictures(const session::PlanSweep *sweep, const MeasuredPoints *measured, QWidget *parent) : QWidget(parent), m_sweep(sweep), m_measured(measured)
{
    m_view = new QStackedWidget(this);
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->addWidget(m_view);
    auto *pictures = new QWidget(m_view);
    auto *line = new QHBoxLayout(pictures);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(12);
    m_heat = new plots::HeatMap(pictures);
    line->addWidget(m_heat, 3);
    auto *right = new QWidget(pictures);
    auto *column = new QVBoxLayout(right);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    m_peaks = new plots::CurvePlot(plots::CurvePlot::Values::BytesUp, right);
    m_times = new plots::CurvePlot(plots::CurvePlot::Values::BytesAcross, right);
    m_sliderHolder = new QWidget(right);
    auto *sliderLine = new QHBoxLayout(m_sliderHolder);
    sliderLine->setContentsMargins(8, 0, 8, 0);
    m_sliderWords = look::label("muted", m_sliderHolder);
    m_slider = new QSlider(Qt::Horizontal, m_sliderHolder);
    sliderLine->addWidget(m_sliderWords);
    sliderLine->addWidget(m_slider, 1);
    column->addWidget(m_peaks, 3);
    column->addWidget(m_sliderHolder);
    column->addWidget(m_times, 2);
    line->addWidget(right, 2);
    m_table = look::quietTable(m_view, &m_model);
    m_view->addWidget(pictures);
    m_view->addWidget(m_table);
    connect(m_heat, &plots::HeatMap::chosen, this, &SweepPictures::chosen);
    connect(m_slider, &QSlider::valueChanged, this, [this](int row) {
        m_row = row;
        refreshPeaks();
        Q_EMIT rowLookedAt(row);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &now) {
        if (now.isValid() && isTable())
            Q_EMIT chosen(m_model.row(now.row()).data.toInt());
    });
    look::bindText(this, [this] { retranslate(); });
}

void SweepPictures::retranslate()
{
    m_heat->setAccessibleName(tr("Predicted peak over two settings"));
    m_peaks->setAccessibleName(tr("Predicted peak against one setting"));
    m_times->setAccessibleName(tr("Step time against memory"));
    m_slider->setAccessibleName(tr("Which line is drawn thick"));
    m_table->setAccessibleName(tr("Predicted points, as a table"));
    m_times->setTitles(tr("At the peak"), tr("s a step"));
    refresh();
}

void SweepPictures::showTable(bool table)
{
    if (table)
        fillTable();
    m_view->setCurrentIndex(table ? 1 : 0);
}

bool SweepPictures::isTable() const { return m_view->currentIndex() == 1; }

void SweepPictures::setCapacity(std::int64_t bytes)
{
    m_capacity = bytes;
    refreshPeakAxes();
}

void SweepPictures::setChosen(int cell)
{
    m_chosen = cell;
    m_heat->setRing(cell);
    if (m_sweep->question().y && m_sweep->isCell(cell))
        setRow(cell / m_sweep->columns());
}

void SweepPictures::setRow(int row)
{
    const QSignalBlocker blocker(m_slider);
    m_slider->setRange(0, std::max(0, m_sweep->rows() - 1));
    m_slider->setValue(row);
    m_row = m_slider->value();
    refreshPeaks();
}

void SweepPictures::refresh()
{
    const bool isGrid = m_sweep->question().y.has_value();
    m_heat->setVisible(isGrid);
    m_sliderHolder->setVisible(isGrid);
    if (isGrid)
        refreshHeat();
    refreshPeakAxes();
    refreshPeaks();
    refreshTimes();
    if (isTable())
        fillTable();
}

void SweepPictures::refreshHeat()
{
    const auto &asked = m_sweep->question();
    m_heat->setAxes(axisLabels(asked.x), axisLabels(*asked.y), axisName(asked.x), axisName(*asked.y));
    std::vector<plots::HeatCell> cells;
    for (int cell = 0; cell < m_sweep->cells(); ++cell)
        cells.push_back({m_sweep->isPredicted(cell) ? double(m_sweep->point(cell).peakBytes) : 0, !m_sweep->isKnown(cell) || m_sweep->point(cell).fits, pointWords(*m_sweep, *m_measured, cell)});
    m_heat->setCells(std::move(cells));
    std::vector<int> front;
    if (m_sweep->isComplete())
        for (const std::size_t cell : session::paretoFront(m_sweep->points()))
            front.push_back(int(cell));
    m_heat->setFront(std::move(front));
    m_heat->setOwn(m_sweep->ownCell());
    m_heat->setRing(m_chosen);
}

void SweepPictures::refreshPeakAxes()
{
    const auto &x = m_sweep->question().x;
    m_peaks->setColumns(axisLabels(x));
    m_peaks->setTitles(axisName(x), {});
    m_peaks->setLimit(double(m_capacity) / kGiB, m_capacity > 0 ? tr("%1 available").arg(look::bytes(double(m_capacity))) : QString());
}

// Only this runs while the slider is dragged.
void SweepPictures::refreshPeaks()
{
    const auto &asked = m_sweep->question();
    std::vector<plots::Curve> curves;
    const int rows = m_sweep->rows(), every = std::max(1, (rows + kMostLabelled - 1) / kMostLabelled);
    for (int row = 0; row < rows; ++row) {
        const bool strong = row == m_row;
        plots::Curve curve{asked.y ? q(asked.y->values[std::size_t(row)]) : QString(), {}, {}, strong, false, !strong && row % every != 0, strong ? kMeasuredColor : kBestColor};
        for (int column = 0; column < m_sweep->columns(); ++column) {
            const int cell = row * m_sweep->columns() + column;
            if (!m_sweep->isPredicted(cell))
                continue;
            curve.x.push_back(column);
            curve.y.push_back(double(m_sweep->point(cell).peakBytes) / kGiB);
        }
        if (!curve.x.empty())
            curves.push_back(std::move(curve));
    }
    plots::Curve circles{{}, {}, {}, false, true, false, kMeasuredColor};
    for (const auto &[cell, point] : *m_measured) {
        if (!hasFigures(point) || cell / std::max(1, m_sweep->columns()) != m_row)
            continue;
        circles.x.push_back(cell % m_sweep->columns());
        circles.y.push_back(double(point.outcome.peakBytes) / kGiB);
    }
    curves.push_back(std::move(circles));
    m_peaks->setCurves(std::move(curves));
    m_sliderWords->setText(asked.y ? u"%1: %2"_s.arg(axisName(*asked.y), q(asked.y->values[std::size_t(std::min(m_row, rows - 1))])) : QString());
}

void SweepPictures::refreshTimes()
{
    plots::Curve all{{}, {}, {}, false, true, false, kAllColor}, best{{}, {}, {}, true, false, false, kBestColor};
    const auto add = [this](plots::Curve &curve, std::size_t cell) {
        const auto &point = m_sweep->points()[cell];
        curve.x.push_back(double(point.peakBytes) / kGiB);
        curve.y.push_back(point.stepSeconds);
    };
    for (int cell = 0; cell < m_sweep->cells(); ++cell)
        if (m_sweep->isPredicted(cell))
            add(all, std::size_t(cell));
    for (const std::size_t cell : session::paretoFront(m_sweep->points()))
        add(best, cell);
    m_times->setCurves({all, best});
}

void SweepPictures::fillTable()
{
    const QList<QStringList> all = sweepRows(*m_sweep, *m_measured);
    const int last = int(all.first().size()) - 1;
    QList<int> right;
    for (int i = 0; i < last; ++i)
        right << i;
    m_model.setHeaders(all.first(), right);
    QList<models::Row> made;
    for (qsizetype i = 1; i < all.size(); ++i) {
        const int cell = int(i - 1);
        models::Row row{u"%1"_s.arg(i), {}, cell};
        for (int column = 0; column <= last; ++column) {
            const bool isWrong = column == last && m_sweep->isKnown(cell) && !m_sweep->point(cell).fits;
            row.cells << models::Cell{all[i][column], isWrong ? models::Tone::Error : models::Tone::Normal, false, column < last};
        }
        made << row;
    }
    m_model.setRows(made);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
}

QString SweepPictures::exportTo(const QString &file) const
{
    if (file.endsWith(u".csv"_s, Qt::CaseInsensitive))
        return plots::exportRows(sweepRows(*m_sweep, *m_measured), file);
    return m_sweep->question().y ? m_heat->exportPicture(file) : m_peaks->exportPicture(file);
}

} // namespace stagewright::pages
