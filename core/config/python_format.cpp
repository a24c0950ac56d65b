#include "core/config/python_format.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/config/python_arithmetic.h"
#include "core/config/value_text.h"

namespace stagewright::config::python {

namespace {

constexpr int kMaxWidth = 1000;

struct Spec {
    std::string fill = " ";
    char align = 0, sign = '-', grouping = 0, type = 0;
    bool alternate = false, zero = false;
    int width = 0, precision = -1;
};

[[noreturn]] void unknown(std::string_view spec)
{
    throw Trouble{"the format '" + std::string(spec) + "' is not one that is known here"};
}

int number(std::string_view spec, std::size_t &at)
{
    int value = 0;
    while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9') {
        value = value * 10 + (spec[at++] - '0');
        if (value > kMaxWidth)
            throw Trouble{"a format width above " + std::to_string(kMaxWidth), "config.too-large"};
    }
    return value;
}

Spec parsed(std::string_view text)
{
    Spec spec;
    std::size_t at = 0;
    const auto isAlign = [&](std::size_t i) { return i < text.size() && std::string_view("<>=^").find(text[i]) != std::string_view::npos; };
    std::size_t first = text.empty() ? 0 : 1;
    while (first < text.size() && (text[first] & 0xC0) == 0x80)
        ++first;
    if (first && isAlign(first)) {
        spec.fill = std::string(text.substr(0, first));
        spec.align = text[first];
        at = first + 1;
    } else if (isAlign(0)) {
        spec.align = text[at++];
    }
    if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' '))
        spec.sign = text[at++];
    if (at < text.size() && text[at] == '#') {
        spec.alternate = true;
        ++at;
    }
    if (at < text.size() && text[at] == '0') {
        spec.zero = true;
        ++at;
    }
    spec.width = number(text, at);
    if (at < text.size() && (text[at] == ',' || text[at] == '_'))
        spec.grouping = text[at++];
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (at >= text.size() || text[at] < '0' || text[at] > '9')
            unknown(text);
        spec.precision = number(text, at);
    }
    if (at < text.size())
        spec.type = text[at++];
    if (at != text.size())
        unknown(text);
    return spec;
}

std::string grouped(const std::string &digits, char separator, int every)
{
    std::size_t whole = digits.find_first_of(".e");
    if (whole == std::string::npos)
        whole = digits.size();
    std::string out;
    for (std::size_t i = 0; i < whole; ++i) {
        if (i && (whole - i) % static_cast<std::size_t>(every) == 0)
            out += separator;
        out += digits[i];
    }
    return out + digits.substr(whole);
}

std::string padded(const Spec &spec, const std::string &sign, const std::string &body, char natural)
{
    const std::size_t length = python::length(Value(sign + body));
    const std::size_t missing = static_cast<std::size_t>(spec.width) > length ? static_cast<std::size_t>(spec.width) - length : 0;
    const bool zeros = spec.zero && !spec.align;
    const std::string fill = zeros ? "0" : spec.fill;
    const char align = zeros ? '=' : spec.align ? spec.align : natural;
    const auto repeat = [&](std::size_t count) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i)
            out += fill;
        return out;
    };
    switch (align) {
    case '<': return sign + body + repeat(missing);
    case '^': return repeat(missing / 2) + sign + body + repeat(missing - missing / 2);
    case '=': return sign + repeat(missing) + body;
    default: return repeat(missing) + sign + body;
    }
}

std::string printed(double value, char type, int precision, bool alternate)
{
    if (!std::isfinite(value)) {
        const std::string text = std::isnan(value) ? "nan" : "inf";
        return type == 'F' || type == 'E' || type == 'G' ? (text == "nan" ? "NAN" : "INF") : text;
    }
    const std::string pattern = std::string("%") + (alternate ? "#" : "") + ".*" + type;
    std::string out(400 + static_cast<std::size_t>(std::max(precision, 0)), '\0');
    out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), pattern.c_str(), precision, value)));
    return out;
}

