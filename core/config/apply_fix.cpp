#include "core/config/apply_fix.h"

namespace stagewright::config {

namespace {

std::string parentOf(const std::string &path)
{
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

std::string nameOf(const std::string &path)
{
    return path.substr(path.rfind('.') + 1);
}

// Where the edits are "remove A, add B beside it with A's value": the edit that adds B.
const Edit *renameOf(const Edit &removal, const std::vector<Edit> &edits)
{
    if (removal.to)
        return nullptr;
    for (const Edit &other : edits) {
        if (!other.from && other.to && other.to == removal.from && parentOf(other.path) == parentOf(removal.path))
            return &other;
    }
    return nullptr;
}

} // namespace

Status applyFix(TextDocument &document, const Fix &fix)
{
    TextDocument attempt = document;
    const Edit *done = nullptr;
    for (const Edit &edit : fix.edits) {
        if (&edit == done)
            continue;
        Status status = Done{};
        if (const Edit *renamed = renameOf(edit, fix.edits)) {
            status = attempt.renameKey(edit.path, nameOf(renamed->path));
            done = renamed;
        } else {
            status = edit.to ? attempt.setValue(edit.path, *edit.to) : attempt.removeKey(edit.path);
        }
        if (!status)
            return status;
    }
    document = std::move(attempt);
    return Done{};
}

FixedText applyFixes(TextDocument &document, const std::vector<const Problem *> &problems)
{
    FixedText result;
    for (const Problem *problem : problems) {
        if (auto status = applyFix(document, *problem->fix); status)
            result.fixed.push_back(problem);
        else
            result.failed.emplace_back(problem, status.error());
    }
    return result;
}

} // namespace stagewright::config
