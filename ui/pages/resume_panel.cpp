#include "ui/pages/resume_panel.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <filesystem>
#include <mutex>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/relayout.h"
#include "core/table/buckets.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/models/checkpoint_rows.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

static constexpr int kPlanRowHeight = 29;

// What the plan's thread found out.
struct ResumePanel::Planned {
    Result<ckptfile::ResumePlan> plan;
    std::string dataRemark;                            // why the data of the stage cannot be compared; empty where they can
    bool saysRope = false;                             // the checkpoint's own config says its rotary order
};

// The fingerprint of the stage's data, read once for as long as neither the stage nor the table's file changes. Any thread.
class ResumePanel::DataReader
{
public:
    Result<std::string> fingerprint(const std::shared_ptr<const config::Stage> &stage)
    {
        const std::lock_guard lock(m_mutex);
        std::error_code ignored;
        const auto changed = std::filesystem::last_write_time(expandUser(stage->string("dataset.data_path")), ignored);
        if (!m_known || stage != m_stage || changed != m_changed) {
            m_known = table::fingerprint(*stage);
            m_stage = stage;
            m_changed = changed;
        }
        return *m_known;
    }

private:
    std::mutex m_mutex;
    std::shared_ptr<const config::Stage> m_stage;
    std::filesystem::file_time_type m_changed{};
    std::optional<Result<std::string>> m_known;
};

ResumePanel::ResumePanel(session::StageSession *stage, QWidget *parent)
    : QWidget(parent), m_stage(stage), m_data(std::make_shared<DataReader>()), m_table(look::quietTable(this, &m_model, kPlanRowHeight))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(8);
    auto *line = new QHBoxLayout;
    line->setSpacing(10);
    auto *title = new look::ElidedLabel(this);
    look::setRole(title, "title");
    m_title = title;
    m_showPlan = look::linkButton(this);
    m_ignorePosition = new QCheckBox(this);
    m_rehearse = new QPushButton(this);
    m_weights = new QPushButton(this);
    m_resume = new QPushButton(this);
    look::setRole(m_resume, "primary");
    line->addWidget(m_title, 1);
    line->addWidget(m_showPlan);
    line->addWidget(m_rehearse);
    line->addWidget(m_weights);
    line->addWidget(m_resume);
    box->addLayout(line);
    m_table->verticalHeader()->setMinimumSectionSize(kPlanRowHeight);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);     // words wrap: nothing is cut off
    m_table->setWordWrap(true);
    box->addWidget(m_table, 1);
    auto *below = new QHBoxLayout;
    m_words = look::label("muted", this, true);
    below->addWidget(m_words, 1);
    below->addWidget(m_ignorePosition, 0, Qt::AlignTop);
    box->addLayout(below);
    connect(m_resume, &QPushButton::clicked, this,
            [this] { Q_EMIT resumeAsked(m_checkpoint, m_ignorePosition->isChecked() ? ResumeKind::WithoutDataPosition : ResumeKind::Whole, {}); });
    connect(m_weights, &QPushButton::clicked, this, &ResumePanel::askForWeights);
    connect(m_rehearse, &QPushButton::clicked, this, [this] { Q_EMIT rehearseAsked(m_checkpoint); });
    connect(m_showPlan, &QPushButton::clicked, this, &ResumePanel::plan);
    connect(m_ignorePosition, &QCheckBox::toggled, this, &ResumePanel::plan);
    connect(m_stage, &session::StageSession::snapshotChanged, this, [this] { if (isVisible()) plan(); });
    look::bindText(this, [this] {
        m_table->setAccessibleName(tr("What a resume would do"));
        m_resume->setText(tr("Resume"));
        m_rehearse->setText(tr("Rehearse"));
        m_rehearse->setToolTip(tr("Trains a few steps in a throw-away folder, once at a stretch and once with two stops, and says whether both end alike"));
        m_showPlan->setText(tr("Back to the plan"));
        m_weights->setText(tr("Weights only"));
        m_weights->setToolTip(tr("A new training that begins with these weights: optimizer, EMA, schedule and data position start afresh"));
        m_ignorePosition->setText(tr("Without the data position"));
        m_ignorePosition->setToolTip(tr("The data order starts again at its beginning; everything else continues"));
        show(m_checkpoint);
    });
}

QString ResumePanel::words() const { return m_words->text(); }

void ResumePanel::show(const QString &checkpoint)
{
    m_checkpoint = checkpoint;
    const bool any = !checkpoint.isEmpty();
    const QString name = q(std::filesystem::path(checkpoint.toStdString()).filename());
    static_cast<look::ElidedLabel *>(m_title)->setFullText(any ? tr("Resume from %1").arg(name) : QString());
    for (QWidget *widget : std::initializer_list<QWidget *>{m_ignorePosition, m_rehearse, m_weights, m_resume, m_table, m_words})
        widget->setVisible(any);
    plan();
}

