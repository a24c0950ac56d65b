#include "ui/pages/techniques_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/units.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/plots/curve_plot.h"
#include "ui/plots/picture_export.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using client::Techniques;
using look::q;
using session::TechniqueRow;

namespace {

constexpr int kPredictedColor = 6, kMeasuredColor = 3;
constexpr int kPlotHeight = 210;

QString percents(double part) { return QString::asprintf("%+.1f %%", 100 * part); }

} // namespace

QString techniqueName(const Techniques &techniques)
{
    QStringList parts;
    if (techniques.checkpointing != Techniques::Checkpointing::None)
        parts << (techniques.checkpointing == Techniques::Checkpointing::Half ? TechniquesPanel::tr("half of the blocks checkpointed") : TechniquesPanel::tr("all blocks checkpointed"));
    if (techniques.offload)
        parts << TechniquesPanel::tr("their inputs in host memory");
    if (techniques.bf16)
        parts << u"bf16"_s;
    if (techniques.halfBatch)
        parts << TechniquesPanel::tr("half the batch");
    return parts.isEmpty() ? TechniquesPanel::tr("none, in fp32") : parts.join(TechniquesPanel::tr(", "));
}

TechniquesPanel::TechniquesPanel(session::PlanSession *planner, QWidget *parent) : QWidget(parent), m_session(planner)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(8);
    auto *head = new QHBoxLayout;
    m_words = look::label("muted", this, true);
    m_measure = new QPushButton(this);
    head->addWidget(m_words, 1);
    head->addWidget(m_measure, 0, Qt::AlignTop);
    box->addLayout(head);
    m_table = look::quietTable(this, &m_model);
    box->addWidget(m_table, 1);
    m_legend = look::label("muted", this, true);
    box->addWidget(m_legend);
    m_plot = new plots::CurvePlot(plots::CurvePlot::Values::BytesAcross, this);
    m_plot->setFixedHeight(kPlotHeight);
    box->addWidget(m_plot);
    connect(m_measure, &QPushButton::clicked, this, [this] { m_session.isMeasuring() ? m_session.stop() : m_session.measure(); });
    connect(&m_session, &session::TechniqueSession::changed, this, &TechniquesPanel::refresh);
    look::bindText(this, [this] {
        m_table->setAccessibleName(tr("What each technique saves and costs"));
        m_plot->setAccessibleName(tr("Time of a clip against memory"));
        m_plot->setTitles(tr("At the peak"), tr("s a clip"));
        m_measure->setToolTip(tr("Trains a few updates with each, in a worker that is thrown away"));
        m_legend->setText(tr("Grey: predicted. Coloured: measured on this machine. Saved and lost are against the first line, measured where it is measured."));
        refresh();
    });
}

void TechniquesPanel::setStage(session::StagePtr stage, const QString &why)
{
    m_why = why;
    m_session.setStage(std::move(stage));
    refresh();
}

void TechniquesPanel::refresh()
{
    const bool isAny = !m_session.rows().empty();
    for (QWidget *widget : std::initializer_list<QWidget *>{m_table, m_plot, m_legend})
        widget->setVisible(isAny);
    m_measure->setEnabled(isAny && !m_session.isPlanning());
    m_measure->setText(m_session.isMeasuring() ? tr("Stop measuring") : tr("Measure on this machine"));
    refreshWords();
    fillTable();
    refreshPlot();
}

void TechniquesPanel::refreshWords()
{
    const bool isWrong = m_session.problem().has_value() || !m_why.isEmpty();
    look::setRole(m_words, isWrong ? "error" : "muted");
    if (!m_why.isEmpty())
        m_words->setText(m_why);
    else if (m_session.problem())
        m_words->setText(look::problemSentence(*m_session.problem()));
    else if (m_session.rows().empty())
        m_words->setText(tr("Planning…"));
    else if (m_session.isMeasuring())
        m_words->setText(tr("Bucket %1 of the open stage. Measuring: %2 of %3 are done.").arg(q(m_session.bucket())).arg(m_session.measured()).arg(m_session.rows().size()));
    else
        m_words->setText(tr("Bucket %1 of the open stage, the one that takes most: each technique alone and with the others.").arg(q(m_session.bucket())));
}

