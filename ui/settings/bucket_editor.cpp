#include "ui/settings/bucket_editor.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "core/config/text_document.h"
#include "ui/look/flow_layout.h"
#include "ui/look/icons.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using look::q;

namespace {

class CellDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override { return {74, 44}; }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const auto &t = look::tokens();
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, t.raised);
        painter->setPen(t.border);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        if ((option.state & QStyle::State_HasFocus)) {
            painter->setPen(t.accent);
            painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
        }
        const QRect inside = option.rect.adjusted(6, 4, -8, -5);
        if (!index.data(BucketGridModel::PresentRole).toBool()) {
            painter->setPen(t.muted);
            painter->setFont(look::Theme::uiFont(12));
            painter->drawText(inside, Qt::AlignRight | Qt::AlignVCenter, option.state & QStyle::State_Selected ? BucketEditor::tr("add") : u"·"_s);
            return;
        }
        painter->setPen(t.text);
        painter->setFont(look::Theme::uiFont(13, QFont::DemiBold));
        painter->drawText(inside, Qt::AlignRight | Qt::AlignTop, index.data(BucketGridModel::BatchRole).toString());
        painter->setPen(t.muted);
        painter->setFont(look::Theme::uiFont(11));
        painter->drawText(inside, Qt::AlignRight | Qt::AlignBottom, u"p "_s + index.data(BucketGridModel::ProbabilityRole).toString());
    }
};

} // namespace

BucketEditor::BucketEditor(const config::Option &option, QWidget *parent)
    : OptionEditor(option, parent), m_grid(new QTableView(this)), m_where(look::label("strong", this)), m_summary(look::label("muted", this, true))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(6);
    createGrid();
    box->addWidget(m_grid);
    box->addWidget(createBar());
    box->addWidget(m_summary);
    setFocusProxy(m_grid);
    look::bindText(this, [this] {
        m_probabilityLabel->setText(tr("Probability"));
        m_batchLabel->setText(tr("Batch per GPU"));
        m_remove->setText(tr("Delete"));
        m_newLabel->setText(tr("New bucket"));
        m_newFrames->setPlaceholderText(tr("frames"));
        m_newResolution->setPlaceholderText(tr("resolution"));
        m_add->setText(tr("Add"));
        m_grid->setAccessibleName(tr("Buckets: resolutions down, frames across"));
        display();
    });
}

void BucketEditor::createGrid()
{
    m_grid->setModel(&m_model);
    m_grid->setItemDelegate(new CellDelegate(m_grid));
    m_grid->setShowGrid(false);
    m_grid->setSelectionMode(QAbstractItemView::SingleSelection);
    m_grid->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_grid->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    m_grid->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_grid->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_grid->horizontalHeader()->setDefaultSectionSize(76);
    m_grid->horizontalHeader()->setHighlightSections(false);
    m_grid->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_grid->verticalHeader()->setDefaultSectionSize(45);
    m_grid->verticalHeader()->setMinimumWidth(80);
    m_grid->verticalHeader()->setHighlightSections(false);
    m_grid->installEventFilter(this);
    m_grid->setTabKeyNavigation(false);
    connect(m_grid->selectionModel(), &QItemSelectionModel::currentChanged, this, &BucketEditor::showCurrent);
    connect(m_grid, &QTableView::doubleClicked, this, [this] { m_batch->setFocus(Qt::MouseFocusReason); m_batch->selectAll(); });
}

