// Checkpoints: any folder's checkpoints with their badges, the files of the chosen one, and what a resume from it would do.
#pragma once

#include <QWidget>

#include "core/ckptfile/inspect.h"
#include "core/ckptfile/listing.h"
#include "ui/models/keyed_table_model.h"
#include "ui/pages/checkpoint_actions.h"
#include "ui/pages/resume_panel.h"
#include "ui/session/job.h"
#include "ui/session/preferences.h"
#include "ui/session/run_session.h"

class QAction;
class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::pages {

class PlacesPanel;

// Folders and files are read on other threads only: a disk that does not answer stops nothing but what is asked of it.
class CheckpointsPage : public QWidget
{
    Q_OBJECT
public:
    CheckpointsPage(session::StageSession *stage, session::RunSession *run, session::Preferences *preferences, QWidget *parent = nullptr);
    void showFolder(const QString &folder);
    void showCheckpoint(const QString &checkpoint);    // its folder, with it chosen
    void refresh();
    models::KeyedTableModel *model() { return &m_list; }
    QTableView *table() { return m_table; }
    QTableView *files() { return m_files; }
    ResumePanel *resume() { return m_resume; }
    CheckpointActions *actions() { return m_actions; }
    QPushButton *verifyButton() { return m_verify; }
    QPushButton *moreButton() { return m_more; }
    QString chosen() const { return m_chosen; }
    bool isListing() const { return m_listing; }
    PlacesPanel *places() { return m_places; }

Q_SIGNALS:
    void resumeAsked(const QString &checkpoint, stagewright::pages::ResumeKind kind, const QString &rope);
    void runAsked(const QString &folder);              // show this run

protected:
    void showEvent(QShowEvent *event) override;

private:
    QWidget *createMiddle();
    QWidget *createRight();
    void takeOutputs();
    void listFolder(const QString &folder);
    void refreshTitle();
    void fillList();
    void chooseRow(int row);
    void inspectChosen();
    void createMenu();
    void enableActions();
    void takeSave();
    void trashChosen();
    QStringList listedPaths() const;
    void showInspection(const Result<ckptfile::Inspection> &inspection);

    session::StageSession *m_stage;
    session::RunSession *m_run;
    PlacesPanel *m_places;
    QLabel *m_title, *m_empty, *m_filesTitle, *m_summary, *m_summaryTitle, *m_inspectWords;
    QPushButton *m_verify, *m_more, *m_showRun;
    QAction *m_check, *m_verifyAll, *m_export, *m_clean, *m_trash;
    QTableView *m_table, *m_files;
    ResumePanel *m_resume;
    CheckpointActions *m_actions;
    models::KeyedTableModel m_list, m_fileModel;
    std::vector<ckptfile::ListedCheckpoint> m_checkpoints;
    QString m_folder, m_chosen, m_listFailure;
    QString m_wanted;                                  // to be chosen once it is listed
    QString m_shown;                                   // whose files and plan are on the right and below
    bool m_listing = false, m_isRun = false;
    std::tuple<std::size_t, std::string, std::int64_t> m_knownSave;
    session::Job m_listJob{session::Job::kSlowDiskThreads}, m_inspectJob{session::Job::kSlowDiskThreads};
};

} // namespace stagewright::pages
