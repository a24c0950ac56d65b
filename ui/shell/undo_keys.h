// Undo and redo of the stage by key, also while a field has the focus.
#pragma once

#include <QObject>

class QUndoStack;
class QWidget;

namespace stagewright::shell {

// A line field claims the keys for its own history. It keeps them while it holds typing that is not part of the stage yet; otherwise
// they are the stage's.
class UndoKeys : public QObject
{
public:
    UndoKeys(QWidget *window, QUndoStack *stack);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QWidget *m_window;
};

} // namespace stagewright::shell
