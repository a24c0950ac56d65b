// One option in the form: its name and path, its editor, and below it what is wrong with it.
#pragma once

#include <QFrame>

#include "core/base/problem.h"
#include "ui/settings/option_editor.h"

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace stagewright::settings {

class OptionRow : public QFrame
{
    Q_OBJECT
public:
    OptionRow(const config::Option &option, QWidget *parent);
    const config::Option &option() const { return m_option; }
    OptionEditor *editor() { return m_editor; }
    void show(const session::SnapshotPtr &snapshot, const std::string &stageFile);
    void setCurrent(bool current);                     // the option that the help is about

Q_SIGNALS:
    void edited(const QString &path, const QString &expression, bool mayMerge);
    void removed(const QString &path);
    void fixAsked(const stagewright::Fix &fix);
    void focused();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;

private:
    void showProblems(const std::vector<const Problem *> &problems);
    void watchFocus(QWidget *widget);

    const config::Option &m_option;
    QLabel *m_label, *m_path;
    OptionEditor *m_editor;
    QToolButton *m_reset;
    QVBoxLayout *m_right;
    QList<QWidget *> m_cards;
    QStringList m_cardTexts;
};

} // namespace stagewright::settings
