#include "ui/shell/main_window.h"

#include <QCloseEvent>
#include <QFileDialog>
#include <QGridLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QToolButton>

#include "core/config/option.h"
#include "core/config/overrides.h"
#include "core/runlog/run_directory.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/checkpoints_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/configure_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/memory_page.h"
#include "ui/pages/run_page.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/status_bar.h"
#include "ui/shell/top_bar.h"
#include "ui/shell/undo_keys.h"

namespace stagewright::shell {

using look::q;
using look::s;

MainWindow::MainWindow(QWidget *parent) : QWidget(parent)
{
    look::setRole(this, "ground");
    setAttribute(Qt::WA_StyledBackground);
    setMinimumSize(1024, 700);
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_top = new TopBar(&m_stage, &m_run, &m_device, this);
    m_rail = new Rail(this);
    m_pages = new QStackedWidget(this);
    m_status = new StatusBar(&m_stage, &m_preferences, this);
    layout->addWidget(m_top, 0, 0, 1, 2);
    layout->addWidget(m_rail, 1, 0);
    layout->addWidget(m_pages, 1, 1);
    layout->addWidget(m_status, 2, 0, 1, 2);
    layout->setRowStretch(1, 1);
    layout->setColumnStretch(1, 1);
    createPages();
    createShortcuts();
    connectStage();
    connectRun();
    const QByteArray geometry = m_preferences.value(QStringLiteral("geometry")).toByteArray();
    if (geometry.isEmpty() || !restoreGeometry(geometry))
        resize(1440, 900);
    showPage(PageId::Configure);
    setFocus();                                        // no control looks chosen before a person chose one; Tab begins at the first
    m_device.probe();
    look::bindText(this, [this] { setWindowTitle(m_stage.isOpen() ? q(m_stage.file().filename()) + QStringLiteral(" — Stagewright") : QStringLiteral("Stagewright")); });
}

MainWindow::~MainWindow() = default;

void MainWindow::createPages()
{
    m_configure = new pages::ConfigurePage(&m_stage, m_pages);
    m_data = new pages::DataPage(&m_stage, m_pages);
    m_memory = new pages::MemoryPage(&m_stage, &m_device, m_pages);
    m_runPage = new pages::RunPage(&m_run, &m_preferences, m_pages);
    m_checkpoints = new pages::CheckpointsPage(&m_stage, &m_run, &m_preferences, m_pages);
    m_compare = new pages::ComparePage(&m_stage, &m_preferences, m_memory->planner(), m_pages);
    for (QWidget *page : std::initializer_list<QWidget *>{m_configure, m_data, m_memory, m_runPage, m_checkpoints, m_compare})
        m_pages->addWidget(page);
    connect(m_rail, &Rail::chosen, this, &MainWindow::showPage);
    connect(m_data, &pages::DataPage::said, this, &MainWindow::say);
    connect(m_memory, &pages::MemoryPage::said, this, &MainWindow::say);
    connect(m_compare, &pages::ComparePage::said, this, &MainWindow::say);
    connect(m_runPage, &pages::RunPage::launchAsked, this, [this] { launch(); });
    connect(m_runPage, &pages::RunPage::fixAsked, this, &MainWindow::fixStageOfRun);
    connect(m_runPage, &pages::RunPage::resumeAsked, this, [this](const QString &checkpoint) { launch(checkpoint); });
    connect(m_runPage, &pages::RunPage::checkpointsAsked, this, [this] {
        if (!m_run.folder().isEmpty())
            m_checkpoints->showFolder(m_run.folder());
        showPage(PageId::Checkpoints);
    });
    connect(m_checkpoints, &pages::CheckpointsPage::resumeAsked, this, &MainWindow::launch);
    connect(m_checkpoints, &pages::CheckpointsPage::runAsked, this, [this](const QString &folder) {
        attachRun(folder);
        showPage(PageId::Run);
    });
}

void MainWindow::createShortcuts()
{
    const auto add = [this](const QKeySequence &keys, auto act) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, act);
    };
    add(QKeySequence(Qt::CTRL | Qt::Key_K), [this] { showPalette(); });
    new UndoKeys(this, m_stage.undoStack());
    add(QKeySequence::Open, [this] { askForStage(); });
    add(QKeySequence::Save, [this] { m_stage.save(); });
    add(QKeySequence::Find, [this] { showPage(PageId::Configure); m_configure->focusSearch(); });
    connect(m_top, &TopBar::launchAsked, this, [this] { launch(); });
    connect(m_top, &TopBar::searchAsked, this, &MainWindow::showPalette);
    connect(m_top, &TopBar::openAsked, this, &MainWindow::askForStage);
    connect(m_status, &StatusBar::problemsAsked, this, [this] { showPage(PageId::Configure); });
}

