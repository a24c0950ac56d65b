// Run: the figures, the lanes, the log, and what can be done with the run.
#pragma once

#include <QWidget>
#include <map>

#include "core/base/problem.h"
#include "ui/models/step_table_model.h"
#include "ui/plots/lanes.h"
#include "ui/session/preferences.h"
#include "ui/session/run_session.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;
class QTimer;
class QToolButton;
namespace stagewright::look { class LegendItem; }
namespace stagewright::plots { class RunPlot; }

namespace stagewright::pages {

class EndingCard;
class LogView;
class RunFigures;
class RunSidePanel;

class RunPage : public QWidget
{
    Q_OBJECT
public:
    RunPage(session::RunSession *run, session::Preferences *preferences, QWidget *parent = nullptr);
    plots::RunPlot *plot() { return m_plot; }
    LogView *log() { return m_log; }
    EndingCard *ending() { return m_ending; }
    QTableView *stepTable() { return m_steps; }
    QPushButton *tableButton() { return m_table; }
    QString exportTo(const QString &file);             // picture or table by its ending; an error sentence, empty where it worked
    RunSidePanel *side() { return m_side; }
    QLabel *aboveWords() { return m_above; }           // says where the run took more than was predicted
    QPushButton *saveButton() { return m_save; }
    void exportTo();                                   // asks for a file: picture or table
    void showTable(bool table);

Q_SIGNALS:
    void launchAsked();
    void fixAsked(const stagewright::Fix &fix);
    void resumeAsked(const QString &checkpoint);
    void checkpointsAsked();

private:
    QWidget *createEmpty();
    QWidget *createBody();
    QWidget *createHead();
    void connectRun();
    void refresh();
    void refreshLegend();
    void refreshControls();
    void refreshAbove();

    session::RunSession *m_run;
    session::Preferences *m_preferences;
    QStackedWidget *m_stack, *m_view;
    QLabel *m_emptyTitle, *m_emptyWords, *m_notice, *m_above, *m_runName;
    QPushButton *m_emptyLaunch, *m_save, *m_follow, *m_whole, *m_table, *m_export;
    RunFigures *m_figures;
    EndingCard *m_ending;
    QWidget *m_legend;
    std::map<MemoryKind, look::LegendItem *> m_legendItems;
    plots::RunPlot *m_plot;
    QTableView *m_steps;
    models::StepTableModel m_stepModel;
    LogView *m_log;
    RunSidePanel *m_side;
    QTimer *m_ageTimer;
};

} // namespace stagewright::pages
