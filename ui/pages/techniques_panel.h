// What each technique against memory saves and costs on the open stage: a table, predicted and measured, and step time against memory.
#pragma once

#include <QWidget>

#include "ui/models/keyed_table_model.h"
#include "ui/session/technique_session.h"

class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::plots {
class CurvePlot;
}

namespace stagewright::pages {

QString techniqueName(const client::Techniques &techniques);   // translated

class TechniquesPanel : public QWidget
{
    Q_OBJECT
public:
    explicit TechniquesPanel(session::PlanSession *planner, QWidget *parent = nullptr);
    void setStage(session::StagePtr stage, const QString &why);    // null: why there is nothing to plan
    QString exportTo(const QString &file);             // by its ending; an error sentence, empty where it worked

    session::TechniqueSession *session() { return &m_session; }
    QTableView *table() { return m_table; }
    plots::CurvePlot *plot() { return m_plot; }
    QPushButton *measureButton() { return m_measure; }
    QLabel *words() { return m_words; }

private:
    void refresh();
    void refreshWords();
    void fillTable();
    void refreshPlot();
    QList<QStringList> rows() const;                   // the header first
    QStringList cells(const session::TechniqueRow &row) const;

    session::TechniqueSession m_session;
    QString m_why;
    QLabel *m_words, *m_legend;
    QPushButton *m_measure;
    QTableView *m_table;
    plots::CurvePlot *m_plot;
    models::KeyedTableModel m_model;
};

} // namespace stagewright::pages
