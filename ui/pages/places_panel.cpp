#include "ui/pages/places_panel.h"

#include <QDir>
#include <QFileDialog>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

PlacesPanel::PlacesPanel(session::Preferences *preferences, QWidget *parent) : QFrame(parent), m_preferences(preferences), m_list(new QListWidget(this))
{
    look::setRole(this, "leftpanel");
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 12, 0, 12);
    box->setSpacing(8);
    auto *title = look::sectionLabel(this);
    title->setContentsMargins(14, 0, 14, 0);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_browse = new QPushButton(this);
    auto *bottom = new QHBoxLayout;
    bottom->setContentsMargins(14, 0, 14, 0);
    bottom->addWidget(m_browse);
    box->addWidget(title);
    box->addWidget(m_list, 1);
    box->addLayout(bottom);
    connect(m_list, &QListWidget::currentItemChanged, this, [this](QListWidgetItem *item) {
        if (item && !item->data(Qt::UserRole).toString().isEmpty())
            Q_EMIT chosen(item->data(Qt::UserRole).toString());
    });
    connect(m_browse, &QPushButton::clicked, this, &PlacesPanel::browse);
    look::bindText(this, [this, title] {
        title->setText(tr("PLACES"));
        m_browse->setText(tr("Browse…"));
        m_list->setAccessibleName(tr("Runs and folders"));
        if (!m_outputs.isEmpty())
            refresh();
    });
}

void PlacesPanel::setOutputs(const QString &folder)
{
    if (folder == m_outputs)
        return;
    m_outputs = folder;
    refresh();
}

void PlacesPanel::refresh()
{
    const auto list = [folder = m_outputs.toStdString()] {
        return folder.empty() ? Result<std::vector<runlog::RunListing>>(std::vector<runlog::RunListing>()) : runlog::listRuns(folder);
    };
    m_job.start(this, list, [this](Result<std::vector<runlog::RunListing>> runs) {
        fill(runs ? *runs : std::vector<runlog::RunListing>());
        Q_EMIT listed();
    });
}

QString PlacesPanel::current() const { return m_list->currentItem() ? m_list->currentItem()->data(Qt::UserRole).toString() : QString(); }

static QString stateMark(runlog::RunState state)
{
    switch (state) {
    case runlog::RunState::Running:
    case runlog::RunState::Starting: return u"● "_s;
    case runlog::RunState::Failed:
    case runlog::RunState::Died: return u"✕ "_s;
    default: return {};
    }
}

void PlacesPanel::fill(const std::vector<runlog::RunListing> &runs)
{
    const QString wanted = m_wanted.isEmpty() ? current() : m_wanted;
    const QSignalBlocker blocker(m_list);
    m_list->clear();
    const auto heading = [this](const QString &text, const QString &tip) {
        auto *item = new QListWidgetItem(text, m_list);
        item->setFlags(Qt::NoItemFlags);
        item->setFont(look::Theme::uiFont(12, QFont::DemiBold));
        item->setToolTip(tip);
        item->setSizeHint({100, 28});
    };
    const auto remark = [this](const QString &text, const QString &tip) {
        auto *item = new QListWidgetItem(u"    "_s + text, m_list);
        item->setFlags(Qt::NoItemFlags);
        item->setToolTip(tip);
        item->setSizeHint({100, 28});
    };
    const auto place = [this](const QString &text, const QString &folder, const QString &tip) {
        auto *item = new QListWidgetItem(u"    "_s + text, m_list);
        item->setData(Qt::UserRole, folder);
        item->setToolTip(tip);
        item->setSizeHint({100, 28});
    };
    if (!m_outputs.isEmpty())
        heading(u"  "_s + QDir(m_outputs).dirName(), m_outputs);
    for (const auto &run : runs)
        place(stateMark(run.state) + q(run.name), q(run.folder), q(run.name) + u"\n"_s + (run.sentence.empty() ? q(runlog::runStateName(run.state)) : q(run.sentence)));
    if (runs.empty() && !m_outputs.isEmpty())
        remark(tr("no runs yet"), m_outputs);
    QStringList recent = m_preferences->recent(session::Preferences::Recent::Folders);
    if (!m_wanted.isEmpty() && !recent.contains(m_wanted) && std::none_of(runs.begin(), runs.end(), [&](const auto &run) { return q(run.folder) == m_wanted; }))
        recent.prepend(m_wanted);
    if (!recent.isEmpty()) {
        heading(u"  "_s + tr("Recent folders"), {});
        for (const auto &folder : recent)
            place(QDir(folder).dirName(), folder, folder);
    }
    int at = -1;
    for (int i = 0; i < m_list->count(); ++i)
        if (const QString folder = m_list->item(i)->data(Qt::UserRole).toString(); !folder.isEmpty() && (folder == wanted || (at < 0 && wanted.isEmpty())))
            at = i;
    if (at >= 0)
        m_list->setCurrentRow(at);
    if (current() != wanted || !m_wanted.isEmpty()) {
        m_wanted.clear();
        if (!current().isEmpty())
            Q_EMIT chosen(current());
    }
}

void PlacesPanel::choose(const QString &folder)
{
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == folder) {
            m_list->setCurrentRow(i);
            return;
        }
    m_wanted = folder;
    refresh();
}

void PlacesPanel::browse()
{
    auto *dialog = new QFileDialog(window(), tr("A run, a checkpoint, or any folder with checkpoints"), m_outputs);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &folder) {
        m_preferences->remember(session::Preferences::Recent::Folders, folder);
        choose(folder);
    });
    dialog->open();
}

} // namespace stagewright::pages
