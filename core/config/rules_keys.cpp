#include <algorithm>

#include "core/base/text.h"
#include "core/config/known_key.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

// Whether every key below this option is declared too.
bool hasDeclaredKeys(const Option &option)
{
    return option.type == OptionType::Dict;
}

class KeyRule
{
public:
    KeyRule(const Stage &stage, Findings &findings) : m_stage(stage), m_findings(findings) {}

    void check(const Dict &dict, const std::string &prefix)
    {
        for (const auto &[key, value] : dict) {
            const std::string path = prefix + key.text();
            if (isUsersOwn(path))
                continue;
            const Option *option = key.isInteger() ? nullptr : findOption(path);
            if (option)
                known(*option, value, path);
            else if (!prefix.empty() || !isVariable(key.text()))
                unknown(value, path);
        }
    }

private:
    // A top-level name that a later expression in the files uses.
    bool isVariable(const std::string &name) const { return m_stage.m_helperNames.count(name) > 0; }

    void known(const Option &option, const Value &value, const std::string &path)
    {
        if (!option.onlyWith.path.empty() && !matches(option.onlyWith))
            wrongCompany(option, value, path);
        else if (option.keyClass == KeyClass::NotApplicable)
            m_findings.at(value, Severity::Hint, "config.not-applicable", path, path + " has no effect here: " + std::string(option.reason.en));
        if (hasDeclaredKeys(option) && value.isDict())
            check(value.dict(), path + ".");
    }

    bool matches(const OnlyWith &only) const
    {
        const Value &selector = m_stage.at(only.path);
        if (selector.type() != Type::String)
            return true;
        for (std::string_view value : only.values) {
            if (selector.string() == value)
                return true;
        }
        const Option *option = findOption(only.path);      // a selector that is not valid is reported on its own
        return std::find(option->choices.begin(), option->choices.end(), selector.string()) == option->choices.end();
    }

    void wrongCompany(const Option &option, const Value &value, const std::string &path)
    {
        const std::string selector(option.onlyWith.path), chosen = m_stage.at(selector).string();
        const std::string sentence = path + " belongs to " + selector + " " + joined({option.onlyWith.values.begin(), option.onlyWith.values.end()}, " or ") + ", but "
            + selector + " is " + chosen;
        const bool swallowed = path.starts_with("dataset.");       // the original's dataset ignores them, the others raise
        const char *code = selector == "plugin" ? "config.other-plugin" : "config.other-type";
        Problem &problem = m_findings.at(value, swallowed ? Severity::Warning : Severity::Error, code, path, sentence + (swallowed ? ", so it has no effect" : ""));
        problem.fix = removeOf(m_stage, "Remove " + path, path);
    }

    void unknown(const Value &value, const std::string &path)
    {
        const Option *meant = nearestOption(path);
        std::string sentence = "nothing reads " + path;
        if (meant)
            sentence += "; was " + describePlace(*meant, path) + " meant?";
        else
            sentence += "; a variable of your own starts with \"_\" or stands under x";
        Problem &problem = m_findings.at(value, Severity::Error, "config.unknown-key", path, sentence);
        if (!meant)
            return;
        const std::string target(meant->path);
        const std::string text = value.spelling.empty() ? toPython(value) : value.spelling;
        if (isSetBeside(target, value))
            problem.fix = Fix{"Remove it, since " + target + " is set too", {{path, text, std::nullopt}}};
        else
            problem.fix = Fix{"Rename to " + target, {{path, text, std::nullopt}, {target, std::nullopt, text}}};
    }

    // Whether the same file sets the target as well; one that is only inherited from a base is what the misspelt key means to override.
    bool isSetBeside(const std::string &target, const Value &misspelt) const
    {
        const Value *set = lookUp(m_stage.values(), target);
        return set && !set->isNone() && set->origin.fileName() == misspelt.origin.fileName();
    }

    const Stage &m_stage;
    Findings &m_findings;
};

} // namespace

void checkKeys(const Stage &stage, Findings &findings)
{
    KeyRule(stage, findings).check(stage.values(), std::string());
}

} // namespace stagewright::config
