#include "ui/pages/checkpoints_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/host.h"
#include "core/base/paths.h"
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
    connect(m_verify, &QPushButton::clicked, this, [this] { m_actions->verify(m_chosen, true); });
    connect(m_resume, &ResumePanel::rehearseAsked, this, [this](const QString &checkpoint) { m_actions->rehearse(checkpoint, m_stage->snapshot()); });
    connect(m_actions, &CheckpointActions::busyChanged, this, &CheckpointsPage::enableActions);
    connect(m_actions, &CheckpointActions::folderChanged, this, &CheckpointsPage::refresh);
    connect(m_actions, &CheckpointActions::inspected, this, [this](const QString &checkpoint, const Result<ckptfile::Inspection> &inspection) {
        if (checkpoint == m_chosen)
            showInspection(inspection);
    });
    connect(m_actions, &CheckpointActions::rehearsed, this, [this](const QString &checkpoint, const rehearsal::Rehearsal &rehearsal) {
        if (checkpoint == m_chosen)
            m_resume->showRehearsal(rehearsal);
    });
    connect(new QShortcut(QKeySequence::Delete, m_table, nullptr, nullptr, Qt::WidgetShortcut), &QShortcut::activated, this, &CheckpointsPage::trashChosen);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex &now) { chooseRow(now.row()); });
    connect(m_run, &session::RunSession::factsChanged, this, &CheckpointsPage::takeSave);
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

// A save of the run that is shown: its progress in the list, and the folder read again when it is there.
void CheckpointsPage::takeSave()
{
    const auto &saves = m_run->facts().saves;
    if (!isVisible() || saves.empty() || m_folder != m_run->folder())
        return;
    const std::tuple<std::size_t, std::string, std::int64_t> now{saves.size(), saves.back().phase, saves.back().bytes};
    if (now == m_knownSave)
        return;
    const bool isNews = std::get<0>(now) != std::get<0>(m_knownSave) || std::get<1>(now) != std::get<1>(m_knownSave);
    m_knownSave = now;
    const std::string &phase = saves.back().phase;
    if (isNews && (phase == "verify" || phase == "done" || phase == "failed"))
        refresh();
    else
        fillList();
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
    m_more = new QPushButton(middle);
    createMenu();
    head->addWidget(m_title, 1);
    head->addWidget(m_showRun);
    head->addWidget(m_verify);
    head->addWidget(m_more);
    box->addLayout(head);
    m_actions = new CheckpointActions(middle);
    box->addWidget(m_actions);
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
        m_more->setText(tr("More"));
        m_check->setText(tr("Check names, sizes and headers"));
        m_verifyAll->setText(tr("Verify all in this folder"));
        m_export->setText(tr("Export weights…"));
        m_clean->setText(tr("Clean leftovers of this folder…"));
        m_trash->setText(tr("Move to the trash…"));
        m_showRun->setText(tr("Show the run"));
        refreshTitle();
        m_shown.clear();                               // its words are made anew
        fillList();
    });
    return middle;
}

void CheckpointsPage::createMenu()
{
    auto *menu = new QMenu(m_more);
    const auto add = [&](auto act) {
        QAction *action = menu->addAction(QString());
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    m_check = add([this] { m_actions->verify(m_chosen, false); });
    m_verifyAll = add([this] { m_actions->verifyAll(listedPaths()); });
    menu->addSeparator();
    m_export = add([this] { m_actions->askForExport(m_chosen); });
    m_clean = add([this] { m_actions->askToClean(m_folder); });
    menu->addSeparator();
    m_trash = add([this] { trashChosen(); });
    m_trash->setShortcut(QKeySequence::Delete);
    m_trash->setShortcutContext(Qt::WidgetShortcut);   // shown here; the list's own shortcut acts
    m_more->setMenu(menu);
}

void CheckpointsPage::enableActions()
{
    const bool any = !m_chosen.isEmpty(), free = !m_actions->isBusy();
    m_verify->setVisible(any);
    m_more->setVisible(!m_folder.isEmpty());
    m_verify->setEnabled(free);
    for (QAction *action : {m_check, m_export, m_trash})
        action->setEnabled(any && free);
    m_verifyAll->setEnabled(free && !m_checkpoints.empty());
    m_clean->setEnabled(free && !m_folder.isEmpty());
    m_resume->setRehearsing(!free);
}

QStringList CheckpointsPage::listedPaths() const
{
    QStringList paths;
    for (const auto &known : m_checkpoints)
        paths << q(known.path);
    return paths;
}

void CheckpointsPage::trashChosen()
{
    const bool isListed = std::any_of(m_checkpoints.begin(), m_checkpoints.end(), [&](const auto &known) { return q(known.path) == m_chosen; });
    if (isListed)                                      // what is being written is not
        m_actions->askToTrash(m_chosen, m_run->folder());
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
    m_inspectWords = look::label("muted", right, true);
    box->addWidget(m_filesTitle);
    box->addWidget(m_files, 1);
    box->addWidget(m_summaryTitle);
    box->addWidget(m_summary);
    box->addWidget(m_inspectWords);
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
    m_wanted = checkpoint;
    showFolder(q(std::filesystem::path(look::s(checkpoint)).parent_path()));
    if (q(std::filesystem::path(look::s(checkpoint)).parent_path()) == m_folder)
        fillList();
}

void CheckpointsPage::refresh()
{
    if (!m_folder.isEmpty())
        listFolder(m_folder);
}

namespace {

struct Listed {
    Result<std::vector<ckptfile::ListedCheckpoint>> checkpoints;
    bool isRun = false;
};

} // namespace

void CheckpointsPage::listFolder(const QString &folder)
{
    if (folder != m_folder) {
        m_checkpoints.clear();
        m_isRun = false;
    }
    m_folder = folder;
    m_listFailure.clear();
    m_listing = !folder.isEmpty();
    refreshTitle();
    fillList();
    if (folder.isEmpty())
        return;
    m_listJob.start(this, [path = look::pathOf(folder)] { return Listed{ckptfile::listCheckpoints(path), runlog::isRunFolder(path)}; },
        [this](Listed found) {
            m_listing = false;
            m_isRun = found.isRun;
            m_checkpoints = found.checkpoints ? std::move(*found.checkpoints) : std::vector<ckptfile::ListedCheckpoint>();
            if (!found.checkpoints)
                m_listFailure = q(found.checkpoints.error().message());
            fillList();
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
                     : m_listing ? tr("Reading the folder…")
                     : !m_listFailure.isEmpty() ? m_listFailure
                                 : tr("No checkpoint here yet. A run saves one every ckpt_every steps, at its end, and when “Save now” is pressed."));
    m_showRun->setVisible(m_isRun);
    int at = m_list.indexOfKey(m_wanted.isEmpty() ? m_chosen : m_wanted);
    if (at >= 0 || (any && !m_listing))
        m_wanted.clear();
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
    m_chosen = chosen;
    enableActions();
    if (chosen == m_shown)
        return;
    m_shown = chosen;
    m_inspectWords->clear();
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
        m_inspectWords->setText(q(inspection.error().message()));
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

} // namespace stagewright::pages