void MainWindow::connectStage()
{
    connect(&m_stage, &session::StageSession::opened, this, [this] {
        m_preferences.remember(session::Preferences::Recent::Stages, q(m_stage.file()));
        setWindowTitle(q(m_stage.file().filename()) + QStringLiteral(" — Stagewright"));
        m_configure->setNotice(m_stage.restoredNotice());
    });
    connect(&m_stage, &session::StageSession::snapshotChanged, this, [this] {
        int errors = 0;
        for (const Problem &problem : m_stage.snapshot()->problems)
            errors += problem.severity == Severity::Error;
        m_rail->setProblemCount(errors);
    });
    connect(&m_stage, &session::StageSession::saved, this, [this] { say(tr("Saved %1").arg(q(m_stage.file()))); });
    connect(&m_stage, &session::StageSession::saveFailed, this, &MainWindow::say);
    connect(m_configure, &pages::ConfigurePage::openAsked, this, &MainWindow::openStage);
    const auto runs = [this] {
        std::vector<std::string> folders;
        for (const QString &folder : m_preferences.recent(session::Preferences::Recent::Runs))
            folders.push_back(s(folder));
        m_configure->setRecentRuns(folders);
    };
    connect(&m_run, &session::RunSession::launched, this, runs);
    runs();
    connect(&m_opener, &StageOpener::making, this, [this] { say(tr("Making the demo dataset…")); });
    connect(&m_opener, &StageOpener::ready, this, [this](const QString &file) {
        say({});
        openStage(file);
    });
    connect(&m_opener, &StageOpener::failed, this, &MainWindow::say);
}

void MainWindow::connectRun()
{
    connect(&m_run, &session::RunSession::launched, this, [this](const QString &folder) {
        m_preferences.remember(session::Preferences::Recent::Runs, folder);
        showPage(PageId::Run);
    });
    for (auto failure : {&session::RunSession::launchFailed, &session::RunSession::commandFailed, &session::RunSession::noticed})
        connect(&m_run, failure, this, &MainWindow::say);
}

void MainWindow::openStage(const QString &file)
{
    if (auto opened = m_stage.open(std::filesystem::absolute(look::pathOf(file))); !opened)
        say(q(opened.error().message()));
}

// A fix that a run asks for belongs into the run's own stage, which need not be the one that is open.
void MainWindow::fixStageOfRun(const Fix &fix)
{
    m_identityJob.start(this, [folder = look::pathOf(m_run.folder())] { return runlog::readIdentity(folder); },
        [this, fix](Result<runlog::RunIdentity> run) {
            const auto file = run ? std::filesystem::path(run->stageFile) : std::filesystem::path();
            std::error_code ignored;
            if (!file.empty() && file != m_stage.file() && std::filesystem::exists(file, ignored))
                openStage(q(file));
            if (auto applied = m_stage.applyFix(fix); !applied)
                say(q(applied.error().message()));
            else
                say(tr("%1: done; launch again to train with it").arg(q(fix.title)));
            showPage(PageId::Configure);
            if (!fix.edits.empty())
                m_configure->showOption(q(fix.edits.back().path));
        });
}

void MainWindow::openDemo()
{
    m_opener.findDemo();
}

