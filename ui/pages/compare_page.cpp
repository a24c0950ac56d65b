#include "ui/pages/compare_page.h"

#include <QButtonGroup>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/paths.h"
#include "core/base/units.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/pages/compare_choice.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/techniques_panel.h"
#include "ui/plots/kind_bars.h"
#include "ui/plots/overlay_plot.h"
#include "ui/plots/picture_export.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using plots::OverlayLane;
using runlog::Point;

namespace {

std::vector<Point> scaled(std::vector<Point> points, double factor)
{
    for (Point &point : points)
        point.y *= factor;
    return points;
}

// Of the overlay by steps.
std::vector<Point> stepPoints(const session::ComparedRun &run, OverlayLane lane, bool faint, double from, double to, std::size_t most)
{
    if (lane == OverlayLane::Loss && !faint)
        return run.smoothLoss.range(from, to, most);
    const auto *series = run.series.find(lane == OverlayLane::Memory ? "peak_bytes" : lane == OverlayLane::StepTime ? "seconds" : "loss");
    if (!series)
        return {};
    return scaled(series->range(from, to, most), lane == OverlayLane::Memory ? 1.0 / kGiB : 1.0);
}

// Of the overlay by buckets: x is an index into them.
std::vector<Point> bucketPoints(const session::ComparedRun &run, const std::vector<session::BucketName> &buckets, OverlayLane lane)
{
    std::vector<Point> points;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        const auto found = run.buckets.find(buckets[i]);
        if (found == run.buckets.end())
            continue;
        const auto &figures = found->second;
        points.push_back({double(i), lane == OverlayLane::Memory ? double(figures.peakBytes) / kGiB : lane == OverlayLane::StepTime ? figures.times.mean() : figures.meanLoss()});
    }
    return points;
}

} // namespace

ComparePage::ComparePage(session::StageSession *stage, session::Preferences *preferences, session::PlanSession *planner, QWidget *parent) : QWidget(parent), m_stage(stage)
{
    auto *box = new QHBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(0);
    m_choice = new CompareChoice(preferences, this);
    m_choice->setFixedWidth(240);
    box->addWidget(m_choice);
    auto *right = new QVBoxLayout;
    right->setContentsMargins(18, 10, 18, 10);
    right->setSpacing(8);
    right->addLayout(createHead());
    m_notice = look::label("muted", this, true);
    right->addWidget(m_notice);
    auto *splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    m_body = splitter;
    splitter->addWidget(createViews());
    createDifferences();
    splitter->addWidget(m_differences);
    splitter->setStretchFactor(0, 5);
    splitter->setStretchFactor(1, 3);
    right->addWidget(splitter, 1);
    m_techniques = new TechniquesPanel(planner, this);
    right->addWidget(m_techniques, 1);
    right->addStretch(0);
    box->addLayout(right, 1);
    connect(m_choice, &CompareChoice::tickedChanged, this, [this] { m_session.choose(m_choice->ticked()); });
    connect(m_choice, &CompareChoice::said, this, &ComparePage::said);
    connect(m_choice, &CompareChoice::listed, this, &ComparePage::refreshNotice);
    connect(&m_session, &session::CompareSession::changed, this, &ComparePage::sessionChanged);
    connect(m_stage, &session::StageSession::snapshotChanged, this, [this] {
        if (!isVisible())
            return;
        takeOutputs();
        refreshTechniques();
    });
    look::bindText(this, [this] { retranslate(); });
}

QHBoxLayout *ComparePage::createHead()
{
    auto *head = new QHBoxLayout;
    head->setSpacing(10);
    m_title = look::label("title", this);
    head->addWidget(m_title);
    head->addSpacing(12);
    auto *group = new QButtonGroup(this);
    for (const CompareView view : {CompareView::BySteps, CompareView::ByBuckets, CompareView::ByKinds, CompareView::Techniques}) {
        auto *tab = new QToolButton(this);
        tab->setCheckable(true);
        look::setRole(tab, "tab");
        tab->setFocusPolicy(Qt::StrongFocus);
        tab->setChecked(view == m_shown);
        group->addButton(tab);
        head->addWidget(tab);
        m_tabs[std::size_t(view)] = tab;
        connect(tab, &QToolButton::clicked, this, [this, view] { setView(view); });
    }
    head->addStretch(1);
    m_asTable = look::linkButton(this);
    m_export = look::linkButton(this);
    head->addWidget(m_asTable);
    head->addWidget(m_export);
    connect(m_asTable, &QPushButton::clicked, this, [this] {
        m_isTable = !m_isTable;
        retranslate();
    });
    connect(m_export, &QPushButton::clicked, this, &ComparePage::exportPicture);
    return head;
}

