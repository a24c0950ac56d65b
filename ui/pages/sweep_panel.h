// What each setting costs: predicted peak over one or two settings, the fastest that fits, and measured points beside them.
#pragma once

#include <QWidget>

#include "ui/pages/sweep_words.h"
#include "ui/session/measure_session.h"
#include "ui/session/plan_sweep.h"
#include "ui/session/stage_session.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace stagewright::pages {

class SweepChoices;
class SweepPictures;

class SweepPanel : public QWidget
{
    Q_OBJECT
public:
    SweepPanel(session::StageSession *stage, session::PlanSession *planner, QWidget *parent = nullptr);

    // A stage that can be planned, or null. Everything is asked anew where something changed.
    void setStage(session::StagePtr stage);
    void setDevice(const QString &device, bool isHere, std::int64_t capacityBytes);
    void setBuckets(const events::Plan &plan);
    void setShown(bool shown) { m_sweep.setShown(shown); }
    void choose(int cell);
    int chosen() const { return m_chosen; }
    QString exportTo(const QString &file);             // by its ending; an error sentence, empty where it worked

    const session::PlanSweep &sweep() const { return m_sweep; }
    SweepChoices *choices() { return m_choices; }
    SweepPictures *pictures() { return m_pictures; }
    QPushButton *fitButton() { return m_fit; }
    QPushButton *useButton() { return m_use; }
    QPushButton *useFitButton() { return m_useFit; }
    QPushButton *measureButton() { return m_measure; }
    QPushButton *gridButton() { return m_measureGrid; }
    QLabel *bestWords() { return m_bestWords; }
    QPushButton *tableButton() { return m_asTable; }
    QLabel *progressWords() { return m_progress; }
    QLabel *fitWordsLabel() { return m_fitWords; }
    QLabel *chosenWords() { return m_chosenWords; }

Q_SIGNALS:
    void exportAsked();
    void said(const QString &sentence);

private:
    void createTools(QVBoxLayout *box);
    void createWords(QVBoxLayout *box);
    void retranslate();
    void restart();
    void sweepChanged();
    void fitChanged();
    enum class Span { Point, Curve, Grid };
    void measure(Span span);
    void measureCell(int cell);
    void takeMeasured(int cell, const session::MeasuredPoint &point);
    void apply(std::vector<events::PlanValue> values);
    void refreshWords();
    void refreshMeasuring();
    QString progress() const;

    session::StageSession *m_stageSession;
    session::PlanSweep m_sweep;
    session::MeasureSession m_measuring;
    MeasuredPoints m_measured;
    session::StagePtr m_stage;
    std::string m_stageText;                           // as YAML: tells whether a new snapshot is a new stage
    QString m_device;
    bool m_isHere = true;
    int m_chosen = -1;

    SweepChoices *m_choices;
    SweepPictures *m_pictures;
    QLabel *m_progress, *m_legend, *m_chosenWords, *m_fitWords, *m_bestWords;
    QPushButton *m_fit, *m_measure, *m_measureCurve, *m_measureGrid, *m_asTable, *m_export, *m_use, *m_useFit;
};

} // namespace stagewright::pages
