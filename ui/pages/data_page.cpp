#include "ui/pages/data_page.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QIntValidator>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/settings/calm_combo_box.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using look::s;
using session::DataSession;
using session::RowChoice;

namespace {

constexpr int kMostRanks = 100'000, kMostEpoch = 1'000'000;
constexpr int kGridWidth = 634, kLossesWidth = 250;        // at least: both fit into the narrowest window
constexpr int kPlainRowHeight = 27, kPictureRowHeight = RowListModel::kPictureSide + 8;

QLineEdit *smallField(QWidget *parent, int width)
{
    auto *field = new QLineEdit(parent);
    field->setFixedWidth(width);
    return field;
}

} // namespace

DataPage::DataPage(session::StageSession *stage, QWidget *parent) : QWidget(parent), m_data(stage)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(18, 10, 18, 10);
    box->setSpacing(8);
    box->addLayout(createHead());
    m_notice = look::label("muted", this, true);
    m_probe = new QPushButton(this);
    m_useProbed = new QPushButton(this);
    look::setRole(m_useProbed, "primary");
    auto *asked = new QHBoxLayout;
    asked->addWidget(m_probe);
    asked->addWidget(m_useProbed);
    asked->addStretch(1);
    box->addWidget(m_notice);
    box->addLayout(asked);
    m_body = new QWidget(this);
    auto *inner = new QVBoxLayout(m_body);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(8);
    inner->addWidget(createFigures());
    inner->addWidget(createCacheLine());
    auto *splitter = new QSplitter(Qt::Vertical, m_body);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(createTables());
    splitter->addWidget(createRows());
    splitter->setStretchFactor(0, 4);
    splitter->setStretchFactor(1, 5);
    inner->addWidget(splitter, 1);
    box->addWidget(m_body, 1);
    box->addStretch(0);
    connectAll();
    look::bindText(this, [this] { retranslate(); });
}

QHBoxLayout *DataPage::createHead()
{
    auto *head = new QHBoxLayout;
    head->setSpacing(10);
    m_title = look::label("title", this);
    m_path = new look::ElidedLabel(this, Qt::ElideMiddle);
    look::setRole(m_path, "codemuted");
    m_never = look::label("strong", this);
    m_ranksLabel = look::label("muted", this);
    m_ranks = smallField(this, 56);
    m_ranks->setValidator(new QIntValidator(1, kMostRanks, m_ranks));
    m_ranks->setText(u"1"_s);
    m_ranksLabel->setBuddy(m_ranks);
    m_epochLabel = look::label("muted", this);
    m_epoch = smallField(this, 64);
    m_epoch->setValidator(new QIntValidator(0, kMostEpoch, m_epoch));
    m_epoch->setText(u"0"_s);
    m_epochLabel->setBuddy(m_epoch);
    head->addWidget(m_title);
    head->addWidget(m_path, 1);
    head->addWidget(m_never);
    head->addSpacing(12);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_ranksLabel, m_ranks, m_epochLabel, m_epoch})
        head->addWidget(widget);
    return head;
}

QWidget *DataPage::createFigures()
{
    m_figures = new QWidget(this);
    auto *row = new QHBoxLayout(m_figures);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(28);
    for (auto *&figure : m_figure) {
        figure = new look::Figure(m_figures);
        row->addWidget(figure);
    }
    row->addStretch(1);
    m_policyLabel = look::label("muted", m_figures);
    m_policy = new settings::CalmComboBox(m_figures);
    m_policy->setMinimumWidth(150);
    m_policyLabel->setBuddy(m_policy);
    m_policyRemark = look::label("caption", m_figures);
    auto *choice = new QHBoxLayout;
    choice->addWidget(m_policyLabel);
    choice->addWidget(m_policy);
    auto *column = new QVBoxLayout;
    column->setSpacing(2);
    column->addLayout(choice);
    column->addWidget(m_policyRemark, 0, Qt::AlignRight);
    row->addLayout(column);
    return m_figures;
}

QWidget *DataPage::createCacheLine()
{
    m_cacheLine = new QWidget(this);
    auto *row = new QHBoxLayout(m_cacheLine);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    m_cacheWords = new look::ElidedLabel(m_cacheLine);
    m_encode = new QPushButton(m_cacheLine);
    row->addWidget(m_cacheWords, 1);
    row->addWidget(m_encode);
    return m_cacheLine;
}

