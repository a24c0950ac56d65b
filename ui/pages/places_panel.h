// Where checkpoints can be: the runs of the outputs folder, recent folders, and any other.
#pragma once

#include <QFrame>

#include "core/runlog/run_list.h"
#include "ui/session/job.h"
#include "ui/session/preferences.h"

class QListWidget;
class QPushButton;

namespace stagewright::pages {

class PlacesPanel : public QFrame
{
    Q_OBJECT
public:
    PlacesPanel(session::Preferences *preferences, QWidget *parent = nullptr);
    void setOutputs(const QString &folder);
    void refresh();                                    // lists the runs again, off the GUI thread
    void choose(const QString &folder);                // adds it where it is not listed
    QString current() const;

Q_SIGNALS:
    void chosen(const QString &folder);
    void listed();

private:
    void fill(const std::vector<runlog::RunListing> &runs);
    void browse();

    session::Preferences *m_preferences;
    QString m_outputs, m_wanted;
    QListWidget *m_list;
    QPushButton *m_browse;
    session::Job m_job{session::Job::kSlowDiskThreads};
};

} // namespace stagewright::pages
