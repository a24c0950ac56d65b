#include "core/ckptfile/python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace stagewright::ckptfile {

namespace {

// One code point of well-formed UTF-8; a malformed byte gives the replacement character and moves on by one.
std::uint32_t nextCodePoint(std::string_view text, std::size_t &at)
{
    const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const unsigned char first = byte(at);
    const int length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0 || at + static_cast<std::size_t>(length) > text.size()) {
        ++at;
        return 0xfffd;
    }
    std::uint32_t point = length == 1 ? first : first & (0x7f >> length);
    for (int index = 1; index < length; ++index) {
        const unsigned char next = byte(at + static_cast<std::size_t>(index));
        if (next >> 6 != 2) {
            ++at;
            return 0xfffd;
        }
        point = point << 6 | (next & 0x3f);
    }
    at += static_cast<std::size_t>(length);
    return point;
}

void appendEscape(std::string &out, std::uint32_t unit)
{
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", unit & 0xffff);
    out += text;
}

} // namespace

std::string pythonJsonString(std::string_view utf8)
{
    std::string out = "\"";
    for (std::size_t at = 0; at < utf8.size();) {
        const std::uint32_t point = nextCodePoint(utf8, at);
        switch (point) {
        case '"': out += "\\\""; continue;
        case '\\': out += "\\\\"; continue;
        case '\n': out += "\\n"; continue;
        case '\r': out += "\\r"; continue;
        case '\t': out += "\\t"; continue;
        case '\f': out += "\\f"; continue;
        case '\b': out += "\\b"; continue;
        default: break;
        }
        if (point >= 0x20 && point < 0x7f)
            out += static_cast<char>(point);
        else if (point == 0x7f)
            out += '\x7f';
        else if (point > 0xffff) {
            appendEscape(out, 0xd800 + ((point - 0x10000) >> 10));
            appendEscape(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
        } else {
            appendEscape(out, point);
        }
    }
    return out + "\"";
}

std::string pythonFloat(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    if (value == 0)
        return std::signbit(value) ? "-0.0" : "0.0";
    // Shortest digits that read back; Python's repr then prints fixed notation for decimal exponents from -4 to 15.
    std::array<char, 40> buffer;
    const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    const std::string text(buffer.data(), scientific.ptr);
    const int exponent = std::stoi(text.substr(text.find('e') + 1));
    if (exponent < -4 || exponent >= 16)
        return text;
    const auto fixed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    std::string out(buffer.data(), fixed.ptr);
    return out.find('.') == std::string::npos ? out + ".0" : out;
}

} // namespace stagewright::ckptfile
