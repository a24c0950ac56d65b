#include "ui/session/stage_snapshot.h"

#include <QCoreApplication>
#include <QThreadPool>

#include "core/base/host.h"
#include "core/config/text_document.h"
#include "core/config/validate.h"

namespace stagewright::session {

using config::Option;
using config::OriginKind;
using config::Stage;
using config::Value;

std::string spelled(const Value &value) { return value.spelling.empty() ? config::toPython(value) : value.spelling; }

const Value *StageSnapshot::valueOf(std::string_view path) const { return stage ? config::lookUp(stage->values(), path) : nullptr; }

std::string StageSnapshot::spellingOf(std::string_view path) const
{
    if (const Value *value = valueOf(path))
        return spelled(*value);
    const Option *option = config::findOption(path);
    if (!option || !stage)
        return {};
    const Value &fallback = stage->at(path);
    return fallback.isNone() ? std::string() : config::toPython(fallback);
}

static bool sameValue(const Value &a, const Value &b)
{
    if (a.isNumber() && b.isNumber())
        return a.number() == b.number();
    if (a.isSequence() && b.isSequence()) {
        if (a.items().size() != b.items().size())
            return false;
        for (std::size_t i = 0; i < a.items().size(); ++i)
            if (!sameValue(a.items()[i], b.items()[i]))
                return false;
        return true;
    }
    return a == b;
}

bool StageSnapshot::isChanged(const Option &option) const
{
    const Value *value = valueOf(option.path);
    return value && !sameValue(*value, option.fallback);
}

std::vector<Source> StageSnapshot::sourcesOf(const Option &option) const
{
    std::vector<Source> sources;
    const auto add = [&](const Value &value) {
        Source source{value.origin.kind, value.origin.fileName(), value.origin.line, spelled(value)};
        if (sources.empty() || sources.back().file != source.file || sources.back().line != source.line)
            sources.push_back(std::move(source));
    };
    if (const Value *value = valueOf(option.path))
        add(*value);
    for (const auto &base : bases)
        if (const Value *value = config::lookUp(base->values(), option.path))
            add(*value);
    sources.push_back({OriginKind::Default, {}, 0, option.fallback.isNone() ? std::string() : config::toPython(option.fallback)});
    return sources;
}

std::vector<const Problem *> StageSnapshot::problemsOf(std::string_view path) const
{
    const Option *option = config::findOption(path);
    const bool table = option && (option->type == config::OptionType::BucketTable || option->type == config::OptionType::WeightTable);
    std::vector<const Problem *> found;
    for (const auto &problem : problems) {
        const std::string_view at = problem.path;
        if (at == path || (table && at.size() > path.size() && at.substr(0, path.size()) == path && at[path.size()] == '.'))
            found.push_back(&problem);
    }
    return found;
}

// Whoever lets the last reference go, often a view on the GUI thread, does not pay for freeing a large table: 20 ms for 10,000 rows.
static std::shared_ptr<StageSnapshot> freshSnapshot()
{
    return std::shared_ptr<StageSnapshot>(new StageSnapshot, [](StageSnapshot *old) {
        if (!QCoreApplication::instance() || QCoreApplication::closingDown())
            delete old;                                    // nobody waits for the pool any more
        else
            QThreadPool::globalInstance()->start([old] { delete old; });
    });
}

SnapshotPtr takeSnapshot(const std::string &text, const std::filesystem::path &file, std::int64_t revision)
{
    auto snapshot = freshSnapshot();
    const double start = steadySeconds();
    snapshot->revision = revision;
    auto stage = config::stageFromText(text, file);
    if (!stage) {
        snapshot->problems.push_back(stage.error().problem);
    } else {
        snapshot->problems = config::validate(*stage, config::surroundingsOfThisMachine(*stage));
        for (const auto &base : stage->baseChain()) {
            std::error_code ignored;
            if (std::filesystem::equivalent(base, file, ignored))
                continue;
            if (auto resolved = config::loadStage(base))
                snapshot->bases.push_back(std::make_shared<const Stage>(std::move(*resolved)));
        }
        snapshot->stage = std::make_shared<const Stage>(std::move(*stage));
    }
    snapshot->seconds = steadySeconds() - start;
    return snapshot;
}

SnapshotPtr withValue(const SnapshotPtr &before, const std::string &path, const std::string &expression, std::int64_t revision)
{
    if (!before || !before->stage || before->stage->m_helperNames.count(path.substr(0, path.find('.'))))
        return nullptr;
    auto value = config::parseLiteral(expression);
    const Value *old = before->valueOf(path);
    if (!value || !old || old->isDict() || value->isDict() || (!old->spelling.empty() && !config::parseLiteral(old->spelling)))
        return nullptr;
    const double start = steadySeconds();
    auto snapshot = freshSnapshot();
    snapshot->revision = revision;
    snapshot->bases = before->bases;
    snapshot->provisional = true;
    auto stage = std::make_shared<Stage>(*before->stage);
    value->origin = old->origin;
    if (config::toPython(*value) != expression)
        value->spelling = expression;
    *config::lookUp(stage->values(), path) = std::move(*value);
    snapshot->problems = config::validate(*stage, config::surroundingsOfThisMachine(*stage));
    snapshot->stage = std::move(stage);
    snapshot->seconds = steadySeconds() - start;
    return snapshot;
}

} // namespace stagewright::session