QWidget *BucketEditor::createBar()
{
    auto *bar = new QWidget(this);
    auto *line = new look::FlowLayout(bar, 8, 6);
    const auto field = [&](int width) {
        auto *made = new QLineEdit(bar);
        made->setFont(look::Theme::codeFont(12));
        made->setFixedWidth(width);
        return made;
    };
    m_where->setMinimumWidth(128);
    m_probabilityLabel = look::label("muted", bar);
    m_batchLabel = look::label("muted", bar);
    m_newLabel = look::label("muted", bar);
    m_probability = field(92);
    m_batch = field(56);
    m_remove = new QPushButton(bar);
    m_newResolution = field(92);
    m_newFrames = field(64);
    m_add = new QPushButton(bar);
    for (auto *label : {m_where, m_probabilityLabel, m_batchLabel, m_newLabel})
        label->setFixedHeight(26);
    for (auto *button : {m_remove, m_add})
        button->setAutoDefault(false);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_where, m_batchLabel, m_batch, m_probabilityLabel, m_probability, m_remove, m_newLabel, m_newResolution, m_newFrames, m_add})
        line->addWidget(widget);
    connect(m_probability, &QLineEdit::editingFinished, this, &BucketEditor::commitCell);
    connect(m_batch, &QLineEdit::editingFinished, this, &BucketEditor::commitCell);
    connect(m_remove, &QPushButton::clicked, this, &BucketEditor::removeCell);
    connect(m_add, &QPushButton::clicked, this, &BucketEditor::addBucket);
    connect(m_newFrames, &QLineEdit::returnPressed, this, &BucketEditor::addBucket);
    return bar;
}

QString BucketEditor::tablePath() const { return q(option().path); }

void BucketEditor::display()
{
    if (!hasSnapshot())
        return;
    const auto current = m_grid->currentIndex();
    const int row = current.row(), column = current.column();
    m_model.setTable(effective());
    if (!m_grid->currentIndex().isValid() && m_model.rowCount() > 0 && m_model.columnCount() > 0)
        m_grid->setCurrentIndex(m_model.index(std::clamp(row, 0, m_model.rowCount() - 1), std::clamp(column, 0, m_model.columnCount() - 1)));
    m_grid->setVisible(m_model.rowCount() > 0 && m_model.columnCount() > 0);
    const auto &accumulation = snapshot().stage->at("accumulation_steps");
    const std::int64_t micro = accumulation.type() == config::Type::Int ? accumulation.integer() : 1;
    m_summary->setText(m_model.rowCount() == 0 ? tr("No bucket yet: add a resolution such as 256px and a frame count.")
                       : micro > 1             ? tr("Batch per GPU; with %1 accumulated micro-steps an update sees %1 times as many clips of each GPU.").arg(micro)
                                               : tr("Batch per GPU; the global batch is that times the number of GPUs."));
    fitHeight();
    showCurrent();
}

void BucketEditor::fitHeight()
{
    const int rows = std::min(m_model.rowCount(), 12);
    const int wide = m_grid->verticalHeader()->sizeHint().width() + 76 * m_model.columnCount();
    const int bar = wide > m_grid->width() ? 12 : 0;
    m_grid->setFixedHeight(m_grid->horizontalHeader()->sizeHint().height() + rows * 45 + 2 + bar);
}

void BucketEditor::showCurrent()
{
    const auto current = m_grid->currentIndex();
    const bool any = current.isValid();
    const auto cell = any ? m_model.cell(current.row(), current.column()) : std::nullopt;
    m_where->setText(any ? tr("%1 × %2 frames").arg(m_model.resolutions().value(current.row())).arg(m_model.frames()[std::size_t(current.column())]) : QString());
    for (QWidget *widget : std::initializer_list<QWidget *>{m_where, m_probability, m_batch, m_probabilityLabel, m_batchLabel})
        widget->setVisible(any);
    m_remove->setVisible(any && cell);
    if (!m_probability->isModified())
        m_probability->setText(cell ? q(cell->probability) : u"1.0"_s);
    if (!m_batch->isModified())
        m_batch->setText(cell ? q(cell->batch) : QString());
}

void BucketEditor::commitCell()
{
    if ((!m_probability->isModified() && !m_batch->isModified()) || !m_grid->currentIndex().isValid())
        return;
    const QString probability = m_probability->text().trimmed(), batch = m_batch->text().trimmed();
    const bool goodProbability = config::parseLiteral(look::s(probability)).ok(), goodBatch = config::parseLiteral(look::s(batch)).ok();
    look::setState(m_probability, goodProbability ? "" : "error");
    look::setState(m_batch, goodBatch ? "" : "error");
    if (!goodProbability || !goodBatch)
        return;
    m_probability->setModified(false);
    m_batch->setModified(false);
    const auto current = m_grid->currentIndex();
    Q_EMIT edited(m_model.pathOf(current.row(), current.column(), tablePath()), u"(%1, %2)"_s.arg(probability, batch), false);
}

