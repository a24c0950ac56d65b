#include "core/commands/config_fix.h"

#include <map>

#include "core/base/files.h"
#include "core/config/apply_fix.h"

namespace stagewright::commands {

Result<FixResult> applyFixes(const Problems &problems, const std::filesystem::path &leaf)
{
    std::map<std::filesystem::path, std::vector<const Problem *>> byFile;
    for (const Problem &problem : problems) {
        if (problem.fix)
            byFile[problem.file.empty() ? leaf : std::filesystem::path(problem.file)].push_back(&problem);
    }
    FixResult result;
    for (const auto &[file, fixable] : byFile) {
        auto text = readFile(file);
        if (!text)
            return text.error();
        config::TextDocument document(*text, config::formatOf(file));
        const config::FixedText outcome = config::applyFixes(document, fixable);
        for (const auto &[problem, error] : outcome.failed) {
            result.unfixed.push_back(*problem);
            result.unfixed.back().message = "\"" + problem->fix->title + "\" could not be written into " + file.string() + ": " + error.message();
        }
        std::vector<std::string> titles;
        for (const Problem *problem : outcome.fixed)
            titles.push_back(problem->fix->title);
        if (!titles.empty())
            result.files.push_back({file, document.text(), std::move(titles)});
    }
    return result;
}

} // namespace stagewright::commands
