// The plan of the open stage: memory at the peak of every bucket against the device, what it consists of, and what the host must hold.
#pragma once

#include <QWidget>

#include "core/events/plan.h"
#include "ui/models/keyed_table_model.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace stagewright::plots {
class KindBars;
}

namespace stagewright::pages {

QString bucketWords(const events::PlannedBucket &bucket);      // "256px × 129 frames, batch 4", translated

class PlanPanel : public QWidget
{
    Q_OBJECT
public:
    explicit PlanPanel(QWidget *parent = nullptr);
    // limitBytes: what the stage may use of the device, its own limit included.
    void setPlan(const events::Plan &plan, std::int64_t limitBytes);
    void setNotice(const QString &sentence, const char *role);     // instead of a plan; keeps the last one below it, grey words above
    const events::Plan *plan() const { return m_has ? &m_plan : nullptr; }
    int chosenBucket() const { return m_bucket; }
    plots::KindBars *bars() { return m_bars; }
    QLabel *verdict() { return m_verdict; }
    QTableView *table() { return m_table; }
    QPushButton *tableButton() { return m_asTable; }
    QString exportTo(const QString &file);             // by its ending; an error sentence, empty where it worked
    QString textAlternative() const;

Q_SIGNALS:
    void exportAsked();

private:
    void retranslate();
    void showBucket(int index);
    void fillTable();
    QList<QStringList> rows() const;

    events::Plan m_plan;
    std::int64_t m_limit = 0;
    bool m_has = false;
    int m_bucket = 0;
    QLabel *m_verdict, *m_remark, *m_peakTitle, *m_peakWords, *m_hostTitle, *m_hostWords;
    QWidget *m_body, *m_legend;
    QStackedWidget *m_view;
    QScrollArea *m_scroll;
    plots::KindBars *m_bars;
    QTableView *m_table;
    QPushButton *m_asTable, *m_export;
    models::KeyedTableModel m_model;
};

} // namespace stagewright::pages
