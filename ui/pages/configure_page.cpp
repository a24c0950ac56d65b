#include "ui/pages/configure_page.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/look/icons.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/pages/group_list.h"
#include "ui/settings/compare_panel.h"
#include "ui/settings/editor_factory.h"
#include "ui/settings/help_panel.h"
#include "ui/settings/option_form.h"
#include "ui/settings/stage_text_editor.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using look::s;

ConfigurePage::ConfigurePage(session::StageSession *stage, QWidget *parent) : QWidget(parent), m_stage(stage)
{
    auto *line = new QHBoxLayout(this);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(0);
    line->addWidget(createLeft());
    line->addWidget(createMiddle(), 1);
    m_help = new settings::HelpPanel(this);
    m_help->setMinimumWidth(270);
    m_help->setMaximumWidth(330);
    line->addWidget(m_help, 0);
    connectStage();
}

QWidget *ConfigurePage::createLeft()
{
    auto *left = new QFrame(this);
    look::setRole(left, "leftpanel");
    left->setFixedWidth(190);
    auto *box = new QVBoxLayout(left);
    box->setContentsMargins(0, 10, 0, 10);
    box->setSpacing(8);
    m_search = new QLineEdit(left);
    m_search->setClearButtonEnabled(true);
    auto *searchBox = new QHBoxLayout;
    searchBox->setContentsMargins(12, 0, 12, 0);
    searchBox->addWidget(m_search);
    box->addLayout(searchBox);
    m_groups = new GroupList(left);
    box->addWidget(m_groups, 1);
    m_changedOnly = new QCheckBox(left);
    m_advanced = new QCheckBox(left);
    for (auto *check : {m_changedOnly, m_advanced}) {
        auto *margin = new QHBoxLayout;
        margin->setContentsMargins(14, 0, 12, 0);
        margin->addWidget(check);
        box->addLayout(margin);
        connect(check, &QCheckBox::toggled, this, &ConfigurePage::applyFilter);
    }
    connect(m_search, &QLineEdit::textChanged, this, &ConfigurePage::applyFilter);
    look::bindText(left, [this] {
        int options = 0;
        for (const auto &option : config::allOptions())
            options += settings::isEditable(option.type) && option.keyClass != config::KeyClass::NotApplicable;
        m_search->setPlaceholderText(tr("Search %1 options").arg(options));
        m_search->setAccessibleName(tr("Search options"));
        m_changedOnly->setText(tr("Changed only"));
        m_advanced->setText(tr("Advanced"));
    });
    return left;
}

static QToolButton *tab(QWidget *parent, QButtonGroup *group)
{
    auto *button = new QToolButton(parent);
    button->setCheckable(true);
    button->setProperty("role", u"tab"_s);
    button->setFocusPolicy(Qt::StrongFocus);
    group->addButton(button);
    return button;
}

