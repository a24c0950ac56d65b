#include "ui/pages/plan_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/units.h"
#include "ui/look/flow_layout.h"
#include "ui/look/kind_colors.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/kind_bars.h"
#include "ui/plots/picture_export.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

namespace {

constexpr int kAlmostAll = 1000;                       // of the room, up to what the bars need
constexpr int kAround = 12;                            // pixels around the bars, or a table as long

} // namespace

QString bucketWords(const events::PlannedBucket &bucket)
{
    return PlanPanel::tr("%1 × %2 frames, batch %3").arg(q(bucket.resolution)).arg(bucket.frames).arg(bucket.batchSize);
}

PlanPanel::PlanPanel(QWidget *parent) : QWidget(parent)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(6);
    m_verdict = look::label("strong", this, true);
    m_remark = look::label("muted", this, true);
    box->addWidget(m_verdict);
    box->addWidget(m_remark);

    m_body = new QWidget(this);
    auto *inner = new QVBoxLayout(m_body);
    inner->setContentsMargins(0, 4, 0, 0);
    inner->setSpacing(8);
    auto *tools = new QHBoxLayout;
    m_legend = new QWidget(m_body);
    auto *flow = new look::FlowLayout(m_legend, 12, 2);
    for (const MemoryKind kind : look::kStackOrder)
        flow->addWidget(new look::LegendItem(look::colorOf(kind), m_legend));
    m_asTable = look::linkButton(m_body);
    m_export = look::linkButton(m_body);
    tools->addWidget(m_legend, 1);
    tools->addWidget(m_asTable, 0, Qt::AlignTop);
    tools->addWidget(m_export, 0, Qt::AlignTop);
    inner->addLayout(tools);
    m_view = new QStackedWidget(m_body);
    m_scroll = new QScrollArea(m_view);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    auto *barsHolder = new QWidget(m_scroll);
    look::setRole(barsHolder, "scrollbody");
    auto *barsBox = new QVBoxLayout(barsHolder);
    barsBox->setContentsMargins(0, 0, 0, 0);
    m_bars = new plots::KindBars(barsHolder);
    barsBox->addWidget(m_bars);
    barsBox->addStretch();
    m_scroll->setWidget(barsHolder);
    m_table = look::quietTable(m_view, &m_model);
    m_view->addWidget(m_scroll);
    m_view->addWidget(m_table);
    inner->addWidget(m_view, kAlmostAll);
    auto *feet = new QHBoxLayout;
    feet->setSpacing(24);
    m_peakTitle = look::sectionLabel(m_body);
    m_peakWords = look::label("", m_body, true);
    m_hostTitle = look::sectionLabel(m_body);
    m_hostWords = look::label("", m_body, true);
    for (const auto &[title, words] : {std::pair(m_peakTitle, m_peakWords), std::pair(m_hostTitle, m_hostWords)}) {
        auto *column = new QVBoxLayout;
        words->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        column->setSpacing(4);
        column->addWidget(title, 0, Qt::AlignTop);
        column->addWidget(words, 1);
        feet->addLayout(column, 1);
    }
    inner->addLayout(feet);
    inner->addStretch(1);
    box->addWidget(m_body, 1);
    connect(m_bars, &plots::KindBars::barChosen, this, &PlanPanel::showBucket);
    connect(m_asTable, &QPushButton::clicked, this, [this] {
        m_view->setCurrentIndex(1 - m_view->currentIndex());
        retranslate();
    });
    connect(m_export, &QPushButton::clicked, this, &PlanPanel::exportAsked);
    look::bindText(this, [this] { retranslate(); });
    m_body->hide();
}

void PlanPanel::setNotice(const QString &sentence, const char *role)
{
    look::setRole(m_verdict, role);
    m_verdict->setText(sentence);
    m_remark->setVisible(false);
    if (qstrcmp(role, "muted") != 0) {
        m_body->hide();
        m_has = false;
    }
}

