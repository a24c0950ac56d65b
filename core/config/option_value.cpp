#include "core/config/option_value.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "core/base/text.h"

namespace stagewright::config {

namespace {

bool isWhole(const Value &value)
{
    return value.type() == Type::Float && value.number() == std::floor(value.number()) && std::fabs(value.number()) < 9e15;
}

bool allOf(const Value &value, Type type, bool alsoInt = false)
{
    return value.isSequence() && std::all_of(value.items().begin(), value.items().end(), [&](const Value &item) {
        return item.type() == type || (alsoInt && item.type() == Type::Int);
    });
}

bool isChoice(const Option &option, const Value &value)
{
    return value.type() == Type::String && std::find(option.choices.begin(), option.choices.end(), value.string()) != option.choices.end();
}

bool hasType(const Option &option, const Value &value)
{
    switch (option.type) {
    case OptionType::Bool: return value.type() == Type::Bool;
    case OptionType::Int: return value.type() == Type::Int;
    case OptionType::Float: return value.isNumber();
    case OptionType::String:
    case OptionType::Path: return value.type() == Type::String;
    case OptionType::Choice: return isChoice(option, value);
    case OptionType::IntList: return allOf(value, Type::Int);
    case OptionType::FloatList: return allOf(value, Type::Float, true);
    case OptionType::IntPair: return allOf(value, Type::Int) && (value.items().empty() || value.items().size() == 2);
    case OptionType::BucketTable:
    case OptionType::WeightTable:
    case OptionType::Dict: return value.isDict();
    case OptionType::Any: return true;
    }
    return false;
}

std::string shown(const Value &value)
{
    std::string text = toPython(value);
    constexpr std::size_t kLongest = 80;
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "…";
    return text;
}

std::optional<Value> meantInteger(const Value &value)
{
    if (isWhole(value))
        return Value(static_cast<std::int64_t>(value.number()));
    if (value.type() == Type::String) {
        const std::string text(trimmed(value.string()));
        char *end = nullptr;
        errno = 0;
        const long long number = std::strtoll(text.c_str(), &end, 10);
        if (!text.empty() && *end == 0 && errno == 0)
            return Value(static_cast<std::int64_t>(number));
    }
    return std::nullopt;
}

std::optional<Value> meantFloat(const Value &value)
{
    if (value.type() != Type::String || value.string().empty())
        return std::nullopt;
    char *end = nullptr;
    const double number = std::strtod(value.string().c_str(), &end);
    return *end == 0 && std::isfinite(number) ? std::optional<Value>(number) : std::nullopt;
}

// A list whose items become what was meant, of the same kind (list or tuple).
template <class Meant>
std::optional<Value> meantItems(const Value &value, Type wanted, Meant meant)
{
    if (!value.isSequence())
        return std::nullopt;
    List items;
    for (const Value &item : value.items()) {
        const auto better = item.type() == wanted ? std::optional<Value>(item) : meant(item);
        if (!better)
            return std::nullopt;
        items.push_back(*better);
    }
    return value.type() == Type::List ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

std::optional<Value> meantChoice(const Option &option, const Value &value)
{
    if (value.type() != Type::String)
        return std::nullopt;
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOtherNames{{{"float32", "fp32"}, {"float16", "fp16"}, {"half", "fp16"},
        {"bfloat16", "bf16"}, {"zero_2", "zero2"}, {"zero_1", "zero1"}, {"fp64", "fp32"}, {"float64", "fp32"}}};
    std::string name = lowered(value.string());
    for (const auto &[other, ours] : kOtherNames) {
        if (name == other)
            name = ours;
    }
    const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
    if (const auto near = nearestOf(name, choices))
        return Value(*near);
    return std::nullopt;
}

} // namespace

std::optional<bool> booleanSpelling(std::string_view text)
{
    const std::string word = lowered(trimmed(text));
    for (const char *yes : {"true", "yes", "on", "1"}) {
        if (word == yes)
            return true;
    }
    for (const char *no : {"false", "no", "off", "0"}) {
        if (word == no)
            return false;
    }
    return std::nullopt;
}

std::string expectedWords(const Option &option)
{
    switch (option.type) {
    case OptionType::Bool: return "True or False";
    case OptionType::Int: return "a whole number";
    case OptionType::Float: return "a number";
    case OptionType::String: return "a text";
    case OptionType::Path: return "a path";
    case OptionType::Choice: return "one of " + joined({option.choices.begin(), option.choices.end()}, ", ");
    case OptionType::IntList: return "a list of whole numbers";
    case OptionType::FloatList: return "a list of numbers";
    case OptionType::IntPair: return "two whole numbers, such as (8, 100)";
    case OptionType::BucketTable: return "a dict of resolutions, such as {\"256px\": {1: (1.0, 8)}}";
    case OptionType::WeightTable: return "a dict of names and weights, such as {\"t2v\": 1, \"i2v_head\": 5}";
    case OptionType::Dict: return "a dict";
    case OptionType::Any: return "any value";
    }
    return {};
}

std::optional<std::string> typeFault(const Option &option, const Value &value)
{
    if (value.isNone()) {
        const bool noneNeedsNoDefault = option.fallback.isNone() && !option.required;
        if (option.nullable || noneNeedsNoDefault)
            return std::nullopt;
        return "must be " + expectedWords(option) + "; None is not allowed";
    }
    if (hasType(option, value))
        return std::nullopt;
    if (option.type == OptionType::IntPair && value.type() == Type::Int)
        return "needs two numbers, (double blocks, single blocks), not " + shown(value) + " alone";
    if (option.type == OptionType::IntPair && value.isSequence() && value.items().size() != 2)
        return "needs exactly two numbers, (double blocks, single blocks), but " + shown(value) + " has " + std::to_string(value.items().size());
    return "must be " + expectedWords(option) + ", not " + shown(value)
        + (value.type() == Type::String || value.isNumber() || value.type() == Type::Bool ? "" : " (" + std::string(typeName(value.type())) + ")");
}

std::optional<Value> meantValue(const Option &option, const Value &value)
{
    switch (option.type) {
    case OptionType::Bool:
        if (value.type() == Type::String && booleanSpelling(value.string()))
            return Value(*booleanSpelling(value.string()));
        if (value.type() == Type::Int && (value.integer() == 0 || value.integer() == 1))
            return Value(value.integer() == 1);
        return std::nullopt;
    case OptionType::Int: return meantInteger(value);
    case OptionType::Float: return meantFloat(value);
    case OptionType::String:
        if (value.isNumber() || value.type() == Type::Bool)
            return Value(value.spelling.empty() ? toPython(value) : value.spelling);
        return std::nullopt;
    case OptionType::Choice: return meantChoice(option, value);
    case OptionType::IntList:
    case OptionType::IntPair: {
        const auto items = meantItems(value, Type::Int, meantInteger);
        return items && hasType(option, *items) ? items : std::nullopt;
    }
    case OptionType::FloatList: return meantItems(value, Type::Float, [](const Value &item) { return item.isNumber() ? std::optional<Value>(item) : meantFloat(item); });
    default: return std::nullopt;
    }
}

} // namespace stagewright::config
