// Compare: several runs over one another by step or by bucket, their memory by kind, and a table of what differs; and techniques against memory on the open stage.
#pragma once

#include <QWidget>

#include "ui/models/keyed_table_model.h"
#include "ui/pages/compare_rows.h"
#include "ui/session/compare_session.h"
#include "ui/session/plan_session.h"
#include "ui/session/preferences.h"
#include "ui/session/stage_session.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace stagewright::plots {
class KindBars;
class OverlayPlot;
}

namespace stagewright::pages {

class CompareChoice;
class TechniquesPanel;

class ComparePage : public QWidget
{
    Q_OBJECT
public:
    static constexpr std::size_t kTableSteps = 2000, kFileSteps = 100'000;     // of a run, in the table and in a CSV file

    ComparePage(session::StageSession *stage, session::Preferences *preferences, session::PlanSession *planner, QWidget *parent = nullptr);

    void compare(const QStringList &folders);          // ticks them
    void setView(CompareView view);
    CompareView view() const { return m_shown; }
    QString exportTo(const QString &file);             // by its ending; an error sentence, empty where it worked

    session::CompareSession *session() { return &m_session; }
    CompareChoice *choice() { return m_choice; }
    plots::OverlayPlot *plot() { return m_plot; }
    plots::KindBars *bars() { return m_bars; }
    QTableView *table() { return m_table; }
    TechniquesPanel *techniques() { return m_techniques; }
    QTableView *differences() { return m_differences; }
    QToolButton *viewTab(CompareView view) const { return m_tabs[std::size_t(view)]; }
    QPushButton *tableButton() { return m_asTable; }
    QPushButton *exportButton() { return m_export; }
    QLabel *notice() { return m_notice; }

Q_SIGNALS:
    void said(const QString &sentence);                // for the status bar

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    QHBoxLayout *createHead();
    QWidget *createViews();
    void createDifferences();
    void retranslate();
    void takeOutputs();
    void sessionChanged();
    void refresh();
    void refreshNotice();
    void refreshTechniques();
    void refreshPlot();
    void refreshBars();
    void fillTable();
    void fillDifferences();
    void exportPicture();

    session::StageSession *m_stage;
    session::CompareSession m_session;
    CompareView m_shown = CompareView::BySteps;
    bool m_isTable = false;
    QStringList m_drawn;                               // folders whose curves the plot shows
    CompareChoice *m_choice;
    QLabel *m_title, *m_notice;
    std::array<QToolButton *, 4> m_tabs;
    QPushButton *m_asTable, *m_export;
    QWidget *m_body;
    QStackedWidget *m_view;
    plots::OverlayPlot *m_plot;
    plots::KindBars *m_bars;
    TechniquesPanel *m_techniques;
    QTableView *m_table, *m_differences;
    models::KeyedTableModel m_tableModel, m_differenceModel;
};

} // namespace stagewright::pages
