#include "ui/settings/compare_panel.h"

#include <QDateTime>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/calm_combo_box.h"
#include "ui/settings/option_words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using look::q;
using session::Counterpart;
namespace fs = std::filesystem;

ComparePanel::ComparePanel(session::StageSession *stage, QWidget *parent) : QWidget(parent), m_stage(stage)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(16, 12, 12, 12);
    box->setSpacing(8);
    createTop();
    createTable();
    look::bindText(this, [this] {
        m_with->setText(tr("Compare with"));
        m_choice->setAccessibleName(tr("Compare with"));
        m_other->setText(tr("Another file…"));
        m_takeAll->setText(tr("Take all"));
        m_take->setText(tr("Take selected"));
        m_open->setText(tr("Open a copy of its config"));
        m_table->setAccessibleName(tr("Differences"));
        for (int i = 0; i < m_choice->count() && i < int(m_all.size()); ++i)
            m_choice->setItemText(i, titleOf(m_all[std::size_t(i)]));
        showComparison();
    });
    connect(m_stage, &session::StageSession::opened, this, [this] {
        m_chosen = {};
        list();
    });
    connect(m_stage, &session::StageSession::saved, this, &ComparePanel::compare);
    connect(m_stage, &session::StageSession::snapshotChanged, this, &ComparePanel::compare);
}

void ComparePanel::createTop()
{
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_with = look::label("muted", this);
    m_choice = new CalmComboBox(this);
    m_choice->setMinimumWidth(220);
    m_choice->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_choice->setMaxVisibleItems(24);
    m_other = new QPushButton(this);
    m_other->setAutoDefault(false);
    line->addWidget(m_with);
    line->addWidget(m_choice, 1);
    line->addWidget(m_other);
    static_cast<QVBoxLayout *>(layout())->addLayout(line);
    m_help = look::label("muted", this, true);
    layout()->addWidget(m_help);
    connect(m_other, &QPushButton::clicked, this, &ComparePanel::chooseFile);
    connect(m_choice, &QComboBox::activated, this, [this](int index) {
        if (index >= 0 && index < int(m_all.size()))
            compareWith(m_all[std::size_t(index)]);
    });
}

void ComparePanel::createTable()
{
    m_table = new QTableView(this);
    m_table->setModel(&m_rows);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(28);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    static_cast<QVBoxLayout *>(layout())->addWidget(m_table, 1);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_count = look::label("muted", this, true);
    m_open = new QPushButton(this);
    m_take = new QPushButton(this);
    m_takeAll = new QPushButton(this);
    line->addWidget(m_count, 1);
    for (auto *button : {m_open, m_take, m_takeAll}) {
        button->setAutoDefault(false);
        line->addWidget(button);
    }
    static_cast<QVBoxLayout *>(layout())->addLayout(line);
    connect(m_take, &QPushButton::clicked, this, [this] { take(false); });
    connect(m_takeAll, &QPushButton::clicked, this, [this] { take(true); });
    connect(m_open, &QPushButton::clicked, this, &ComparePanel::openCopy);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { m_take->setEnabled(m_table->selectionModel()->hasSelection()); });
    connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex &index) { Q_EMIT optionAsked(m_rows.row(index.row()).key); });
}

QString ComparePanel::titleOf(const Counterpart &with) const
{
    const QString title = q(look::language().current() == look::LanguageId::Chinese ? with.titleZh : with.titleEn);
    switch (with.kind) {
    case Counterpart::Kind::SavedFile: return tr("The file as saved: %1").arg(title);
    case Counterpart::Kind::Base: return tr("Base: %1").arg(title);
    case Counterpart::Kind::Preset: return tr("Preset: %1").arg(title);
    case Counterpart::Kind::File: return tr("File: %1").arg(title);
    case Counterpart::Kind::Run: break;
    }
    const QString when = with.started > 0 ? QLocale().toString(QDateTime::fromSecsSinceEpoch(qint64(with.started)), QLocale::ShortFormat) : QString();
    return with.step >= 0 ? tr("Run: %1 (%2, step %3)").arg(title, when, look::count(with.step)) : tr("Run: %1 (%2)").arg(title, when);
}

void ComparePanel::setMoreRuns(const std::vector<std::string> &folders)
{
    m_moreRuns = folders;
    if (isVisible())
        list();
}

void ComparePanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    list();
}

void ComparePanel::list()
{
    const auto snapshot = m_stage->snapshot();
    if (!isVisible() || !snapshot)
        return;
    m_listJob.start(this, [snapshot, file = m_stage->file(), runs = m_moreRuns] { return session::counterparts(*snapshot, file, runs); },
        [this](std::vector<Counterpart> all) { fillChoice(std::move(all)); });
}

void ComparePanel::fillChoice(std::vector<Counterpart> all)
{
    if (m_chosen.kind == Counterpart::Kind::File && !m_chosen.id.empty())
        all.push_back(m_chosen);
    m_all = std::move(all);
    if (std::find(m_all.begin(), m_all.end(), m_chosen) == m_all.end())
        m_chosen = m_all.front();
    m_choice->clear();
    for (const Counterpart &with : m_all)
        m_choice->addItem(titleOf(with));
    m_choice->setCurrentIndex(int(std::find(m_all.begin(), m_all.end(), m_chosen) - m_all.begin()));
    compare();
}

