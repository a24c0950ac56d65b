#include "ui/settings/buffer_editor.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/config/overrides.h"
#include "core/config/text_document.h"
#include "ui/look/kind_colors.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/option_words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;

QString elementsExpression(const QString &typed, int bytesPerElement)
{
    if (config::parseLiteral(look::s(typed)))
        return typed;
    const auto bytes = parseBytes(look::s(typed));
    if (!bytes || bytesPerElement <= 0)
        return {};
    const std::int64_t elements = *bytes / bytesPerElement;
    for (const auto &[unit, power] : {std::pair{std::int64_t(1) << 30, 3}, std::pair{std::int64_t(1) << 20, 2}})
        if (elements >= unit && elements % unit == 0)
            return u"%1 * 1024**%2"_s.arg(elements / unit).arg(power);
    return QString::number(elements);
}

BufferEditor::BufferEditor(const config::Option &option, QWidget *parent)
    : OptionEditor(option, parent), m_field(new QLineEdit(this)), m_words(look::label("muted", this)), m_hostWords(look::label("caption", this)),
      m_bar(new look::PartsBar(this))
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->setSpacing(5);
    auto *line = new QHBoxLayout;
    line->setSpacing(8);
    m_field->setFont(look::Theme::codeFont(12));
    m_field->setFixedWidth(150);
    m_words->setTextFormat(Qt::RichText);
    line->addWidget(m_field);
    line->addWidget(m_words, 1);
    box->addLayout(line);
    m_bar->setMaximumWidth(420);
    box->addWidget(m_bar);
    box->addWidget(m_hostWords);
    setFocusProxy(m_field);
    connect(m_field, &QLineEdit::editingFinished, this, &BufferEditor::commit);
    look::bindText(this, [this] { display(); });
}

int BufferEditor::bytesEach() const
{
    const auto &dtype = snapshot().stage->at("dtype");
    return dtype.type() == config::Type::String ? config::bytesPerElement(dtype.string()) : 2;
}

void BufferEditor::display()
{
    if (!hasSnapshot())
        return;
    m_field->setAccessibleName(labelOf(option()));
    if (!m_field->isModified())
        m_field->setText(spelling());
    const auto &value = effective();
    const double elements = value.isNumber() ? value.number() : 0;
    const double bytes = elements * bytesEach();
    m_words->setText(elements > 0 ? tr("elements = <b>%1</b> pinned, per process").arg(look::bytes(bytes)) : tr("elements; off. Sizes such as “12 GiB” are understood"));
    // Against what is free now: the buffer is locked in memory at the start of the run.
    const double available = double(hostAvailableBytes()), total = double(hostTotalBytes());
    const bool shown = elements > 0 && total > 0;
    m_bar->setVisible(shown);
    m_hostWords->setVisible(shown);
    m_bar->setParts({{bytes, bytes > available ? look::tokens().error : look::colorOf(MemoryKind::CheckpointedInput)}}, std::max(total, bytes), available);
    m_hostWords->setText(tr("this machine has %1 of %2 free now").arg(look::bytes(available), look::bytes(total)));
    m_bar->setAccessibleDescription(m_hostWords->text());
}

void BufferEditor::commit()
{
    if (!m_field->isModified() || !hasSnapshot())
        return;
    m_field->setModified(false);
    const QString typed = m_field->text().trimmed();
    if (typed.isEmpty()) {
        Q_EMIT removed(look::q(option().path));
        return;
    }
    const QString expression = elementsExpression(typed, bytesEach());
    look::setState(m_field, expression.isEmpty() ? "error" : "");
    m_field->setToolTip(expression.isEmpty() ? tr("A number of elements such as 6 * 1024**3, or a size such as 12 GiB.") : QString());
    if (!expression.isEmpty())
        ask(expression);
}

} // namespace stagewright::settings
