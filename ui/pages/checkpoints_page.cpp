#include "ui/pages/checkpoints_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/host.h"
#include "core/base/paths.h"
#include "core/ckptfile/layout.h"
#include "core/runlog/run_directory.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/models/checkpoint_rows.h"
#include "ui/pages/places_panel.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

static constexpr int kRowHeight = 29;

CheckpointsPage::CheckpointsPage(session::StageSession *stage, session::RunSession *run, session::Preferences *preferences, QWidget *parent)
    : QWidget(parent), m_stage(stage), m_run(run), m_places(new PlacesPanel(preferences, this))
{
    auto *line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(0);
    m_places->setFixedWidth(212);
    line->addWidget(m_places);
    // The files on the right first: choosing a row, which the list does as it is filled, shows its files.
    QWidget *right = createRight();
    line->addWidget(createMiddle(), 3);
    line->addWidget(right, 1);
    connect(m_places, &PlacesPanel::chosen, this, &CheckpointsPage::listFolder);
    connect(m_resume, &ResumePanel::resumeAsked, this, &CheckpointsPage::resumeAsked);
    connect(m_showRun, &QPushButton::clicked, this, [this] { Q_EMIT runAsked(m_folder); });
    connect(m_verify, &QPushButton::clicked, this, &CheckpointsPage::verifyChosen);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &now) { chooseRow(now.row()); });
    // A save of the run that is shown: its progress in the list, and the folder read again when it is there.
    connect(m_run, &session::RunSession::factsChanged, this, [this, known = std::pair<std::size_t, std::string>()]() mutable {
        const auto &saves = m_run->facts().saves;
        const std::pair<std::size_t, std::string> now{saves.size(), saves.empty() ? std::string() : saves.back().phase};
        if (!isVisible() || saves.empty())
            return;
        if (now != known && (now.second == "verify" || now.second == "done" || now.second == "failed"))
            refresh();
        else
            fillList();
        known = now;
    });
    connect(m_run, &session::RunSession::ended, this, [this] { if (isVisible()) { m_places->refresh(); refresh(); } });
    connect(m_stage, &session::StageSession::snapshotChanged, this, &CheckpointsPage::takeOutputs);
    listFolder({});
}

// As a run of this stage would take it: relative to where this program was started.
void CheckpointsPage::takeOutputs()
{
    const auto snapshot = m_stage->snapshot();
    if (!snapshot || !snapshot->stage)
        return;
    std::error_code ignored;
    m_places->setOutputs(q(std::filesystem::absolute(expandUser(snapshot->stage->string("outputs")), ignored).lexically_normal()));
}

CheckpointsPage::~CheckpointsPage()
{
    if (m_cancelVerify)
        *m_cancelVerify = true;
}

QWidget *CheckpointsPage::createMiddle()
{
    auto *middle = new QWidget(this);
    auto *box = new QVBoxLayout(middle);
    box->setContentsMargins(18, 12, 18, 12);
    box->setSpacing(8);
    auto *head = new QHBoxLayout;
    auto *title = new look::ElidedLabel(middle, Qt::ElideMiddle);
    look::setRole(title, "title");
    m_title = title;
    m_showRun = new QPushButton(middle);
    m_verify = new QPushButton(middle);
    head->addWidget(m_title, 1);
    head->addWidget(m_showRun);
    head->addWidget(m_verify);
    box->addLayout(head);
    m_progress = new QProgressBar(middle);
    m_progress->setTextVisible(false);
    m_progress->hide();
    box->addWidget(m_progress);
    m_empty = look::label("muted", middle, true);
    m_empty->setAlignment(Qt::AlignTop);
    box->addWidget(m_empty);
    m_table = look::quietTable(middle, &m_list, kRowHeight);
    m_table->setMinimumHeight(120);
    box->addWidget(m_table, 3);
    box->addSpacing(8);
    m_resume = new ResumePanel(m_stage, middle);
    box->addWidget(m_resume, 4);
    look::bindText(middle, [this] {
        m_list.setHeaders(models::checkpointHeaders(), {1, 2});
        auto *header = m_table->horizontalHeader();
        header->setSectionResizeMode(QHeaderView::ResizeToContents);
        header->setSectionResizeMode(3, QHeaderView::Stretch);
        m_table->setAccessibleName(tr("Checkpoints"));
        m_verify->setText(tr("Verify"));
        m_verify->setToolTip(tr("Read every byte and compare it with the checkpoint's own list"));
        m_showRun->setText(tr("Show the run"));
        refreshTitle();
        fillList();
    });
    return middle;
}

