#include "ui/pages/row_list_model.h"

#include <QCoreApplication>
#include <QPointer>
#include <algorithm>

#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/session/thumbnail.h"

namespace stagewright::pages {

using look::q;

RowListModel::RowListModel(QObject *parent) : QAbstractTableModel(parent) { m_pool.setMaxThreadCount(2); }

RowListModel::~RowListModel() { forgetPictures(); }

void RowListModel::forgetPictures()
{
    *m_stop = true;                                    // a decoder looks at it between frames; nobody waits for it
    m_pool.clear();
    m_stop = std::make_shared<std::atomic<bool>>(false);
    m_asked.clear();
    m_made.clear();
}

void RowListModel::setList(std::shared_ptr<const session::RowList> list)
{
    const bool sameTable = m_list && list && m_list->open == list->open;
    beginResetModel();
    if (!sameTable)
        forgetPictures();
    m_list = std::move(list);
    m_shown = m_list ? int(std::min<std::size_t>(m_list->rows.size(), kAtOnce)) : 0;
    endResetModel();
}

void RowListModel::fetchMore(const QModelIndex &parent)
{
    if (!canFetchMore(parent))
        return;
    const int more = int(std::min<std::size_t>(m_list->rows.size() - std::size_t(m_shown), kAtOnce));
    beginInsertRows({}, m_shown, m_shown + more - 1);
    m_shown += more;
    endInsertRows();
}

void RowListModel::setPictures(bool shown)
{
    m_pictures = shown;
    if (m_shown > 0)
        Q_EMIT dataChanged(index(0, 0), index(m_shown - 1, 0), {Qt::DecorationRole});
}

void RowListModel::askForPicture(std::int64_t row) const
{
    if (!m_asked.insert(row).second)
        return;
    const auto &table = *m_list->open->table;
    m_pool.start([self = QPointer<RowListModel>(const_cast<RowListModel *>(this)), stop = m_stop, row, file = table.mediaPath(row), frame = table.cutout(row).firstFrame] {
        const auto made = *stop ? Result<QImage>(QImage()) : session::thumbnail(file, frame, kPictureSide, stop.get());
        const QImage picture = made ? *made : QImage();
        const QString wrong = made ? QString() : q(made.error().message());
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, stop, row, picture, wrong] {
            if (self && !*stop)
                self->takePicture(row, picture, wrong);
        }, Qt::QueuedConnection);
    });
}

void RowListModel::takePicture(std::int64_t row, const QImage &picture, const QString &wrong)
{
    m_made.insert(row, new Picture{picture, wrong});
    if (!m_list)
        return;
    const auto end = m_list->rows.begin() + m_shown;
    const auto at = std::find(m_list->rows.begin(), end, row);
    if (at == end)
        return;
    const auto changed = index(int(at - m_list->rows.begin()), RowColumn);
    Q_EMIT dataChanged(changed, changed.siblingAtColumn(WhyColumn));
}

QVariant RowListModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_shown)
        return {};
    const std::int64_t row = rowOf(index.row());
    const auto &table = *m_list->open->table;
    if (role == Qt::DecorationRole && index.column() == RowColumn && m_pictures) {
        if (const Picture *made = m_made.object(row))
            return made->image;
        askForPicture(row);
        return {};
    }
    if (role == Qt::FontRole)
        return index.column() == PathColumn ? QVariant(look::Theme::codeFont(12)) : QVariant();
    if (role == Qt::ForegroundRole)
        return index.column() == RowColumn ? QVariant(look::tokens().muted) : QVariant();
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    switch (index.column()) {
    case RowColumn: return look::count(row);
    case PathColumn: return role == Qt::ToolTipRole ? q(table.mediaPath(row)) : q(table.path(row));
    case CaptionColumn: return q(table.caption(row)).simplified();
    case WhyColumn: {
        const Picture *made = m_pictures ? m_made.object(row) : nullptr;
        return made && !made->wrong.isEmpty() ? made->wrong : q(m_list->why(row));
    }
    default: return {};
    }
}

QVariant RowListModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::TextAlignmentRole))
        return {};
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    switch (section) {
    case RowColumn: return tr("row");
    case PathColumn: return tr("file");
    case CaptionColumn: return tr("caption");
    case WhyColumn: return tr("why");
    default: return {};
    }
}

} // namespace stagewright::pages