void PlanPanel::setPlan(const events::Plan &plan, std::int64_t limitBytes)
{
    m_plan = plan;
    m_limit = limitBytes;
    m_has = true;
    m_bucket = std::clamp<int>(int(plan.worstBucket), 0, std::max(0, int(plan.buckets.size()) - 1));
    m_body->show();
    retranslate();
}

void PlanPanel::retranslate()
{
    m_asTable->setText(m_view->currentIndex() == 0 ? tr("As table") : tr("As plot"));
    m_export->setText(tr("Export…"));
    m_peakTitle->setText(tr("AT THE PEAK"));
    m_hostTitle->setText(tr("HOST MEMORY"));
    m_bars->setAccessibleName(tr("Predicted memory by bucket"));
    m_table->setAccessibleName(tr("Predicted memory by bucket, as a table"));
    int item = 0;
    for (auto *legend : m_legend->findChildren<look::LegendItem *>(QString(), Qt::FindDirectChildrenOnly))
        legend->setText(look::wordOf(look::kStackOrder[item++]));
    if (!m_has || m_plan.buckets.empty())
        return;
    const auto &worst = m_plan.buckets[std::size_t(std::clamp<std::int64_t>(m_plan.worstBucket, 0, std::int64_t(m_plan.buckets.size()) - 1))];
    const QString figures = tr("%1 of %2 on %3").arg(look::bytes(double(m_plan.deviceTotalBytes)), look::bytes(double(m_limit)), q(m_plan.fitDevice));
    const int failing = int(std::count_if(m_plan.buckets.begin(), m_plan.buckets.end(), [](const auto &bucket) { return !bucket.fits; }));
    look::setRole(m_verdict, m_plan.fits ? "good" : "error");
    m_verdict->setText(m_plan.fits ? tr("Fits: %1, give or take %2 %").arg(figures).arg(m_plan.errorBand * 100, 0, 'f', 0)
                                   : tr("Does not fit: %1; %2 of %3 buckets are too large").arg(figures).arg(failing).arg(m_plan.buckets.size()));
    m_remark->setText(tr("Worst bucket: %1. Planned in %2. The band: %3.").arg(bucketWords(worst), look::duration(m_plan.seconds), q(m_plan.errorBandReason)));
    m_remark->show();
    std::vector<plots::KindBar> bars;
    QStringList said;
    for (const auto &bucket : m_plan.buckets) {
        const std::int64_t device = bucket.peakReservedBytes + m_plan.contextBytes;
        plots::KindBar bar{bucketWords(bucket), look::bytes(double(device)), bucket.byKind, std::max<std::int64_t>(0, device - bucket.peakBytes), bucket.fits, m_plan.errorBand * double(bucket.peakBytes)};
        if (!bucket.fits)
            bar.remark = tr("%1 ✕ does not fit").arg(bar.remark);
        bars.push_back(std::move(bar));
    }
    m_bars->setBars(std::move(bars), m_limit, tr("%1 available").arg(look::bytes(double(m_limit))));
    m_bars->setAccessibleDescription(textAlternative());
    m_view->setMaximumHeight(m_bars->sizeHint().height() + kAround);
    const auto &host = m_plan.host;
    m_hostWords->setText(tr("%1: activation buffer %2, snapshots for saves %3, clips that wait %4")
                             .arg(look::bytes(double(host.total)), look::bytes(double(host.pinned)), look::bytes(double(host.staging)), look::bytes(double(host.data))));
    fillTable();
    showBucket(m_bucket);
}