QWidget *CheckpointsPage::createRight()
{
    auto *right = new QFrame(this);
    look::setRole(right, "rightpanel");
    right->setMinimumWidth(280);
    right->setMaximumWidth(400);
    auto *box = new QVBoxLayout(right);
    box->setContentsMargins(14, 12, 14, 12);
    box->setSpacing(6);
    m_filesTitle = look::sectionLabel(right);
    m_files = look::quietTable(right, &m_fileModel, kRowHeight);
    m_files->horizontalHeader()->hide();
    m_files->setSelectionMode(QAbstractItemView::NoSelection);
    m_files->setTextElideMode(Qt::ElideLeft);
    m_files->verticalHeader()->setDefaultSectionSize(27);
    m_fileModel.setHeaders({QString(), QString(), QString()});
    m_files->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_files->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_files->horizontalHeader()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    m_summaryTitle = look::sectionLabel(right);
    m_summary = look::label("", right, true);
    m_verifyWords = look::label("muted", right, true);
    box->addWidget(m_filesTitle);
    box->addWidget(m_files, 1);
    box->addWidget(m_summaryTitle);
    box->addWidget(m_summary);
    box->addWidget(m_verifyWords);
    look::bindText(right, [this] {
        m_files->setAccessibleName(tr("Files of the checkpoint"));
        m_summaryTitle->setText(tr("WRITTEN"));
    });
    return right;
}

void CheckpointsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    // The run that is shown is the first place to look at.
    if (m_folder.isEmpty() && !m_run->folder().isEmpty())
        m_places->choose(m_run->folder());
    else
        m_places->refresh();
    refresh();
}

void CheckpointsPage::showFolder(const QString &folder) { m_places->choose(folder); }

void CheckpointsPage::showCheckpoint(const QString &checkpoint)
{
    m_chosen = checkpoint;
    showFolder(q(std::filesystem::path(look::s(checkpoint)).parent_path()));
    if (q(std::filesystem::path(look::s(checkpoint)).parent_path()) == m_folder)
        fillList();
}

void CheckpointsPage::refresh()
{
    if (!m_folder.isEmpty())
        listFolder(m_folder);
}

void CheckpointsPage::listFolder(const QString &folder)
{
    if (folder != m_folder)
        m_checkpoints.clear();
    m_folder = folder;
    refreshTitle();
    fillList();
    if (folder.isEmpty())
        return;
    m_listJob.start(this, [path = look::s(folder)] { return ckptfile::listCheckpoints(path); },
        [this](Result<std::vector<ckptfile::ListedCheckpoint>> found) {
            m_checkpoints = found ? *found : std::vector<ckptfile::ListedCheckpoint>();
            fillList();
            if (!found)
                m_empty->setText(q(found.error().message()));
        });
}

void CheckpointsPage::refreshTitle()
{
    static_cast<look::ElidedLabel *>(m_title)->setFullText(m_folder.isEmpty() ? tr("Checkpoints") : q(std::filesystem::path(look::s(m_folder)).filename()));
    m_title->setToolTip(m_folder);
}

void CheckpointsPage::fillList()
{
    const bool ownRun = m_folder == m_run->folder() && !m_folder.isEmpty();
    m_list.setRows(models::checkpointRows(m_checkpoints, ownRun ? m_run->facts().saves : std::vector<session::SaveFacts>(), wallSeconds()));
    const bool any = m_list.rowCount() > 0;
    m_empty->setVisible(!any);
    m_table->setVisible(any);
    m_empty->setText(m_folder.isEmpty() ? tr("Choose a run or a folder on the left. Every checkpoint in it is listed with its state, and a resume can be planned before anything is loaded.")
                                        : tr("No checkpoint here yet. A run saves one every ckpt_every steps, at its end, and when “Save now” is pressed."));
    m_showRun->setVisible(!m_folder.isEmpty() && runlog::isRunFolder(look::s(m_folder)));
    int at = m_list.indexOfKey(m_chosen);
    if (at < 0 && any)
        at = 0;
    if (at >= 0 && m_table->currentIndex().row() != at)
        m_table->setCurrentIndex(m_list.index(at, 0));
    else if (at >= 0)
        chooseRow(at);
    if (!any)
        chooseRow(-1);
}

