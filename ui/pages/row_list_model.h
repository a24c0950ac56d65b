// The rows of a dataset that a person asked for, a thousand at a time, with pictures on demand.
#pragma once

#include <QAbstractTableModel>
#include <QCache>
#include <QImage>
#include <QThreadPool>
#include <memory>
#include <set>

#include "ui/session/data_facts.h"

namespace stagewright::pages {

class RowListModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { RowColumn, PathColumn, CaptionColumn, WhyColumn, ColumnCount };
    static constexpr int kAtOnce = 1000;
    static constexpr int kPictureSide = 72;            // pixels

    explicit RowListModel(QObject *parent = nullptr);
    ~RowListModel() override;
    void setList(std::shared_ptr<const session::RowList> list);
    const std::shared_ptr<const session::RowList> &list() const { return m_list; }
    std::int64_t rowOf(int index) const { return m_list->rows[std::size_t(index)]; }
    // Decoded off the GUI thread, for the rows that a view asks about.
    void setPictures(bool shown);
    bool hasPictures() const { return m_pictures; }
    void retranslate() { Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1); }

    int rowCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : m_shown; }
    int columnCount(const QModelIndex &parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool canFetchMore(const QModelIndex &parent) const override { return !parent.isValid() && m_list && std::size_t(m_shown) < m_list->rows.size(); }
    void fetchMore(const QModelIndex &parent) override;

private:
    void askForPicture(std::int64_t row) const;
    void takePicture(std::int64_t row, const QImage &picture, const QString &wrong);
    void forgetPictures();

    std::shared_ptr<const session::RowList> m_list;
    int m_shown = 0;
    bool m_pictures = false;
    struct Picture { QImage image; QString wrong; };
    mutable QCache<qint64, Picture> m_made{500};
    mutable std::set<std::int64_t> m_asked;
    std::shared_ptr<std::atomic<bool>> m_stop = std::make_shared<std::atomic<bool>>(false);
    mutable QThreadPool m_pool;
};

} // namespace stagewright::pages