void BucketEditor::removeCell()
{
    const auto current = m_grid->currentIndex();
    if (current.isValid() && m_model.cell(current.row(), current.column()))
        Q_EMIT removed(m_model.pathOf(current.row(), current.column(), tablePath()));
}

void BucketEditor::addBucket()
{
    QString resolution = m_newResolution->text().trimmed();
    if (resolution.isEmpty() && m_grid->currentIndex().isValid())
        resolution = m_model.resolutions().value(m_grid->currentIndex().row());
    bool number = false;
    const int frames = m_newFrames->text().trimmed().toInt(&number);
    look::setState(m_newFrames, number && frames > 0 ? "" : "error");
    look::setState(m_newResolution, resolution.isEmpty() || resolution.contains(u'.') ? "error" : "");
    if (!number || frames <= 0 || resolution.isEmpty() || resolution.contains(u'.'))
        return;
    m_newFrames->clear();
    m_newResolution->clear();
    if (m_model.resolutions().contains(resolution))
        Q_EMIT edited(u"%1.%2.%3"_s.arg(tablePath(), resolution).arg(frames), u"(1.0, 1)"_s, false);
    else if (m_model.rowCount() == 0)
        Q_EMIT edited(tablePath(), u"{%1: {%2: (1.0, 1)}}"_s.arg(q(config::toPython(config::Value(look::s(resolution))))).arg(frames), false);
    else
        Q_EMIT edited(u"%1.%2"_s.arg(tablePath(), resolution), u"{%1: (1.0, 1)}"_s.arg(frames), false);
}

void BucketEditor::copyCell()
{
    const auto current = m_grid->currentIndex();
    if (const auto cell = current.isValid() ? m_model.cell(current.row(), current.column()) : std::nullopt)
        QGuiApplication::clipboard()->setText(u"(%1, %2)"_s.arg(q(cell->probability), q(cell->batch)));
}

// One cell as (probability, batch), or a rectangle of batches from a spreadsheet, from the current cell right and down.
void BucketEditor::paste()
{
    const auto current = m_grid->currentIndex();
    const QString text = QGuiApplication::clipboard()->text().trimmed();
    if (!current.isValid() || text.isEmpty())
        return;
    if (text.startsWith(u'(')) {
        if (config::parseLiteral(look::s(text)))
            Q_EMIT edited(m_model.pathOf(current.row(), current.column(), tablePath()), text, false);
        return;
    }
    const QStringList lines = text.split(u'\n');
    for (int r = 0; r < lines.size() && current.row() + r < m_model.rowCount(); ++r) {
        const QStringList cells = lines.at(r).split(u'\t');
        for (int c = 0; c < cells.size() && current.column() + c < m_model.columnCount(); ++c) {
            bool number = false;
            const int batch = cells.at(c).trimmed().toInt(&number);
            if (!number)
                continue;
            const auto old = m_model.cell(current.row() + r, current.column() + c);
            Q_EMIT edited(m_model.pathOf(current.row() + r, current.column() + c, tablePath()),
                          u"(%1, %2)"_s.arg(old && !old->odd ? q(old->probability) : u"1.0"_s).arg(batch), false);
        }
    }
}

bool BucketEditor::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_grid && event->type() == QEvent::Resize)
        fitHeight();
    if (watched == m_grid && event->type() == QEvent::KeyPress) {
        auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Delete || key->key() == Qt::Key_Backspace) {
            removeCell();
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter || key->key() == Qt::Key_F2) {
            m_batch->setFocus(Qt::ShortcutFocusReason);
            m_batch->selectAll();
            return true;
        }
        if (key->matches(QKeySequence::Copy)) {
            copyCell();
            return true;
        }
        if (key->matches(QKeySequence::Paste)) {
            paste();
            return true;
        }
    }
    return OptionEditor::eventFilter(watched, event);
}

} // namespace stagewright::settings
