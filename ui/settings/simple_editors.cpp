#include "ui/settings/simple_editors.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

#include "core/config/text_document.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/calm_combo_box.h"
#include "ui/settings/option_words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using config::OptionType;
using look::q;

static QHBoxLayout *lineOf(QWidget *owner)
{
    auto *line = new QHBoxLayout(owner);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    return line;
}

QString quoted(const QString &text) { return q(config::toPython(config::Value(look::s(text)))); }

BoolEditor::BoolEditor(const config::Option &option, QWidget *parent) : OptionEditor(option, parent), m_box(new QCheckBox(this))
{
    auto *line = lineOf(this);
    line->addWidget(m_box);
    line->addStretch();
    setFocusProxy(m_box);
    connect(m_box, &QCheckBox::clicked, this, [this](bool on) { ask(on ? u"True"_s : u"False"_s); });
    look::bindText(m_box, [this] { display(); });
}

void BoolEditor::display()
{
    if (!hasSnapshot())
        return;
    const auto &value = effective();
    const bool on = value.type() == config::Type::Bool && value.boolean();
    m_box->setChecked(on);
    m_box->setText(value.isNone() ? tr("not set") : on ? tr("on") : tr("off"));
    m_box->setAccessibleName(labelOf(option()));
}

LiteralEditor::LiteralEditor(const config::Option &option, QWidget *parent)
    : OptionEditor(option, parent), m_field(new QLineEdit(this)), m_unit(look::label("muted", this))
{
    auto *line = lineOf(this);
    line->addWidget(m_field);
    line->addWidget(m_unit);
    const bool number = option.type == OptionType::Int || option.type == OptionType::Float;
    m_field->setFont(look::Theme::codeFont(12));
    if (number) {
        m_field->setFixedWidth(150);
        line->addStretch();
    } else {
        m_field->setMaximumWidth(420);
        line->addStretch(0);
    }
    setFocusProxy(m_field);
    connect(m_field, &QLineEdit::editingFinished, this, &LiteralEditor::commit);
    look::bindText(m_field, [this] { display(); });
}

void LiteralEditor::display()
{
    m_unit->setText(unitWord(option().unit));
    m_unit->setVisible(option().unit != config::Unit::None && option().unit != config::Unit::Probability);
    m_field->setAccessibleName(labelOf(option()));
    if (!hasSnapshot())
        return;
    const QString shown = isSet() || !effective().isNone() ? spelling() : QString();
    m_field->setPlaceholderText(tr("not set"));
    if (!m_field->hasFocus() || !m_field->isModified())
        m_field->setText(isSet() && snapshot().valueOf(option().path)->isNone() ? QString() : shown);
    QFont font = m_field->font();
    m_field->setFont(font);
    m_field->setCursorPosition(0);
}

QString LiteralEditor::expressionOf(const QString &typed) const
{
    if (config::parseLiteral(look::s(typed)))
        return typed;
    return {};
}

void LiteralEditor::commit()
{
    if (!m_field->isModified())
        return;
    m_field->setModified(false);
    const QString typed = m_field->text().trimmed();
    if (typed.isEmpty()) {
        if (isSet())
            Q_EMIT removed(q(option().path));
        else
            display();
        return;
    }
    const QString expression = expressionOf(typed);
    look::setState(m_field, expression.isEmpty() ? "error" : "");
    m_field->setToolTip(expression.isEmpty() ? tr("Not a value in Python's spelling. Examples: 8, 1e-5, 25 * 1024**3, (8, 100).") : QString());
    if (!expression.isEmpty())
        ask(expression);
}

StringEditor::StringEditor(const config::Option &option, QWidget *parent) : LiteralEditor(option, parent)
{
    field()->setMaximumWidth(420);
}

void StringEditor::display()
{
    LiteralEditor::display();
    if (!hasSnapshot())
        return;
    const auto &value = effective();
    if (!field()->isModified())
        field()->setText(value.type() == config::Type::String ? q(value.string()) : value.isNone() ? QString() : spelling());
    field()->setToolTip(field()->text());
    field()->setCursorPosition(0);
}

QString StringEditor::expressionOf(const QString &typed) const { return quoted(typed); }

PathEditor::PathEditor(const config::Option &option, QWidget *parent) : StringEditor(option, parent)
{
    auto *button = new QPushButton(this);
    button->setAutoDefault(false);
    look::bindText(button, [button] { button->setText(PathEditor::tr("Browse…")); });
    connect(button, &QPushButton::clicked, this, &PathEditor::browse);
    static_cast<QHBoxLayout *>(layout())->insertWidget(1, button);
}

// A folder for names that mean one, else a file; without blocking the window.
void PathEditor::browse()
{
    const auto path = option().path;
    const bool folder = path == "outputs" || path == "load" || path.find("dir") != std::string_view::npos;
    auto *dialog = new QFileDialog(window(), labelOf(option()), field()->text());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &chosen) { ask(quoted(chosen)); });
    dialog->open();
}

ChoiceEditor::ChoiceEditor(const config::Option &option, QWidget *parent) : OptionEditor(option, parent), m_box(new CalmComboBox(this))
{
    auto *line = lineOf(this);
    line->addWidget(m_box);
    line->addStretch();
    m_box->setMinimumWidth(150);
    m_box->setFocusPolicy(Qt::StrongFocus);
    setFocusProxy(m_box);
    connect(m_box, &QComboBox::activated, this, [this](int index) {
        const QVariant data = m_box->itemData(index);
        if (data.isNull())
            Q_EMIT removed(q(this->option().path));
        else
            ask(data.toString());
    });
    look::bindText(m_box, [this] { display(); });
}

void ChoiceEditor::display()
{
    if (!hasSnapshot())
        return;
    const QSignalBlocker blocker(m_box);
    m_box->clear();
    m_box->setAccessibleName(labelOf(option()));
    const auto &value = effective();
    if (option().nullable)
        m_box->addItem(tr("not set"));
    for (const auto choice : option().choices)
        m_box->addItem(q(choice), quoted(q(choice)));
    const QString now = value.isNone() ? QString() : value.type() == config::Type::String ? q(value.string()) : spelling();
    int at = value.isNone() ? 0 : m_box->findText(now);
    if (at < 0) {                                      // a value that the validator complains about is shown as it is
        m_box->addItem(now, spelling());
        at = m_box->count() - 1;
    }
    m_box->setCurrentIndex(at);
}

} // namespace stagewright::settings