QWidget *DataPage::createTables()
{
    auto *upper = new QWidget(this);
    auto *column = new QVBoxLayout(upper);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto *sides = new QHBoxLayout;
    sides->setSpacing(20);
    m_grid = look::quietTable(upper, &m_gridModel);
    m_losses = look::quietTable(upper, &m_lossModel);
    m_grid->setMinimumWidth(kGridWidth);
    m_losses->setMinimumWidth(kLossesWidth);
    sides->addWidget(m_grid, 5);
    sides->addWidget(m_losses, 2);
    column->addLayout(sides, 1);
    column->addLayout(createTrial());
    return upper;
}

QHBoxLayout *DataPage::createTrial()
{
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    m_aspects = look::linkButton(this);
    m_aspects->setCheckable(true);
    m_where = look::label("strong", this);
    m_probabilityLabel = look::label("muted", this);
    m_probability = smallField(this, 96);
    m_probabilityLabel->setBuddy(m_probability);
    m_batchLabel = look::label("muted", this);
    m_batch = smallField(this, 56);
    m_batchLabel->setBuddy(m_batch);
    m_apply = new QPushButton(this);
    m_forget = look::linkButton(this);
    m_trialWords = new look::ElidedLabel(this);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_aspects, m_where, m_probabilityLabel, m_probability, m_batchLabel, m_batch})
        row->addWidget(widget);
    row->addWidget(m_trialWords, 1);
    row->addWidget(m_forget);
    row->addWidget(m_apply);
    return row;
}

QWidget *DataPage::createRows()
{
    auto *lower = new QWidget(this);
    auto *column = new QVBoxLayout(lower);
    column->setContentsMargins(0, 6, 0, 0);
    column->setSpacing(4);
    auto *head = new QHBoxLayout;
    m_rowsTitle = look::label("strong", lower);
    m_search = new QLineEdit(lower);
    m_search->setFixedWidth(220);
    m_search->setClearButtonEnabled(true);
    m_pictures = look::linkButton(lower);
    m_pictures->setCheckable(true);
    m_export = look::linkButton(lower);
    head->addWidget(m_rowsTitle, 1);
    head->addWidget(m_search);
    head->addWidget(m_pictures);
    head->addWidget(m_export);
    m_rows = look::quietTable(lower, &m_rowModel, kPlainRowHeight);
    m_rows->setIconSize({RowListModel::kPictureSide, RowListModel::kPictureSide});
    m_rows->setTextElideMode(Qt::ElideRight);
    m_rows->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    m_rows->horizontalHeader()->setStretchLastSection(true);
    m_rows->setColumnWidth(RowListModel::RowColumn, 84);
    m_rows->setColumnWidth(RowListModel::PathColumn, 240);
    m_rows->setColumnWidth(RowListModel::CaptionColumn, 300);
    column->addLayout(head);
    column->addWidget(m_rows, 1);
    return lower;
}

