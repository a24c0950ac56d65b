// What a resume from the chosen checkpoint would do, line by line, and the buttons that do it.
#pragma once

#include <QWidget>

#include "core/ckptfile/resume_plan.h"
#include "core/rehearsal/rehearsal.h"
#include "ui/models/keyed_table_model.h"
#include "ui/session/job.h"
#include "ui/session/stage_session.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::pages {

enum class ResumeKind { Whole, WithoutDataPosition, WeightsOnly };

// Files are read on other threads only.
class ResumePanel : public QWidget
{
    Q_OBJECT
public:
    explicit ResumePanel(session::StageSession *stage, QWidget *parent = nullptr);
    void show(const QString &checkpoint);              // empty: nothing is chosen
    void showRehearsal(const rehearsal::Rehearsal &rehearsal);      // of the chosen one, in place of the plan until that is asked for
    void setRehearsing(bool isBusy) { m_busy = isBusy; enable(); }
    QPushButton *resumeButton() { return m_resume; }
    QPushButton *weightsButton() { return m_weights; }
    QPushButton *rehearseButton() { return m_rehearse; }
    QPushButton *planButton() { return m_showPlan; }
    QCheckBox *positionBox() { return m_ignorePosition; }
    QString words() const;
    models::KeyedTableModel *model() { return &m_model; }

Q_SIGNALS:
    // rope: of the weights alone, where a person had to say in which rotary order they are (pretrained_rope); else empty.
    void resumeAsked(const QString &checkpoint, stagewright::pages::ResumeKind kind, const QString &rope);
    void rehearseAsked(const QString &checkpoint);

private:
    struct Planned;
    class DataReader;
    void plan();
    void showPlan(const Planned &planned);
    void enable();
    void askForWeights();
    void askForRope();

    session::StageSession *m_stage;
    std::shared_ptr<DataReader> m_data;
    QString m_checkpoint;
    bool m_possible = false, m_readable = false, m_saysRope = false, m_busy = false;
    models::KeyedTableModel m_model;
    QLabel *m_title, *m_words;
    QPushButton *m_resume, *m_weights, *m_rehearse, *m_showPlan;
    QCheckBox *m_ignorePosition;
    QTableView *m_table;
    session::Job m_job{session::Job::kSlowDiskThreads};
};

} // namespace stagewright::pages
