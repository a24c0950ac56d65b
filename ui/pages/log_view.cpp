#include "ui/pages/log_view.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QScrollBar>
#include <QShortcut>
#include <QVBoxLayout>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/toned_delegate.h"

namespace stagewright::pages {

LogView::LogView(QWidget *parent) : QWidget(parent), m_list(new QListView(this)), m_level(new QComboBox(this)), m_search(new QLineEdit(this))
{
    m_filter.setSourceModel(&m_model);
    m_list->setModel(&m_filter);
    m_list->setFont(look::Theme::codeFont(12));
    m_list->setUniformItemSizes(true);
    m_list->setItemDelegate(new look::TonedDelegate(m_list));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 4, 0, 0);
    box->setSpacing(4);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    auto *title = look::sectionLabel(this);
    m_search->setClearButtonEnabled(true);
    m_search->setMaximumWidth(220);
    line->addWidget(title);
    line->addStretch();
    line->addWidget(m_level);
    line->addWidget(m_search);
    box->addLayout(line);
    box->addWidget(m_list, 1);
    connect(m_search, &QLineEdit::textChanged, &m_filter, &models::LogFilter::setSearch);
    connect(m_level, &QComboBox::currentIndexChanged, this, [this](int index) { m_filter.setLowest(models::LogModel::Level(std::max(0, index))); });
    connect(m_list->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) { m_atEnd = value >= m_list->verticalScrollBar()->maximum() - 4; });
    connect(m_list->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int maximum) {
        if (m_atEnd)
            m_list->verticalScrollBar()->setValue(maximum);
    });
    auto *copy = new QShortcut(QKeySequence::Copy, m_list);
    copy->setContext(Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, [this] {
        QStringList lines;
        auto chosen = m_list->selectionModel()->selectedIndexes();
        std::sort(chosen.begin(), chosen.end());
        for (const auto &index : chosen)
            lines << index.data().toString();
        QApplication::clipboard()->setText(lines.join(u'\n'));
    });
    for (int i = 0; i < 4; ++i)
        m_level->addItem(QString());
    look::bindText(this, [this, title] {
        title->setText(tr("LOG"));
        m_search->setPlaceholderText(tr("Search the log"));
        m_search->setAccessibleName(tr("Search the log"));
        m_level->setAccessibleName(tr("Lowest level shown"));
        m_level->setItemText(0, tr("Everything"));
        m_level->setItemText(1, tr("Info and above"));
        m_level->setItemText(2, tr("Warnings and errors"));
        m_level->setItemText(3, tr("Errors"));
        m_list->setAccessibleName(tr("Log of the run"));
    });
    m_level->setCurrentIndex(1);
}

} // namespace stagewright::pages
