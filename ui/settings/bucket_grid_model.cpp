#include "ui/settings/bucket_grid_model.h"

#include <algorithm>
#include <set>

#include "ui/look/words.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using look::q;

static BucketCell cellOf(const config::Value &value)
{
    if (value.isSequence() && value.items().size() == 2)
        return {session::spelled(value.items()[0]), session::spelled(value.items()[1]), false};
    return {session::spelled(value), {}, true};
}

void BucketGridModel::setTable(const config::Value &table)
{
    QStringList resolutions;
    std::set<int> frames;
    std::map<std::pair<int, int>, BucketCell> cells;
    if (table.isDict())
        for (const auto &[resolution, row] : table.dict()) {
            resolutions.append(q(resolution.text()));
            if (row.isDict())
                for (const auto &[count, value] : row.dict())
                    if (count.isInteger())
                        frames.insert(int(std::get<std::int64_t>(count.key)));
        }
    const std::vector<int> columns(frames.begin(), frames.end());
    int r = 0;
    if (table.isDict())
        for (const auto &[resolution, row] : table.dict()) {
            if (row.isDict())
                for (const auto &[count, value] : row.dict())
                    if (count.isInteger()) {
                        const auto at = std::lower_bound(columns.begin(), columns.end(), int(std::get<std::int64_t>(count.key)));
                        cells[{r, int(at - columns.begin())}] = cellOf(value);
                    }
            ++r;
        }
    if (resolutions == m_resolutions && columns == m_frames) {
        if (cells != m_cells) {
            m_cells = std::move(cells);
            Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        }
        return;
    }
    beginResetModel();                                 // the shape changed, by an edit of a person's: not live data
    m_resolutions = resolutions;
    m_frames = columns;
    m_cells = std::move(cells);
    endResetModel();
}

std::optional<BucketCell> BucketGridModel::cell(int row, int column) const
{
    const auto at = m_cells.find({row, column});
    return at == m_cells.end() ? std::nullopt : std::optional(at->second);
}

QString BucketGridModel::pathOf(int row, int column, const QString &table) const
{
    return u"%1.%2.%3"_s.arg(table, m_resolutions.value(row)).arg(m_frames[std::size_t(column)]);
}

QVariant BucketGridModel::data(const QModelIndex &index, int role) const
{
    const auto found = cell(index.row(), index.column());
    switch (role) {
    case PresentRole: return found.has_value();
    case BatchRole: return found ? q(found->odd ? found->probability : found->batch) : QString();
    case ProbabilityRole: return found && !found->odd ? q(found->probability) : QString();
    case Qt::DisplayRole: return found ? q(found->batch) : QString();
    case Qt::AccessibleTextRole:
    case Qt::ToolTipRole:
        if (!found)
            return tr("%1 × %2 frames: no bucket. Enter or double-click adds one.").arg(m_resolutions.value(index.row())).arg(m_frames[std::size_t(index.column())]);
        return tr("%1 × %2 frames: batch %3 per GPU, probability %4").arg(m_resolutions.value(index.row())).arg(m_frames[std::size_t(index.column())])
            .arg(q(found->batch), q(found->probability));
    default: return {};
    }
}

QVariant BucketGridModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return int((orientation == Qt::Horizontal ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Vertical)
        return m_resolutions.value(section);
    const int count = section < int(m_frames.size()) ? m_frames[std::size_t(section)] : 0;
    return section == 0 ? tr("%n frame(s)", nullptr, count) : QString::number(count);
}

} // namespace stagewright::settings
