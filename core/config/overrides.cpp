#include "core/config/overrides.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/config/bucket_table.h"
#include "core/config/generic_text.h"
#include "core/config/known_key.h"
#include "core/config/presets.h"

namespace stagewright::config {

namespace {

// The keys of a path; a resolution may hold dots ("256px_ar2.39:1"), a row's frame count is an integer key.
std::vector<DictKey> keysOf(const std::string &path)
{
    const auto parts = split(path, '.');
    if (parts.front() != "bucket_config" || parts.size() == 1)
        return {parts.begin(), parts.end()};
    const std::string &last = parts.back();
    const bool isRow = parts.size() > 2 && std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; }) && last.size() < 10;
    std::vector<std::string> middle(parts.begin() + 1, parts.end() - (isRow ? 1 : 0));
    std::vector<DictKey> keys{parts.front(), joined(middle, ".")};
    if (isRow)
        keys.emplace_back(static_cast<std::int64_t>(std::stoll(last)));
    return keys;
}

const Value *valueAt(const Dict &root, const std::vector<DictKey> &keys)
{
    const Dict *dict = &root;
    const Value *value = nullptr;
    for (const DictKey &key : keys) {
        if (!dict)
            return nullptr;
        value = dict->find(key);
        if (!value)
            return nullptr;
        dict = value->isDict() ? &value->dict() : nullptr;
    }
    return value;
}

// How much of a path exists: "model.opt" of "model.opt.deep.c".
std::string deepestExisting(const Dict &root, const std::string &path)
{
    std::string found;
    const Dict *dict = &root;
    for (const std::string &part : split(path, '.')) {
        const Value *value = dict ? dict->find(part) : nullptr;
        if (!value)
            break;
        found += (found.empty() ? "" : ".") + part;
        dict = value->isDict() ? &value->dict() : nullptr;
    }
    return found;
}

class Applier
{
public:
    Applier(Stage &stage, const std::vector<Override> &overrides) : m_stage(stage), m_overrides(overrides) {}

    Problems apply()
    {
        for (const Override &override : m_overrides) {
            if (override.path == "preset")
                applyNamedPreset(override);
        }
        m_bytesPerElement = effectiveElementSize();
        for (const Override &override : m_overrides) {
            if (override.path != "preset")
                applyOne(override);
        }
        for (const auto &[target, source] : m_writeThrough)
            writeThrough(target, source);
        normaliseBuckets(m_stage.values());
        return std::move(m_problems);
    }

private:
    void applyNamedPreset(const Override &override)
    {
        const auto preset = findPreset(override.text);
        if (!preset) {
            m_problems.push_back(preset.error().problem);
            return;
        }
        const Problems found = applyPreset(m_stage, *preset);
        m_problems.insert(m_problems.end(), found.begin(), found.end());
    }

    int effectiveElementSize() const
    {
        for (auto it = m_overrides.rbegin(); it != m_overrides.rend(); ++it) {
            if (it->path == "dtype")
                return bytesPerElement(it->text);
        }
        const Value &dtype = m_stage.at("dtype");
        return dtype.type() == Type::String ? bytesPerElement(dtype.string()) : 2;
    }

    void applyOne(const Override &override)
    {
        const auto keys = keysOf(override.path);
        const Value *existing = valueAt(m_stage.values(), keys);
        const Option *exact = findOption(override.path);
        const bool undeclared = !governingOption(override.path) && !isUsersOwn(override.path);
        if (undeclared && !existing)
            return unknown(override);
        if (!exact) {
            set(override, keys, existing ? genericValueLike(*existing, override.text) : genericValue(override.text));
            return;
        }
        std::string note;
        auto value = convertText(*exact, override.text, m_bytesPerElement, &note);
        if (!value) {
            m_problems.push_back(value.error().problem);
            return;
        }
        if (existing && existing->type() == Type::Float && value->type() == Type::Int)
            *value = Value(value->number());
        if (!note.empty())
            add(Severity::Hint, "config.size-in-bytes", override.path, note);
        if (set(override, keys, *value) && !exact->writesThroughTo.empty())
            m_writeThrough[std::string(exact->writesThroughTo)] = override.path;
    }

    bool set(const Override &override, const std::vector<DictKey> &keys, Value value)
    {
        value.origin.kind = override.kind;
        Dict *dict = &m_stage.values();
        std::string path;
        for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
            path += (i ? "." : "") + keys[i].text();
            Value *parent = dict->find(keys[i]);
            if (!parent || parent->isNone()) {
                Value section = Value::dict({});
                section.origin.kind = override.kind;
                parent = &dict->set(keys[i], section);
            }
            if (!parent->isDict()) {
                add(Severity::Error, "config.override-value", override.path, "--" + override.path + ": " + path + " is " + toPython(*parent)
                        + ", not a dict, so nothing can be set inside it");
                return false;
            }
            dict = &parent->dict();
        }
        dict->set(keys.back(), std::move(value));
        return true;
    }

    void unknown(const Override &override)
    {
        const std::string existing = deepestExisting(m_stage.values(), override.path);
        std::string sentence = "--" + override.path + ": nothing reads this option";
        if (!existing.empty())
            sentence += " (" + existing + " exists, but not the rest)";
        Problem problem;
        if (const Option *meant = nearestOption(override.path)) {
            sentence += "; was --" + std::string(meant->path) + " meant?";
            problem.fix = Fix{"Use " + std::string(meant->path), {{override.path, override.text, std::nullopt}, {std::string(meant->path), std::nullopt, override.text}}};
        } else {
            sentence += "; a variable of your own starts with \"_\" or stands under \"x.\"";
        }
        problem.severity = Severity::Error;
        problem.code = "config.unknown-key";
        problem.path = override.path;
        problem.message = sentence;
        m_problems.push_back(std::move(problem));
    }

    void writeThrough(const std::string &target, const std::string &source)
    {
        const auto isTarget = [&](const Override &override) { return override.path == target; };
        const auto explicitly = std::find_if(m_overrides.rbegin(), m_overrides.rend(), isTarget);
        if (explicitly != m_overrides.rend()) {
            add(Severity::Warning, "config.both-given", target, "both --" + source + " and --" + target + " are given; --" + target + " is what is used");
            return;
        }
        const auto isSource = [&](const Override &override) { return override.path == source; };
        const Override &override = *std::find_if(m_overrides.rbegin(), m_overrides.rend(), isSource);
        Value value = *valueAt(m_stage.values(), keysOf(source));
        const Value *existing = valueAt(m_stage.values(), keysOf(target));
        if (existing && existing->type() == Type::Float && value.type() == Type::Int)
            value = Value(value.number());
        set(override, keysOf(target), value);
    }

    void add(Severity severity, const char *code, const std::string &path, const std::string &message)
    {
        Problem problem;
        problem.severity = severity;
        problem.code = code;
        problem.path = path;
        problem.message = message;
        m_problems.push_back(std::move(problem));
    }

    Stage &m_stage;
    const std::vector<Override> &m_overrides;
    std::map<std::string, std::string> m_writeThrough;       // where to -> the override that asked for it
    int m_bytesPerElement = 2;
    Problems m_problems;
};

} // namespace

Problems applyOverrides(Stage &stage, const std::vector<Override> &overrides)
{
    return Applier(stage, overrides).apply();
}

Result<Stage> overridden(Stage stage, const std::vector<Override> &overrides)
{
    for (Problem &problem : applyOverrides(stage, overrides)) {
        if (problem.severity == Severity::Error)
            return Error(ExitCode::Usage, std::move(problem));
    }
    return stage;
}

} // namespace stagewright::config
