#include "ui/pages/sweep_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/config/bucket_table.h"
#include "core/config/diff.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/pages/sweep_choices.h"
#include "ui/pages/sweep_pictures.h"
#include "ui/plots/heat_map.h"

namespace stagewright::pages {

using look::q;

static constexpr int kMostMeasured = 200;              // short runs of seconds each

SweepPanel::SweepPanel(session::StageSession *stage, session::PlanSession *planner, QWidget *parent)
    : QWidget(parent), m_stageSession(stage), m_sweep(planner)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 4, 0, 0);
    box->setSpacing(8);
    m_choices = new SweepChoices(this);
    box->addWidget(m_choices);
    createTools(box);
    m_pictures = new SweepPictures(&m_sweep, &m_measured, this);
    box->addWidget(m_pictures, 1);
    createWords(box);
    connect(m_choices, &SweepChoices::changed, this, &SweepPanel::restart);
    connect(m_pictures, &SweepPictures::chosen, this, &SweepPanel::choose);
    connect(m_pictures, &SweepPictures::rowLookedAt, this, [this](int row) { m_sweep.lookAt(row); });
    connect(&m_sweep, &session::PlanSweep::changed, this, &SweepPanel::sweepChanged);
    connect(&m_sweep, &session::PlanSweep::fitChanged, this, &SweepPanel::fitChanged);
    connect(&m_measuring, &session::MeasureSession::measured, this, &SweepPanel::takeMeasured);
    connect(&m_measuring, &session::MeasureSession::busyChanged, this, &SweepPanel::refreshWords);
    look::bindText(this, [this] { retranslate(); });
}

void SweepPanel::createTools(QVBoxLayout *box)
{
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_progress = new look::ElidedLabel(this);
    look::setRole(m_progress, "muted");
    m_fit = new QPushButton(this);
    look::setRole(m_fit, "primary");
    m_measure = new QPushButton(this);
    m_measureCurve = new QPushButton(this);
    m_measureGrid = new QPushButton(this);
    m_asTable = look::linkButton(this);
    m_export = look::linkButton(this);
    line->addWidget(m_progress, 1);
    for (auto *button : {m_fit, m_measure, m_measureCurve, m_measureGrid, m_asTable, m_export})
        line->addWidget(button);
    box->addLayout(line);
    connect(m_fit, &QPushButton::clicked, this, [this] { m_sweep.askFit(); });
    connect(m_measure, &QPushButton::clicked, this, [this] { m_measuring.isBusy() ? m_measuring.stop() : measure(Span::Point); });
    connect(m_measureCurve, &QPushButton::clicked, this, [this] { measure(Span::Curve); });
    connect(m_measureGrid, &QPushButton::clicked, this, [this] { measure(Span::Grid); });
    connect(m_export, &QPushButton::clicked, this, &SweepPanel::exportAsked);
    connect(m_asTable, &QPushButton::clicked, this, [this] {
        m_pictures->showTable(!m_pictures->isTable());
        retranslate();
    });
}

void SweepPanel::createWords(QVBoxLayout *box)
{
    m_legend = look::label("muted", this, true);
    box->addWidget(m_legend);
    const auto line = [&](QLabel *&words, QPushButton *&use) {
        auto *row = new QHBoxLayout;
        words = look::label("", this, true);
        use = new QPushButton(this);
        row->addWidget(words, 1);
        row->addWidget(use, 0, Qt::AlignTop);
        box->addLayout(row);
    };
    line(m_chosenWords, m_use);
    line(m_fitWords, m_useFit);
    m_bestWords = look::label("muted", this, true);
    box->addWidget(m_bestWords);
    connect(m_use, &QPushButton::clicked, this, [this] {
        if (m_sweep.isCell(m_chosen))
            apply(m_sweep.valuesAt(m_chosen));
    });
    connect(m_useFit, &QPushButton::clicked, this, [this] {
        if (m_sweep.fit() == session::PlanSweep::Fit::Found)
            apply(m_sweep.fitted().values);
    });
}

