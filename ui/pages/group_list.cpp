#include "ui/pages/group_list.h"

#include <QPainter>
#include <QStyledItemDelegate>

#include "ui/look/language.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/editor_factory.h"
#include "ui/settings/option_words.h"

namespace stagewright::pages {
namespace {

enum Roles { IdRole = Qt::UserRole, ErrorsRole, WarningsRole, ChangedRole };

class GroupDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override { return {100, 31}; }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const auto &t = look::tokens();
        const bool selected = option.state & QStyle::State_Selected;
        if (selected)
            painter->fillRect(option.rect, t.raised);
        if (option.state & QStyle::State_HasFocus)
            painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()), t.accent);
        const QRect inside = option.rect.adjusted(14, 0, -14, 0);
        int right = inside.right();
        painter->setFont(look::Theme::uiFont(12, selected ? QFont::DemiBold : QFont::Normal));
        if (const int changed = index.data(ChangedRole).toInt(); changed > 0) {
            painter->setPen(t.muted);
            painter->drawText(QRect(right - 24, inside.top(), 25, inside.height()), Qt::AlignRight | Qt::AlignVCenter, QString::number(changed));
        }
        right -= 26;
        const int errors = index.data(ErrorsRole).toInt(), warnings = index.data(WarningsRole).toInt();
        if (errors + warnings > 0) {
            const QString count = (errors > 0 ? QStringLiteral("● ") : QStringLiteral("▲ ")) + QString::number(errors > 0 ? errors : warnings);
            painter->setPen(errors > 0 ? t.error : t.warning);
            painter->drawText(QRect(right - 34, inside.top(), 34, inside.height()), Qt::AlignRight | Qt::AlignVCenter, count);
            right -= 36;
        }
        painter->setFont(look::Theme::uiFont(13, selected ? QFont::DemiBold : QFont::Normal));
        painter->setPen(t.text);
        const QRect words(inside.left(), inside.top(), right - inside.left(), inside.height());
        painter->drawText(words, Qt::AlignVCenter | Qt::AlignLeft, painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, words.width()));
    }
};

} // namespace

GroupList::GroupList(QWidget *parent) : QListWidget(parent)
{
    setItemDelegate(new GroupDelegate(this));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    for (const auto &[id, title] : config::optionGroups()) {
        auto *item = new QListWidgetItem(this);
        item->setData(IdRole, look::q(id));
    }
    look::bindText(this, [this] {
        setAccessibleName(tr("Groups of options"));
        for (int i = 0; i < count(); ++i)
            item(i)->setText(settings::groupTitle(look::s(item(i)->data(IdRole).toString())));
    });
    connect(this, &QListWidget::currentItemChanged, this, [this](QListWidgetItem *now) {
        if (now)
            Q_EMIT groupChosen(now->data(IdRole).toString());
    });
}

void GroupList::show(const session::StageSnapshot &snapshot)
{
    for (int i = 0; i < count(); ++i) {
        const std::string id = look::s(item(i)->data(IdRole).toString());
        int changed = 0, errors = 0, warnings = 0;
        for (const auto &option : config::allOptions())
            if (option.group == id && settings::isEditable(option.type))
                changed += snapshot.isChanged(option);
        for (const auto &problem : snapshot.problems) {
            std::string_view path = problem.path;
            const config::Option *option = nullptr;
            while (!path.empty() && !(option = config::findOption(path)))
                path = path.rfind('.') == std::string_view::npos ? std::string_view() : path.substr(0, path.rfind('.'));
            if (!option)
                option = config::findByAlias(problem.path);
            if (option && option->group == id && problem.severity != Severity::Hint)
                ++(problem.severity == Severity::Error ? errors : warnings);
        }
        item(i)->setData(ChangedRole, changed);
        item(i)->setData(ErrorsRole, errors);
        item(i)->setData(WarningsRole, warnings);
        item(i)->setToolTip(tr("%1: %2 changed, %3 errors, %4 warnings").arg(item(i)->text()).arg(changed).arg(errors).arg(warnings));
    }
}

void GroupList::setCurrentGroup(const QString &group)
{
    const QSignalBlocker blocker(this);
    for (int i = 0; i < count(); ++i)
        if (item(i)->data(IdRole).toString() == group)
            setCurrentRow(i);
}

} // namespace stagewright::pages
