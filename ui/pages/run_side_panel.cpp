#include "ui/pages/run_side_panel.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>

#include "core/base/host.h"
#include "ui/look/kind_colors.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/bucket_gauges.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

RunSidePanel::RunSidePanel(const session::RunSession *run, QWidget *parent) : QScrollArea(parent), m_run(run)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    look::setRole(this, "rightpanel");
    auto *body = new QWidget(this);
    look::setRole(body, "panel");
    auto *box = new QVBoxLayout(body);
    box->setContentsMargins(14, 12, 12, 14);
    box->setSpacing(5);
    const auto section = [&](QLabel **title) {
        box->addSpacing(*title == nullptr ? 8 : 0);
        *title = look::sectionLabel(body);
        box->addWidget(*title);
    };
    m_runTitle = look::sectionLabel(body);
    m_runName = new look::ElidedLabel(body, Qt::ElideMiddle);
    m_runFolder = new look::ElidedLabel(body, Qt::ElideMiddle);
    look::setRole(m_runFolder, "caption");
    for (QWidget *widget : std::initializer_list<QWidget *>{m_runTitle, m_runName, m_runFolder})
        box->addWidget(widget);
    box->addSpacing(8);
    auto *lanesTitle = look::sectionLabel(body);
    box->addWidget(lanesTitle);
    for (const auto lane : plots::kLanes) {
        auto *check = new QCheckBox(body);
        m_lanes[lane] = check;
        box->addWidget(check);
        connect(check, &QCheckBox::toggled, this, [this, lane](bool on) { Q_EMIT laneToggled(lane, on); });
    }
    m_peaksTitle = m_bufferTitle = m_phasesTitle = m_savesTitle = m_dataTitle = nullptr;
    section(&m_peaksTitle);
    m_peaks = new BucketGauges(body);
    box->addWidget(m_peaks);
    section(&m_bufferTitle);
    m_bufferBar = new look::PartsBar(body);
    m_bufferWords = look::label("caption", body, true);
    m_bufferMore = look::label("muted", body, true);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_bufferBar, m_bufferWords, m_bufferMore})
        box->addWidget(widget);
    m_buffers = new BucketGauges(body);
    box->addWidget(m_buffers);
    section(&m_phasesTitle);
    auto *grid = new QGridLayout;
    grid->setVerticalSpacing(3);
    grid->setColumnStretch(0, 1);
    for (int i = 0; i < int(kPhaseNames.size()); ++i) {
        auto *name = look::label("", body), *time = look::label("", body);
        time->setAlignment(Qt::AlignRight);
        grid->addWidget(name, i, 0);
        grid->addWidget(time, i, 1);
        m_phases[Phase(i)] = {name, time};
    }
    box->addLayout(grid);
    section(&m_dataTitle);
    m_dataWords = look::label("warning", body, true);
    box->addWidget(m_dataWords);
    section(&m_savesTitle);
    m_saves = new QVBoxLayout;
    m_saves->setSpacing(2);
    box->addLayout(m_saves);
    for (int i = 0; i < 4; ++i) {
        auto *label = new look::ElidedLabel(body);
        m_saves->addWidget(label);
        m_saveLabels.append(label);
    }
    m_open = look::linkButton(body);
    box->addWidget(m_open);
    box->addStretch();
    setWidget(body);
    connect(m_open, &QPushButton::clicked, this, &RunSidePanel::checkpointsAsked);
    look::bindText(this, [this, lanesTitle] {
        m_runTitle->setText(tr("RUN"));
        lanesTitle->setText(tr("LANES"));
        for (auto &[lane, check] : m_lanes)
            check->setText(plots::titleOf(lane));
        m_peaksTitle->setText(tr("PEAK OF EACH BUCKET"));
        m_bufferTitle->setText(tr("ACTIVATION BUFFER"));
        m_phasesTitle->setText(tr("THIS STEP"));
        m_dataTitle->setText(tr("DATA"));
        m_savesTitle->setText(tr("CHECKPOINTS"));
        m_open->setText(tr("Open in Checkpoints"));
        refresh();
    });
}

void RunSidePanel::setLaneChecked(plots::Lane lane, bool on) { m_lanes.at(lane)->setChecked(on); }

void RunSidePanel::refresh()
{
    m_runName->setFullText(m_run->name());
    m_runFolder->setFullText(q(std::filesystem::path(look::s(m_run->folder())).parent_path()));
    refreshPeaks();
    refreshBuffer();
    refreshPhases();
    refreshSaves();
    const auto &bad = m_run->facts().lastBadSample;
    m_dataTitle->setVisible(bad.has_value());
    m_dataWords->setVisible(bad.has_value());
    if (bad)
        m_dataWords->setText(tr("%1 clips could not be used, the last in row %2").arg(bad->total).arg(bad->row));
}

// As in the strip of buckets.
static QString gaugeName(const session::RunBucket &bucket)
{
    return u"%1×%2 b%3"_s.arg(q(bucket.bucket.resolution)).arg(bucket.bucket.frames).arg(bucket.bucket.batchSize);
}

