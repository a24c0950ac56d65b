#include "ui/pages/run_page.h"

#include <QDesktopServices>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/look/flow_layout.h"
#include "ui/look/kind_colors.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/pages/ending_card.h"
#include "ui/pages/log_view.h"
#include "ui/pages/run_figures.h"
#include "ui/pages/run_side_panel.h"
#include "ui/plots/run_plot.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

RunPage::RunPage(session::RunSession *run, session::Preferences *preferences, QWidget *parent)
    : QWidget(parent), m_run(run), m_preferences(preferences), m_stack(new QStackedWidget(this))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->addWidget(m_stack);
    m_stack->addWidget(createEmpty());
    m_stack->addWidget(createBody());
    // Words such as "3 min ago" grow old without news.
    m_ageTimer = new QTimer(this);
    m_ageTimer->setInterval(10'000);
    connect(m_ageTimer, &QTimer::timeout, this, [this] { if (isVisible()) m_side->refresh(); });
    m_ageTimer->start();
    connectRun();
    refresh();
}

QWidget *RunPage::createEmpty()
{
    auto *page = new QWidget(m_stack);
    auto *box = new QVBoxLayout(page);
    m_emptyTitle = look::label("title", page);
    m_emptyWords = look::label("muted", page, true);
    m_emptyWords->setObjectName(QStringLiteral("emptyWords"));
    m_emptyWords->setAlignment(Qt::AlignHCenter);
    m_emptyWords->setFixedWidth(460);
    // Between stretches: an aligned item would get the height that the words have at the page's whole width, which is one line.
    auto *words = new QHBoxLayout;
    words->addStretch();
    words->addWidget(m_emptyWords);
    words->addStretch();
    m_emptyLaunch = new QPushButton(page);
    look::setRole(m_emptyLaunch, "primary");
    box->addStretch(2);
    box->addWidget(m_emptyTitle, 0, Qt::AlignHCenter);
    box->addLayout(words);
    box->addSpacing(8);
    box->addWidget(m_emptyLaunch, 0, Qt::AlignHCenter);
    box->addStretch(3);
    connect(m_emptyLaunch, &QPushButton::clicked, this, &RunPage::launchAsked);
    look::bindText(page, [this] {
        m_emptyTitle->setText(tr("No run is shown"));
        m_emptyWords->setText(tr("Launch trains the stage that is open. Earlier runs are found with Ctrl+K, or on the Checkpoints page."));
        m_emptyLaunch->setText(tr("Launch"));
    });
    return page;
}

QWidget *RunPage::createHead()
{
    auto *head = new QWidget(this);
    auto *line = new QHBoxLayout(head);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    m_figures = new RunFigures(m_run, head);
    m_save = new QPushButton(head);
    m_follow = new QPushButton(head);
    m_follow->setCheckable(true);
    m_follow->setChecked(true);
    line->addWidget(m_figures, 1);
    line->addWidget(m_save, 0, Qt::AlignVCenter);
    line->addWidget(m_follow, 0, Qt::AlignVCenter);
    return head;
}

