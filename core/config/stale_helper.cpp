#include "core/config/stale_helper.h"

#include <algorithm>
#include <map>

namespace stagewright::config {

namespace {

bool samePlace(const Origin &a, const Origin &b)
{
    return a.line == b.line && a.column == b.column && (a.file == b.file || (a.file && b.file && *a.file == *b.file));
}

bool sameFile(const Origin &a, const Origin &b)
{
    return a.file == b.file || (a.file && b.file && *a.file == *b.file);
}

using Uses = std::multimap<std::string, const python::NameUse *>;

// Paths that were built from `source` as it stood at `set` and still hold that; those built from them, too.
void collectKept(const Dict &values, const Uses &uses, const std::string &source, const Origin &set, std::vector<const python::NameUse *> &kept)
{
    const auto [begin, end] = uses.equal_range(source);
    for (auto use = begin; use != end; ++use) {
        const python::NameUse &one = *use->second;
        const Value *now = lookUp(values, one.path);
        if (!samePlace(one.sourceOrigin, set) || !now || !samePlace(now->origin, one.pathOrigin))
            continue;
        if (std::any_of(kept.begin(), kept.end(), [&](const python::NameUse *other) { return other->path == one.path; }))
            continue;
        if (kept.size() >= 100)
            return;
        kept.push_back(&one);
        collectKept(values, uses, one.path, one.pathOrigin, kept);
    }
}

Problem warningFor(const StaleHelper &stale, const Value &now, const std::vector<const python::NameUse *> &kept, const Dict &values)
{
    std::string paths;
    for (const std::string &path : stale.kept)
        paths += (paths.empty() ? "`" : "`, `") + path;
    paths += "`";
    Problem problem;
    problem.severity = Severity::Warning;
    problem.code = "config.stale-helper";
    problem.path = stale.name;
    problem.file = stale.assigned.fileName();
    problem.line = stale.assigned.line;
    problem.column = stale.assigned.column;
    problem.message = stale.assigned.fileName() + ":" + std::to_string(stale.assigned.line) + ": `" + stale.name + "` is set anew here, but " + paths + " in "
        + kept.front()->pathOrigin.fileName() + ":" + std::to_string(kept.front()->pathOrigin.line) + " was built from the base's value and keeps it; set "
        + (stale.kept.size() == 1 ? "that" : "those") + " too";
    Fix fix{"Set " + paths + " too", {}};
    for (const python::NameUse *use : kept) {
        const Value *value = lookUp(values, use->path);
        const bool alone = value && (value->spelling == use->source || value->spelling == "_base_." + use->source || value->spelling == "{{_base_." + use->source + "}}");
        if (!alone)
            return problem;              // the new value would have to be computed: left to the person
        fix.edits.push_back({use->path, toPython(*value), toPython(now)});
    }
    problem.fix = std::move(fix);
    return problem;
}

} // namespace

std::vector<StaleHelper> findStaleHelpers(const Dict &values, const std::vector<python::NameUse> &uses, Problems &problems)
{
    Uses bySource;
    for (const python::NameUse &use : uses)
        bySource.emplace(use.source, &use);
    std::vector<StaleHelper> out;
    for (auto use = bySource.begin(); use != bySource.end(); use = bySource.upper_bound(use->first)) {
        const std::string &name = use->first;
        const Value *now = lookUp(values, name);
        if (!now)
            continue;
        const auto [begin, end] = bySource.equal_range(name);
        std::vector<Origin> tried;
        for (auto one = begin; one != end && tried.size() < 16; ++one) {
            const python::NameUse &first = *one->second;
            if (std::any_of(tried.begin(), tried.end(), [&](const Origin &origin) { return samePlace(origin, first.sourceOrigin); }))
                continue;
            // Set anew by another file than the one that used it.
            if (samePlace(now->origin, first.sourceOrigin) || sameFile(now->origin, first.pathOrigin) || first.path == name || first.path.starts_with(name + "."))
                continue;
            tried.push_back(first.sourceOrigin);
            std::vector<const python::NameUse *> kept;
            collectKept(values, bySource, name, first.sourceOrigin, kept);
            std::erase_if(kept, [&](const python::NameUse *k) {
                const Value *value = lookUp(values, k->path);
                return value && *value == *now;
            });
            if (kept.empty())
                continue;
            StaleHelper stale{name, now->origin, first.sourceOrigin, {}};
            for (const python::NameUse *k : kept)
                stale.kept.push_back(k->path);
            problems.push_back(warningFor(stale, *now, kept, values));
            out.push_back(std::move(stale));
            break;
        }
    }
    return out;
}

} // namespace stagewright::config
