// Configure: the stage as a form and as text, in step, with help and problems beside it.
#pragma once

#include <QWidget>
#include <functional>

#include "ui/session/stage_session.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace stagewright::settings {
class ComparePanel;
class HelpPanel;
class OptionForm;
class StageTextEditor;
}

namespace stagewright::pages {

class GroupList;

class ConfigurePage : public QWidget
{
    Q_OBJECT
public:
    explicit ConfigurePage(session::StageSession *stage, QWidget *parent = nullptr);
    void showOption(const QString &path);              // in the form
    void showText(bool text);                          // the text tab, or the form
    bool isShowingText() const;
    void showDifferences();
    void focusSearch();
    void setRecentRuns(const std::vector<std::string> &folders);   // that differences may be shown to
    settings::OptionForm *form() { return m_form; }
    settings::StageTextEditor *textEditor() { return m_text; }
    settings::ComparePanel *comparePanel() { return m_compare; }
    struct NoticeAction {
        QString title;
        std::function<void()> act;
    };
    // A line above the form: what a person should know now, and what can be done about it; empty hides it. An action hides it, too.
    void setNotice(const QString &sentence, const QList<NoticeAction> &actions = {});
    QWidget *notice() const { return m_notice; }

Q_SIGNALS:
    void openAsked(const QString &stageFile);          // another stage

private:
    QWidget *createLeft();
    QWidget *createMiddle();
    void connectStage();
    void connectDisk();
    void refresh();
    void edit(const QString &path, const QString &expression, bool mayMerge);
    void remove(const QString &path);
    void fix(const Fix &fix);
    void refuse(const Error &error);
    void applyFilter();

    session::StageSession *m_stage;
    GroupList *m_groups;
    QLineEdit *m_search;
    QCheckBox *m_changedOnly, *m_advanced;
    QToolButton *m_formTab, *m_textTab, *m_compareTab, *m_undo, *m_redo;
    QLabel *m_lineWords;
    QWidget *m_notice;
    QLabel *m_noticeWords;
    QHBoxLayout *m_noticeLine;
    QList<QPushButton *> m_noticeButtons;
    QStackedWidget *m_stack;
    settings::OptionForm *m_form;
    settings::StageTextEditor *m_text;
    settings::ComparePanel *m_compare;
    settings::HelpPanel *m_help;
};

} // namespace stagewright::pages
