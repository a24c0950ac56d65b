// The steps of a run as a table: the plots, to be read. The newest steps, in bounded memory.
#pragma once

#include <QAbstractTableModel>
#include <deque>
#include <vector>

#include "core/events/record.h"

namespace stagewright::models {

class StepTableModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { StepColumn, TimeColumn, LossColumn, RateColumn, GradNormColumn, SecondsColumn, WaitColumn, PeakColumn, BucketColumn, ColumnCount };
    static constexpr int kCapacity = 100'000;

    using QAbstractTableModel::QAbstractTableModel;
    void take(const std::vector<events::Record> &records);
    void clear();
    void retranslate();

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_rows.size()); }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Line { std::int64_t step; double time, loss, lr, gradNorm, seconds, wait; std::int64_t peak; events::Bucket bucket; };
    std::deque<Line> m_rows;               // newest last
};

} // namespace stagewright::models