QWidget *RunPage::createBody()
{
    auto *page = new QWidget(m_stack);
    auto *line = new QHBoxLayout(page);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(0);
    auto *middle = new QWidget(page);
    auto *box = new QVBoxLayout(middle);
    box->setContentsMargins(16, 12, 16, 8);
    box->setSpacing(8);
    m_notice = look::label("warning", middle, true);
    m_notice->hide();
    m_above = look::label("warning", middle, true);
    m_above->hide();
    m_ending = new EndingCard(m_run, middle);
    box->addWidget(m_notice);
    box->addWidget(m_above);
    box->addWidget(m_ending);
    box->addWidget(createHead());

    auto *tools = new QHBoxLayout;
    tools->setSpacing(10);
    m_legend = new QWidget(middle);
    auto *flow = new look::FlowLayout(m_legend, 12, 2);
    for (const MemoryKind kind : look::kStackOrder) {
        m_legendItems[kind] = new look::LegendItem(look::colorOf(kind), m_legend);
        flow->addWidget(m_legendItems[kind]);
    }
    m_whole = look::linkButton(middle);
    m_table = look::linkButton(middle);
    m_export = look::linkButton(middle);
    tools->addWidget(m_legend, 1);
    for (auto *button : {m_whole, m_table, m_export})
        tools->addWidget(button, 0, Qt::AlignTop);
    box->addLayout(tools);

    auto *splitter = new QSplitter(Qt::Vertical, middle);
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(1);
    m_view = new QStackedWidget(splitter);
    m_plot = new plots::RunPlot(m_view);
    m_steps = new QTableView(m_view);
    m_steps->setModel(&m_stepModel);
    m_steps->verticalHeader()->hide();
    m_steps->verticalHeader()->setDefaultSectionSize(26);
    m_steps->setShowGrid(false);
    m_steps->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_steps->horizontalHeader()->setStretchLastSection(true);
    m_view->addWidget(m_plot);
    m_view->addWidget(m_steps);
    m_log = new LogView(splitter);
    splitter->addWidget(m_view);
    splitter->addWidget(m_log);
    splitter->setStretchFactor(0, 5);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({600, 150});
    box->addWidget(splitter, 1);
    line->addWidget(middle, 1);
    m_side = new RunSidePanel(m_run, page);
    m_side->setFixedWidth(252);
    line->addWidget(m_side);

    for (const auto lane : plots::kLanes) {
        const QString key = u"lanes/"_s + QString::fromLatin1(plots::keyOf(lane));
        const bool on = m_preferences->value(key, m_plot->isLaneVisible(lane)).toBool();
        m_plot->setLaneVisible(lane, on);
        m_side->setLaneChecked(lane, on);
    }
    look::bindText(page, [this] {
        m_save->setText(tr("Save now"));
        m_follow->setText(m_follow->isChecked() ? tr("Follow newest ✓") : tr("Follow newest"));
        m_whole->setText(tr("Whole run"));
        m_table->setText(m_view->currentWidget() == m_plot ? tr("As table") : tr("As plot"));
        m_export->setText(tr("Export…"));
        m_stepModel.retranslate();
        m_steps->setAccessibleName(tr("Steps of the run"));
        for (auto &[kind, item] : m_legendItems)
            item->setText(look::wordOf(kind));
    });
    return page;
}

