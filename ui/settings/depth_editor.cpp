#include "ui/settings/depth_editor.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>

#include "core/config/text_document.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/depth_strip.h"
#include "ui/settings/option_words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;

static int counted(std::int64_t depth, int blocks)
{
    if (depth < 0)
        return int(std::max<std::int64_t>(0, blocks + depth));
    return int(std::min<std::int64_t>(depth, blocks));
}

static QString partWords(int depth, int blocks, const char *all, const char *some, const char *none)
{
    const auto translated = [](const char *text) { return QCoreApplication::translate("DepthEditor", text); };
    return depth >= blocks ? translated(all).arg(blocks) : depth == 0 ? translated(none).arg(blocks) : translated(some).arg(depth).arg(blocks);
}

DepthMeaning depthMeaning(const config::Value &value, int doubleBlocks, int singleBlocks, bool checkpointing)
{
    const auto translated = [](const char *text) { return QCoreApplication::translate("DepthEditor", text); };
    DepthMeaning meaning{doubleBlocks, singleBlocks, {}};
    const bool pair = value.isSequence() && value.items().size() == 2 && value.items()[0].type() == config::Type::Int && value.items()[1].type() == config::Type::Int;
    if (pair) {
        meaning.doubles = counted(value.items()[0].integer(), doubleBlocks);
        meaning.singles = counted(value.items()[1].integer(), singleBlocks);
    }
    if (!checkpointing) {
        meaning.sentence = translated(QT_TRANSLATE_NOOP("DepthEditor", "Gradient checkpointing is off: every block keeps its activations."));
        return meaning;
    }
    if (!pair && !value.isNone() && !(value.isSequence() && value.items().empty())) {
        meaning.sentence = translated(QT_TRANSLATE_NOOP("DepthEditor", "Two whole numbers are needed: double blocks, single blocks."));
        return meaning;
    }
    if (meaning.doubles == doubleBlocks && meaning.singles == singleBlocks) {
        meaning.sentence = translated(QT_TRANSLATE_NOOP("DepthEditor", "All %1 double and all %2 single blocks recompute in the backward pass.")).arg(doubleBlocks).arg(singleBlocks);
        return meaning;
    }
    if (meaning.doubles == 0 && meaning.singles == 0) {
        meaning.sentence = translated(QT_TRANSLATE_NOOP("DepthEditor", "No block recomputes: all %1 keep their activations.")).arg(doubleBlocks + singleBlocks);
        return meaning;
    }
    meaning.sentence = translated(QT_TRANSLATE_NOOP("DepthEditor", "%1 and %2 recompute in the backward pass."))
                           .arg(partWords(meaning.doubles, doubleBlocks, QT_TRANSLATE_NOOP("DepthEditor", "all %1 double blocks"),
                                          QT_TRANSLATE_NOOP("DepthEditor", "%1 of %2 double blocks"), QT_TRANSLATE_NOOP("DepthEditor", "none of %1 double blocks")),
                                partWords(meaning.singles, singleBlocks, QT_TRANSLATE_NOOP("DepthEditor", "all %1 single blocks"),
                                          QT_TRANSLATE_NOOP("DepthEditor", "%1 of %2 single blocks"), QT_TRANSLATE_NOOP("DepthEditor", "none of %1 single blocks")));
    return meaning;
}

DepthEditor::DepthEditor(const config::Option &option, QWidget *parent)
    : OptionEditor(option, parent), m_strip(new DepthStrip(this)), m_field(new QLineEdit(this)), m_words(look::label("muted", this, true))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(4);
    box->addWidget(m_strip);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_field->setFont(look::Theme::codeFont(12));
    m_field->setFixedWidth(110);
    line->addWidget(m_field, 0, Qt::AlignTop);
    line->addWidget(m_words, 1, Qt::AlignVCenter);
    box->addLayout(line);
    setFocusProxy(m_strip);
    connect(m_strip, &DepthStrip::dragged, this, [this](int doubles, int singles) { ask(u"(%1, %2)"_s.arg(doubles).arg(singles), true); });
    connect(m_field, &QLineEdit::editingFinished, this, &DepthEditor::commitText);
    look::bindText(this, [this] { display(); });
}

void DepthEditor::display()
{
    if (!hasSnapshot())
        return;
    const auto count = [&](const char *path) {
        const auto &value = snapshot().stage->at(path);
        return value.type() == config::Type::Int ? int(std::clamp<std::int64_t>(value.integer(), 0, 2000)) : 0;
    };
    const int doubles = count("model.depth"), singles = count("model.depth_single_blocks");
    const auto &master = snapshot().stage->at("grad_checkpoint");
    const bool checkpointing = master.type() != config::Type::Bool || master.boolean();
    const DepthMeaning meaning = depthMeaning(effective(), doubles, singles, checkpointing);
    m_strip->setBlocks(doubles, singles);
    m_strip->setActive(checkpointing);
    m_strip->setDepths(meaning.doubles, meaning.singles);
    m_words->setText(meaning.sentence);
    m_field->setPlaceholderText(tr("all blocks"));
    m_field->setAccessibleName(labelOf(option()));
    if (!m_field->isModified())
        m_field->setText(effective().isNone() ? QString() : spelling());
}

void DepthEditor::commitText()
{
    if (!m_field->isModified())
        return;
    m_field->setModified(false);
    const QString typed = m_field->text().trimmed();
    const bool good = typed.isEmpty() || config::parseLiteral(look::s(typed));
    look::setState(m_field, good ? "" : "error");
    if (typed.isEmpty())
        Q_EMIT removed(look::q(option().path));
    else if (good)
        ask(typed);
}

} // namespace stagewright::settings