void DataPage::connectAll()
{
    connect(&m_data, &DataSession::stateChanged, this, &DataPage::refresh);
    connect(&m_data, &DataSession::answered, this, [this] {
        refresh();
        m_planTimer.start();
        m_cache.setStage(m_data.soundStage(), m_data.open() ? m_data.open()->table : nullptr);
    });
    connect(&m_cache, &session::CacheSession::changed, this, &DataPage::refreshCache);
    connect(m_encode, &QPushButton::clicked, this, [this] { m_cache.isBuilding() ? m_cache.stop() : m_cache.build(); });
    connect(&m_data, &DataSession::rowsChanged, this, &DataPage::refreshRows);
    connect(&m_data, &DataSession::exported, this, [this](const QString &file, const QString &refusal) { Q_EMIT said(refusal.isEmpty() ? tr("Written: %1").arg(file) : refusal); });
    connect(m_data.probe(), &session::TableProbe::progressed, this, [this](qint64 done, qint64 total) {
        m_probeWords = tr("Looking into the files: %1 of %2").arg(look::count(done), look::count(total));
        refreshNotice();
    });
    connect(m_data.probe(), &session::TableProbe::finished, this, &DataPage::takeProbe);
    connect(m_probe, &QPushButton::clicked, this, [this] { m_data.probe()->isRunning() ? m_data.probe()->cancel() : m_data.startProbe(); });
    connect(m_useProbed, &QPushButton::clicked, this, [this] {
        if (auto used = m_data.useTable(std::exchange(m_probed, {})); !used)
            Q_EMIT said(look::problemSentence(used.error().problem));
    });
    connect(m_grid->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &DataPage::chooseOfGrid);
    connect(m_losses->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &DataPage::chooseOfLosses);
    connect(m_grid, &QTableView::clicked, this, &DataPage::chooseOfGrid);
    connect(m_losses, &QTableView::clicked, this, &DataPage::chooseOfLosses);
    connect(m_aspects, &QPushButton::toggled, this, [this] { retranslate(); });
    connect(m_ranks, &QLineEdit::textEdited, this, [this] { if (m_ranks->hasAcceptableInput()) m_data.setWorldSize(m_ranks->text().toInt()); });
    connect(m_epoch, &QLineEdit::textEdited, this, [this] { if (m_epoch->hasAcceptableInput()) m_data.setEpoch(m_epoch->text().toInt()); });
    connect(m_policy, &QComboBox::activated, this, [this](int choice) {
        if (auto used = m_data.usePolicy(choice == 0 ? table::DataPolicy::Original : table::DataPolicy::Keep); !used)
            Q_EMIT said(look::problemSentence(used.error().problem));
    });
    connect(m_probability, &QLineEdit::textEdited, this, &DataPage::tryFields);
    connect(m_batch, &QLineEdit::textEdited, this, &DataPage::tryFields);
    connect(m_forget, &QPushButton::clicked, this, [this] {
        m_refusal.clear();
        m_data.forgetTries();
        chooseOfGrid();
    });
    connect(m_apply, &QPushButton::clicked, this, [this] {
        if (auto applied = m_data.applyTries(); !applied)
            Q_EMIT said(look::problemSentence(applied.error().problem));
    });
    m_searchTimer.setSingleShot(true);
    m_searchTimer.setInterval(kSearchMs);
    connect(&m_searchTimer, &QTimer::timeout, this, &DataPage::search);
    connect(m_search, &QLineEdit::textEdited, &m_searchTimer, qOverload<>(&QTimer::start));
    connect(m_pictures, &QPushButton::toggled, this, [this](bool shown) {
        m_rows->verticalHeader()->setDefaultSectionSize(shown ? kPictureRowHeight : kPlainRowHeight);
        m_rows->setColumnWidth(RowListModel::RowColumn, shown ? 84 + RowListModel::kPictureSide : 84);
        m_rowModel.setPictures(shown);
        retranslate();
    });
    connect(m_export, &QPushButton::clicked, this, &DataPage::askExport);
    m_planTimer.setSingleShot(true);
    m_planTimer.setInterval(kPlanMs);
    connect(&m_planTimer, &QTimer::timeout, this, &DataPage::plan);
    connect(&m_planner, &session::PlanSession::answered, this, [this](qint64 ticket, const session::PlanAnswerPtr &answer) {
        if (ticket != m_ticket || ticket == 0)
            return;
        m_ticket = 0;
        m_costs = answer->plan ? costsOf(*answer->plan) : PlannedCosts();
        if (!answer->plan)
            m_plannedText.clear();                     // asked again after the next change
        refreshTables();
    });
}

