// Ctrl+K: finds any option, page or command by typing a part of its name.
#pragma once

#include <functional>

#include <QDialog>
#include <QList>
#include <QString>

class QLineEdit;
class QListWidget;

namespace stagewright::shell {

struct PaletteEntry {
    QString title, aside;                              // aside: dotted path or shortcut, searched too
    std::function<void()> act;
};

class CommandPalette : public QDialog
{
    Q_OBJECT
public:
    CommandPalette(QList<PaletteEntry> entries, QWidget *parent);
    QLineEdit *field() const { return m_field; }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void filter();
    void choose();

    QList<PaletteEntry> m_entries;
    QLineEdit *m_field;
    QListWidget *m_list;
};

} // namespace stagewright::shell