void ResumePanel::enable()
{
    m_resume->setEnabled(m_possible);
    m_weights->setEnabled(m_readable);
    m_rehearse->setEnabled(m_possible && !m_busy);
}

void ResumePanel::plan()
{
    m_possible = m_readable = false;
    enable();
    m_showPlan->hide();
    m_model.setHeaders(models::planHeaders());
    auto *header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Stretch);
    header->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    if (m_checkpoint.isEmpty()) {
        m_job.cancel();
        m_model.setRows({});
        return;
    }
    const auto snapshot = m_stage->snapshot();
    const auto work = [checkpoint = look::s(m_checkpoint), stage = snapshot ? snapshot->stage : nullptr, data = m_data, ignoresPosition = m_ignorePosition->isChecked()] {
        std::string dataRemark;
        ckptfile::ResumeSurroundings surroundings;
        surroundings.ignoreDataPosition = ignoresPosition;
        if (stage && stage->isSet("dataset.data_path")) {
            const auto fingerprint = data->fingerprint(stage);
            if (fingerprint)
                surroundings.datasetFingerprint = *fingerprint;
            else
                dataRemark = fingerprint.error().message();
        }
        const auto config = readFile(std::filesystem::path(checkpoint) / ckptfile::kConfigFile);
        return Planned{ckptfile::resumePlan(checkpoint, stage.get(), surroundings), dataRemark, config && ckptfile::ropeOrderOf(*config)};
    };
    m_job.start(this, work, [this](const Planned &planned) { showPlan(planned); });
}

void ResumePanel::showPlan(const Planned &planned)
{
    const auto &plan = planned.plan;
    m_possible = plan && plan->possible;
    m_readable = plan.ok();
    m_saysRope = planned.saysRope;
    enable();
    m_model.setRows(plan ? models::itemRows(plan->items) : QList<models::Row>());
    look::setRole(m_words, m_possible && planned.dataRemark.empty() ? "muted" : m_possible ? "warning" : "error");
    QStringList words;
    if (!plan) {
        words << q(plan.error().message());
    } else if (plan->possible) {
        words << (planned.dataRemark.empty() ? tr("Compared with the stage that is open. Nothing is changed until all of it loads.")
                                             : tr("The data of the stage that is open cannot be read, so they are compared by their path only: %1").arg(q(planned.dataRemark)));
    } else {
        for (const auto &problem : plan->problems)
            if (problem.severity == Severity::Error)
                words << q(problem.message);
        if (words.isEmpty())
            words << tr("A resume with the stage that is open is not possible; the lines in red say why.");
    }
    m_words->setText(words.join(u'\n'));
}

void ResumePanel::showRehearsal(const rehearsal::Rehearsal &rehearsal)
{
    m_job.cancel();
    m_model.setHeaders(models::rehearsalHeaders());
    m_model.setRows(models::itemRows(rehearsal.items));
    look::setRole(m_words, rehearsal.equal ? "muted" : rehearsal.possible ? "warning" : "error");
    m_words->setText(tr("A rehearsal in a throw-away folder, which is gone again. The checkpoint and its run were only read."));
    m_showPlan->show();
}

void ResumePanel::askForWeights()
{
    const auto snapshot = m_stage->snapshot();
    const bool isSaid = m_saysRope || (snapshot && snapshot->stage && snapshot->stage->isSet("pretrained_rope"));
    if (isSaid)
        Q_EMIT resumeAsked(m_checkpoint, ResumeKind::WeightsOnly, {});
    else
        askForRope();
}

// No file of another program says it, and a wrong order trains on with scrambled attention.
void ResumePanel::askForRope()
{
    auto *box = new QMessageBox(QMessageBox::Question, tr("Weights only"), tr("In which rotary order are these weights?"), QMessageBox::NoButton, window());
    box->setObjectName(u"ropeQuestion"_s);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("No file says it. Flux and what was trained from it: neighbours rotate. Open-Sora 2.0 as shipped: halves rotate. Where the model of this stage has the other one, the weights are converted."));
    const auto add = [&](const QString &text, const QString &rope) {
        QPushButton *button = box->addButton(text, QMessageBox::AcceptRole);
        connect(button, &QPushButton::clicked, this, [this, rope, checkpoint = m_checkpoint] { Q_EMIT resumeAsked(checkpoint, ResumeKind::WeightsOnly, rope); });
    };
    add(tr("Flux"), q(ckptfile::ropeOrderName(ckptfile::RopeOrder::Neighbours)));
    add(tr("Open-Sora"), q(ckptfile::ropeOrderName(ckptfile::RopeOrder::Halves)));
    box->addButton(QMessageBox::Cancel);
    box->open();
}

} // namespace stagewright::pages