void PlanPanel::showBucket(int index)
{
    if (!m_has || index < 0 || index >= int(m_plan.buckets.size()))
        return;
    m_bucket = index;
    m_bars->setChosen(index);
    // Once the bars have their place.
    QMetaObject::invokeMethod(m_scroll, [this, index] { m_scroll->ensureVisible(0, (index + 1) * plots::KindBars::kRowPixels, 0, 2 * plots::KindBars::kRowPixels); }, Qt::QueuedConnection);
    const auto &bucket = m_plan.buckets[std::size_t(index)];
    const double device = double(bucket.peakReservedBytes + m_plan.contextBytes);
    QStringList parts;
    for (const MemoryKind kind : look::kStackOrder)
        if (const auto amount = bucket.byKind[std::size_t(kind)]; amount > 0)
            parts << look::wordOf(kind) + u' ' + look::bytes(double(amount));
    if (device > double(bucket.peakBytes))
        parts << tr("allocator and context %1").arg(look::bytes(device - double(bucket.peakBytes)));
    QString where;
    for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase)
        if (kPhaseNames[phase] == bucket.phase)
            where = look::wordOf(Phase(phase));
    if (bucket.block >= 0)
        where = tr("%1 of block %2").arg(where).arg(bucket.block + 1);
    QString words = tr("%1: %2 in %3, about %4 a step").arg(bucketWords(bucket), look::bytes(device), where, look::duration(bucket.stepSeconds));
    if (bucket.bufferBytes > 0)
        words += tr("; activation buffer filled with %1").arg(look::bytes(double(bucket.bufferBytes)));
    if (bucket.keptBlocks > 0)
        words += tr("; %n block(s) find no room in the activation buffer", nullptr, int(bucket.keptBlocks));
    m_peakWords->setText(words + u"\n"_s + parts.join(u" · "_s));
}

void PlanPanel::fillTable()
{
    const QList<QStringList> all = rows();
    QList<int> right;
    for (int i = 1; i < all.first().size() - 1; ++i)
        right << i;
    m_model.setHeaders(all.first(), right);
    QList<models::Row> made;
    for (qsizetype i = 1; i < all.size(); ++i) {
        models::Row row{u"%1"_s.arg(i), {}, {}};
        for (qsizetype cell = 0; cell < all[i].size(); ++cell)
            row.cells << models::Cell{all[i][cell], cell == all[i].size() - 1 && !m_plan.buckets[std::size_t(i - 1)].fits ? models::Tone::Error : models::Tone::Normal, false, right.contains(int(cell))};
        made << row;
    }
    m_model.setRows(made);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
}

// The header first. Memory in GiB.
QList<QStringList> PlanPanel::rows() const
{
    QStringList header{tr("bucket"), tr("GiB on the device")};
    for (const MemoryKind kind : look::kStackOrder)
        header << look::wordOf(kind);
    header << tr("allocator, context") << tr("seconds a step") << tr("fits");
    QList<QStringList> all{header};
    const auto number = [](double bytes) { return QString::number(bytes / kGiB, 'f', 3); };
    for (const auto &bucket : m_plan.buckets) {
        const double device = double(bucket.peakReservedBytes + m_plan.contextBytes);
        QStringList row{bucketWords(bucket), number(device)};
        for (const MemoryKind kind : look::kStackOrder)
            row << number(double(bucket.byKind[std::size_t(kind)]));
        row << number(device - double(bucket.peakBytes)) << QString::number(bucket.stepSeconds, 'g', 4) << (bucket.fits ? tr("yes") : tr("no"));
        all << row;
    }
    return all;
}

QString PlanPanel::exportTo(const QString &file)
{
    return file.endsWith(u".csv"_s, Qt::CaseInsensitive) ? plots::exportRows(rows(), file) : m_bars->exportPicture(file);
}

QString PlanPanel::textAlternative() const
{
    QStringList lines{m_verdict->text()};
    for (const auto &bucket : m_plan.buckets)
        lines << tr("%1: %2, %3").arg(bucketWords(bucket), look::bytes(double(bucket.peakReservedBytes + m_plan.contextBytes)), bucket.fits ? tr("fits") : tr("does not fit"));
    return lines.join(u'\n');
}

} // namespace stagewright::pages
