// Beside the form: what the current option is, where its value came from, what depends on it, and the stage's problems with their fixes.
#pragma once

#include <QScrollArea>

#include "core/base/problem.h"
#include "core/config/option.h"
#include "ui/session/stage_snapshot.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stagewright::settings {

class HelpPanel : public QScrollArea
{
    Q_OBJECT
public:
    explicit HelpPanel(QWidget *parent = nullptr);
    void show(const config::Option *option, const session::SnapshotPtr &snapshot);

Q_SIGNALS:
    void fixAsked(const stagewright::Fix &fix);
    void fixAllAsked();
    void optionAsked(const QString &path);

private:
    void refresh();
    void showSources();
    void showRelated();
    void showProblems();

    const config::Option *m_option = nullptr;
    session::SnapshotPtr m_snapshot;
    QLabel *m_title, *m_path, *m_help, *m_trap, *m_effect, *m_comesFrom, *m_relatedTitle, *m_problemsTitle, *m_noProblems;
    QWidget *m_sources, *m_related, *m_problems;
    QVBoxLayout *m_problemsBox;
    QPushButton *m_fixAll;
    Problems m_shownProblems;
};

} // namespace stagewright::settings