QWidget *ConfigurePage::createMiddle()
{
    auto *middle = new QWidget(this);
    auto *box = new QVBoxLayout(middle);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(0);
    auto *bar = new QFrame(middle);
    bar->setFixedHeight(39);
    auto *line = new QHBoxLayout(bar);
    line->setContentsMargins(16, 0, 12, 0);
    line->setSpacing(4);
    auto *tabs = new QButtonGroup(bar);
    m_formTab = tab(bar, tabs);
    m_textTab = tab(bar, tabs);
    m_compareTab = tab(bar, tabs);
    m_formTab->setChecked(true);
    m_undo = new QToolButton(bar);
    m_redo = new QToolButton(bar);
    m_undo->setIcon(look::icon("undo"));
    m_redo->setIcon(look::icon("redo"));
    for (auto *button : {m_undo, m_redo}) {
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setIconSize({15, 15});
        button->setFocusPolicy(Qt::StrongFocus);
    }
    m_lineWords = look::label("error", bar);
    line->addWidget(m_formTab);
    line->addWidget(m_textTab);
    line->addWidget(m_compareTab);
    line->addSpacing(12);
    line->addWidget(m_lineWords, 1);
    line->addWidget(m_undo);
    line->addWidget(m_redo);
    box->addWidget(bar);
    box->addWidget(look::hairline(middle));

    m_notice = new QFrame(middle);
    look::setRole(m_notice, "hintcard");
    m_noticeLine = new QHBoxLayout(m_notice);
    m_noticeLine->setContentsMargins(13, 6, 12, 6);
    m_noticeLine->setSpacing(14);
    m_noticeWords = look::label("", m_notice, true);
    m_noticeLine->addWidget(m_noticeWords, 1);
    m_notice->hide();
    box->addWidget(m_notice);

    m_stack = new QStackedWidget(middle);
    m_form = new settings::OptionForm(m_stack);
    m_text = new settings::StageTextEditor(m_stack);
    m_stack->addWidget(m_form);
    m_stack->addWidget(m_text);
    m_compare = new settings::ComparePanel(m_stage, m_stack);
    m_stack->addWidget(m_compare);
    box->addWidget(m_stack, 1);
    const auto shows = [this](QToolButton *button, QWidget *page) {
        connect(button, &QToolButton::toggled, this, [this, page](bool on) {
            if (on)
                m_stack->setCurrentWidget(page);
        });
    };
    shows(m_formTab, m_form);
    shows(m_textTab, m_text);
    shows(m_compareTab, m_compare);
    look::bindText(middle, [this] {
        m_formTab->setText(tr("Form"));
        m_textTab->setText(tr("Text"));
        m_compareTab->setText(tr("Differences"));
        m_undo->setText(tr("Undo"));
        m_redo->setText(tr("Redo"));
    });
    return middle;
}

void ConfigurePage::connectStage()
{
    auto *undo = m_stage->undoStack();
    const auto enable = [this, undo] {
        m_undo->setEnabled(undo->canUndo());
        m_redo->setEnabled(undo->canRedo());
        m_undo->setToolTip(undo->undoText());
        m_redo->setToolTip(undo->redoText());
    };
    enable();
    connect(undo, &QUndoStack::indexChanged, this, enable);
    connect(m_undo, &QToolButton::clicked, undo, &QUndoStack::undo);
    connect(m_redo, &QToolButton::clicked, undo, &QUndoStack::redo);
    connect(m_text, &settings::StageTextEditor::undoAsked, undo, &QUndoStack::undo);
    connect(m_text, &settings::StageTextEditor::redoAsked, undo, &QUndoStack::redo);
    connect(m_text, &settings::StageTextEditor::typed, this, [this](const QString &text) { m_stage->setText(s(text), tr("Type"), 1); });
    connect(m_stage, &session::StageSession::textChanged, this, [this] { m_text->showText(m_stage->displayText()); });
    connect(m_stage, &session::StageSession::snapshotChanged, this, &ConfigurePage::refresh);
    connect(m_stage, &session::StageSession::opened, this, [this] { setNotice(m_stage->restoredNotice()); });
    connectDisk();
    connect(m_compare, &settings::ComparePanel::optionAsked, this, &ConfigurePage::showOption);
    connect(m_compare, &settings::ComparePanel::openAsked, this, &ConfigurePage::openAsked);
    connect(m_compare, &settings::ComparePanel::refused, this, &ConfigurePage::refuse);
    connect(m_groups, &GroupList::groupChosen, this, [this](const QString &group) { showText(false); m_form->showGroup(s(group)); });
    connect(m_form, &settings::OptionForm::groupInView, m_groups, &GroupList::setCurrentGroup);
    connect(m_form, &settings::OptionForm::edited, this, &ConfigurePage::edit);
    connect(m_form, &settings::OptionForm::removed, this, &ConfigurePage::remove);
    connect(m_form, &settings::OptionForm::fixAsked, this, &ConfigurePage::fix);
    connect(m_form, &settings::OptionForm::currentChanged, this, [this](const config::Option *option) { m_help->show(option, m_stage->snapshot()); });
    connect(m_help, &settings::HelpPanel::fixAsked, this, &ConfigurePage::fix);
    connect(m_help, &settings::HelpPanel::fixAllAsked, this, [this] { m_stage->applyAllFixes(); });
    connect(m_help, &settings::HelpPanel::optionAsked, this, [this](const QString &path) {
        if (isShowingText() || !m_form->showOption(path, true)) {
            for (const auto &problem : m_stage->snapshot()->problems)
                if (q(problem.path) == path && problem.line > 0) {
                    showText(true);
                    m_text->goToLine(problem.line);
                    m_text->setFocus();
                    break;
                }
        }
    });
    if (m_stage->isOpen()) {
        m_text->showText(m_stage->displayText());
        refresh();
    }
}

