#include "ui/models/keyed_table_model.h"

#include <QSet>
#include <algorithm>

#include "ui/look/theme.h"

namespace stagewright::models {

void KeyedTableModel::setHeaders(const QStringList &headers, const QList<int> &rightAligned)
{
    if (headers.size() != m_headers.size()) {
        beginResetModel();
        m_headers = headers;
        m_right = rightAligned;
        endResetModel();
    } else {
        m_headers = headers;
        m_right = rightAligned;
        if (!m_headers.isEmpty())
            Q_EMIT headerDataChanged(Qt::Horizontal, 0, int(m_headers.size()) - 1);
    }
}

int KeyedTableModel::indexOfKey(const QString &key) const
{
    for (int i = 0; i < m_rows.size(); ++i)
        if (m_rows.at(i).key == key)
            return i;
    return -1;
}

// Rows that keep their relative order stay; everything else is removed and inserted.
void KeyedTableModel::setRows(const QList<Row> &rows)
{
    QSet<QString> wanted;
    for (const auto &row : rows)
        wanted.insert(row.key);
    // Nothing of what was shown stays: one reset instead of thousands of single rows.
    if (std::none_of(m_rows.begin(), m_rows.end(), [&](const Row &row) { return wanted.contains(row.key); }) && !(m_rows.isEmpty() && rows.isEmpty())) {
        beginResetModel();
        m_rows = rows;
        endResetModel();
        return;
    }
    for (int i = int(m_rows.size()) - 1; i >= 0; --i)
        if (!wanted.contains(m_rows.at(i).key)) {
            beginRemoveRows({}, i, i);
            m_rows.removeAt(i);
            endRemoveRows();
        }
    for (int i = 0; i < rows.size(); ++i) {
        const int old = i < m_rows.size() && m_rows.at(i).key == rows.at(i).key ? i : indexOfKey(rows.at(i).key);
        if (old == i) {
            const bool same = m_rows.at(i).cells == rows.at(i).cells;
            m_rows[i] = rows.at(i);
            if (!same && !m_headers.isEmpty())
                Q_EMIT dataChanged(index(i, 0), index(i, int(m_headers.size()) - 1));
            continue;
        }
        if (old > i) {
            beginRemoveRows({}, old, old);
            m_rows.removeAt(old);
            endRemoveRows();
        }
        beginInsertRows({}, i, i);
        m_rows.insert(i, rows.at(i));
        endInsertRows();
    }
}

QVariant KeyedTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= m_rows.size())
        return {};
    const Row &row = m_rows.at(index.row());
    if (role == KeyRole)
        return row.key;
    if (role == DataRole)
        return row.data;
    if (index.column() >= row.cells.size())
        return {};
    const Cell &cell = row.cells.at(index.column());
    switch (role) {
    case Qt::DisplayRole: return cell.text;
    case Qt::ToolTipRole: return cell.toolTip.isEmpty() ? cell.text : cell.toolTip;
    case Qt::TextAlignmentRole: return int((cell.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case ToneRole: return int(cell.tone);
    case CodeRole: return cell.code;
    case Qt::FontRole: return cell.code ? QVariant(look::Theme::codeFont(12)) : QVariant();
    case Qt::ForegroundRole: {
        const auto &t = look::tokens();
        switch (cell.tone) {
        case Tone::Normal: return {};
        case Tone::Muted: return t.muted;
        case Tone::Good: return t.good;
        case Tone::Warning: return t.warning;
        case Tone::Error: return t.error;
        }
        return {};
    }
    default: return {};
    }
}

QVariant KeyedTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= m_headers.size())
        return {};
    if (role == Qt::DisplayRole)
        return m_headers.at(section);
    if (role == Qt::TextAlignmentRole)
        return int((m_right.contains(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

} // namespace stagewright::models
