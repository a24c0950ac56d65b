// A table of ready-made cells whose rows have keys: new contents are taken as inserts, removals and changes of single rows, so that
// selections and scroll positions survive a refresh.
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QStringList>

#include "ui/models/tones.h"

namespace stagewright::models {

struct Cell {
    QString text;
    Tone tone = Tone::Normal;
    bool code = false;                     // monospace
    bool right = false;                    // numbers
    QString toolTip = {};
    bool operator==(const Cell &) const = default;
};

struct Row {
    QString key;                           // unique in the table
    QList<Cell> cells;
    QVariant data = {};                    // DataRole: whatever the page needs back
};

class KeyedTableModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Roles { KeyRole = Qt::UserRole, DataRole, ToneRole, CodeRole };
    using QAbstractTableModel::QAbstractTableModel;

    void setHeaders(const QStringList &headers, const QList<int> &rightAligned = {});
    void setRows(const QList<Row> &rows);
    const Row &row(int index) const { return m_rows.at(index); }
    int indexOfKey(const QString &key) const;

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_rows.size()); }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_headers.size()); }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QStringList m_headers;
    QList<int> m_right;
    QList<Row> m_rows;
};

} // namespace stagewright::models
