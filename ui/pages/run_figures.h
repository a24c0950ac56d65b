// The big figures over the run's plot.
#pragma once

#include <QWidget>

#include "ui/look/parts.h"
#include "ui/session/run_session.h"

namespace stagewright::pages {

class RunFigures : public QWidget
{
    Q_OBJECT
public:
    explicit RunFigures(const session::RunSession *run, QWidget *parent = nullptr);
    void refresh();

private:
    const session::RunSession *m_run;
    look::Figure *m_step, *m_loss, *m_time, *m_rate, *m_peak, *m_predicted, *m_wait, *m_remaining;
};

} // namespace stagewright::pages
