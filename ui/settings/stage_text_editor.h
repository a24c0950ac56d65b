// The stage's text with line numbers and the problems in the gutter. Undo is the session's, shared with the form.
#pragma once

#include <QPlainTextEdit>
#include <map>

#include "core/base/problem.h"

namespace stagewright::settings {

class StageTextEditor : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit StageTextEditor(QWidget *parent = nullptr);
    void showText(const QString &text);                // keeps cursor and scroll position where the text around them stays
    void showProblems(const Problems &problems, const std::string &file);
    void goToLine(int line);
    int gutterWidth() const;
    void paintGutter(class QPaintEvent *event);
    QString problemTextAt(int line) const;             // 1-based

Q_SIGNALS:
    void typed(const QString &text);
    void undoAsked();
    void redoAsked();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool event(QEvent *event) override;

private:
    QWidget *m_gutter;
    std::map<int, std::pair<Severity, QString>> m_marks;
    bool m_showing = false;
};

} // namespace stagewright::settings
