#include <cmath>

#include "core/base/units.h"
#include "core/config/option_value.h"
#include "core/config/overrides.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

std::string unitWords(const Option &option)
{
    switch (option.unit) {
    case Unit::Elements: return " elements";
    case Unit::MebiElements: return " Mi elements";
    case Unit::GiB: return " GiB";
    case Unit::Steps: return " steps";
    case Unit::MicroSteps: return " micro-steps";
    case Unit::FramesPerSecond: return " frames a second";
    case Unit::Frames: return " frames";
    case Unit::Pixels: return " pixels";
    default: return {};
    }
}

std::string bound(double number)
{
    return number == std::floor(number) && std::fabs(number) < 9e15 ? std::to_string(static_cast<std::int64_t>(number)) : formatNumber(number);
}

std::string rangeWords(const std::optional<double> &least, const std::optional<double> &most, const Option &option)
{
    if (least && most)
        return "from " + bound(*least) + " to " + bound(*most) + unitWords(option);
    return least ? "at least " + bound(*least) + unitWords(option) : "at most " + bound(*most) + unitWords(option);
}

class ValueRule
{
public:
    ValueRule(const Stage &stage, Findings &findings) : m_stage(stage), m_findings(findings) {}

    void check(const Option &option)
    {
        const std::string path(option.path);
        const Value *value = lookUp(m_stage.values(), path);
        if (!value || option.keyClass == KeyClass::NotApplicable)
            return;
        if (const auto fault = typeFault(option, *value))
            wrongType(option, *value, path, *fault);
        else
            checkRange(option, *value, path);
    }

    // A key that must be there, where its section is.
    void checkPresence(const Option &option)
    {
        const std::string path(option.path);
        const auto dot = path.rfind('.');
        if (!option.required || lookUp(m_stage.values(), path))
            return;
        if (dot != std::string::npos && !lookUp(m_stage.values(), path.substr(0, dot)))
            return;
        m_findings.error("config.required", path, path + " is missing: " + std::string(option.help.en));
    }

private:
    void wrongType(const Option &option, const Value &value, const std::string &path, const std::string &fault)
    {
        const char *code = option.type == OptionType::Choice && value.type() == Type::String ? "config.choice" : "config.type";
        Problem &problem = m_findings.at(value, Severity::Error, code, path, path + " " + fault);
        if (const auto meant = meantValue(option, value))
            problem.fix = setTo(m_stage, "Set to " + toPython(*meant), path, *meant);
    }

    void checkRange(const Option &option, const Value &value, const std::string &path)
    {
        if (value.isNumber())
            return checkNumber(option, value, value.number(), path);
        if (!value.isSequence() || option.type == OptionType::Any)
            return;
        for (const Value &item : value.items()) {
            if (item.isNumber() && !std::isfinite(item.number()))
                return notFinite(value, path);
            if (item.isNumber() && !option.allows(item.number())) {
                m_findings.at(value, Severity::Error, "config.range", path,
                    path + ": " + toPython(item) + " in " + toPython(value) + " must be " + rangeWords(option.hardMin, option.hardMax, option));
                return;
            }
        }
    }

    void notFinite(const Value &value, const std::string &path)
    {
        m_findings.at(value, Severity::Error, "config.range", path, path + " must be a finite number, not " + toPython(value));
    }

    void checkNumber(const Option &option, const Value &value, double number, const std::string &path)
    {
        if (!std::isfinite(number))
            return notFinite(value, path);
        if (!option.allows(number)) {
            Problem &problem = m_findings.at(value, Severity::Error, "config.range", path,
                path + " must be " + rangeWords(option.hardMin, option.hardMax, option) + ", not " + toPython(value));
            problem.fix = nearestAllowed(option, number, path);
        } else if (!option.isUsual(number) && number != 0) {
            m_findings.at(value, Severity::Hint, "config.unusual", path,
                path + " is " + toPython(value) + unitWords(option) + "; usual values are " + rangeWords(option.softMin, option.softMax, option));
        }
    }

    std::optional<Fix> nearestAllowed(const Option &option, double number, const std::string &path) const
    {
        const auto &limit = option.hardMin && number < *option.hardMin ? option.hardMin : option.hardMax;
        if (!limit || std::fabs(*limit) > 1e6)
            return std::nullopt;
        const Value value = option.type == OptionType::Int ? Value(static_cast<std::int64_t>(*limit)) : Value(*limit);
        return setTo(m_stage, "Set to " + toPython(value), path, value);
    }

    const Stage &m_stage;
    Findings &m_findings;
};

} // namespace

void checkValues(const Stage &stage, Findings &findings)
{
    ValueRule rule(stage, findings);
    for (const Option &option : allOptions()) {
        rule.check(option);
        rule.checkPresence(option);
    }
}

// lr, eps, grad_ckpt_settings: nothing reads them but the expressions of the file.
void checkHelpers(const Stage &stage, Findings &findings)
{
    for (const Option &option : allOptions()) {
        if (option.keyClass != KeyClass::Helper)
            continue;
        const std::string path(option.path), target(option.writesThroughTo);
        const Value *helper = lookUp(stage.values(), path), *read = lookUp(stage.values(), target);
        if (!helper || helper->isNone() || helper->origin.kind == OriginKind::Override)
            continue;
        bool toldAlready = false;
        for (const Problem &problem : stage.problems())
            toldAlready = toldAlready || (problem.code == "config.stale-helper" && problem.path == path);
        const auto section = target.substr(0, target.rfind('.'));
        if (toldAlready || !lookUp(stage.values(), section))
            continue;
        if (!read) {
            Problem &problem = findings.at(*helper, Severity::Warning, "config.helper-unused", path,
                path + " = " + toPython(*helper) + " has no effect: " + target + " is what is read, and it is not set");
            problem.fix = setTo(stage, "Set " + target, target, *helper);
        } else if (!(*read == *helper) && read->origin.kind == helper->origin.kind && read->origin.fileName() == helper->origin.fileName()
            && !stage.m_helperNames.count(path)) {
            Problem &problem = findings.at(*helper, Severity::Warning, "config.helper-differs", path,
                path + " = " + toPython(*helper) + " has no effect: " + target + " is what is read, and it is " + toPython(*read));
            problem.fix = setTo(stage, "Set " + target + " to " + toPython(*helper), target, *helper);
        }
    }
}

} // namespace stagewright::config
