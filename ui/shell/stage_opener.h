// Which stage the window shows at the start: the one asked for, the last one, or the demo, which is made where it does not exist yet.
#pragma once

#include <QObject>
#include <QString>

#include "ui/session/job.h"

namespace stagewright::shell {

class StageOpener : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;
    // Emits ready() at once where the demo is there, else after making it on another thread.
    void findDemo();

Q_SIGNALS:
    void making();
    void ready(const QString &stage);
    void failed(const QString &sentence);

private:
    session::Job m_job;
};

} // namespace stagewright::shell