// Shown once there is a prediction to compare with.
void RunSidePanel::refreshPeaks()
{
    const auto &buckets = m_run->facts().buckets;
    std::vector<BucketGauge> gauges;
    std::int64_t whole = 0;
    for (const auto &[name, bucket] : buckets.all())
        whole = std::max({whole, bucket.peakBytes, bucket.predictedBytes});
    for (const auto &[name, bucket] : buckets.all()) {
        if (bucket.predictedBytes <= 0 || bucket.peakBytes <= 0)
            continue;
        const double deviation = double(bucket.peakBytes) / double(bucket.predictedBytes) - 1;
        BucketGauge gauge{gaugeName(bucket), look::bytes(double(bucket.peakBytes)), {}, double(bucket.peakBytes), double(whole), double(bucket.predictedBytes), look::colorOf(MemoryKind::Activation), false};
        gauge.isWarning = deviation > buckets.prediction()->errorBand;
        gauge.remark = tr("predicted %1, so %2 %").arg(look::bytes(double(bucket.predictedBytes)), QString::asprintf("%+.1f", 100 * deviation));
        gauges.push_back(std::move(gauge));
    }
    m_peaksTitle->setVisible(!gauges.empty());
    m_peaks->setGauges(std::move(gauges));
}

void RunSidePanel::refreshBuffer()
{
    const auto &buffer = m_run->facts().buffer;
    const bool any = buffer && buffer->capacityBytes > 0;
    for (QWidget *widget : std::initializer_list<QWidget *>{m_bufferTitle, m_bufferBar, m_bufferWords, m_bufferMore})
        widget->setVisible(any);
    m_buffers->setGauges({});
    if (!any)
        return;
    const auto &buckets = m_run->facts().buckets;
    const QColor color = look::colorOf(MemoryKind::CheckpointedInput);
    m_bufferBar->setParts({{double(buffer->highWaterBytes), color}}, double(buffer->capacityBytes), double(buckets.highWaterBytes()));
    m_bufferWords->setText(tr("%1 of %2 · %3 blocks").arg(look::bytes(double(buffer->highWaterBytes)), look::bytes(double(buffer->capacityBytes))).arg(buffer->offloadedBlocks));
    m_bufferMore->setText(tr("at most %1 so far, of any bucket").arg(look::bytes(double(buckets.highWaterBytes()))));
    std::vector<BucketGauge> gauges;
    for (const auto &[name, bucket] : buckets.all()) {
        if (bucket.tellings == 0)
            continue;
        BucketGauge gauge{gaugeName(bucket), look::bytes(double(bucket.highWaterBytes)), {}, double(bucket.highWaterBytes), double(buffer->capacityBytes), -1, color, bucket.keptBlocks > 0};
        gauge.remark = tr("%1 blocks · copies stall %2 ms an update, %3 % of it").arg(bucket.offloadedBlocks).arg(look::figure(1000 * bucket.stallOfUpdate(), 3)).arg(100 * bucket.stallShare(), 0, 'f', 1);
        if (bucket.keptBlocks > 0)
            gauge.remark += u'\n' + tr("%n block(s) had no room and stayed on the device", nullptr, int(bucket.keptBlocks));
        gauges.push_back(std::move(gauge));
    }
    m_buffers->setGauges(std::move(gauges));
}

void RunSidePanel::refreshPhases()
{
    const auto &step = m_run->facts().lastStep;
    m_phasesTitle->setVisible(step.has_value());
    for (auto &[phase, labels] : m_phases) {
        const double seconds = step ? step->phaseSeconds[std::size_t(phase)] : 0;
        labels.first->setVisible(seconds > 0);
        labels.second->setVisible(seconds > 0);
        if (seconds > 0) {
            labels.first->setText(look::wordOf(phase));
            labels.second->setText(tr("%1 s").arg(seconds, 0, 'f', seconds < 0.1 ? 3 : 2));
        }
    }
}

void RunSidePanel::refreshSaves()
{
    const auto &saves = m_run->facts().saves;
    m_savesTitle->setVisible(!saves.empty());
    m_open->setVisible(!saves.empty());
    for (int i = 0; i < m_saveLabels.size(); ++i) {
        auto *label = static_cast<look::ElidedLabel *>(m_saveLabels[i]);
        const bool any = std::size_t(i) < saves.size();
        label->setVisible(any);
        if (!any)
            continue;
        const auto &save = saves[saves.size() - 1 - std::size_t(i)];
        const QString name = save.step >= 0 ? tr("step %1").arg(look::count(save.step)) : q(std::filesystem::path(save.path).filename());
        if (save.phase == "failed") {
            look::setRole(label, "error");
            label->setFullText(u"✕ "_s + name + u" · "_s + tr("failed: %1").arg(q(save.sentence)));
        } else if (save.committed > 0) {
            look::setRole(label, "good");
            label->setFullText(u"✓ "_s + name + u" · "_s + (save.phase == "done" ? tr("verified") : tr("committed")) + u" · "_s + look::ago(save.committed, wallSeconds()));
        } else {
            look::setRole(label, "warning");
            label->setFullText(u"◔ "_s + name + u" · "_s + look::wordOfSavePhase(save.phase));
        }
    }
}

} // namespace stagewright::pages
