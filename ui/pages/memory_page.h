// Memory: what the open stage will take on this device or another, bucket by bucket, and what each of its settings costs.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/session/device_info.h"
#include "ui/session/plan_session.h"
#include "ui/session/stage_session.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace stagewright::pages {

class PlanPanel;
class SweepPanel;

class MemoryPage : public QWidget
{
    Q_OBJECT
public:
    static constexpr int kReplanMs = 250;              // after the last change of the stage

    MemoryPage(session::StageSession *stage, session::DeviceInfo *device, QWidget *parent = nullptr);
    ~MemoryPage() override;

    session::PlanSession *planner() { return &m_planner; }
    PlanPanel *planPanel() { return m_planPanel; }
    SweepPanel *sweepPanel() { return m_sweep; }
    QComboBox *deviceBox() { return m_deviceBox; }
    QToolButton *stageTab() { return m_stageTab; }
    QToolButton *settingsTab() { return m_settingsTab; }
    void showSettings(bool settings);                  // the second tab, or the first

Q_SIGNALS:
    void said(const QString &sentence);                // for the status bar
    void configureAsked();                             // the stage has problems that keep it from being planned

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void retranslate();
    void listDevices();
    void stageChanged();
    void replan();
    void takePlan(const events::PlanAnswer &answer);
    QString device() const;                            // as the planner is asked; empty: the one here
    void exportPicture();

    session::StageSession *m_stage;
    session::DeviceInfo *m_deviceInfo;
    session::PlanSession m_planner;
    QTimer m_timer;
    qint64 m_ticket = 0;
    std::int64_t m_plannedRevision = -1;
    QString m_plannedDevice;
    session::StagePtr m_planned;
    QLabel *m_title;
    QComboBox *m_deviceBox;
    QToolButton *m_stageTab, *m_settingsTab;
    QStackedWidget *m_tabs;
    PlanPanel *m_planPanel;
    SweepPanel *m_sweep;
};

} // namespace stagewright::pages
