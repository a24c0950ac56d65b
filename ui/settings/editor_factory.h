// Which editor an option gets: by its path where one was made for it, else by its type. A new editor is one line here.
#pragma once

#include "ui/settings/option_editor.h"

namespace stagewright::settings {

OptionEditor *makeEditor(const config::Option &option, QWidget *parent);   // never null for a type that isEditable()
bool isEditable(config::OptionType type);                                  // false for sections, whose keys have editors of their own

} // namespace stagewright::settings
