// The open stage beside something else (its file, a base, a preset, an earlier run, another stage), option by option, with what differs
// there for the taking.
#pragma once

#include <QWidget>

#include "ui/models/keyed_table_model.h"
#include "ui/session/job.h"
#include "ui/session/stage_comparison.h"
#include "ui/session/stage_session.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::settings {

// GUI thread. Compares on another thread, and only while it is visible.
class ComparePanel : public QWidget
{
    Q_OBJECT
public:
    explicit ComparePanel(session::StageSession *stage, QWidget *parent = nullptr);
    void setMoreRuns(const std::vector<std::string> &folders);     // runs that are remembered, beside those of the outputs folder
    void compareWith(const session::Counterpart &with);
    QComboBox *choice() const { return m_choice; }
    QTableView *table() const { return m_table; }
    QPushButton *takeAllButton() const { return m_takeAll; }
    QPushButton *takeButton() const { return m_take; }
    QPushButton *openButton() const { return m_open; }
    const session::Comparison &shown() const { return m_comparison; }

Q_SIGNALS:
    void optionAsked(const QString &path);
    void openAsked(const QString &stageFile);
    void refused(const stagewright::Error &error);
    void compared();

protected:
    void showEvent(QShowEvent *event) override;

private:
    void createTop();
    void createTable();
    void list();
    void fillChoice(std::vector<session::Counterpart> all);
    void compare();
    void showComparison();
    void take(bool all);
    void chooseFile();
    void openCopy();
    QString titleOf(const session::Counterpart &with) const;

    session::StageSession *m_stage;
    QLabel *m_with, *m_help, *m_count;
    QComboBox *m_choice;
    QPushButton *m_other, *m_take, *m_takeAll, *m_open;
    QTableView *m_table;
    models::KeyedTableModel m_rows;
    std::vector<session::Counterpart> m_all;
    std::vector<std::string> m_moreRuns;
    session::Counterpart m_chosen;
    session::Comparison m_comparison;
    session::Job m_listJob, m_compareJob;
};

} // namespace stagewright::settings
