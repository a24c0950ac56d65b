#include "core/config/yaml_writer.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/config/stage.h"
#include "core/config/value_text.h"
#include "core/config/yaml_reader.h"

namespace stagewright::config {

namespace yaml {

namespace {

std::string quotedText(std::string_view text)
{
    static const char *hex = "0123456789abcdef";
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        const unsigned char third = i + 2 < text.size() ? static_cast<unsigned char>(text[i + 2]) : 0;
        if (c == '"' || c == '\\')
            out += {'\\', static_cast<char>(c)};
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else if (c == '\r')
            out += "\\r";
        else if (c < 0x20 || c == 0x7f)
            out += {'\\', 'x', hex[c >> 4], hex[c & 15]};
        else if (c == 0xc2 && next >= 0x80 && next <= 0xa0) {                 // C1 controls, next line, no-break space
            out += {'\\', 'x', hex[next >> 4], hex[next & 15]};
            ++i;
        } else if (c == 0xe2 && next == 0x80 && (third == 0xa8 || third == 0xa9)) {
            out += third == 0xa8 ? "\\u2028" : "\\u2029";                       // line and paragraph separator
            i += 2;
        } else if (c == 0xef && next == 0xbb && third == 0xbf) {
            out += "\\ufeff";
            i += 2;
        } else
            out += static_cast<char>(c);
    }
    return out + '"';
}

// Words and forms that YAML 1.1 takes for something else than a text.
bool isSpecialInOldYaml(std::string_view text)
{
    static constexpr std::string_view words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"};
    const std::string low = lowered(text);
    if (std::find(std::begin(words), std::end(words), low) != std::end(words))
        return true;
    // Numbers with underscores, octals, sexagesimals (1:30) and dates all begin like a number.
    const char first = text[0];
    return (first >= '0' && first <= '9') || ((first == '-' || first == '+' || first == '.') && text.size() > 1 && ((text[1] >= '0' && text[1] <= '9') || text[1] == '.'));
}

bool isPlain(std::string_view text)
{
    if (text.empty() || isSpecialInOldYaml(text))
        return false;
    const auto plainByte = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/' || c == '+';
    };
    if (!std::all_of(text.begin(), text.end(), plainByte) || text[0] == '-')
        return false;
    return plainScalar(text).type() == Type::String;
}

std::string number(double value)
{
    if (std::isnan(value))
        return ".nan";
    if (std::isinf(value))
        return value > 0 ? ".inf" : "-.inf";
    std::string text = pythonFloat(value);
    // "1e-05" is a text in YAML 1.1, which wants a dot.
    const std::size_t e = text.find('e');
    if (e != std::string::npos && text.find('.') == std::string::npos)
        text.insert(e, ".0");
    return text;
}

} // namespace

std::string key(const DictKey &key)
{
    if (key.isInteger())
        return key.text();
    const std::string text = key.text();
    return isPlain(text) ? text : quotedText(text);
}

std::string flow(const Value &value, Numbers numbers)
{
    if (numbers == Numbers::AsTyped && value.isNumber() && !value.spelling.empty() && plainScalar(value.spelling) == value)
        return value.spelling;
    switch (value.type()) {
    case Type::None: return "null";
    case Type::Bool: return value.boolean() ? "true" : "false";
    case Type::Int: return std::to_string(value.integer());
    case Type::Float: return number(value.number());
    case Type::String: return isPlain(value.string()) ? value.string() : quotedText(value.string());
    case Type::List:
    case Type::Tuple: {
        std::string out = value.type() == Type::Tuple ? "!tuple [" : "[";
        for (std::size_t i = 0; i < value.items().size(); ++i)
            out += (i ? ", " : "") + flow(value.items()[i], numbers);
        return out + "]";
    }
    case Type::Dict: {
        std::string out = "{";
        for (const auto &[name, item] : value.dict())
            out += (out.size() > 1 ? ", " : "") + key(name) + ": " + flow(item, numbers);
        return out + "}";
    }
    }
    return "null";
}

} // namespace yaml

namespace {

void writeBlock(const Dict &dict, const std::string &indent, std::string &out)
{
    for (const auto &[key, value] : dict) {
        out += indent + yaml::key(key) + ":";
        if (value.isDict() && !value.dict().empty()) {
            out += "\n";
            writeBlock(value.dict(), indent + "  ", out);
        } else {
            out += " " + yaml::flow(value) + "\n";
        }
    }
}

} // namespace

std::string toYaml(const Dict &values)
{
    if (values.empty())
        return "{}\n";
    std::string out;
    writeBlock(values, {}, out);
    // Two braces stand inside quotes only; a text that looks like {{ fileDirname }} is meant as it is and must not be filled in when it is read.
    for (std::size_t at = out.find("{{"); at != std::string::npos; at = out.find("{{", at + 1))
        out.replace(at, 2, "{\\x7b");
    return out;
}

} // namespace stagewright::config