void ComparePanel::compareWith(const Counterpart &with)
{
    m_chosen = with;
    if (std::find(m_all.begin(), m_all.end(), with) == m_all.end()) {
        m_all.push_back(with);
        m_choice->addItem(titleOf(with));
    }
    m_choice->setCurrentIndex(int(std::find(m_all.begin(), m_all.end(), with) - m_all.begin()));
    compare();
}

void ComparePanel::compare()
{
    const auto snapshot = m_stage->snapshot();
    if (!isVisible() || !snapshot || m_chosen.id.empty())
        return;
    m_compareJob.start(this, [snapshot, file = m_stage->file(), saved = m_stage->savedText(), with = m_chosen] { return session::compare(*snapshot, file, saved, with); },
        [this](session::Comparison comparison) {
            m_comparison = std::move(comparison);
            showComparison();
            Q_EMIT compared();
        });
}

static models::Cell valueCell(const std::optional<config::Value> &value, bool isDefault)
{
    models::Cell cell;
    cell.code = true;
    cell.text = value ? q(session::spelled(*value)).simplified() : u"—"_s;
    cell.toolTip = value ? q(session::spelled(*value)) : QString();
    if (isDefault)
        cell.text += u' ' + ComparePanel::tr("(default)");
    cell.tone = value && !isDefault ? models::Tone::Normal : models::Tone::Muted;
    return cell;
}

void ComparePanel::showComparison()
{
    const bool preset = m_comparison.with.kind == Counterpart::Kind::Preset;
    m_rows.setHeaders({tr("Option"), tr("This stage"), preset ? tr("With the preset") : tr("There")});
    QList<models::Row> rows;
    for (const config::Change &change : m_comparison.changes) {
        models::Row row;
        row.key = q(change.path);
        const config::Option *option = config::findOption(change.path);
        row.cells = {{q(change.path), models::Tone::Normal, true, false, option ? labelOf(*option) : QString()}, valueCell(change.a, change.aIsDefault), valueCell(change.b, change.bIsDefault)};
        rows.append(row);
    }
    m_rows.setRows(rows);
    if (m_table->columnWidth(0) < 200) {
        m_table->setColumnWidth(0, 240);
        m_table->setColumnWidth(1, 210);
    }
    const auto &with = m_comparison.with;
    m_help->setText(q(look::language().current() == look::LanguageId::Chinese ? with.helpZh : with.helpEn));
    m_help->setVisible(!m_help->text().isEmpty());
    m_count->setText(!m_comparison.sentence.empty() ? q(m_comparison.sentence)
                     : rows.isEmpty()               ? (preset ? tr("The stage already is as the preset would make it.") : tr("No difference."))
                                                    : tr("%n difference(s)", nullptr, int(rows.size())));
    m_takeAll->setText(preset ? tr("Apply the preset") : tr("Take all"));
    m_takeAll->setEnabled(!rows.isEmpty());
    m_take->setEnabled(m_table->selectionModel()->hasSelection());
    m_open->setVisible(with.kind == Counterpart::Kind::Run && m_comparison.sentence.empty());
}

void ComparePanel::take(bool all)
{
    std::set<std::string> chosen;
    for (const QModelIndex &index : m_table->selectionModel()->selectedRows())
        chosen.insert(look::s(m_rows.row(index.row()).key));
    std::vector<config::Change> changes;
    for (const config::Change &change : m_comparison.changes)
        if (all || chosen.count(change.path))
            changes.push_back(change);
    if (changes.empty())
        return;
    const QString title = titleOf(m_comparison.with);
    if (auto taken = m_stage->take(changes, changes.size() == 1 ? tr("Change %1").arg(q(changes.front().path)) : tr("Take from %1").arg(title)); !taken)
        Q_EMIT refused(taken.error());
}

void ComparePanel::chooseFile()
{
    auto *dialog = new QFileDialog(window(), tr("Compare with a stage"), q(m_stage->file().parent_path()), tr("Stages (*.py *.yaml *.yml);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        Counterpart with;
        with.kind = Counterpart::Kind::File;
        with.id = look::s(file);
        with.titleEn = with.titleZh = look::pathOf(file).filename().string();
        compareWith(with);
    });
    dialog->open();
}

// A run's config is its record and stays as it is: what is opened is a copy beside the open stage, under a name that is free.
void ComparePanel::openCopy()
{
    const fs::path run = m_comparison.with.id;
    auto text = readFile(run / "config.yaml", 64 << 20);
    if (!text) {
        Q_EMIT refused(text.error());
        return;
    }
    fs::path target;
    for (int number = 1;; ++number) {
        target = m_stage->file().parent_path() / (run.filename().string() + (number > 1 ? "-" + std::to_string(number) : "") + ".yaml");
        std::error_code ignored;
        if (!fs::exists(target, ignored))
            break;
    }
    if (auto written = replaceFile(target, *text); !written) {
        Q_EMIT refused(written.error());
        return;
    }
    Q_EMIT openAsked(q(target));
}

} // namespace stagewright::settings
