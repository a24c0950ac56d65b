// Which options the form shows: by search, by what changed, by tier, and by what applies to the stage at all.
#pragma once

#include <QString>

#include "core/config/option.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::settings {

struct OptionFilter {
    QString search;
    bool changedOnly = false;
    bool advanced = false;
    bool accepts(const config::Option &option, const session::StageSnapshot &snapshot) const;
};

// False for keys that exist only with another choice (an autoencoder's own keys), unless they are set all the same.
bool applies(const config::Option &option, const session::StageSnapshot &snapshot);
bool matches(const config::Option &option, const QString &search);     // path, label in both languages, help, aliases

} // namespace stagewright::settings
