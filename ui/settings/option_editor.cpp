#include "ui/settings/option_editor.h"

#include "ui/look/words.h"

namespace stagewright::settings {

OptionEditor::OptionEditor(const config::Option &option, QWidget *parent) : QWidget(parent), m_option(option)
{
    setObjectName(look::q(option.path));
}

void OptionEditor::show(const session::SnapshotPtr &snapshot)
{
    m_snapshot = snapshot;
    if (m_snapshot)
        display();
}

QString OptionEditor::spelling() const { return m_snapshot ? look::q(m_snapshot->spellingOf(m_option.path)) : QString(); }
bool OptionEditor::isSet() const { return m_snapshot && m_snapshot->valueOf(m_option.path); }
const config::Value &OptionEditor::effective() const { return m_snapshot->stage->at(m_option.path); }
void OptionEditor::ask(const QString &expression, bool mayMerge) { Q_EMIT edited(look::q(m_option.path), expression, mayMerge); }

} // namespace stagewright::settings
