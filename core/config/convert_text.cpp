#include "core/config/overrides.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/generic_text.h"
#include "core/config/option_value.h"
#include "core/config/text_document.h"

namespace stagewright::config {

namespace {

Error cannot(const Option &option, std::string_view text, const std::string &why)
{
    Error error(ExitCode::Usage, "config.override-value", "--" + std::string(option.path) + " \"" + std::string(text) + "\": " + why);
    error.problem.path = option.path;
    return error;
}

bool saysNone(std::string_view text)
{
    return lowered(trimmed(text)) == "none";
}

// "25 GiB" where the option counts elements (or Mi elements).
std::optional<Value> sizeInElements(const Option &option, std::string_view text, int bytesPerElement, std::string *note)
{
    const bool hasUnit = std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c); });
    const auto bytes = hasUnit ? parseBytes(trimmed(text)) : std::nullopt;
    if (!bytes)
        return std::nullopt;
    const std::int64_t divisor = bytesPerElement * (option.unit == Unit::MebiElements ? std::int64_t(1) << 20 : 1);
    const std::int64_t count = *bytes / divisor;
    if (note)
        *note = "--" + std::string(option.path) + " " + std::string(trimmed(text)) + " was taken as bytes: " + formatCount(count)
            + (option.unit == Unit::MebiElements ? " Mi" : "") + " elements of " + std::to_string(bytesPerElement) + " bytes";
    return Value(count);
}

bool countsElements(const Option &option)
{
    return option.unit == Unit::Elements || option.unit == Unit::MebiElements;
}

std::optional<Value> otherSpellingOfNumber(const Option &option, std::string_view text, int bytesPerElement, std::string *note)
{
    if (option.type == OptionType::Int && countsElements(option)) {
        if (const auto size = sizeInElements(option, text, bytesPerElement, note))
            return size;
    }
    if (option.type != OptionType::Float && option.type != OptionType::Int)
        return std::nullopt;
    if (option.unit == Unit::GiB) {
        if (const auto bytes = parseBytes(trimmed(text)))
            return Value(static_cast<double>(*bytes) / kGiB);
    }
    return numberAsPythonReads(text);
}

Result<Value> literalOf(const Option &option, std::string_view text)
{
    auto value = parseLiteral(text);
    const bool wantsSequence = option.type == OptionType::IntList || option.type == OptionType::FloatList || option.type == OptionType::IntPair;
    if (wantsSequence && (!value || !value->isSequence()) && text.find(',') != std::string_view::npos)
        return parseLiteral("(" + std::string(trimmed(text)) + ")");        // "4,20", as Python reads it
    return value;
}

Result<Value> fromLiteral(const Option &option, std::string_view text, int bytesPerElement, std::string *note)
{
    const auto literal = literalOf(option, trimmed(text));
    const auto value = literal ? std::optional<Value>(*literal) : otherSpellingOfNumber(option, text, bytesPerElement, note);
    if (!value)
        return cannot(option, text, "must be " + expectedWords(option)
            + (countsElements(option) ? " (elements), or a size such as 25GiB" : ""));
    if (!typeFault(option, *value))
        return *value;
    const bool textMeansSomethingElse = value->type() == Type::String || value->type() == Type::Bool;
    if (const auto meant = textMeansSomethingElse ? std::nullopt : meantValue(option, *value))
        return *meant;
    return cannot(option, text, typeFault(option, *value).value());
}

} // namespace

int bytesPerElement(std::string_view dtype)
{
    const std::string name = lowered(dtype);
    if (name == "fp32" || name == "float32" || name == "float")
        return 4;
    if (name == "fp64" || name == "float64" || name == "double")
        return 8;
    return 2;
}

Result<Value> convertText(const Option &option, std::string_view text, int bytesPerElement, std::string *note)
{
    if (saysNone(text)) {
        if (option.nullable)
            return Value();
        return cannot(option, text, "this option cannot be None; it takes " + expectedWords(option));
    }
    switch (option.type) {
    case OptionType::Bool:
        if (const auto flag = booleanSpelling(text))
            return Value(*flag);
        return cannot(option, text, "must be true or false (also yes/no, on/off, 1/0)");
    case OptionType::String:
    case OptionType::Path:
    case OptionType::Choice:
        return Value(std::string(text));
    case OptionType::Any:
        return genericValue(text);
    default:
        return fromLiteral(option, text, bytesPerElement, note);
    }
}

} // namespace stagewright::config
