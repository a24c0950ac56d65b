// One problem with its fixes, as a line in place: never a pop-up.
#pragma once

#include <QFrame>

#include "core/base/problem.h"

namespace stagewright::settings {

class ProblemCard : public QFrame
{
    Q_OBJECT
public:
    ProblemCard(const Problem &problem, QWidget *parent, bool compact = false);    // compact: in a side panel, with its place

Q_SIGNALS:
    void fixAsked(const stagewright::Fix &fix);
    void activated(const QString &path);               // show me the option

private:
    Problem m_problem;
};

} // namespace stagewright::settings