QWidget *ComparePage::createViews()
{
    m_view = new QStackedWidget(this);
    m_plot = new plots::OverlayPlot(m_view);
    auto *scroll = new QScrollArea(m_view);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto *holder = new QWidget(scroll);
    look::setRole(holder, "scrollbody");
    auto *box = new QVBoxLayout(holder);
    box->setContentsMargins(0, 0, 0, 0);
    m_bars = new plots::KindBars(holder);
    box->addWidget(m_bars);
    box->addStretch();
    scroll->setWidget(holder);
    m_table = look::quietTable(m_view, &m_tableModel);
    for (QWidget *view : std::initializer_list<QWidget *>{m_plot, scroll, m_table})
        m_view->addWidget(view);
    return m_view;
}

void ComparePage::createDifferences()
{
    m_differences = look::quietTable(this, &m_differenceModel);
    m_differences->setMinimumHeight(120);
}

void ComparePage::retranslate()
{
    m_title->setText(tr("Compare"));
    viewTab(CompareView::BySteps)->setText(tr("By step"));
    viewTab(CompareView::ByBuckets)->setText(tr("By bucket"));
    viewTab(CompareView::ByKinds)->setText(tr("Memory by kind"));
    viewTab(CompareView::Techniques)->setText(tr("Techniques"));
    m_asTable->setText(m_isTable ? tr("As plot") : tr("As table"));
    m_export->setText(tr("Export…"));
    m_plot->setAccessibleName(tr("Runs over one another: memory, step time and loss"));
    m_bars->setAccessibleName(tr("Highest memory of each run, by kind"));
    m_table->setAccessibleName(tr("The picture as a table"));
    m_differences->setAccessibleName(tr("Figures of the runs, and the settings that differ"));
    refresh();
}

void ComparePage::takeOutputs()
{
    const auto snapshot = m_stage->snapshot();
    if (!snapshot || !snapshot->stage)
        return;
    std::error_code ignored;
    m_choice->setOutputs(q(std::filesystem::absolute(expandUser(snapshot->stage->string("outputs")), ignored).lexically_normal()));
}

void ComparePage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    takeOutputs();
    refreshTechniques();
    m_choice->refresh();
    m_session.setShown(true);
}

void ComparePage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_session.setShown(false);
}

void ComparePage::compare(const QStringList &folders)
{
    for (const QString &folder : folders)
        m_choice->add(folder);
}

void ComparePage::setView(CompareView view)
{
    m_shown = view;
    viewTab(view)->setChecked(true);
    refresh();
}

void ComparePage::sessionChanged()
{
    QStringList folders;
    for (const auto &run : m_session.runs())
        folders << q(run->folder);
    m_choice->showAs(folders);
    refresh();
}

void ComparePage::refresh()
{
    refreshNotice();
    refreshTechniques();
    const bool isOfStage = m_shown == CompareView::Techniques, isAny = !m_session.runs().empty();
    m_techniques->setVisible(isOfStage);
    m_choice->setVisible(!isOfStage);
    m_body->setVisible(isAny && !isOfStage);
    m_export->setEnabled(isAny || isOfStage);
    m_asTable->setVisible(!isOfStage);
    m_asTable->setEnabled(isAny);
    if (isOfStage)
        return;
    m_view->setCurrentIndex(m_isTable ? 2 : m_shown == CompareView::ByKinds ? 1 : 0);
    refreshPlot();
    refreshBars();
    if (m_isTable)
        fillTable();
    fillDifferences();
}

void ComparePage::refreshNotice()
{
    QString words;
    if (m_session.runs().empty() && m_session.isReading())
        words = tr("Reading…");
    else if (m_session.runs().empty())
        words = tr("Tick two or more runs on the left to lay them over one another. Runs of the open stage's outputs folder are listed; “Other run…” adds any other.");
    else if (m_session.runs().size() == 1)
        words = tr("Tick another run to compare with this one.");
    m_notice->setText(words);
    m_notice->setVisible(!words.isEmpty() && m_shown != CompareView::Techniques);
}