void SweepPanel::retranslate()
{
    m_fit->setText(tr("Find the largest that fits"));
    m_fit->setToolTip(tr("The fastest values of these settings with which every bucket fits the device"));
    m_asTable->setText(m_pictures->isTable() ? tr("As plot") : tr("As table"));
    m_export->setText(tr("Export…"));
    m_use->setText(tr("Use these values"));
    m_useFit->setText(tr("Use what fits"));
    m_measureCurve->setText(tr("Measure the curve"));
    m_measureGrid->setText(tr("Measure the grid"));
    refreshWords();
}

void SweepPanel::setStage(session::StagePtr stage)
{
    std::string text = stage ? config::toYaml(stage->values()) : std::string();
    if (text == m_stageText)
        return;
    m_stageText = std::move(text);
    m_stage = std::move(stage);
    setEnabled(bool(m_stage));
    if (m_stage)
        m_choices->setStage(*m_stage);
    restart();
}

void SweepPanel::setDevice(const QString &device, bool isHere, std::int64_t capacityBytes)
{
    const bool isSame = device == m_device && isHere == m_isHere;
    m_device = device;
    m_isHere = isHere;
    m_pictures->setCapacity(capacityBytes);
    if (!isSame)
        restart();
}

void SweepPanel::setBuckets(const events::Plan &plan) { m_choices->setBuckets(plan); }

void SweepPanel::restart()
{
    m_chosen = -1;
    m_measuring.stop();
    m_measured.clear();
    const bool canAsk = m_stage && m_choices->hasBuckets();
    m_sweep.ask({canAsk ? m_stage : nullptr, m_choices->x(), m_choices->y(), m_choices->bucket(), look::s(m_device)});
    const auto &y = m_choices->y();
    m_pictures->setChosen(-1);
    m_pictures->setRow(y ? std::max(0, y->current) : 0);
}

void SweepPanel::sweepChanged()
{
    m_pictures->refresh();
    refreshWords();
}

void SweepPanel::fitChanged()
{
    if (m_sweep.fit() == session::PlanSweep::Fit::Found)
        choose(m_sweep.cellOf(m_sweep.fitted().values));
    refreshWords();
}

void SweepPanel::choose(int cell)
{
    if (!m_sweep.isCell(cell))
        return;
    m_chosen = cell;
    m_pictures->setChosen(cell);
    m_sweep.lookAt(m_pictures->row());
    refreshWords();
}

// By value: the change of the stage asks everything anew, and drops what the values came from.
void SweepPanel::apply(std::vector<events::PlanValue> values)
{
    const auto changed = session::stageWith(*m_stage, values);
    const auto done = changed ? m_stageSession->take(config::diff(*m_stage, *changed), tr("Use planned values")) : Status(changed.error());
    Q_EMIT said(done ? tr("%1: set; undo takes it back").arg(valuesWords(values)) : q(done.error().message()));
}

void SweepPanel::measure(Span span)
{
    if (m_sweep.cells() == 0)
        return;
    const int own = m_chosen >= 0 ? m_chosen : std::max(0, m_sweep.ownCell()), row = m_pictures->row() * m_sweep.columns();
    const int from = span == Span::Grid ? 0 : span == Span::Curve ? row : own;
    const int to = span == Span::Grid ? m_sweep.cells() : span == Span::Curve ? row + m_sweep.columns() : own + 1;
    for (int cell = from; cell < to; ++cell)
        measureCell(cell);
    refreshWords();
}

void SweepPanel::measureCell(int cell)
{
    const auto changed = m_sweep.stageAt(cell);
    if (changed)
        m_measuring.add(cell, std::make_shared<const config::Stage>(config::withOnlyBucket(*changed, m_choices->bucket())));
    else
        takeMeasured(cell, {{}, q(changed.error().message())});
}

