// A list of small gauges, one a bucket: a name, a figure, a bar with a mark, a quiet remark.
#pragma once

#include <QColor>
#include <QWidget>
#include <array>

class QLabel;
namespace stagewright::look {
class ElidedLabel;
class PartsBar;
}

namespace stagewright::pages {

struct BucketGauge {
    QString name, figure, remark;
    double amount = 0, whole = 0, mark = -1;           // bytes; mark below 0: none
    QColor color;
    bool isWarning = false;
};

// Those that fill their bars most are shown; of more the number is said. Hidden while it has none.
class BucketGauges : public QWidget
{
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 5;

    explicit BucketGauges(QWidget *parent = nullptr);
    void setGauges(std::vector<BucketGauge> gauges);
    QString text() const;                              // what is shown, a line a bucket

private:
    struct Row {
        QWidget *holder;
        look::ElidedLabel *name;
        QLabel *figure, *remark;
        look::PartsBar *bar;
    };
    static void show(const Row &row, const BucketGauge &gauge);
    std::array<Row, kMost> m_rows;
    QLabel *m_more;
};

} // namespace stagewright::pages