void DataPage::retranslate()
{
    m_title->setText(tr("Data"));
    m_ranksLabel->setText(tr("GPUs"));
    m_ranks->setAccessibleName(tr("Data-parallel GPUs"));
    m_ranks->setToolTip(tr("How many GPUs share the batches of an epoch"));
    m_epochLabel->setText(tr("epoch"));
    m_epoch->setAccessibleName(tr("Epoch that is counted"));
    m_epoch->setToolTip(tr("Probabilities draw anew in every epoch; 0 is the first"));
    m_policyLabel->setText(u"data_policy"_s);
    const QSignalBlocker blocker(m_policy);
    m_policy->clear();
    m_policy->addItem(tr("original"));
    m_policy->addItem(tr("keep rows"));
    m_policy->setAccessibleName(tr("What becomes of rows that the original loses"));
    m_grid->setAccessibleName(tr("Buckets: samples, batches and what each takes"));
    m_losses->setAccessibleName(tr("Rows that do not train, by reason"));
    m_rows->setAccessibleName(tr("Rows of the chosen bucket or reason"));
    m_probabilityLabel->setText(tr("probability"));
    m_probability->setAccessibleName(tr("Probability to try"));
    m_probability->setToolTip(tr("How likely a sample that fits is kept, 0 to 1; or a pair: (keep, hand on to the next shorter bucket)"));
    m_batchLabel->setText(tr("batch per GPU"));
    m_batch->setAccessibleName(tr("Batch size to try"));
    m_apply->setText(tr("Put into the stage"));
    m_forget->setText(tr("Forget"));
    m_aspects->setText(m_aspects->isChecked() ? tr("Hide aspects") : tr("Every aspect"));
    m_search->setPlaceholderText(tr("Search file or caption"));
    m_search->setAccessibleName(m_search->placeholderText());
    m_pictures->setText(m_pictures->isChecked() ? tr("Hide pictures") : tr("Pictures"));
    m_export->setText(tr("Export…"));
    m_useProbed->setText(tr("Use the new table"));
    m_rowModel.retranslate();
    refresh();
    refreshRows();
    refreshCache();
}

void DataPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_data.setActive(true);
}

void DataPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_data.setActive(false);
}

void DataPage::refresh()
{
    m_path->setFullText(m_data.tablePath());
    const bool isReady = m_data.answer() != nullptr;
    m_body->setVisible(isReady);
    refreshNotice();
    for (QWidget *widget : std::initializer_list<QWidget *>{m_never, m_ranksLabel, m_ranks, m_epochLabel, m_epoch})
        widget->setVisible(isReady);
    if (!isReady)
        return;
    refreshFigures();
    refreshTables();
    refreshTrial();
}

void DataPage::refreshNotice()
{
    using State = DataSession::State;
    QString words = m_probeWords;
    const char *role = "muted";
    switch (m_data.state()) {
    case State::NoStage: words = tr("Open a stage to see its data: Ctrl+O, or the demo stage with Ctrl+K."); break;
    case State::NoTable: words = tr("This stage names no table yet. Set dataset.data_path in Configure to a .csv, .parquet or .json table of clips and captions."); break;
    case State::NoBuckets:
    case State::Unreadable:
        if (words.isEmpty()) {
            words = m_data.sentence();
            role = "error";
        }
        break;
    case State::Reading: words = tr("Reading %1…").arg(m_data.tablePath()); break;
    case State::Ready: break;
    }
    look::setRole(m_notice, role);
    m_notice->setText(words);
    m_notice->setVisible(!words.isEmpty());
    const bool isRunning = m_data.probe()->isRunning();
    m_probe->setText(isRunning ? tr("Stop") : tr("Find out from the files"));
    m_probe->setToolTip(tr("Opens every file, measures frames, size and rate, and writes a new table beside this one"));
    m_probe->setVisible(isRunning || (m_data.canProbe() && m_probed.empty()));
    m_useProbed->setVisible(!m_probed.empty());
}

void DataPage::takeProbe(const Result<session::ProbedTable> &result)
{
    if (!result) {
        m_probeWords = result.error().problem.code == "data.stopped" ? QString() : look::problemSentence(result.error().problem);
    } else {
        m_probed = result->file;
        m_probeWords = tr("%1 was written with the numbers of %2 rows.").arg(q(result->file), look::count(result->rows));
        if (result->unreadable > 0)
            m_probeWords += u' ' + tr("%1 files cannot be read, the first: %2").arg(look::count(result->unreadable), q(result->firstUnreadable));
    }
    refreshNotice();
}

