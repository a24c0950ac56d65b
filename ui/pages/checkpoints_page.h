// Checkpoints: any folder's checkpoints with their badges, the files of the chosen one, and what a resume from it would do.
#pragma once

#include <QWidget>

#include "core/ckptfile/inspect.h"
#include "core/ckptfile/listing.h"
#include "ui/models/keyed_table_model.h"
#include "ui/pages/resume_panel.h"
#include "ui/session/job.h"
#include "ui/session/preferences.h"
#include "ui/session/run_session.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QTableView;

namespace stagewright::pages {

class PlacesPanel;

class CheckpointsPage : public QWidget
{
    Q_OBJECT
public:
    CheckpointsPage(session::StageSession *stage, session::RunSession *run, session::Preferences *preferences, QWidget *parent = nullptr);
    ~CheckpointsPage() override;
    void showFolder(const QString &folder);
    void showCheckpoint(const QString &checkpoint);    // its folder, with it chosen
    void refresh();
    models::KeyedTableModel *model() { return &m_list; }
    QTableView *table() { return m_table; }
    ResumePanel *resume() { return m_resume; }
    PlacesPanel *places() { return m_places; }

Q_SIGNALS:
    void resumeAsked(const QString &checkpoint, stagewright::pages::ResumeKind kind);
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
    void verifyChosen();
    void showInspection(const Result<ckptfile::Inspection> &inspection);

    session::StageSession *m_stage;
    session::RunSession *m_run;
    PlacesPanel *m_places;
    QLabel *m_title, *m_empty, *m_filesTitle, *m_summary, *m_summaryTitle, *m_verifyWords;
    QPushButton *m_verify, *m_showRun;
    QProgressBar *m_progress;
    QTableView *m_table, *m_files;
    ResumePanel *m_resume;
    models::KeyedTableModel m_list, m_fileModel;
    std::vector<ckptfile::ListedCheckpoint> m_checkpoints;
    QString m_folder, m_chosen;
    session::Job m_listJob, m_inspectJob, m_verifyJob;
    std::shared_ptr<std::atomic<bool>> m_cancelVerify;
};

} // namespace stagewright::pages
