#include "ui/settings/option_form.h"

#include <QLabel>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/settings/editor_factory.h"
#include "ui/settings/option_row.h"
#include "ui/settings/option_words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using config::Option;

OptionForm::OptionForm(QWidget *parent) : QScrollArea(parent)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *body = new QWidget(this);
    look::setRole(body, "scrollbody");
    body->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);     // never wider than the form, so that nothing scrolls sideways
    m_body = new QVBoxLayout(body);
    m_body->setContentsMargins(0, 0, 0, 24);
    m_body->setSpacing(0);
    m_empty = look::label("muted", body, true);
    m_empty->setContentsMargins(16, 24, 16, 0);
    m_body->addWidget(m_empty);
    createSections();
    m_body->addStretch();
    setWidget(body);
    look::bindText(this, [this] {
        m_empty->setText(tr("No option matches. Clear the search or switch “Changed only” off."));
        for (auto &[id, section] : m_sections)
            section.title->setText(groupTitle(id).toUpper());
    });
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int y) {
        QString found;
        for (const auto &[id, section] : m_sections)
            if (section.box->isVisibleTo(widget()) && section.box->y() <= y + 80)
                found = look::q(id);
        if (!found.isEmpty())
            Q_EMIT groupInView(found);
    });
}

void OptionForm::createSections()
{
    for (const auto &[id, title] : config::optionGroups()) {
        Section section;
        section.box = new QWidget(this);
        auto *box = new QVBoxLayout(section.box);
        box->setContentsMargins(0, 0, 0, 0);
        box->setSpacing(0);
        section.title = look::sectionLabel(section.box);
        section.title->setContentsMargins(16, 16, 16, 5);
        box->addWidget(section.title);
        section.rows = box;
        m_body->addWidget(section.box);
        m_sections.push_back({id, section});
    }
    for (const Option &option : config::allOptions()) {
        if (!isEditable(option.type))
            continue;
        for (auto &[id, section] : m_sections)
            if (id == option.group)
                section.options.push_back(&option);
    }
}

void OptionForm::show(const session::SnapshotPtr &snapshot, const std::string &stageFile)
{
    m_snapshot = snapshot;
    m_stageFile = stageFile;
    refresh();
}

void OptionForm::setFilter(const OptionFilter &filter)
{
    m_filter = filter;
    m_forced = nullptr;
    refresh();
}

OptionRow *OptionForm::ensureRow(const Option &option)
{
    auto &made = m_rows[option.path];
    if (made)
        return made;
    for (auto &[id, section] : m_sections) {
        if (id != option.group)
            continue;
        made = new OptionRow(option, section.box);
        // Behind the rows of the options before it that exist already.
        int at = 1;
        for (const Option *other : section.options) {
            if (other == &option)
                break;
            if (const auto there = m_rows.find(other->path); there != m_rows.end() && there->second)
                ++at;
        }
        section.rows->insertWidget(at, made);
        connect(made, &OptionRow::edited, this, &OptionForm::edited);
        connect(made, &OptionRow::removed, this, &OptionForm::removed);
        connect(made, &OptionRow::fixAsked, this, &OptionForm::fixAsked);
        connect(made, &OptionRow::focused, this, [this, &option] { setCurrent(&option); });
        break;
    }
    return made;
}

void OptionForm::refresh()
{
    if (!m_snapshot)
        return;
    m_shown = 0;
    for (auto &[id, section] : m_sections) {
        int inSection = 0;
        for (const Option *option : section.options) {
            const bool shown = option == m_forced || m_filter.accepts(*option, *m_snapshot);
            if (shown) {
                auto *row = ensureRow(*option);
                row->show(m_snapshot, m_stageFile);
                row->setVisible(true);
                ++inSection;
            } else if (const auto at = m_rows.find(option->path); at != m_rows.end() && at->second) {
                at->second->setVisible(false);
            }
        }
        section.box->setVisible(inSection > 0);
        m_shown += inSection;
    }
    m_empty->setVisible(m_shown == 0);
}

OptionRow *OptionForm::row(const QString &path)
{
    const Option *option = config::findOption(look::s(path));
    return option && isEditable(option->type) ? ensureRow(*option) : nullptr;
}

void OptionForm::setCurrent(const Option *option)
{
    if (m_current == option)
        return;
    if (m_current)
        if (const auto at = m_rows.find(m_current->path); at != m_rows.end())
            at->second->setCurrent(false);
    m_current = option;
    if (m_current)
        ensureRow(*m_current)->setCurrent(true);
    Q_EMIT currentChanged(option);
}

bool OptionForm::showOption(const QString &path, bool focus)
{
    // A problem may be at a row of a table or at an unknown key: its nearest declared ancestor is shown.
    QString at = path;
    while (!at.isEmpty() && !row(at))
        at = at.contains(u'.') ? at.left(at.lastIndexOf(u'.')) : QString();
    OptionRow *found = at.isEmpty() ? nullptr : row(at);
    if (!found)
        return false;
    m_forced = &found->option();
    refresh();
    setCurrent(&found->option());
    QTimer::singleShot(0, found, [this, found, focus] {
        ensureWidgetVisible(found, 0, 80);
        if (focus)
            found->editor()->setFocus(Qt::OtherFocusReason);
    });
    return true;
}

void OptionForm::showGroup(std::string_view group)
{
    for (const auto &[id, section] : m_sections)
        if (id == group) {
            verticalScrollBar()->setValue(section.box->y());
            Q_EMIT groupInView(look::q(group));
            for (const Option *option : section.options)
                if (m_snapshot && m_filter.accepts(*option, *m_snapshot)) {
                    setCurrent(option);
                    break;
                }
        }
}

} // namespace stagewright::settings
