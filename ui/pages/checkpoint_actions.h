// What can be done with a checkpoint or its folder besides resuming: verify, rehearse, export, clean, move to the trash. Shows how far it is,
// lets it be cancelled, and says how it ended; the questions that some of them need are asked here.
#pragma once

#include <QWidget>

#include "core/ckptfile/inspect.h"
#include "core/ckptfile/leftovers.h"
#include "core/rehearsal/rehearsal.h"
#include "ui/pages/export_dialog.h"
#include "ui/session/checkpoint_removal.h"
#include "ui/session/long_task.h"
#include "ui/session/stage_snapshot.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace stagewright::pages {

// GUI thread only; every file is touched on others. One action at a time: a call while one is going on does nothing.
class CheckpointActions : public QWidget
{
    Q_OBJECT
public:
    explicit CheckpointActions(QWidget *parent = nullptr);
    bool isBusy() const { return m_task.isBusy(); }
    QString outcome() const;                           // the sentence that is shown, empty where nothing is
    void verify(const QString &checkpoint, bool everyByte);
    void verifyAll(const QStringList &checkpoints);    // every byte of each
    void rehearse(const QString &checkpoint, session::SnapshotPtr stage);
    void askForExport(const QString &checkpoint);
    void askToClean(const QString &folder);
    void askToTrash(const QString &checkpoint, const QString &watchedRun);

Q_SIGNALS:
    void busyChanged();
    void folderChanged();                              // what lies in it, or what is known of it
    void inspected(const QString &checkpoint, const Result<ckptfile::Inspection> &inspection);
    void rehearsed(const QString &checkpoint, const rehearsal::Rehearsal &rehearsal);

private:
    enum class Tone { Muted, Good, Warning, Error };
    void say(const QString &sentence, Tone tone);
    void exportWith(const QString &checkpoint, const ExportChoice &choice);
    void askWhatToClean(const QString &folder, const std::vector<ckptfile::Leftover> &found);
    void clean(std::vector<ckptfile::Leftover> leftovers);
    void askWhetherToTrash(const QString &checkpoint, const session::RemovalFacts &facts);
    void trash(const QString &checkpoint);

    session::LongTask m_task;
    bool m_cancelled = false;
    QWidget *m_line;
    QProgressBar *m_bar;
    QLabel *m_words, *m_outcome;
    QPushButton *m_cancel;
};

} // namespace stagewright::pages
