// The bar below: language, theme, problems, host memory and free disk.
#pragma once

#include <QWidget>

#include "ui/session/preferences.h"
#include "ui/session/stage_session.h"

class QLabel;
class QPushButton;
class QTimer;
class QToolButton;

namespace stagewright::shell {

class StatusBar : public QWidget
{
    Q_OBJECT
public:
    StatusBar(session::StageSession *stage, session::Preferences *preferences, QWidget *parent = nullptr);
    QToolButton *englishButton() const { return m_english; }
    QToolButton *chineseButton() const { return m_chinese; }
    QToolButton *themeButton() const { return m_theme; }
    void say(const QString &sentence);                 // one line in the middle, until the next

Q_SIGNALS:
    void problemsAsked();

private:
    void refresh();
    void refreshHost();
    void toggleTheme();

    session::StageSession *m_stage;
    session::Preferences *m_preferences;
    QToolButton *m_english, *m_chinese, *m_theme;
    QPushButton *m_problems;
    QLabel *m_words, *m_host;
    QTimer *m_timer;
};

} // namespace stagewright::shell
