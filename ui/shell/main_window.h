// The window: pages behind a rail, bars above and below, and the connections between what pages ask and what sessions do.
#pragma once

#include <QWidget>

#include "ui/pages/resume_panel.h"
#include "ui/session/device_info.h"
#include "ui/session/preferences.h"
#include "ui/session/run_session.h"
#include "ui/session/stage_session.h"
#include "ui/shell/rail.h"
#include "ui/shell/stage_opener.h"

class QStackedWidget;

namespace stagewright::pages {
class CheckpointsPage;
class ComparePage;
class ConfigurePage;
class DataPage;
class MemoryPage;
class RunPage;
}

namespace stagewright::shell {

class StatusBar;
class TopBar;

class MainWindow : public QWidget
{
    Q_OBJECT
public:
    explicit MainWindow(QWidget *parent = nullptr);
    ~MainWindow() override;

    void openStage(const QString &file);               // a path that a person named
    void openDemo();                                   // makes it first where it does not exist
    void attachRun(const QString &folder);
    void attachLastRun();                              // the newest remembered one, where there is one
    void showPage(PageId page);
    void launch(const QString &checkpoint = {}, pages::ResumeKind kind = pages::ResumeKind::Whole, const QString &rope = {});
    void showPalette();

    session::StageSession *stage() { return &m_stage; }
    session::RunSession *run() { return &m_run; }
    pages::ConfigurePage *configurePage() { return m_configure; }
    pages::DataPage *dataPage() { return m_data; }
    pages::MemoryPage *memoryPage() { return m_memory; }
    pages::RunPage *runPage() { return m_runPage; }
    pages::CheckpointsPage *checkpointsPage() { return m_checkpoints; }
    pages::ComparePage *comparePage() { return m_compare; }
    TopBar *topBar() { return m_top; }
    StatusBar *statusBar() { return m_status; }
    Rail *rail() { return m_rail; }

protected:
    void closeEvent(QCloseEvent *event) override;

private:
    void createPages();
    void createShortcuts();
    void connectStage();
    void connectRun();
    void askForStage();
    void fixStageOfRun(const Fix &fix);
    void say(const QString &sentence);

    session::Preferences m_preferences;
    session::StageSession m_stage;
    session::RunSession m_run;
    session::DeviceInfo m_device;
    StageOpener m_opener;
    session::Job m_identityJob;
    Rail *m_rail;
    TopBar *m_top;
    StatusBar *m_status;
    QStackedWidget *m_pages;
    pages::ConfigurePage *m_configure;
    pages::DataPage *m_data;
    pages::MemoryPage *m_memory;
    pages::RunPage *m_runPage;
    pages::CheckpointsPage *m_checkpoints;
    pages::ComparePage *m_compare;
    bool m_mayClose = false;
};

} // namespace stagewright::shell