void MainWindow::askForStage()
{
    auto *dialog = new QFileDialog(this, tr("Open a stage"), m_stage.isOpen() ? q(m_stage.file().parent_path()) : QString(),
                                   tr("Stages (*.py *.yaml *.yml);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openStage);
    dialog->open();
}

void MainWindow::attachRun(const QString &folder)
{
    m_preferences.remember(session::Preferences::Recent::Runs, folder);
    m_run.attach(folder);
}

void MainWindow::attachLastRun()
{
    const QStringList runs = m_preferences.recent(session::Preferences::Recent::Runs);
    if (!runs.isEmpty())
        m_run.attach(runs.first());
}

void MainWindow::showPage(PageId page)
{
    m_rail->setCurrent(page);
    m_pages->setCurrentIndex(int(page));
}

// What is trained is what is shown, saved to its file or not: the run keeps its own copy.
void MainWindow::launch(const QString &checkpoint, pages::ResumeKind kind, const QString &rope)
{
    if (m_run.isActive()) {
        say(tr("A run is going on; stop it first"));
        return;
    }
    if (!m_stage.isOpen() || !m_stage.isSettled() || !m_stage.snapshot()->canLaunch()) {
        showPage(PageId::Configure);
        say(m_stage.isOpen() && m_stage.isSettled() ? tr("This stage has problems that must be mended first") : tr("Still reading the stage; try again in a moment"));
        return;
    }
    client::LaunchRequest request;
    request.stage = *m_stage.snapshot()->stage;
    request.stageFile = m_stage.file();
    if (!checkpoint.isEmpty()) {
        std::vector<config::Override> overrides;
        if (kind == pages::ResumeKind::WeightsOnly) {
            overrides.push_back({"model.from_pretrained", s(checkpoint), config::OriginKind::Edit});
            if (!rope.isEmpty())
                overrides.push_back({"pretrained_rope", s(rope), config::OriginKind::Edit});
        } else {
            request.load = s(checkpoint);
            request.parentRun = s(checkpoint.section(QLatin1Char('/'), 0, -2));
        }
        if (kind == pages::ResumeKind::WithoutDataPosition) {
            overrides.push_back({"start_step", "0", config::OriginKind::Edit});
            overrides.push_back({"start_epoch", "0", config::OriginKind::Edit});
        }
        auto changed = config::overridden(std::move(*request.stage), overrides);
        if (!changed) {
            say(q(changed.error().message()));
            return;
        }
        request.stage = std::move(*changed);
    }
    m_run.launch(std::move(request));
}

void MainWindow::showPalette()
{
    QList<PaletteEntry> entries;
    for (const PageId page : {PageId::Configure, PageId::Data, PageId::Memory, PageId::Run, PageId::Checkpoints, PageId::Compare})
        entries.append({wordOf(page), m_rail->button(page)->shortcut().toString(QKeySequence::NativeText), [this, page] { showPage(page); }});
    entries.append({tr("Launch"), QStringLiteral("Ctrl+Return"), [this] { launch(); }});
    entries.append({tr("Open a stage…"), QStringLiteral("Ctrl+O"), [this] { askForStage(); }});
    entries.append({tr("Open the demo stage"), {}, [this] { openDemo(); }});
    entries.append({tr("Save the stage"), QStringLiteral("Ctrl+S"), [this] { m_stage.save(); }});
    entries.append({tr("Mend every problem that has one answer"), {}, [this] { m_stage.applyAllFixes(); }});
    if (m_run.isActive()) {
        entries.append({tr("Save a checkpoint now"), {}, [this] { m_run.saveNow(); }});
        entries.append({tr("Stop after this step, with a save"), {}, [this] { m_run.stop(session::StopKind::AfterStepWithSave); }});
    }
    for (const QString &folder : m_preferences.recent(session::Preferences::Recent::Runs))
        entries.append({tr("Run %1").arg(folder.section(QLatin1Char('/'), -1)), folder, [this, folder] { attachRun(folder); showPage(PageId::Run); }});
    for (const config::Option &option : config::allOptions()) {
        if (option.keyClass == config::KeyClass::Read && option.type != config::OptionType::Dict)
            entries.append({look::textOf(option.label), q(option.path), [this, path = q(option.path)] { showPage(PageId::Configure); m_configure->showOption(path); }});
    }
    (new CommandPalette(std::move(entries), this))->open();
}

void MainWindow::say(const QString &sentence)
{
    m_status->say(sentence);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    m_preferences.set(QStringLiteral("geometry"), saveGeometry());
    if (m_mayClose || !m_run.isActive()) {
        event->accept();
        return;
    }
    event->ignore();
    auto *box = new QMessageBox(QMessageBox::Question, tr("Training goes on"),
                                tr("The run %1 is still training. It goes on without this window, which finds it again at the next start.").arg(m_run.name()),
                                QMessageBox::NoButton, this);
    box->setObjectName(QStringLiteral("closeQuestion"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton *close = box->addButton(tr("Close, keep training"), QMessageBox::AcceptRole);
    QPushButton *stop = box->addButton(tr("Stop after this step, with a save"), QMessageBox::DestructiveRole);
    box->addButton(tr("Stay"), QMessageBox::RejectRole);
    box->setDefaultButton(close);
    connect(box, &QMessageBox::buttonClicked, this, [this, close, stop](QAbstractButton *button) {
        if (button == static_cast<QAbstractButton *>(stop))
            m_run.stop(session::StopKind::AfterStepWithSave);
        if (button == static_cast<QAbstractButton *>(close)) {
            m_mayClose = true;
            this->close();
        }
    });
    box->open();
}

} // namespace stagewright::shell
