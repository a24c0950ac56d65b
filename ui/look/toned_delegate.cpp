#include "ui/look/toned_delegate.h"

#include "ui/look/theme.h"

namespace stagewright::look {

void TonedDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant tone = index.data(Qt::ForegroundRole);
    option->palette.setColor(QPalette::HighlightedText, tone.canConvert<QColor>() ? tone.value<QColor>() : tokens().text);
}

// The base class forgets that the style sheet's padding takes room from words that wrap.
QSize TonedDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    constexpr int kPadding = 22;
    QStyleOptionViewItem narrower(option);
    if (narrower.rect.width() > 2 * kPadding)
        narrower.rect.setWidth(narrower.rect.width() - kPadding);
    return QStyledItemDelegate::sizeHint(narrower, index);
}

} // namespace stagewright::look
