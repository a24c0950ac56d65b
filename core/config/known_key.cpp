#include "core/config/known_key.h"

#include <algorithm>

#include "core/base/text.h"

namespace stagewright::config {

namespace {

std::string_view sectionOf(std::string_view path)
{
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view nameOf(std::string_view path)
{
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool sameSpelling(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && editDistance(a, b) == 0;
}

bool hasAlias(const Option &option, std::string_view name)
{
    return std::any_of(option.aliases.begin(), option.aliases.end(), [&](std::string_view alias) { return sameSpelling(alias, name); });
}

const Option *whatItStandsFor(const Option *option)
{
    if (option && option->keyClass == KeyClass::Helper && !option->writesThroughTo.empty())
        return findOption(option->writesThroughTo);
    return option;
}

// The nearest name among the options that `accepts`; ties go to the option that comes first in the form.
template <class Accepts>
const Option *nearest(std::string_view name, Accepts accepts)
{
    std::vector<std::string> names;
    std::vector<const Option *> options;
    for (const Option &option : allOptions()) {
        if (!accepts(option))
            continue;
        options.push_back(&option);
        names.emplace_back(nameOf(option.path));
    }
    const auto best = nearestOf(name, names);
    if (!best)
        return nullptr;
    return options[static_cast<std::size_t>(std::find(names.begin(), names.end(), *best) - names.begin())];
}

const Option *aliased(std::string_view section, std::string_view name)
{
    const Option *elsewhere = nullptr;
    for (const Option &option : allOptions()) {
        if (!hasAlias(option, name))
            continue;
        if (sectionOf(option.path) == section)
            return &option;
        if (!elsewhere)
            elsewhere = &option;
    }
    return elsewhere;
}

const Option *sameNameElsewhere(std::string_view name)
{
    const Option *known = nullptr;
    for (const Option &option : allOptions()) {
        if (!sameSpelling(nameOf(option.path), name))
            continue;
        if (option.keyClass == KeyClass::Read)
            return &option;
        if (!known)
            known = &option;
    }
    return known;
}

} // namespace

const Option *nearestOption(std::string_view path)
{
    const std::string_view section = sectionOf(path), name = nameOf(path);
    if (name.empty() || name.size() > 200)
        return nullptr;
    if (const Option *option = aliased(section, name))
        return whatItStandsFor(option);
    const Option *here = nearest(name, [&](const Option &option) { return sectionOf(option.path) == section && option.keyClass != KeyClass::NotApplicable; });
    if (here && editDistance(name, nameOf(here->path)) <= 2)
        return here;
    if (const Option *option = sameNameElsewhere(name))
        return whatItStandsFor(option);
    if (here)
        return here;
    // Among all options a short name is near to many: half of it must be right.
    const Option *anywhere = nearest(name, [](const Option &option) { return option.keyClass == KeyClass::Read; });
    return anywhere && 2 * static_cast<std::size_t>(editDistance(name, nameOf(anywhere->path))) <= std::min(name.size(), nameOf(anywhere->path).size()) ? whatItStandsFor(anywhere) : nullptr;
}

const Option *governingOption(std::string_view path)
{
    for (std::string_view at = path; !at.empty(); at = sectionOf(at)) {
        if (const Option *option = findOption(at)) {
            const bool open = option->type == OptionType::BucketTable || option->type == OptionType::WeightTable || option->type == OptionType::Any;
            return at == path || open ? option : nullptr;
        }
    }
    return nullptr;
}

std::string describePlace(const Option &option, std::string_view path)
{
    const std::string_view section = sectionOf(option.path);
    if (section == sectionOf(path))
        return std::string(option.path);
    if (section.empty())
        return std::string(option.path) + ", which belongs at the top level";
    return std::string(nameOf(option.path)) + ", which belongs in " + std::string(section);
}

} // namespace stagewright::config
