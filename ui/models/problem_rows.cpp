#include "ui/models/problem_rows.h"

#include <filesystem>

#include "ui/look/words.h"

namespace stagewright::models {

using namespace Qt::StringLiterals;
using look::q;

QString placeOf(const Problem &problem)
{
    if (problem.file.empty())
        return {};
    const QString name = q(std::filesystem::path(problem.file).filename());
    return problem.line > 0 ? u"%1:%2"_s.arg(name).arg(problem.line) : name;
}

ProblemCounts countsOf(const Problems &problems)
{
    ProblemCounts counts;
    for (const auto &problem : problems)
        ++(problem.severity == Severity::Error ? counts.errors : problem.severity == Severity::Warning ? counts.warnings : counts.hints);
    return counts;
}

QList<Row> problemRows(const Problems &problems)
{
    QList<Row> rows;
    QHash<QString, int> seen;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const Problem &problem = problems[i];
        const QString mark = problem.severity == Severity::Error ? u"●"_s : problem.severity == Severity::Warning ? u"▲"_s : u"○"_s;
        const Tone tone = problem.severity == Severity::Error ? Tone::Error : problem.severity == Severity::Warning ? Tone::Warning : Tone::Muted;
        QString key = q(problem.code) + u' ' + q(problem.path);
        if (const int again = seen[key]++; again > 0)
            key += QString::number(again);
        rows.append({key, {{mark, tone}, {q(problem.message)}, {placeOf(problem), Tone::Muted, true}}, int(i)});
    }
    return rows;
}

} // namespace stagewright::models