std::string floatBody(double magnitude, const Spec &spec)
{
    switch (spec.type) {
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': {
        const int precision = spec.precision < 0 ? 6 : spec.type == 'g' || spec.type == 'G' ? std::max(spec.precision, 1) : spec.precision;
        return printed(magnitude, spec.type, precision, spec.alternate);
    }
    case '%': return printed(magnitude * 100, 'f', spec.precision < 0 ? 6 : spec.precision, false) + "%";
    default: break;
    }
    if (spec.precision < 0)
        return pythonFloat(magnitude);
    std::string text = printed(magnitude, 'g', std::max(spec.precision, 1), false);
    if (std::isfinite(magnitude) && text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

std::string intBody(std::uint64_t magnitude, char type)
{
    char buffer[70];
    const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
    std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr);
    if (type == 'X') {
        for (char &c : out)
            c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return out;
}

std::string formattedNumber(const Value &value, Spec spec, std::string_view text)
{
    const bool isFloat = value.type() == Type::Float || std::string_view("eEfFgG%").find(spec.type ? spec.type : '-') != std::string_view::npos;
    const double number = value.type() == Type::Float ? value.number() : static_cast<double>(asInteger(value, "it"));
    const bool negative = isFloat ? std::signbit(number) && !std::isnan(number) : asInteger(value, "it") < 0;
    std::string body;
    if (isFloat) {
        if (std::string_view("eEfFgG%").find(spec.type ? spec.type : 'e') == std::string_view::npos)
            unknown(text);
        body = floatBody(std::fabs(number), spec);
    } else {
        if (std::string_view("dnxXob").find(spec.type ? spec.type : 'd') == std::string_view::npos || spec.precision >= 0)
            unknown(text);
        const std::int64_t integer = asInteger(value, "it");
        body = intBody(integer < 0 ? 0 - static_cast<std::uint64_t>(integer) : static_cast<std::uint64_t>(integer), spec.type);
    }
    if (spec.grouping)
        body = grouped(body, spec.grouping, std::string_view("xXob").find(spec.type ? spec.type : 'd') != std::string_view::npos ? 4 : 3);
    std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
    if (spec.alternate && !isFloat && spec.type && std::string_view("xXob").find(spec.type) != std::string_view::npos)
        sign += std::string("0") + spec.type;
    if (spec.grouping && spec.zero && !spec.align)
        throw Trouble{"grouped digits padded with zeros are not known here"};
    return padded(spec, sign, body, '>');
}

std::string cut(const std::string &text, int precision)
{
    if (precision < 0 || length(Value(text)) <= static_cast<std::size_t>(precision))
        return text;
    Budget budget;
    return slice(Value(text), Value(), Value(precision), Value(), budget).string();
}

} // namespace

std::string formatted(const Value &value, std::string_view text)
{
    if (text.empty())
        return pythonStr(value);
    const Spec spec = parsed(text);
    const bool isBool = value.type() == Type::Bool;
    if (value.type() == Type::Int || value.type() == Type::Float || (isBool && spec.type))
        return formattedNumber(value, spec, text);
    if (value.type() == Type::String || isBool) {
        if ((spec.type && spec.type != 's') || spec.grouping || spec.align == '=')
            unknown(text);
        if (isBool)
            return formattedNumber(Value(std::int64_t(value.boolean())), spec, text);
        Spec plain = spec;
        if (plain.zero && !plain.align) {
            plain.fill = "0";
            plain.align = '<';
        }
        return padded(plain, "", cut(value.string(), spec.precision), '<');
    }
    throw Trouble{described(value) + " takes no format"};
}

Value percentFormat(const std::string &pattern, const Value &values, Budget &budget)
{
    const bool many = values.type() == Type::Tuple;
    std::size_t used = 0;
    const auto nextValue = [&]() -> Value {
        if (values.isDict())
            throw Trouble{"'%(name)s' needs real Python; use an f-string", "config.needs-python"};
        if ((many && used >= values.items().size()) || (!many && used >= 1))
            throw Trouble{"not enough values for the '%' of this text"};
        return many ? values.items()[used++] : (++used, values);
    };
    std::string out;
    for (std::size_t at = 0; at < pattern.size();) {
        if (pattern[at] != '%') {
            out += pattern[at++];
            continue;
        }
        ++at;
        Spec spec;
        bool left = false;
        for (; at < pattern.size() && std::string_view("-+ #0").find(pattern[at]) != std::string_view::npos; ++at) {
            left |= pattern[at] == '-';
            spec.alternate |= pattern[at] == '#';
            spec.zero |= pattern[at] == '0';
            if (pattern[at] == '+' || (pattern[at] == ' ' && spec.sign != '+'))
                spec.sign = pattern[at];
        }
        spec.width = number(pattern, at);
        if (at < pattern.size() && pattern[at] == '.') {
            ++at;
            spec.precision = number(pattern, at);
        }
        const char type = at < pattern.size() ? pattern[at++] : '\0';
        if (type == '%') {
            out += '%';
            continue;
        }
        spec.align = left ? '<' : 0;
        if (type == 's' || type == 'r') {
            const Value value = nextValue();
            spec.zero = false;
            out += padded(spec, "", cut(type == 's' ? pythonStr(value) : pythonRepr(value), spec.precision), left ? '<' : '>');
        } else if (type == 'd' || type == 'i' || type == 'x' || type == 'X' || type == 'o') {
            Value value = nextValue();
            if (value.type() == Type::Float && type != 'x' && type != 'X' && type != 'o' && std::fabs(value.number()) < 9e18)
                value = Value(static_cast<std::int64_t>(value.number()));
            if (spec.precision >= 0)
                throw Trouble{"a precision for '%d' is not known here"};
            spec.type = type == 'i' ? 'd' : type;
            out += formattedNumber(Value(asInteger(value, "the value for '%d'")), spec, "%d");
        } else if (type && std::string_view("fFeEgG").find(type) != std::string_view::npos) {
            const Value value = nextValue();
            if (value.type() != Type::Float)
                asInteger(value, "the value for '%f'");
            spec.type = type;
            out += formattedNumber(value, spec, "%f");
        } else {
            throw Trouble{"this '%' in a text is not one that is known here; write '%%' for a percent sign"};
        }
        if (out.size() > (1u << 20))
            throw Trouble{"the formatted text would be too long", "config.too-large"};
    }
    if ((many && used < values.items().size()) || (!many && used == 0 && !values.isDict()))
        throw Trouble{"not all values are used by the '%' of this text"};
    budget.takeBytes(out.size());
    return out;
}

} // namespace stagewright::config::python