QStringList TechniquesPanel::cells(const TechniqueRow &row) const
{
    const TechniqueRow &first = m_session.rows().front();
    const auto predicted = row.predictedFigures(), measured = row.measuredFigures();
    const auto bytes = [](const client::TechniqueFigures &figures) { return figures.peakBytes > 0 ? look::bytes(double(figures.peakBytes)) : QString(); };
    const auto gain = measured.peakBytes > 0 && first.measuredFigures().peakBytes > 0 ? client::gainOf(first.measuredFigures(), measured) : client::gainOf(first.predictedFigures(), predicted);
    const double seconds = measured.clipSeconds > 0 ? measured.clipSeconds : predicted.clipSeconds;
    QStringList cells{techniqueName(row.point.techniques), bytes(predicted), bytes(measured)};
    if (row.measured && row.measured->outcome.outOfMemory)
        cells[2] = tr("out of memory");
    else if (row.measured && !row.measured->sentence.isEmpty())
        cells[2] = row.measured->sentence;
    if (row.problem)
        cells[1] = look::problemSentence(*row.problem);
    cells << (seconds > 0 ? look::bytes(double(gain.savedBytes)) : QString()) << (seconds > 0 ? percents(gain.savedPart) : QString());
    cells << (seconds > 0 ? look::figure(seconds, 3) : QString()) << (seconds > 0 ? percents(gain.timeLost) : QString());
    return cells;
}

QList<QStringList> TechniquesPanel::rows() const
{
    QList<QStringList> all{{tr("technique"), tr("predicted peak"), tr("measured peak"), tr("memory saved"), tr("saved, %"), tr("s a clip"), tr("time lost")}};
    for (const TechniqueRow &row : m_session.rows())
        all << cells(row);
    return all;
}

void TechniquesPanel::fillTable()
{
    const auto all = rows();
    QList<int> right;
    for (int column = 1; column < all.first().size(); ++column)
        right << column;
    m_model.setHeaders(all.first(), right);
    QList<models::Row> made;
    for (qsizetype i = 1; i < all.size(); ++i) {
        models::Row row{u"%1"_s.arg(i), {}};
        for (qsizetype column = 0; column < all[i].size(); ++column)
            row.cells << models::Cell{all[i][column], models::Tone::Normal, false, column > 0, all[i][column]};
        made << row;
    }
    m_model.setRows(made);
    auto *header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::ResizeToContents);
    header->setSectionResizeMode(0, QHeaderView::Stretch);
}

void TechniquesPanel::refreshPlot()
{
    plots::Curve predicted{{}, {}, {}, false, true, false, kPredictedColor}, measured{{}, {}, {}, false, true, false, kMeasuredColor};
    const auto add = [](plots::Curve &curve, const client::TechniqueFigures &figures) {
        if (figures.peakBytes <= 0 || figures.clipSeconds <= 0)
            return;
        curve.x.push_back(double(figures.peakBytes) / kGiB);
        curve.y.push_back(figures.clipSeconds);
    };
    QStringList words;
    for (const TechniqueRow &row : m_session.rows()) {
        add(predicted, row.predictedFigures());
        add(measured, row.measuredFigures());
        words << cells(row).join(u", "_s);
    }
    m_plot->setCurves({predicted, measured});
    m_plot->setAccessibleDescription(words.join(u'\n'));
}

QString TechniquesPanel::exportTo(const QString &file)
{
    return file.endsWith(u".csv"_s, Qt::CaseInsensitive) ? plots::exportRows(rows(), file) : m_plot->exportPicture(file);
}

} // namespace stagewright::pages