// Nothing is planned while nobody looks.
void ComparePage::refreshTechniques()
{
    const auto snapshot = m_stage->snapshot();
    if (!isVisible() || m_shown != CompareView::Techniques || !m_stage->isSettled())
        return;
    const Problem *problem = snapshot ? session::problemAgainstPlanning(*snapshot) : nullptr;
    const bool canPlan = snapshot && snapshot->stage && !problem;
    m_techniques->setStage(canPlan ? snapshot->stage : nullptr,
                           canPlan ? QString() : problem ? tr("This stage cannot be planned yet. %1").arg(look::problemSentence(*problem)) : tr("Open a stage to see what each technique saves."));
}

void ComparePage::refreshPlot()
{
    const auto runs = m_session.runs();
    plots::OverlayContents contents;
    QStringList drawn;
    for (const auto &run : runs) {
        contents.runs << q(run->name);
        drawn << q(run->folder);
    }
    if (m_shown == CompareView::ByBuckets) {
        const auto buckets = session::bucketsOf(runs);
        for (const auto &bucket : buckets)
            contents.columns << bucketTitle(bucket);
        contents.last = std::max(0.0, double(buckets.size()) - 1);
        contents.points = [runs, buckets](std::size_t run, OverlayLane lane, bool, double, double, std::size_t) { return bucketPoints(*runs[run], buckets, lane); };
    } else {
        contents.first = firstStep(runs);
        contents.last = std::max(contents.first, lastStep(runs));
        contents.points = [runs](std::size_t run, OverlayLane lane, bool faint, double from, double to, std::size_t most) { return stepPoints(*runs[run], lane, faint, from, to, most); };
    }
    m_plot->setContents(std::move(contents), drawn == m_drawn);
    m_plot->setAccessibleDescription(m_plot->readoutAt(lastStep(runs)));
    m_drawn = drawn;
}

void ComparePage::refreshBars()
{
    std::vector<plots::KindBar> bars;
    for (const auto &run : m_session.runs())
        bars.push_back({q(run->name), look::bytes(double(run->peakBytes)), run->peakByKind, 0, true, 0});
    m_bars->setBars(std::move(bars), 0, {});
}

void ComparePage::fillTable()
{
    const QList<QStringList> all = m_session.runs().empty() ? QList<QStringList>{{}} : viewRows(m_session.runs(), m_shown, kTableSteps);
    QList<int> right;
    for (int column = 1; column < all.first().size(); ++column)
        right << column;
    m_tableModel.setHeaders(all.first(), right);
    QList<models::Row> rows;
    for (qsizetype i = 1; i < all.size(); ++i) {
        models::Row row{all[i].first(), {}};
        for (const QString &text : all[i])
            row.cells << models::Cell{text, models::Tone::Normal, false, !row.cells.isEmpty()};
        rows << row;
    }
    m_tableModel.setRows(rows);
    m_table->resizeColumnsToContents();
}

void ComparePage::fillDifferences()
{
    const auto &runs = m_session.runs();
    QList<int> right;
    for (int column = 1; column <= int(runs.size()); ++column)
        right << column;
    m_differenceModel.setHeaders(differenceHeaders(runs), right);
    m_differenceModel.setRows(differenceRows(runs));
    m_differences->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_differences->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
}

QString ComparePage::exportTo(const QString &file)
{
    if (m_shown == CompareView::Techniques)
        return m_techniques->exportTo(file);
    if (file.endsWith(u".csv"_s, Qt::CaseInsensitive))
        return plots::exportRows(viewRows(m_session.runs(), m_shown, kFileSteps), file);
    return m_shown == CompareView::ByKinds ? m_bars->exportPicture(file) : m_plot->exportPicture(file);
}

void ComparePage::exportPicture()
{
    auto *dialog = new QFileDialog(this, tr("Export the picture, or its table"), QString(), tr("Pictures and tables (*.png *.svg *.pdf *.csv)"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"png"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        const QString wrong = exportTo(file);
        Q_EMIT said(wrong.isEmpty() ? tr("Written: %1").arg(file) : wrong);
    });
    dialog->open();
}

} // namespace stagewright::pages
