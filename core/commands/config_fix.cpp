#include "core/commands/config_fix.h"

#include <map>

#include "core/base/files.h"
#include "core/config/text_document.h"

namespace stagewright::commands {

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

// Where the edits are "remove A, add B beside it with A's value", B's path.
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

Status applyFix(config::TextDocument &document, const Fix &fix)
{
    const Edit *done = nullptr;
    for (const Edit &edit : fix.edits) {
        if (&edit == done)
            continue;
        if (const Edit *renamed = renameOf(edit, fix.edits)) {
            if (auto status = document.renameKey(edit.path, nameOf(renamed->path)); !status)
                return status;
            done = renamed;
        } else if (edit.to) {
            if (auto status = document.setValue(edit.path, *edit.to); !status)
                return status;
        } else if (auto status = document.removeKey(edit.path); !status) {
            return status;
        }
    }
    return Done{};
}

} // namespace

Result<FixResult> applyFixes(const Problems &problems, const std::filesystem::path &leaf)
{
    FixResult result;
    std::map<std::filesystem::path, std::pair<config::TextDocument, std::vector<std::string>>> documents;
    for (const Problem &problem : problems) {
        if (!problem.fix)
            continue;
        const std::filesystem::path file = problem.file.empty() ? leaf : std::filesystem::path(problem.file);
        if (!documents.count(file)) {
            auto text = readFile(file);
            if (!text)
                return text.error();
            documents.emplace(file, std::pair{config::TextDocument(*text, config::formatOf(file)), std::vector<std::string>()});
        }
        auto &[document, titles] = documents.at(file);
        config::TextDocument attempt = document;
        if (auto status = applyFix(attempt, *problem.fix); !status) {
            result.unfixed.push_back(problem);
            result.unfixed.back().message = "\"" + problem.fix->title + "\" could not be written into " + file.string() + ": " + status.error().message();
            continue;
        }
        document = std::move(attempt);
        titles.push_back(problem.fix->title);
    }
    for (auto &[file, fixed] : documents) {
        if (!fixed.second.empty())
            result.files.push_back({file, fixed.first.text(), std::move(fixed.second)});
    }
    return result;
}

} // namespace stagewright::commands
