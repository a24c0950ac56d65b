#include "ui/pages/compare_choice.h"

#include <QDateTime>
#include <QFileDialog>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "core/runlog/run_directory.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/overlay_plot.h"
#include "ui/session/compare_session.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;
using session::CompareSession;

namespace {

constexpr int kFolderRole = Qt::UserRole;

// A piece of the line with which the run is drawn.
QIcon lineIcon(int run, double ratio)
{
    constexpr int kWidth = 22, kHeight = 12;
    QPixmap pixmap(QSize(kWidth, kHeight) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    if (run >= 0) {
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(plots::runColor(run), 2.2, plots::runLine(run)));
        painter.drawLine(QPointF(0, kHeight / 2.0), QPointF(kWidth, kHeight / 2.0));
    }
    return QIcon(pixmap);
}

} // namespace

CompareChoice::CompareChoice(session::Preferences *preferences, QWidget *parent) : QFrame(parent), m_preferences(preferences)
{
    look::setRole(this, "leftpanel");
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 12, 0, 12);
    box->setSpacing(8);
    m_title = look::sectionLabel(this);
    m_title->setContentsMargins(14, 0, 14, 0);
    m_list = new QListWidget(this);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setIconSize({22, 12});
    m_other = new QPushButton(this);
    auto *bottom = new QHBoxLayout;
    bottom->setContentsMargins(14, 0, 14, 0);
    bottom->addWidget(m_other);
    box->addWidget(m_title);
    box->addWidget(m_list, 1);
    box->addLayout(bottom);
    connect(m_list, &QListWidget::itemChanged, this, [this](QListWidgetItem *item) {
        const QString folder = item->data(kFolderRole).toString();
        const bool isOn = item->checkState() == Qt::Checked;
        if (isOn == m_ticked.contains(folder))
            return;
        if (isOn && m_ticked.size() >= CompareSession::kMostRuns) {
            item->setCheckState(Qt::Unchecked);
            Q_EMIT said(tr("More than %1 runs cannot be told apart: untick one first").arg(CompareSession::kMostRuns));
            return;
        }
        m_everTicked = true;
        isOn ? m_ticked.append(folder) : void(m_ticked.removeAll(folder));
        Q_EMIT tickedChanged();
    });
    connect(m_other, &QPushButton::clicked, this, &CompareChoice::browse);
    connect(&look::theme(), &look::Theme::changed, this, [this] { showAs(m_shown); });
    look::bindText(this, [this] {
        m_title->setText(tr("RUNS"));
        m_other->setText(tr("Other run…"));
        m_list->setAccessibleName(tr("Runs to compare"));
        if (m_everListed)
            refresh();
    });
}

void CompareChoice::setOutputs(const QString &folder)
{
    if (folder == m_outputs && m_everListed)
        return;
    m_outputs = folder;
    refresh();
}

void CompareChoice::refresh()
{
    const QStringList more = m_preferences->recent(session::Preferences::Recent::Runs) + m_added;
    const auto list = [outputs = m_outputs.toStdString(), more] {
        std::vector<runlog::RunListing> runs;
        if (!outputs.empty())
            if (auto listed = runlog::listRuns(outputs))
                runs = std::move(*listed);
        for (const QString &folder : more)
            runs.push_back(runlog::listingOf(folder.toStdString()));
        std::set<std::filesystem::path> seen;
        std::erase_if(runs, [&](const runlog::RunListing &run) {
            std::error_code ignored;
            return !runlog::isRunFolder(run.folder) || !seen.insert(std::filesystem::weakly_canonical(run.folder, ignored)).second;
        });
        std::stable_sort(runs.begin(), runs.end(), [](const auto &a, const auto &b) { return a.started > b.started; });
        return runs;
    };
    m_job.start(this, list, [this](const std::vector<runlog::RunListing> &runs) { fill(runs); });
}

void CompareChoice::fill(const std::vector<runlog::RunListing> &runs)
{
    {
        const QSignalBlocker blocker(m_list);
        const QString current = m_list->currentItem() ? m_list->currentItem()->data(kFolderRole).toString() : QString();
        m_list->clear();
        for (std::size_t i = 0; i < std::min(runs.size(), kMostListed); ++i)
            addItem(runs[i]);
        for (int i = 0; i < m_list->count(); ++i)
            if (m_list->item(i)->data(kFolderRole).toString() == current)
                m_list->setCurrentRow(i);
    }
    showAs(m_shown);
    m_everListed = true;
    if (!m_everTicked)
        tickNewest();
    Q_EMIT listed();
}

// The first look at the page shows something.
void CompareChoice::tickNewest()
{
    for (int i = 0; i < std::min(kTickedAtFirst, m_list->count()) && m_ticked.size() < kTickedAtFirst; ++i)
        m_list->item(i)->setCheckState(Qt::Checked);
}

void CompareChoice::addItem(const runlog::RunListing &run)
{
    const QString folder = q(run.folder);
    auto *item = new QListWidgetItem(q(run.name), m_list);
    item->setData(kFolderRole, folder);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(m_ticked.contains(folder) ? Qt::Checked : Qt::Unchecked);
    item->setSizeHint({100, 28});
    const QString when = run.started > 0 ? QLocale().toString(QDateTime::fromSecsSinceEpoch(qint64(run.started)), QLocale::ShortFormat) : QString();
    item->setToolTip(tr("%1\n%2, step %3").arg(folder, when, look::count(run.step)));
}

void CompareChoice::showAs(const QStringList &folders)
{
    m_shown = folders;
    const QSignalBlocker blocker(m_list);
    for (int i = 0; i < m_list->count(); ++i) {
        auto *item = m_list->item(i);
        item->setIcon(lineIcon(int(folders.indexOf(item->data(kFolderRole).toString())), devicePixelRatioF()));
    }
    m_list->viewport()->update();
}

QStringList CompareChoice::ticked() const { return m_ticked; }

void CompareChoice::add(const QString &folder)
{
    if (!runlog::isRunFolder(folder.toStdString())) {
        Q_EMIT said(tr("%1 is no run's folder: it has no run.json. Choose the folder that a run made in its outputs folder").arg(folder));
        return;
    }
    if (!m_ticked.contains(folder)) {
        if (m_ticked.size() >= CompareSession::kMostRuns) {
            Q_EMIT said(tr("More than %1 runs cannot be told apart: untick one first").arg(CompareSession::kMostRuns));
            return;
        }
        m_everTicked = true;
        m_ticked.append(folder);
        Q_EMIT tickedChanged();
    }
    m_added.append(folder);
    refresh();
}

void CompareChoice::browse()
{
    auto *dialog = new QFileDialog(window(), tr("The folder of a run"), m_outputs);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, &CompareChoice::add);
    dialog->open();
}

} // namespace stagewright::pages
