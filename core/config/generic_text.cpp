#include "core/config/generic_text.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/base/text.h"
#include "core/config/option_value.h"
#include "core/config/text_document.h"

namespace stagewright::config {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

// Underscores removed where they stand between digits; nothing where one stands elsewhere.
std::optional<std::string> withoutUnderscores(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_')
            plain += text[i];
        else if (i == 0 || i + 1 == text.size() || !isDigit(text[i - 1]) || !isDigit(text[i + 1]))
            return std::nullopt;
    }
    return plain;
}

bool onlyDecimalCharacters(const std::string &text)          // strtod would also take hexadecimal numbers, which Python's float() does not
{
    return text.find_first_of("xXpP") == std::string::npos;
}

} // namespace

std::optional<Value> numberAsPythonReads(std::string_view text)
{
    const auto plain = withoutUnderscores(trimmed(text));
    if (!plain || plain->empty() || !onlyDecimalCharacters(*plain))
        return std::nullopt;
    char *end = nullptr;
    errno = 0;
    const long long integer = std::strtoll(plain->c_str(), &end, 10);
    if (*end == 0 && errno == 0)
        return Value(static_cast<std::int64_t>(integer));
    const double number = std::strtod(plain->c_str(), &end);
    if (*end == 0 && end != plain->c_str() && plain->find('(') == std::string::npos)
        return Value(number);
    return std::nullopt;
}

Value genericValue(std::string_view text)
{
    const std::string word = lowered(text);
    if (text.empty())
        return Value(std::string());
    if (word == "none")
        return Value();
    if (word == "true" || word == "false")
        return Value(word == "true");
    if (const auto number = numberAsPythonReads(text))
        return *number;
    if (auto literal = parseLiteral(trimmed(text)))
        return std::move(*literal);
    if (text.find(',') != std::string_view::npos) {
        if (auto tuple = parseLiteral("(" + std::string(text) + ")"))
            return std::move(*tuple);
    }
    return Value(std::string(text));
}

Value genericValueLike(const Value &existing, std::string_view text)
{
    const Value generic = genericValue(text);
    if (generic.isNone())
        return generic;
    switch (existing.type()) {
    case Type::String: return Value(std::string(text));
    case Type::Float: return generic.type() == Type::Int ? Value(generic.number()) : generic;
    case Type::Bool:
        if (const auto flag = booleanSpelling(text))
            return Value(*flag);
        return generic;
    default: return generic;
    }
}

} // namespace stagewright::config
