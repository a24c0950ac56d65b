// The bucket table as a grid: resolutions down, frame counts across; a cell is (probability, batch) as the config has it.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>
#include <map>
#include <optional>
#include <string>

#include "core/config/value.h"

namespace stagewright::settings {

struct BucketCell {
    std::string probability, batch;                    // Python spelling: "1.0", "(1.0, 0.3)", "12", "None"
    bool odd = false;                                  // not of the form (probability, batch): shown as it is
    bool operator==(const BucketCell &) const = default;
};

class BucketGridModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Roles { BatchRole = Qt::UserRole, ProbabilityRole, PresentRole };
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(const config::Value &table);
    const QStringList &resolutions() const { return m_resolutions; }
    const std::vector<int> &frames() const { return m_frames; }
    std::optional<BucketCell> cell(int row, int column) const;
    QString pathOf(int row, int column, const QString &table) const;       // bucket_config.256px.65

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_resolutions.size()); }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : int(m_frames.size()); }
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_resolutions;
    std::vector<int> m_frames;
    std::map<std::pair<int, int>, BucketCell> m_cells;
};

} // namespace stagewright::settings