void CheckpointsPage::chooseRow(int row)
{
    const QString chosen = row >= 0 && row < m_list.rowCount() ? m_list.row(row).data.toString() : QString();
    m_verify->setVisible(!chosen.isEmpty());
    if (chosen == m_chosen && !chosen.isEmpty() && m_fileModel.rowCount() > 0)
        return;
    m_chosen = chosen;
    m_verifyWords->clear();
    inspectChosen();
    m_resume->show(chosen);
}

void CheckpointsPage::inspectChosen()
{
    if (m_chosen.isEmpty()) {
        m_fileModel.setRows({});
        m_filesTitle->setText(tr("FILES"));
        m_summary->clear();
        m_summaryTitle->hide();
        return;
    }
    m_inspectJob.start(this, [path = look::s(m_chosen)] { return ckptfile::inspect(path); },
                       [this](Result<ckptfile::Inspection> inspection) { showInspection(inspection); });
}

void CheckpointsPage::showInspection(const Result<ckptfile::Inspection> &inspection)
{
    if (!inspection) {
        m_fileModel.setRows({});
        m_verifyWords->setText(q(inspection.error().message()));
        return;
    }
    m_filesTitle->setText(tr("FILES · %1").arg(look::bytes(double(inspection->bytes))));
    m_fileModel.setRows(models::fileRows(*inspection));
    QStringList words;
    if (inspection->tensors > 0)
        words << tr("%1 tensors").arg(look::count(inspection->tensors));
    for (const auto &save : m_run->facts().saves)
        if (q(save.path) == m_chosen && save.seconds > 0) {
            words << tr("in %1 at %2/s").arg(look::duration(save.seconds), look::bytes(double(save.totalBytes) / save.seconds));
            words << tr("a step waited %1").arg(look::duration(save.blockedSeconds));
        }
    for (const auto &problem : inspection->problems)
        words << q(problem.message);
    m_summary->setText(words.join(u'\n'));
    m_summaryTitle->setVisible(!words.isEmpty());
}

void CheckpointsPage::verifyChosen()
{
    if (m_chosen.isEmpty())
        return;
    if (m_cancelVerify)
        *m_cancelVerify = true;
    m_cancelVerify = std::make_shared<std::atomic<bool>>(false);
    m_progress->setRange(0, 1000);
    m_progress->setValue(0);
    m_progress->show();
    m_verify->setEnabled(false);
    ckptfile::InspectOptions options;
    options.readEverything = true;
    options.progress = [cancel = m_cancelVerify, bar = QPointer<QProgressBar>(m_progress), last = std::make_shared<int>(-1)](std::int64_t done, std::int64_t total, const std::string &) {
        const int part = total > 0 ? int(done * 1000 / total) : 0;
        if (part != *last) {
            *last = part;
            QMetaObject::invokeMethod(QCoreApplication::instance(), [bar, part] { if (bar) bar->setValue(part); }, Qt::QueuedConnection);
        }
        return !*cancel;
    };
    m_verifyJob.start(this, [path = look::s(m_chosen), options] { return ckptfile::inspect(path, options); },
        [this, path = m_chosen](Result<ckptfile::Inspection> inspection) {
            m_progress->hide();
            m_verify->setEnabled(true);
            if (path == m_chosen) {
                showInspection(inspection);
                m_verifyWords->setText(!inspection ? q(inspection.error().message())
                                       : inspection->verified ? tr("Every byte was read and agrees.") : tr("Not everything agrees: see the files."));
            }
            refresh();
        });
}

} // namespace stagewright::pages
