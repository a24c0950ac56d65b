// How a run ended when it did not end well: what, where, and what can be done about it, in one click where there is a fix.
#pragma once

#include <QFrame>

#include "core/base/problem.h"
#include "ui/session/run_session.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stagewright::pages {

class EndingCard : public QFrame
{
    Q_OBJECT
public:
    explicit EndingCard(const session::RunSession *run, QWidget *parent = nullptr);
    void refresh();                                    // shows or hides itself

Q_SIGNALS:
    void fixAsked(const stagewright::Fix &fix);
    void resumeAsked(const QString &checkpoint);
    void folderAsked(const QString &folder);

private:
    void showProblems();

    const session::RunSession *m_run;
    QLabel *m_title, *m_words, *m_where;
    QPushButton *m_resume, *m_folder;
    QVBoxLayout *m_box;
    QWidget *m_problems;
    QStringList m_shownProblems;
};

} // namespace stagewright::pages
