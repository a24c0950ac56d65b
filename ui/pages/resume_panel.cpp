#include "ui/pages/resume_panel.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <filesystem>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/toned_delegate.h"
#include "ui/look/words.h"
#include "ui/models/checkpoint_rows.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

ResumePanel::ResumePanel(session::StageSession *stage, QWidget *parent) : QWidget(parent), m_stage(stage), m_table(new QTableView(this))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(8);
    auto *line = new QHBoxLayout;
    line->setSpacing(10);
    auto *title = new look::ElidedLabel(this);
    look::setRole(title, "title");
    m_title = title;
    m_ignorePosition = new QCheckBox(this);
    m_weights = new QPushButton(this);
    m_resume = new QPushButton(this);
    look::setRole(m_resume, "primary");
    line->addWidget(m_title, 1);
    line->addWidget(m_ignorePosition);
    line->addWidget(m_weights);
    line->addWidget(m_resume);
    box->addLayout(line);
    m_table->setModel(&m_model);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setMinimumSectionSize(29);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);     // words wrap: nothing is cut off
    m_table->setItemDelegate(new look::TonedDelegate(m_table));
    m_table->setShowGrid(false);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setTabKeyNavigation(false);
    box->addWidget(m_table, 1);
    m_words = look::label("muted", this, true);
    box->addWidget(m_words);
    connect(m_resume, &QPushButton::clicked, this,
            [this] { Q_EMIT resumeAsked(m_checkpoint, m_ignorePosition->isChecked() ? ResumeKind::WithoutDataPosition : ResumeKind::Whole); });
    connect(m_weights, &QPushButton::clicked, this, [this] { Q_EMIT resumeAsked(m_checkpoint, ResumeKind::WeightsOnly); });
    connect(m_ignorePosition, &QCheckBox::toggled, this, &ResumePanel::plan);
    connect(m_stage, &session::StageSession::snapshotChanged, this, [this] { if (isVisible()) plan(); });
    look::bindText(this, [this] {
        m_model.setHeaders(models::planHeaders());
        m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
        m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
        m_table->setAccessibleName(tr("What a resume would do"));
        m_resume->setText(tr("Resume"));
        m_weights->setText(tr("Weights only"));
        m_weights->setToolTip(tr("A new training that begins with these weights: optimizer, EMA, schedule and data position start afresh"));
        m_ignorePosition->setText(tr("Without the data position"));
        m_ignorePosition->setToolTip(tr("The data order starts again at its beginning; everything else continues"));
        show(m_checkpoint);
    });
}

void ResumePanel::show(const QString &checkpoint)
{
    m_checkpoint = checkpoint;
    const bool any = !checkpoint.isEmpty();
    const QString name = q(std::filesystem::path(checkpoint.toStdString()).filename());
    static_cast<look::ElidedLabel *>(m_title)->setFullText(any ? tr("Resume from %1").arg(name) : QString());
    for (QWidget *widget : std::initializer_list<QWidget *>{m_ignorePosition, m_weights, m_resume, m_table, m_words})
        widget->setVisible(any);
    plan();
}

void ResumePanel::plan()
{
    m_resume->setEnabled(false);
    m_weights->setEnabled(false);
    if (m_checkpoint.isEmpty()) {
        m_model.setRows({});
        return;
    }
    const auto snapshot = m_stage->snapshot();
    ckptfile::ResumeSurroundings surroundings;
    surroundings.ignoreDataPosition = m_ignorePosition->isChecked();
    m_job.start(this,
        [checkpoint = look::s(m_checkpoint), stage = snapshot ? snapshot->stage : nullptr, surroundings] { return ckptfile::resumePlan(checkpoint, stage.get(), surroundings); },
        [this](Result<ckptfile::ResumePlan> plan) {
            m_model.setRows(plan ? models::planRows(*plan) : QList<models::Row>());
            m_resume->setEnabled(plan && plan->possible);
            m_weights->setEnabled(plan.ok());
            look::setRole(m_words, plan && plan->possible ? "muted" : "error");
            if (!plan) {
                m_words->setText(q(plan.error().message()));
            } else if (plan->possible) {
                m_words->setText(tr("Compared with the stage that is open. Nothing is changed until all of it loads."));
            } else {
                QStringList why;
                for (const auto &problem : plan->problems)
                    if (problem.severity == Severity::Error)
                        why << q(problem.message);
                m_words->setText(why.isEmpty() ? tr("A resume with the stage that is open is not possible; the lines in red say why.") : why.join(u'\n'));
            }
        });
}

} // namespace stagewright::pages
