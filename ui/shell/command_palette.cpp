#include "ui/shell/command_palette.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

namespace stagewright::shell {

namespace {

constexpr int kMostShown = 60;

// All words of the query, in any order.
bool matches(const PaletteEntry &entry, const QStringList &words)
{
    const QString text = entry.title + QLatin1Char(' ') + entry.aside;
    for (const QString &word : words) {
        if (!text.contains(word, Qt::CaseInsensitive))
            return false;
    }
    return true;
}

} // namespace

CommandPalette::CommandPalette(QList<PaletteEntry> entries, QWidget *parent)
    : QDialog(parent), m_entries(std::move(entries)), m_field(new QLineEdit(this)), m_list(new QListWidget(this))
{
    setWindowTitle(tr("Find anything"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(560, 420);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 12, 12, 12);
    m_field->setPlaceholderText(tr("An option, a page or a command"));
    m_field->setAccessibleName(m_field->placeholderText());
    m_list->setAccessibleName(tr("Matches"));
    m_list->setUniformItemSizes(true);
    layout->addWidget(m_field);
    layout->addWidget(m_list);
    m_field->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_field, &QLineEdit::returnPressed, this, &CommandPalette::choose);
    connect(m_list, &QListWidget::itemActivated, this, &CommandPalette::choose);
    filter();
    m_field->setFocus();
}

void CommandPalette::filter()
{
    m_list->clear();
    const QStringList words = m_field->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (int i = 0; i < m_entries.size() && m_list->count() < kMostShown; ++i) {
        if (!matches(m_entries[i], words))
            continue;
        auto *item = new QListWidgetItem(m_entries[i].aside.isEmpty() ? m_entries[i].title
                                                                      : QStringLiteral("%1    %2").arg(m_entries[i].title, m_entries[i].aside), m_list);
        item->setData(Qt::UserRole, i);
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::choose()
{
    const QListWidgetItem *item = m_list->currentItem();
    if (!item)
        return;
    const auto act = m_entries[item->data(Qt::UserRole).toInt()].act;
    accept();
    act();
}

// Up and Down move in the list while the field keeps the focus.
bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_field && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (key == Qt::Key_Up || key == Qt::Key_Down) {
            const int row = m_list->currentRow() + (key == Qt::Key_Down ? 1 : -1);
            m_list->setCurrentRow(qBound(0, row, m_list->count() - 1));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace stagewright::shell
