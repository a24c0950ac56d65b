// The bar on top: the open stage, the device, the run's state, whether it is safe to stop, search, Launch or Stop.
#pragma once

#include <QWidget>

#include "ui/session/device_info.h"
#include "ui/session/run_session.h"
#include "ui/session/stage_session.h"

class QLabel;
class QMenu;
class QPushButton;

namespace stagewright::look {
class Chip;
class ElidedLabel;
}

namespace stagewright::shell {

class TopBar : public QWidget
{
    Q_OBJECT
public:
    TopBar(session::StageSession *stage, session::RunSession *run, session::DeviceInfo *device, QWidget *parent = nullptr);
    QPushButton *launchButton() const { return m_launch; }
    QPushButton *stopButton() const { return m_stop; }

Q_SIGNALS:
    void launchAsked();
    void searchAsked();
    void openAsked();

private:
    void createStopMenu();
    void refresh();
    void refreshRun();

    session::StageSession *m_stage;
    session::RunSession *m_run;
    session::DeviceInfo *m_device;
    QPushButton *m_open, *m_search, *m_launch, *m_stop;
    QLabel *m_dirty;
    look::Chip *m_bases, *m_deviceChip, *m_state, *m_safe;
    QMenu *m_stopMenu;
};

} // namespace stagewright::shell
