// The log of a run: notes, states, saves, problems and bad samples as lines with levels, newest last, in bounded memory.
#pragma once

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <deque>
#include <vector>

#include "core/events/record.h"

namespace stagewright::models {

class LogModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Level { Step, Info, Warning, Error };
    enum Roles { LevelRole = Qt::UserRole, TimeRole, TextRole };
    static constexpr int kCapacity = 20'000;       // beyond, the oldest lines are let go

    using QAbstractListModel::QAbstractListModel;
    void take(const std::vector<events::Record> &records);
    void add(double time, Level level, const QString &text);
    void clear();

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_lines.size()); }
    QVariant data(const QModelIndex &index, int role) const override;

private:
    struct Line { double time; Level level; QString text; };
    void append(std::vector<Line> lines);
    std::deque<Line> m_lines;
};

// Shows the lines at or above a level that contain a text.
class LogFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setLowest(LogModel::Level level);
    void setSearch(const QString &text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    LogModel::Level m_lowest = LogModel::Info;
    QString m_search;
};

} // namespace stagewright::models