void RunPage::connectRun()
{
    connect(m_run, &session::RunSession::cleared, this, [this] {
        m_plot->clear();
        m_log->model()->clear();
        m_stepModel.clear();
        m_notice->hide();
        refresh();
    });
    connect(m_run, &session::RunSession::recordsArrived, this, [this](const std::vector<events::Record> &records) {
        m_plot->take(records);
        m_log->model()->take(records);
        m_stepModel.take(records);
    });
    connect(m_run, &session::RunSession::factsChanged, this, &RunPage::refresh);
    connect(m_run, &session::RunSession::phaseChanged, this, &RunPage::refresh);
    const auto tell = [this](const QString &sentence) {
        m_notice->setText(sentence);
        m_notice->show();
        m_log->model()->add(m_run->facts().lastAt, models::LogModel::Warning, sentence);
    };
    connect(m_run, &session::RunSession::noticed, this, tell);
    connect(m_run, &session::RunSession::commandFailed, this, tell);
    connect(m_run, &session::RunSession::launchFailed, this, [this](const QString &sentence) {
        m_emptyTitle->setText(tr("The run did not start"));
        m_emptyWords->setText(sentence);
        look::setRole(m_emptyWords, "error");
        refresh();
    });
    connect(m_plot, &plots::RunPlot::kindsChanged, this, &RunPage::refreshLegend);
    connect(m_plot, &plots::RunPlot::followingChanged, this, [this](bool following) {
        m_follow->setChecked(following);
        m_follow->setText(following ? tr("Follow newest ✓") : tr("Follow newest"));
    });
    connect(m_follow, &QPushButton::clicked, this, [this] { m_plot->setFollowing(m_follow->isChecked()); });
    connect(m_whole, &QPushButton::clicked, m_plot, &plots::RunPlot::showWholeRun);
    connect(m_table, &QPushButton::clicked, this, [this] { showTable(m_view->currentWidget() == m_plot); });
    connect(m_export, &QPushButton::clicked, this, qOverload<>(&RunPage::exportTo));
    connect(m_save, &QPushButton::clicked, m_run, &session::RunSession::saveNow);
    connect(m_side, &RunSidePanel::checkpointsAsked, this, &RunPage::checkpointsAsked);
    connect(m_side, &RunSidePanel::laneToggled, this, [this](plots::Lane lane, bool on) {
        m_plot->setLaneVisible(lane, on);
        m_preferences->set(u"lanes/"_s + QString::fromLatin1(plots::keyOf(lane)), on);
    });
    connect(m_ending, &EndingCard::fixAsked, this, &RunPage::fixAsked);
    connect(m_ending, &EndingCard::resumeAsked, this, &RunPage::resumeAsked);
    connect(m_ending, &EndingCard::folderAsked, this, [](const QString &folder) { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
    refreshLegend();
}

void RunPage::refresh()
{
    const bool any = m_run->phase() != session::RunPhase::Idle;
    m_stack->setCurrentIndex(any ? 1 : 0);
    if (!any)
        return;
    m_figures->refresh();
    m_ending->refresh();
    m_side->refresh();
    refreshControls();
    refreshAbove();
}

void RunPage::refreshAbove()
{
    const auto &buckets = m_run->facts().buckets;
    const auto *bucket = buckets.mostAbovePrediction();
    m_above->setVisible(bucket);
    if (bucket)
        m_above->setText(tr("Step %1 took %2 in bucket %3 × %4 frames, batch %5: more than the %6 that were predicted, give or take %7 %. Later plans on this machine know it.")
                             .arg(look::count(bucket->peakStep), look::bytes(double(bucket->peakBytes)), q(bucket->bucket.resolution)).arg(bucket->bucket.frames)
                             .arg(bucket->bucket.batchSize).arg(look::bytes(double(bucket->predictedBytes))).arg(buckets.prediction()->errorBand * 100, 0, 'f', 0));
}

void RunPage::refreshControls()
{
    const auto phase = m_run->phase();
    m_save->setEnabled(phase == session::RunPhase::Training);
    m_save->setToolTip(phase == session::RunPhase::Saving ? tr("A save is under way") : QString());
    if (m_run->isSilent()) {
        m_notice->setText(tr("The worker lives but gives no sign of life: it may be suspended, stuck in a driver, or its disk may be full."));
        m_notice->show();
    }
}

void RunPage::refreshLegend()
{
    const auto &seen = m_plot->data().kindsSeen();
    for (auto &[kind, item] : m_legendItems)
        item->setVisible(seen[std::size_t(kind)]);
    m_legend->updateGeometry();
}

void RunPage::showTable(bool table)
{
    m_view->setCurrentWidget(table ? static_cast<QWidget *>(m_steps) : m_plot);
    m_table->setText(table ? tr("As plot") : tr("As table"));
    if (table)
        m_steps->scrollToBottom();
}

QString RunPage::exportTo(const QString &file)
{
    return file.endsWith(u".csv"_s, Qt::CaseInsensitive) ? m_plot->exportCsv(file) : m_plot->exportPicture(file);
}

void RunPage::exportTo()
{
    auto *dialog = new QFileDialog(window(), tr("Export the plot"), m_run->name() + u".png"_s, tr("Picture (*.png);;Vector picture (*.pdf *.svg);;Table (*.csv)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        const QString failed = exportTo(file);
        m_notice->setText(failed);
        m_notice->setVisible(!failed.isEmpty());
    });
    dialog->open();
}

} // namespace stagewright::pages