// Another program wrote the file that is open.
void ConfigurePage::connectDisk()
{
    auto *undo = m_stage->undoStack();
    connect(m_stage, &session::StageSession::takenFromDisk, this, [this, undo] {
        setNotice(tr("Another program changed the file; its text was taken."), {{tr("Undo"), [undo] { undo->undo(); }}, {tr("Close"), [] {}}});
    });
    connect(m_stage, &session::StageSession::mergedFromDisk, this, [this, undo] {
        setNotice(tr("Another program changed other lines of the file; both changes are in the text now."), {{tr("Undo"), [undo] { undo->undo(); }}, {tr("Close"), [] {}}});
    });
    connect(m_stage, &session::StageSession::changedOnDisk, this, [this] {
        setNotice(tr("Another program changed lines of the file that you changed, too."),
                  {{tr("Take its text (undo brings yours back)"), [this] { m_stage->reload(); }},
                   {tr("Keep mine"), [this] { m_stage->keepMine(); }},
                   {tr("Show the differences"), [this] { m_stage->keepMine(); showDifferences(); }}});
    });
}

void ConfigurePage::refresh()
{
    const auto snapshot = m_stage->snapshot();
    if (!snapshot)
        return;
    if (snapshot->stage) {
        m_form->show(snapshot, m_stage->file().string());
        m_groups->show(*snapshot);
    }
    // Text that cannot be read leaves the form as it was; the reason stands above both tabs.
    m_lineWords->setText(snapshot->stage ? QString() : tr("The text cannot be read; the form shows the last state that could."));
    m_form->setEnabled(snapshot->stage != nullptr);
    m_text->showProblems(snapshot->problems, m_stage->file().string());
    m_help->show(m_form->current(), snapshot);
}

void ConfigurePage::edit(const QString &path, const QString &expression, bool mayMerge)
{
    if (auto done = m_stage->setValue(s(path), s(expression), mayMerge); !done)
        refuse(done.error());
}

void ConfigurePage::remove(const QString &path)
{
    if (auto done = m_stage->removeValue(s(path)); !done)
        refuse(done.error());
}

void ConfigurePage::fix(const Fix &fix)
{
    if (auto done = m_stage->applyFix(fix); !done)
        refuse(done.error());
}

void ConfigurePage::refuse(const Error &error)
{
    setNotice(q(error.message()));
    m_form->show(m_stage->snapshot(), m_stage->file().string());
}

void ConfigurePage::applyFilter()
{
    m_form->setFilter({m_search->text().trimmed(), m_changedOnly->isChecked(), m_advanced->isChecked()});
    if (!m_search->text().isEmpty())
        showText(false);
}

void ConfigurePage::showOption(const QString &path)
{
    showText(false);
    m_form->showOption(path, true);
}

void ConfigurePage::showText(bool text) { (text ? m_textTab : m_formTab)->setChecked(true); }
void ConfigurePage::showDifferences() { m_compareTab->setChecked(true); }

void ConfigurePage::setRecentRuns(const std::vector<std::string> &folders) { m_compare->setMoreRuns(folders); }

bool ConfigurePage::isShowingText() const { return m_textTab->isChecked(); }

void ConfigurePage::focusSearch()
{
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

void ConfigurePage::setNotice(const QString &sentence, const QList<NoticeAction> &actions)
{
    m_noticeWords->setText(sentence);
    for (auto *button : std::exchange(m_noticeButtons, {})) {
        button->hide();
        button->deleteLater();
    }
    for (const NoticeAction &action : actions) {
        auto *button = look::linkButton(m_notice);
        button->setText(action.title);
        connect(button, &QPushButton::clicked, this, [this, act = action.act] {
            setNotice({});
            act();
        });
        m_noticeLine->addWidget(button);
        m_noticeButtons.append(button);
    }
    m_notice->setVisible(!sentence.isEmpty());
}

} // namespace stagewright::pages
