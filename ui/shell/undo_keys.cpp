#include "ui/shell/undo_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QShortcut>
#include <QUndoStack>

namespace stagewright::shell {

UndoKeys::UndoKeys(QWidget *window, QUndoStack *stack) : QObject(window), m_window(window)
{
    connect(new QShortcut(QKeySequence::Undo, window), &QShortcut::activated, stack, &QUndoStack::undo);
    connect(new QShortcut(QKeySequence::Redo, window), &QShortcut::activated, stack, &QUndoStack::redo);
    qApp->installEventFilter(this);
}

bool UndoKeys::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() != QEvent::ShortcutOverride)
        return false;
    const auto *key = static_cast<QKeyEvent *>(event);
    if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo))
        return false;
    const auto *field = qobject_cast<QLineEdit *>(watched);
    if (!field || field->isModified() || field->window() != m_window)
        return false;
    event->ignore();
    return true;
}

} // namespace stagewright::shell
