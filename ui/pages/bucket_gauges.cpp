#include "ui/pages/bucket_gauges.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/look/parts.h"

namespace stagewright::pages {

static constexpr int kBarHeight = 7;

BucketGauges::BucketGauges(QWidget *parent) : QWidget(parent)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(5);
    for (Row &row : m_rows) {
        row.holder = new QWidget(this);
        auto *grid = new QGridLayout(row.holder);
        grid->setContentsMargins(0, 0, 0, 0);
        grid->setVerticalSpacing(2);
        grid->setColumnStretch(0, 1);
        row.name = new look::ElidedLabel(row.holder);
        row.figure = look::label("", row.holder);
        row.bar = new look::PartsBar(row.holder);
        row.bar->setFixedHeight(kBarHeight);
        row.remark = look::label("muted", row.holder, true);
        grid->addWidget(row.name, 0, 0);
        grid->addWidget(row.figure, 0, 1, Qt::AlignRight);
        grid->addWidget(row.bar, 1, 0, 1, 2);
        grid->addWidget(row.remark, 2, 0, 1, 2);
        row.holder->hide();
        box->addWidget(row.holder);
    }
    m_more = look::label("muted", this);
    box->addWidget(m_more);
    hide();
}

void BucketGauges::setGauges(std::vector<BucketGauge> gauges)
{
    const auto fill = [](const BucketGauge &gauge) { return gauge.whole > 0 ? gauge.amount / gauge.whole : 0; };
    std::stable_sort(gauges.begin(), gauges.end(), [&](const BucketGauge &a, const BucketGauge &b) { return a.isWarning != b.isWarning ? a.isWarning : fill(a) > fill(b); });
    for (std::size_t i = 0; i < kMost; ++i) {
        m_rows[i].holder->setVisible(i < gauges.size());
        if (i < gauges.size())
            show(m_rows[i], gauges[i]);
    }
    const int more = int(gauges.size()) - int(kMost);
    m_more->setVisible(more > 0);
    m_more->setText(tr("and %n more bucket(s)", nullptr, more));
    setVisible(!gauges.empty());
}

void BucketGauges::show(const Row &row, const BucketGauge &gauge)
{
    row.name->setFullText(gauge.name);
    row.figure->setText(gauge.figure);
    look::setRole(row.figure, gauge.isWarning ? "warning" : "");
    row.bar->setParts({{gauge.amount, gauge.color}}, gauge.whole, gauge.mark);
    row.bar->setAccessibleName(gauge.name);
    row.bar->setAccessibleDescription(gauge.figure + QLatin1Char(' ') + gauge.remark);
    row.remark->setText(gauge.remark);
    row.remark->setVisible(!gauge.remark.isEmpty());
}

QString BucketGauges::text() const
{
    QStringList lines;
    for (const Row &row : m_rows) {
        if (!row.holder->isHidden())
            lines << QStringList{row.name->fullText(), row.figure->text(), row.remark->text()}.join(QLatin1Char('|'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace stagewright::pages
