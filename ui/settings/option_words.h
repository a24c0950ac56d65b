// What descriptors say, in words.
#pragma once

#include <QString>

#include "core/config/option.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::settings {

QString labelOf(const config::Option &option);
QString unitWord(config::Unit unit);                       // "elements", empty for none
QString typeWord(const config::Option &option);            // "two counts", "one of none, opensora"
QString effectWords(const config::Option &option);         // when a change takes effect, and whether it changes results
QString originWords(const session::Source &source);        // "stage1.py:12", "default"
QString groupTitle(std::string_view group);

} // namespace stagewright::settings