void SweepPanel::takeMeasured(int cell, const session::MeasuredPoint &point)
{
    m_measured[cell] = point;
    sweepChanged();
    if (!point.sentence.isEmpty())
        Q_EMIT said(point.sentence);
}

QString SweepPanel::progress() const
{
    if (m_sweep.refusedPoints() > 0)
        return tr("%1 points are more than anybody can look at: give fewer values").arg(look::count(m_sweep.refusedPoints()));
    if (m_sweep.problem())
        return look::problemSentence(*m_sweep.problem());
    if (m_measuring.isBusy())
        return tr("Measuring; %n more point(s) wait", nullptr, m_measuring.waiting());
    if (m_sweep.isComplete())
        return tr("%1 settings planned in %2").arg(look::count(m_sweep.known()), look::duration(m_sweep.seconds()));
    return m_sweep.cells() > 0 ? tr("%1 of %2 settings planned…").arg(m_sweep.known()).arg(m_sweep.cells()) : tr("Waiting for the plan of the stage…");
}

void SweepPanel::refreshWords()
{
    static_cast<look::ElidedLabel *>(m_progress)->setFullText(progress());
    look::setRole(m_progress, m_sweep.refusedPoints() > 0 || m_sweep.problem() ? "error" : "muted");
    m_legend->setText(m_sweep.question().y ? tr("Cells: the peak in %1. Hatched: does not fit. Framed, and the line of step times: the fastest at its memory. Dot: the stage as it is. Click a cell to choose it.").arg(m_pictures->heatMap()->unit())
                                           : tr("Line: predicted. Circles: measured. Choose a point in the table to use it."));
    const int own = m_sweep.ownCell();
    m_chosenWords->setText(m_chosen >= 0 ? pointWords(m_sweep, m_measured, m_chosen) : own >= 0 ? tr("As it is: %1").arg(pointWords(m_sweep, m_measured, own)) : QString());
    m_use->setVisible(m_chosen != own && m_sweep.isPredicted(m_chosen));
    const bool isFound = m_sweep.fit() == session::PlanSweep::Fit::Found;
    m_fitWords->setText(fitWords(m_sweep));
    m_fitWords->setVisible(m_sweep.fit() != session::PlanSweep::Fit::NotAsked);
    m_useFit->setVisible(isFound);
    const QString best = bestMeasuredWords(m_sweep, m_measured, isFound ? m_sweep.cellOf(m_sweep.fitted().values) : m_chosen);
    m_bestWords->setText(best);
    m_bestWords->setVisible(!best.isEmpty());
    m_fit->setEnabled(m_sweep.fit() != session::PlanSweep::Fit::Looking && m_sweep.cells() > 0);
    refreshMeasuring();
}

void SweepPanel::refreshMeasuring()
{
    const bool canMeasure = m_isHere && m_sweep.cells() > 0;
    m_measure->setText(m_measuring.isBusy() ? tr("Stop measuring") : tr("Measure this point"));
    m_measure->setEnabled(m_measuring.isBusy() || canMeasure);
    m_measureCurve->setVisible(!m_measuring.isBusy());
    m_measureCurve->setEnabled(canMeasure);
    m_measureGrid->setVisible(!m_measuring.isBusy() && m_sweep.question().y.has_value());
    m_measureGrid->setEnabled(canMeasure && m_sweep.cells() <= kMostMeasured);
    const QString why = m_isHere ? tr("Trains a few updates in a worker that is thrown away") : tr("Only this machine can be measured: choose the device here");
    m_measure->setToolTip(why);
    m_measureCurve->setToolTip(why);
    m_measureGrid->setToolTip(canMeasure && m_sweep.cells() > kMostMeasured ? tr("More than %1 points would be as many short runs: give fewer values").arg(kMostMeasured) : why);
}

QString SweepPanel::exportTo(const QString &file) { return m_pictures->exportTo(file); }

} // namespace stagewright::pages
