// Draws the items of a view as they speak, also while they are selected: a row's red stays red.
#pragma once

#include <QStyledItemDelegate>

namespace stagewright::look {

class TonedDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;
};

} // namespace stagewright::look
