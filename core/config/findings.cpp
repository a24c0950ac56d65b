#include "core/config/findings.h"

#include <algorithm>

namespace stagewright::config {

Problem &Findings::add(Severity severity, const char *code, const std::string &path, std::string message)
{
    const Value *value = lookUp(m_stage.values(), path);
    static const Value nowhere;
    return at(value ? *value : nowhere, severity, code, path, std::move(message));
}

Problem &Findings::at(const Value &value, Severity severity, const char *code, const std::string &path, std::string message)
{
    if (++m_counts[code] > kMostOfOneKind) {
        m_dropped = Problem();
        return m_dropped;
    }
    Problem problem;
    problem.severity = severity;
    problem.code = code;
    problem.path = path;
    problem.message = std::move(message);
    problem.file = value.origin.fileName();
    problem.line = value.origin.line;
    problem.column = value.origin.column;
    m_problems.push_back(std::move(problem));
    return m_problems.back();
}

bool Findings::has(std::string_view code, std::string_view path) const
{
    return std::any_of(m_problems.begin(), m_problems.end(), [&](const Problem &problem) { return problem.code == code && problem.path == path; });
}

Problems Findings::finish()
{
    for (const auto &[code, count] : m_counts) {
        if (count <= kMostOfOneKind)
            continue;
        const auto last = std::find_if(m_problems.rbegin(), m_problems.rend(), [&](const Problem &problem) { return problem.code == code; });
        last->message += " (and " + std::to_string(count - kMostOfOneKind) + " more like this)";
    }
    return std::move(m_problems);
}

Fix setTo(const Stage &stage, std::string title, const std::string &path, const Value &to)
{
    const Value *from = lookUp(stage.values(), path);
    return {std::move(title), {{path, from ? std::optional(toPython(*from)) : std::nullopt, toPython(to)}}};
}

Fix removeOf(const Stage &stage, std::string title, const std::string &path)
{
    const Value *from = lookUp(stage.values(), path);
    return {std::move(title), {{path, from ? std::optional(toPython(*from)) : std::nullopt, std::nullopt}}};
}

namespace {

bool isAllowed(const Value &value, std::string_view path)
{
    const Option *option = findOption(path);
    return !option || option->allows(value.number());
}

} // namespace

std::optional<std::int64_t> Facts::integer(std::string_view path) const
{
    const Value &value = m_stage.at(path);
    return value.type() == Type::Int && isAllowed(value, path) ? std::optional(value.integer()) : std::nullopt;
}

std::optional<double> Facts::number(std::string_view path) const
{
    const Value &value = m_stage.at(path);
    return value.isNumber() && isAllowed(value, path) ? std::optional(value.number()) : std::nullopt;
}

std::optional<bool> Facts::boolean(std::string_view path) const
{
    const Value &value = m_stage.at(path);
    return value.type() == Type::Bool ? std::optional(value.boolean()) : std::nullopt;
}

std::optional<std::string> Facts::string(std::string_view path) const
{
    const Value &value = m_stage.at(path);
    return value.type() == Type::String ? std::optional(value.string()) : std::nullopt;
}

bool Facts::is(std::string_view path, std::string_view text) const
{
    const Value &value = m_stage.at(path);
    return value.type() == Type::String && value.string() == text;
}

const Dict *Facts::dict(std::string_view path) const
{
    const Value *value = lookUp(m_stage.values(), path);
    return value && value->isDict() ? &value->dict() : nullptr;
}

} // namespace stagewright::config
