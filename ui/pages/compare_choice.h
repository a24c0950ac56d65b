// The runs that can be compared, each with a tick: those of the stage's outputs folder, those that are remembered, and any other.
#pragma once

#include <QFrame>

#include "core/runlog/run_list.h"
#include "ui/session/job.h"
#include "ui/session/preferences.h"

class QLabel;
class QListWidget;
class QPushButton;

namespace stagewright::pages {

class CompareChoice : public QFrame
{
    Q_OBJECT
public:
    static constexpr std::size_t kMostListed = 500;
    static constexpr int kTickedAtFirst = 2;

    CompareChoice(session::Preferences *preferences, QWidget *parent = nullptr);
    void setOutputs(const QString &folder);
    void refresh();                                    // lists the runs again, off the GUI thread
    void add(const QString &folder);                   // lists it where it is not listed, and ticks it
    QStringList ticked() const;                        // in the order in which they were ticked
    void showAs(const QStringList &folders);           // colours and lines of these, in their order
    QListWidget *list() { return m_list; }
    QPushButton *otherButton() { return m_other; }

Q_SIGNALS:
    void tickedChanged();
    void listed();
    void said(const QString &sentence);

private:
    void fill(const std::vector<runlog::RunListing> &runs);
    void tickNewest();
    void addItem(const runlog::RunListing &run);
    void browse();

    session::Preferences *m_preferences;
    QString m_outputs;
    QStringList m_ticked, m_added, m_shown;
    bool m_everListed = false, m_everTicked = false;
    QLabel *m_title;
    QListWidget *m_list;
    QPushButton *m_other;
    session::Job m_job;
};

} // namespace stagewright::pages
