// What a resume from the chosen checkpoint would do, line by line, and the buttons that do it.
#pragma once

#include <QWidget>

#include "core/ckptfile/resume_plan.h"
#include "ui/models/keyed_table_model.h"
#include "ui/session/job.h"
#include "ui/session/stage_session.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::pages {

enum class ResumeKind { Whole, WithoutDataPosition, WeightsOnly };

class ResumePanel : public QWidget
{
    Q_OBJECT
public:
    explicit ResumePanel(session::StageSession *stage, QWidget *parent = nullptr);
    void show(const QString &checkpoint);              // empty: nothing is chosen
    QPushButton *resumeButton() { return m_resume; }
    models::KeyedTableModel *model() { return &m_model; }

Q_SIGNALS:
    void resumeAsked(const QString &checkpoint, stagewright::pages::ResumeKind kind);

private:
    void plan();

    session::StageSession *m_stage;
    QString m_checkpoint;
    models::KeyedTableModel m_model;
    QLabel *m_title, *m_words;
    QPushButton *m_resume, *m_weights;
    QCheckBox *m_ignorePosition;
    QTableView *m_table;
    session::Job m_job;
};

} // namespace stagewright::pages
