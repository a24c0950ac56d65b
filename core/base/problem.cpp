#include "core/base/problem.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace stagewright {

namespace {

nlohmann::json toJson(const Fix &fix)
{
    auto edits = nlohmann::json::array();
    for (const Edit &edit : fix.edits) {
        edits.push_back({{"path", edit.path},
                         {"from", edit.from ? nlohmann::json(*edit.from) : nlohmann::json()},
                         {"to", edit.to ? nlohmann::json(*edit.to) : nlohmann::json()}});
    }
    return {{"title", fix.title}, {"edits", std::move(edits)}};
}

} // namespace

const char *severityName(Severity severity)
{
    switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Hint: return "hint";
    }
    return "error";
}

bool hasErrors(const Problems &problems)
{
    return std::any_of(problems.begin(), problems.end(), [](const Problem &p) { return p.severity == Severity::Error; });
}

nlohmann::json toJson(const Problem &problem)
{
    nlohmann::json json = {{"severity", severityName(problem.severity)}, {"code", problem.code}, {"message", problem.message}};
    if (!problem.path.empty())
        json["path"] = problem.path;
    if (!problem.file.empty())
        json["file"] = problem.file;
    if (problem.line > 0)
        json["line"] = problem.line;
    if (problem.column > 0)
        json["column"] = problem.column;
    if (problem.fix)
        json["fix"] = toJson(*problem.fix);
    return json;
}

nlohmann::json toJson(const Problems &problems)
{
    auto json = nlohmann::json::array();
    for (const Problem &problem : problems)
        json.push_back(toJson(problem));
    return json;
}

std::string oneLine(const Problem &problem)
{
    std::string where;
    if (!problem.file.empty()) {
        where = problem.file;
        if (problem.line > 0)
            where += ":" + std::to_string(problem.line);
        if (problem.line > 0 && problem.column > 0)
            where += ":" + std::to_string(problem.column);
        where += ": ";
    }
    return where + severityName(problem.severity) + ": " + problem.message + " [" + problem.code + "]";
}

} // namespace stagewright
