// A value as text: Python's repr, and the original's config.txt.
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/config/value.h"
#include "core/config/value_text.h"

namespace stagewright::config {

std::string pythonFloat(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    const std::string text(buffer, end);                   // "-1.2345e-05": the shortest digits that read back
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    const bool negative = text[0] == '-';
    std::string digits;
    for (char c : text.substr(0, e)) {
        if (c >= '0' && c <= '9')
            digits += c;
    }
    std::string out = negative ? "-" : "";
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        out += digits.substr(0, 1);
        if (count > 1)
            out += '.' + digits.substr(1);
        const std::string power = std::to_string(std::abs(exponent));
        return out + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
    }
    if (exponent < 0)
        return out + "0." + std::string(-exponent - 1, '0') + digits;
    if (count <= exponent + 1)
        return out + digits + std::string(exponent + 1 - count, '0') + ".0";
    return out + digits.substr(0, exponent + 1) + '.' + digits.substr(exponent + 1);
}

std::string pythonString(std::string_view text)
{
    const bool hasSingle = text.find('\'') != text.npos, hasDouble = text.find('"') != text.npos;
    const char quote = hasSingle && !hasDouble ? '"' : '\'';
    std::string out(1, quote);
    static const char *hex = "0123456789abcdef";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        if (c == '\\' || c == static_cast<unsigned char>(quote))
            out += {'\\', static_cast<char>(c)};
        else if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else if (c < 0x20 || c == 0x7f)
            out += {'\\', 'x', hex[c >> 4], hex[c & 15]};
        else if (c == 0xc2 && next >= 0x80 && next <= 0xa0) {      // C1 controls and the no-break space
            out += {'\\', 'x', hex[next >> 4], hex[next & 15]};
            ++i;
        } else
            out += static_cast<char>(c);
    }
    return out + quote;
}

namespace {

// bare: str() of Python ("inf"); otherwise an expression that reads back ("float('inf')").
void writePython(const Value &value, std::string &out, bool bare)
{
    const auto sequence = [&](const List &items) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i)
                out += ", ";
            writePython(items[i], out, bare);
        }
    };
    switch (value.type()) {
    case Type::None: out += "None"; break;
    case Type::Bool: out += value.boolean() ? "True" : "False"; break;
    case Type::Int: out += std::to_string(value.integer()); break;
    case Type::Float:
        if (bare || std::isfinite(value.number()))
            out += pythonFloat(value.number());
        else
            out += "float('" + pythonFloat(value.number()) + "')";
        break;
    case Type::String: out += pythonString(value.string()); break;
    case Type::List:
        out += '[';
        sequence(value.items());
        out += ']';
        break;
    case Type::Tuple:
        out += '(';
        sequence(value.items());
        out += value.items().size() == 1 ? ",)" : ")";
        break;
    case Type::Dict: {
        out += '{';
        bool first = true;
        for (const auto &[key, item] : value.dict()) {
            if (!first)
                out += ", ";
            first = false;
            out += key.isInteger() ? key.text() : pythonString(key.text());
            out += ": ";
            writePython(item, out, bare);
        }
        out += '}';
        break;
    }
    }
}

} // namespace

std::string toPython(const Value &value)
{
    std::string out;
    writePython(value, out, false);
    return out;
}

std::string pythonStr(const Value &value)
{
    return value.type() == Type::String ? value.string() : pythonRepr(value);
}

std::string pythonRepr(const Value &value)
{
    std::string out;
    writePython(value, out, true);
    return out;
}

nlohmann::json toJson(const Value &value)
{
    switch (value.type()) {
    case Type::None: return nullptr;
    case Type::Bool: return value.boolean();
    case Type::Int: return value.integer();
    case Type::Float: return value.number();
    case Type::String: return value.string();
    case Type::List:
    case Type::Tuple: {
        auto array = nlohmann::json::array();
        for (const Value &item : value.items())
            array.push_back(toJson(item));
        return array;
    }
    case Type::Dict: {
        auto object = nlohmann::json::object();
        for (const auto &[key, item] : value.dict())
            object[key.text()] = toJson(item);
        return object;
    }
    }
    return nullptr;
}

} // namespace stagewright::config
