#include "ui/settings/stage_text_editor.h"

#include <QAbstractTextDocumentLayout>
#include <QHelpEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>
#include <filesystem>

#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/code_highlighter.h"

namespace stagewright::settings {
namespace {

class Gutter : public QWidget
{
public:
    explicit Gutter(StageTextEditor *editor) : QWidget(editor), m_editor(editor) {}

protected:
    void paintEvent(QPaintEvent *event) override { m_editor->paintGutter(event); }
    bool event(QEvent *event) override
    {
        if (event->type() == QEvent::ToolTip) {
            auto *help = static_cast<QHelpEvent *>(event);
            const int line = m_editor->cursorForPosition(QPoint(0, help->pos().y())).blockNumber() + 1;
            QToolTip::showText(help->globalPos(), m_editor->problemTextAt(line), this);
            return true;
        }
        return QWidget::event(event);
    }

private:
    StageTextEditor *m_editor;
};

} // namespace

StageTextEditor::StageTextEditor(QWidget *parent) : QPlainTextEdit(parent), m_gutter(new Gutter(this))
{
    look::setRole(this, "code");
    setFont(look::Theme::codeFont(12.5));
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setUndoRedoEnabled(false);
    setTabChangesFocus(false);
    setTabStopDistance(4 * QFontMetricsF(font()).horizontalAdvance(u' '));
    new CodeHighlighter(document());
    connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setViewportMargins(gutterWidth(), 0, 0, 0); });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect &rect, int dy) {
        dy ? m_gutter->scroll(0, dy) : m_gutter->update(0, rect.y(), m_gutter->width(), rect.height());
    });
    connect(this, &QPlainTextEdit::cursorPositionChanged, m_gutter, qOverload<>(&QWidget::update));
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_showing)
            Q_EMIT typed(toPlainText());
    });
    setViewportMargins(gutterWidth(), 0, 0, 0);
    look::bindText(this, [this] { setAccessibleName(tr("Text of the stage")); });
}

// Only the stretch that differs is replaced.
void StageTextEditor::showText(const QString &text)
{
    const QString now = toPlainText();
    if (now == text)
        return;
    m_showing = true;
    const qsizetype shorter = std::min(now.size(), text.size());
    qsizetype head = 0, tail = 0;
    while (head < shorter && now.at(head) == text.at(head))
        ++head;
    while (tail < shorter - head && now.at(now.size() - 1 - tail) == text.at(text.size() - 1 - tail))
        ++tail;
    QTextCursor cursor(document());
    cursor.setPosition(int(head));
    cursor.setPosition(int(now.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(text.mid(head, text.size() - head - tail));
    m_showing = false;
}

void StageTextEditor::showProblems(const Problems &problems, const std::string &file)
{
    m_marks.clear();
    for (const auto &problem : problems) {
        if (problem.line <= 0 || (!problem.file.empty() && std::filesystem::path(problem.file).filename() != std::filesystem::path(file).filename()))
            continue;
        auto &mark = m_marks.try_emplace(problem.line, problem.severity, QString()).first->second;
        mark.first = std::min(mark.first, problem.severity);
        mark.second += (mark.second.isEmpty() ? QString() : QStringLiteral("\n")) + look::problemSentence(problem);
    }
    const auto &t = look::tokens();
    QList<QTextEdit::ExtraSelection> underlines;
    for (const auto &[line, mark] : m_marks) {
        const QTextBlock block = document()->findBlockByNumber(line - 1);
        if (!block.isValid())
            continue;
        QTextEdit::ExtraSelection selection;
        selection.cursor = QTextCursor(block);
        selection.cursor.select(QTextCursor::LineUnderCursor);
        selection.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        selection.format.setUnderlineColor(mark.first == Severity::Error ? t.error : mark.first == Severity::Warning ? t.warning : t.muted);
        underlines.append(selection);
    }
    setExtraSelections(underlines);
    m_gutter->update();
}

QString StageTextEditor::problemTextAt(int line) const
{
    const auto at = m_marks.find(line);
    return at == m_marks.end() ? QString() : at->second.second;
}

void StageTextEditor::goToLine(int line)
{
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    if (block.isValid()) {
        setTextCursor(QTextCursor(block));
        centerCursor();
    }
}

int StageTextEditor::gutterWidth() const { return 34 + fontMetrics().horizontalAdvance(u'9') * std::max(2, int(QString::number(blockCount()).size())); }

void StageTextEditor::resizeEvent(QResizeEvent *event)
{
    QPlainTextEdit::resizeEvent(event);
    const QRect inside = contentsRect();
    m_gutter->setGeometry(inside.left(), inside.top(), gutterWidth(), inside.height());
}

void StageTextEditor::paintGutter(QPaintEvent *event)
{
    QPainter painter(m_gutter);
    const auto &t = look::tokens();
    painter.fillRect(event->rect(), t.ground);
    painter.setFont(font());
    painter.setRenderHint(QPainter::Antialiasing);
    QTextBlock block = firstVisibleBlock();
    while (block.isValid()) {
        const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
        if (area.top() > event->rect().bottom())
            break;
        const int line = block.blockNumber() + 1;
        painter.setPen(line == textCursor().blockNumber() + 1 ? t.text : t.muted);
        painter.drawText(QRectF(20, area.top(), gutterWidth() - 30, area.height()), Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
        if (const auto mark = m_marks.find(line); mark != m_marks.end()) {
            const QRectF dot(8, area.center().y() - 4, 8, 8);
            painter.setPen(Qt::NoPen);
            painter.setBrush(mark->second.first == Severity::Error ? t.error : mark->second.first == Severity::Warning ? t.warning : t.muted);
            if (mark->second.first == Severity::Warning)
                painter.drawPolygon(QPolygonF{dot.bottomLeft(), dot.bottomRight(), QPointF(dot.center().x(), dot.top())});
            else
                painter.drawEllipse(dot);
        }
        block = block.next();
    }
}

void StageTextEditor::keyPressEvent(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Undo)) {
        Q_EMIT undoAsked();
        return;
    }
    if (event->matches(QKeySequence::Redo)) {
        Q_EMIT redoAsked();
        return;
    }
    if (event->key() == Qt::Key_Tab && event->modifiers() == Qt::NoModifier) {
        textCursor().insertText(QStringLiteral("    "));
        return;
    }
    QPlainTextEdit::keyPressEvent(event);
}

bool StageTextEditor::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        auto *key = static_cast<QKeyEvent *>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->accept();
            return true;
        }
    }
    return QPlainTextEdit::event(event);
}

} // namespace stagewright::settings