void DataPage::refreshFigures()
{
    const auto &shown = m_data.answer()->shown;
    const auto losses = session::lossesOf(shown);
    const std::int64_t never = losses.never(), trains = shown.kept - shown.use.lost;
    m_never->setText(tr("%1 of samples never train").arg(percent(never, shown.rows)));
    look::setRole(m_never, never == 0 ? "good" : "warning");
    const std::int64_t steps = shown.batchesPerRank / m_data.accumulation();
    const std::array<std::tuple<QString, QString, QString>, 5> figures{{
        {tr("Rows"), look::count(shown.rows), {}},
        {tr("Train"), look::count(trains), percent(trains, shown.rows)},
        {tr("Batches"), look::count(shown.batches), m_data.worldSize() > 1 ? tr("%1 per GPU").arg(look::count(shown.batchesPerRank)) : QString()},
        {tr("Steps an epoch"), look::count(steps), m_data.accumulation() > 1 ? tr("of %1 batches").arg(m_data.accumulation()) : QString()},
        {tr("Not drawn"), look::count(losses.notDrawn), losses.notDrawn > 0 ? percent(losses.notDrawn, shown.rows) : QString()}}};
    for (std::size_t i = 0; i < figures.size(); ++i) {
        m_figure[i]->setCaption(std::get<0>(figures[i]));
        m_figure[i]->setValue(std::get<1>(figures[i]), std::get<2>(figures[i]));
    }
    m_policy->setCurrentIndex(m_data.answer()->rules.policy == table::DataPolicy::Keep ? 1 : 0);
    m_policyRemark->setText(policyWords(m_data));
    m_never->setToolTip(tr("Counted in %1 ms").arg(m_data.answer()->milliseconds, 0, 'f', 0));
}

void DataPage::refreshTables()
{
    if (!m_data.answer())
        return;
    m_filling = true;
    QList<int> right;
    for (int column = kFirstNumberOfGrid; column < gridHeaders().size(); ++column)
        right << column;
    m_gridModel.setHeaders(gridHeaders(), right);
    m_gridModel.setRows(gridRows(m_data, {m_aspects->isChecked(), m_costs.empty() ? nullptr : &m_costs}));
    m_grid->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_grid->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_grid->setColumnHidden(kSizeColumnOfGrid, !m_aspects->isChecked());
    m_lossModel.setHeaders(lossHeaders(), {1, 2});
    m_lossModel.setRows(lossRows(m_data.answer()->shown));
    m_losses->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_losses->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_filling = false;
    if (m_frames == 0 && m_gridModel.rowCount() > 0)
        m_grid->setCurrentIndex(m_gridModel.index(0, 0));      // something to look at
}

void DataPage::refreshCache()
{
    m_cacheLine->setVisible(m_cache.isShown());
    QString words;
    const auto &glance = m_cache.glance();
    if (m_cache.isBuilding()) {
        const auto &made = m_cache.progress();
        words = made.wanted == 0 ? tr("Encoding into %1: starting…").arg(m_cache.folder())
                                 : tr("Encoding into %1: %2 of %3 entries, %4 written").arg(m_cache.folder(), look::count(made.present + made.encoded + made.refused), look::count(made.wanted), look::bytes(double(made.bytes)));
    } else if (!m_cache.refusal().isEmpty()) {
        words = m_cache.refusal();
    } else if (glance) {
        words = tr("Encodings in %1: %2 of the first epoch's %3 entries are there").arg(m_cache.folder(), look::count(glance->present()), look::count(glance->wanted));
        if (glance->refused > 0)
            words += tr("; %1 cannot be made").arg(look::count(glance->refused));
    } else {
        words = tr("Looking at the encodings in %1…").arg(m_cache.folder());
    }
    look::setRole(m_cacheWords, !m_cache.refusal().isEmpty() ? "error" : "muted");
    m_cacheWords->setFullText(words);
    m_encode->setText(m_cache.isBuilding() ? tr("Stop") : tr("Encode the rest"));
    m_encode->setToolTip(tr("Encodes what is missing with a worker; training reads it instead of decoding and encoding"));
    m_encode->setVisible(m_cache.isBuilding() || !glance || glance->missing + glance->unknown > 0);
    m_encode->setEnabled(m_cache.isBuilding() || !m_cache.isLooking());
}

