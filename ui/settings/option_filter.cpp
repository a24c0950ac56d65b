#include "ui/settings/option_filter.h"

#include <algorithm>

#include "ui/look/words.h"
#include "ui/settings/editor_factory.h"

namespace stagewright::settings {

using look::q;

bool applies(const config::Option &option, const session::StageSnapshot &snapshot)
{
    if (option.onlyWith.path.empty() || !snapshot.stage || snapshot.valueOf(option.path))
        return true;
    const auto &deciding = snapshot.stage->at(option.onlyWith.path);
    const std::string now = deciding.type() == config::Type::String ? deciding.string() : config::toPython(deciding);
    return std::find(option.onlyWith.values.begin(), option.onlyWith.values.end(), now) != option.onlyWith.values.end();
}

bool matches(const config::Option &option, const QString &search)
{
    const auto has = [&](std::string_view text) { return q(text).contains(search, Qt::CaseInsensitive); };
    QString loose = search;
    loose.replace(u' ', u'_');
    if (has(option.path) || q(option.path).contains(loose, Qt::CaseInsensitive) || has(option.label.en) || has(option.label.zh) || has(option.help.en) || has(option.help.zh))
        return true;
    return std::any_of(option.aliases.begin(), option.aliases.end(), has);
}

bool OptionFilter::accepts(const config::Option &option, const session::StageSnapshot &snapshot) const
{
    if (!isEditable(option.type) || !applies(option, snapshot))
        return false;
    const bool set = snapshot.valueOf(option.path) != nullptr;
    if (changedOnly && !snapshot.isChanged(option))
        return false;
    if (!search.isEmpty())
        return matches(option, search);
    if (changedOnly || set || !snapshot.problemsOf(option.path).empty())
        return true;
    return advanced || (option.tier == config::Tier::Basic && option.keyClass == config::KeyClass::Read);
}

} // namespace stagewright::settings
