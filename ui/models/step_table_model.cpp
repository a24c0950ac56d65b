#include "ui/models/step_table_model.h"

#include "ui/look/words.h"

namespace stagewright::models {

using namespace Qt::StringLiterals;

void StepTableModel::take(const std::vector<events::Record> &records)
{
    std::vector<Line> lines;
    for (const auto &record : records)
        if (const auto *step = std::get_if<events::Step>(&record.payload))
            lines.push_back({record.step, record.time, step->loss, step->lr, step->gradNorm, step->seconds, step->dataWaitSeconds, step->peakBytes, step->bucket});
    if (lines.empty())
        return;
    if (const int over = int(m_rows.size() + lines.size()) - kCapacity; over > 0 && !m_rows.empty()) {
        const int gone = std::min(int(m_rows.size()), over + kCapacity / 10);
        beginRemoveRows({}, 0, gone - 1);
        m_rows.erase(m_rows.begin(), m_rows.begin() + gone);
        endRemoveRows();
    }
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + lines.size()) - 1);
    m_rows.insert(m_rows.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
    endInsertRows();
}

void StepTableModel::clear()
{
    if (m_rows.empty())
        return;
    beginRemoveRows({}, 0, int(m_rows.size()) - 1);
    m_rows.clear();
    endRemoveRows();
}

void StepTableModel::retranslate() { Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1); }

QVariant StepTableModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid() || index.row() >= int(m_rows.size()))
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((index.column() == BucketColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    const Line &line = m_rows[std::size_t(index.row())];
    switch (index.column()) {
    case StepColumn: return look::count(line.step);
    case TimeColumn: return look::clock(line.time);
    case LossColumn: return look::figure(line.loss);
    case RateColumn: return look::figure(line.lr, 3);
    case GradNormColumn: return look::figure(line.gradNorm, 3);
    case SecondsColumn: return QString::number(line.seconds, 'f', 3);
    case WaitColumn: return QString::number(line.wait, 'f', 3);
    case PeakColumn: return look::bytes(double(line.peak));
    case BucketColumn: return u"%1×%2 b%3"_s.arg(look::q(line.bucket.resolution)).arg(line.bucket.frames).arg(line.bucket.batchSize);
    default: return {};
    }
}

QVariant StepTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == BucketColumn ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case StepColumn: return tr("step");
    case TimeColumn: return tr("time");
    case LossColumn: return tr("loss");
    case RateColumn: return tr("learning rate");
    case GradNormColumn: return tr("gradient norm");
    case SecondsColumn: return tr("seconds");
    case WaitColumn: return tr("waiting for data, s");
    case PeakColumn: return tr("peak");
    case BucketColumn: return tr("bucket");
    default: return {};
    }
}

} // namespace stagewright::models