void DataPage::refreshTrial()
{
    const bool isAny = m_frames > 0;
    for (QWidget *widget : std::initializer_list<QWidget *>{m_where, m_probabilityLabel, m_probability, m_batchLabel, m_batch})
        widget->setVisible(isAny);
    m_where->setText(isAny ? dataBucketWords(m_resolution, m_frames) : QString());
    look::setState(m_probability, m_refusal.isEmpty() ? "" : "error");
    look::setState(m_batch, m_refusal.isEmpty() ? "" : "error");
    look::setRole(m_trialWords, m_refusal.isEmpty() ? "muted" : "error");
    m_trialWords->setFullText(m_refusal.isEmpty() ? trialWords(m_data) : m_refusal);
    m_apply->setVisible(m_data.hasTries());
    m_apply->setEnabled(m_refusal.isEmpty());
    m_forget->setVisible(m_data.hasTries() || !m_refusal.isEmpty());
}

void DataPage::chooseOfGrid()
{
    const auto index = m_grid->currentIndex();
    if (m_filling || !index.isValid())
        return;
    const auto data = m_gridModel.row(index.row()).data.toList();
    m_resolution = s(data[0].toString());
    m_frames = data[1].toLongLong();
    const auto [probability, batch] = m_data.spelling(m_resolution, m_frames);
    m_probability->setText(q(probability));
    m_batch->setText(q(batch));
    m_refusal.clear();
    refreshTrial();
    m_choice = data.size() > 2 ? RowChoice{RowChoice::Kind::Cell, std::size_t(data[2].toULongLong()), {}, 0} : RowChoice{RowChoice::Kind::Bucket, 0, m_resolution, m_frames};
    m_losses->clearSelection();
    search();
}

void DataPage::chooseOfLosses()
{
    const auto index = m_losses->currentIndex();
    if (m_filling || !index.isValid())
        return;
    const int reason = m_lossModel.row(index.row()).data.toInt();
    m_choice = reason == kTailRow ? RowChoice{RowChoice::Kind::Tail, 0, {}, 0} : RowChoice{RowChoice::Kind::Reason, std::size_t(reason), {}, 0};
    m_grid->clearSelection();
    search();
}

void DataPage::search() { m_data.choose(m_choice, m_search->text()); }

void DataPage::tryFields()
{
    if (m_frames == 0)
        return;
    const Status tried = m_data.tryBucket(m_resolution, m_frames, s(m_probability->text().trimmed()), s(m_batch->text().trimmed()));
    m_refusal = tried ? QString() : look::problemSentence(tried.error().problem);
    refreshTrial();
}

void DataPage::refreshRows()
{
    m_rowModel.setList(m_data.rows());
    const auto &list = m_data.rows();
    QString words;
    if (!list) {
        words = m_data.isFindingRows() ? tr("Looking for the rows…") : tr("Choose a bucket or a reason to see its rows");
    } else {
        const QString what = list->choice.kind == RowChoice::Kind::Reason ? reasonWords(table::DropReason(list->choice.index))
                             : list->choice.kind == RowChoice::Kind::Tail ? tr("left over at the epoch's end") : dataBucketWords(m_resolution, m_frames);
        words = std::int64_t(list->rows.size()) == list->found ? tr("%1: %2 rows").arg(what, look::count(list->found))
                                                               : tr("%1: %2 of %3 rows").arg(what, look::count(std::int64_t(list->rows.size())), look::count(list->found));
    }
    m_rowsTitle->setText(words);
    m_export->setEnabled(list && !list->rows.empty());
    m_rows->setColumnHidden(RowListModel::WhyColumn, !m_pictures->isChecked() && (!list || list->choice.kind != RowChoice::Kind::Reason));
    m_rows->horizontalHeader()->setStretchLastSection(true);
}

// What is tried is planned as if it were the stage's; a stage that cannot be planned has no costs, and Configure says why.
void DataPage::plan()
{
    const auto stage = m_data.stageAsTried();
    if (!isVisible() || !stage)
        return;
    const std::string text = config::toYaml(stage->values());
    if (text == m_plannedText)
        return;
    m_planner.cancel(std::exchange(m_ticket, 0));
    m_plannedText = text;
    events::PlanRequest request;
    request.ask = "plan";
    m_ticket = m_planner.ask(std::move(request), stage);
}

void DataPage::exportTo(const QString &file) { m_data.exportTo(look::pathOf(file)); }

void DataPage::askExport()
{
    auto *dialog = new QFileDialog(this, tr("Export these rows"), u"rows.csv"_s, tr("Tables (*.csv)"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"csv"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &DataPage::exportTo);
    dialog->open();
}

} // namespace stagewright::pages
