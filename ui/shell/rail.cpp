#include "ui/shell/rail.h"

#include <QButtonGroup>
#include <QCoreApplication>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/look/icons.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"

namespace stagewright::shell {

namespace {

struct Entry {
    PageId page;
    const char *icon;
};
constexpr Entry kEntries[] = {{PageId::Configure, "configure"}, {PageId::Data, "data"}, {PageId::Memory, "memory"}, {PageId::Run, "run"}, {PageId::Checkpoints, "checkpoints"}, {PageId::Compare, "compare"}};

} // namespace

QString wordOf(PageId page)
{
    switch (page) {
    case PageId::Configure: return QCoreApplication::translate("stagewright::shell::Rail", "Configure");
    case PageId::Data: return QCoreApplication::translate("stagewright::shell::Rail", "Data");
    case PageId::Memory: return QCoreApplication::translate("stagewright::shell::Rail", "Memory");
    case PageId::Run: return QCoreApplication::translate("stagewright::shell::Rail", "Run");
    case PageId::Checkpoints: return QCoreApplication::translate("stagewright::shell::Rail", "Checkpoints");
    case PageId::Compare: return QCoreApplication::translate("stagewright::shell::Rail", "Compare");
    }
    return {};
}

Rail::Rail(QWidget *parent) : QWidget(parent), m_group(new QButtonGroup(this))
{
    look::setRole(this, "rail");
    setAttribute(Qt::WA_StyledBackground);
    setFixedWidth(84);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 1, 0);
    layout->setSpacing(2);
    for (const Entry &entry : kEntries) {
        auto *made = new QToolButton(this);
        look::setRole(made, "rail");
        made->setCheckable(true);
        made->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
        made->setIconSize({18, 18});
        made->setFocusPolicy(Qt::StrongFocus);
        made->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        m_group->addButton(made, int(entry.page));
        layout->addWidget(made);
    }
    layout->addStretch();
    connect(m_group, &QButtonGroup::idClicked, this, [this](int id) { Q_EMIT chosen(PageId(id)); });
    connect(&look::theme(), &look::Theme::changed, this, &Rail::refresh);
    look::bindText(this, [this] { refresh(); });
}

void Rail::setCurrent(PageId page)
{
    button(page)->setChecked(true);
}

QToolButton *Rail::button(PageId page) const
{
    return qobject_cast<QToolButton *>(m_group->button(int(page)));
}

void Rail::setProblemCount(int errors)
{
    m_errors = errors;
    refresh();
}

void Rail::refresh()
{
    for (const Entry &entry : kEntries) {
        QToolButton *shown = button(entry.page);
        const bool bad = entry.page == PageId::Configure && m_errors > 0;
        shown->setText(bad ? QStringLiteral("%1 · %2").arg(wordOf(entry.page)).arg(m_errors) : wordOf(entry.page));
        shown->setShortcut(QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_1 + int(entry.page))));     // setText() drops it
        shown->setIcon(look::icon(entry.icon, bad ? look::tokens().error : QColor()));
        shown->setAccessibleName(wordOf(entry.page));
        shown->setToolTip(bad ? tr("%n problem(s) must be mended before launch", nullptr, m_errors)
                              : QStringLiteral("%1 (%2)").arg(wordOf(entry.page), shown->shortcut().toString(QKeySequence::NativeText)));
    }
}

} // namespace stagewright::shell
