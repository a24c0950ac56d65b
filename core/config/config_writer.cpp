#include "core/config/config_writer.h"

#include <algorithm>
#include <functional>

#include "core/base/text.h"
#include "core/config/convert.h"
#include "core/config/document.h"
#include "core/config/python_builtins.h"
#include "core/config/python_parser.h"
#include "core/config/value_text.h"
#include "core/config/yaml_edit.h"
#include "core/config/yaml_writer.h"

namespace stagewright::config {

namespace {

bool allNames(const Dict &dict)
{
    return std::all_of(dict.begin(), dict.end(), [](const Dict::Entry &entry) { return !entry.first.isInteger() && python::isIdentifier(entry.first.text()); });
}

// The names that an expression uses; `parsed` says whether it is one at all.
std::vector<std::string> namesOf(const std::string &expression, bool &parsed)
{
    std::vector<std::string> names;
    const std::function<void(const python::Node &)> visit = [&](const python::Node &node) {
        if (node.kind == python::NodeKind::Name)
            names.push_back(node.text);
        if (node.kind == python::NodeKind::BaseTemplate || node.kind == python::NodeKind::OtherTemplate)
            names.push_back("_base_");
        for (const python::Node &child : node.children)
            visit(child);
    };
    try {
        visit(python::parseExpression(expression));
        parsed = true;
    } catch (const Refusal &) {
        parsed = false;
    }
    return names;
}

// "_base_.model.depth" or "{{_base_.model.depth}}" as the latter, which both formats know; else empty.
std::string baseReference(const std::string &spelling)
{
    const Template found = templateAt(spelling, 0);
    if (found.kind == TemplateKind::Base && found.length == spelling.size())
        return spelling;
    if (!spelling.starts_with("_base_."))
        return {};
    const auto word = [](char c) { return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return std::all_of(spelling.begin(), spelling.end(), word) ? "{{" + spelling + "}}" : std::string();
}

// A text that was written with {{ fileDirname }} and the like in it, before these were replaced.
std::optional<std::string> templateText(const Value &value)
{
    if (value.type() != Type::String || value.spelling.find("{{") == std::string::npos)
        return std::nullopt;
    const auto literal = parseLiteral(value.spelling);
    if (!literal || literal->type() != Type::String)
        return std::nullopt;
    return literal->string();
}

constexpr std::string_view kExpressionMark = "# = ";

} // namespace

void ConfigWriter::comment(const std::vector<std::string> &texts, int depth)
{
    const std::string indent(static_cast<std::size_t>(depth) * (m_format == Format::Python ? 4 : 2), ' ');
    for (const std::string &text : texts)
        m_out += indent + text + "\n";
}

void ConfigWriter::writeBase(const std::vector<std::string> &paths, const std::string &file)
{
    m_keepsBase = true;
    const auto comments = m_comments.find(file);
    std::string behind;
    if (comments != m_comments.end() && comments->second.baseEntry()) {
        const CommentMap::Entry entry = *comments->second.baseEntry();
        comment(comments->second.takeBefore(entry.end), 0);
        behind = comments->second.takeBehind(entry.end, std::string::npos);
    }
    List items;
    for (const std::string &path : paths)
        items.emplace_back(path);
    const Value list = Value::list(std::move(items));
    m_out += m_format == Format::Python ? "_base_ = " + toPython(list) : "_base_: " + yaml::flow(list);
    m_out += (behind.empty() ? "" : "  " + behind) + "\n";
}

Status ConfigWriter::write(const Dict &values)
{
    for (const auto &[key, value] : values) {
        if (auto status = writeEntry(key, value, 0, false); !status)
            return status;
        m_written.set(key, value);
    }
    return Done{};
}

std::string ConfigWriter::finish()
{
    for (auto &[file, comments] : m_comments)
        comment(comments.takeRest(), 0);
    if (m_out.empty() && m_format == Format::Yaml)
        m_out = "{}\n";
    return std::move(m_out);
}

std::string ConfigWriter::prefix(const DictKey &key, int depth, bool inCall) const
{
    if (m_format == Format::Yaml)
        return std::string(static_cast<std::size_t>(depth) * 2, ' ') + yaml::key(key) + ":";
    const std::string indent(static_cast<std::size_t>(depth) * 4, ' ');
    if (depth == 0)
        return key.text() + " = ";
    if (inCall)
        return indent + key.text() + "=";
    std::string shown = key.text();
    if (!key.isInteger()) {
        shown = pythonString(shown);
        if (shown[0] == '\'' && key.text().find_first_of("\"\\") == std::string::npos)
            shown = '"' + shown.substr(1, shown.size() - 2) + '"';
    }
    return indent + shown + ": ";
}

Status ConfigWriter::writeEntry(const DictKey &key, const Value &value, int depth, bool inCall)
{
    if (m_format == Format::Python && depth == 0 && (key.isInteger() || !python::isIdentifier(key.text())))
        return Error(ExitCode::Usage, "config.convert", "the key `" + key.text() + "` cannot be a name in a .py file; rename it", value.origin.fileName(), value.origin.line);
    CommentMap *comments = nullptr;
    const CommentMap::Entry *entry = nullptr;
    if (value.origin.file) {
        const auto found = m_comments.find(*value.origin.file);
        if (found != m_comments.end()) {
            comments = &found->second;
            entry = comments->entryAt(value.origin);
        }
    }
    if (value.isDict() && !value.dict().empty())
        return writeDict(key, value, depth, inCall, comments, entry);
    std::string behind;
    if (entry) {
        behind = comments->takeBehind(entry->end, std::string::npos);
        comment(comments->takeBefore(entry->end), depth);
    }
    const std::string text = m_format == Format::Yaml ? yamlValue(value, behind) : pythonValue(value, behind);
    m_out += prefix(key, depth, inCall) + text + (m_format == Format::Python && depth > 0 ? "," : "") + (behind.empty() ? "" : "  " + behind) + "\n";
    return Done{};
}

Status ConfigWriter::writeDict(const DictKey &key, const Value &value, int depth, bool inCall, CommentMap *comments, const CommentMap::Entry *entry)
{
    const bool python = m_format == Format::Python, call = python && allNames(value.dict());
    std::string head, tail;
    if (entry) {
        comment(comments->takeBefore(entry->begin), depth);
        head = comments->isOneLine(*entry) ? comments->takeBehind(entry->end, std::string::npos) : comments->takeBehind(entry->value, entry->firstChild);
    }
    m_out += prefix(key, depth, inCall) + (python ? call ? "dict(" : "{" : "") + (head.empty() ? "" : "  " + head) + "\n";
    for (const auto &[name, item] : value.dict()) {
        if (auto status = writeEntry(name, item, depth + 1, call); !status)
            return status;
    }
    if (entry) {
        comment(comments->takeBefore(entry->end), depth + 1);
        tail = comments->takeBehind(entry->end, std::string::npos);
    }
    if (python) {
        m_out += std::string(static_cast<std::size_t>(depth) * 4, ' ') + (call ? ")" : "}") + (depth > 0 ? "," : "") + (tail.empty() ? "" : "  " + tail) + "\n";
    } else if (!tail.empty()) {
        comment({tail}, depth + 1);
    }
    return Done{};
}

std::string ConfigWriter::yamlValue(const Value &value, std::string &behind) const
{
    if (const std::string reference = baseReference(value.spelling); m_keepsBase && !reference.empty())
        return " " + reference;
    if (const auto text = templateText(value))
        return " " + yaml::flow(Value(*text));
    std::string expression(trimmed(yaml::expressionComment(value.spelling)));
    if (!expression.empty() && !behind.starts_with(kExpressionMark))
        behind = expression + (behind.empty() ? "" : "  " + behind);
    return " " + yaml::flow(value);
}

std::string ConfigWriter::pythonValue(const Value &value, std::string &behind) const
{
    // Back from the comment that an expression became in YAML.
    if (behind.starts_with(kExpressionMark)) {
        const std::size_t rest = behind.find("  # ");
        const std::string expression(trimmed(std::string_view(behind).substr(kExpressionMark.size(), rest == std::string::npos ? rest : rest - kExpressionMark.size())));
        if (gives(expression, value)) {
            behind = rest == std::string::npos ? std::string() : behind.substr(rest + 2);
            return expression;
        }
    }
    if (const std::string reference = baseReference(value.spelling); m_keepsBase && !reference.empty())
        return value.spelling;
    if (const auto text = templateText(value))
        return pythonString(*text);
    if (!value.spelling.empty() && value.spelling != yaml::flow(value) && gives(value.spelling, value))
        return value.spelling;
    std::string text = toPython(value);
    if (value.type() == Type::String && text[0] == '\'' && value.string().find_first_of("\"\\") == std::string::npos && text.find('\\') == std::string::npos)
        text = '"' + text.substr(1, text.size() - 2) + '"';
    return text;
}

// Whether the expression, written below what was written so far, has this value.
bool ConfigWriter::gives(const std::string &expression, const Value &value) const
{
    bool parsed = false;
    std::string text;
    for (const std::string &name : namesOf(expression, parsed)) {
        if (python::isBuiltin(name) || name == "dict")
            continue;
        const Value *known = m_written.find(DictKey(name));
        if (!known)
            return false;
        text += name + " = " + toPython(*known) + "\n";
        if (text.size() > 10000)
            return false;
    }
    if (!parsed || expression.find_first_of("\r\n") != std::string::npos)
        return false;
    const auto loaded = loadDocumentText(text + "result_of_it = " + expression + "\n", {}, Format::Python);
    const Value *result = loaded ? loaded->values.find("result_of_it") : nullptr;
    return result && *result == value;
}

Result<std::string> toPythonFile(const Dict &values)
{
    ConfigWriter writer(Format::Python);
    if (auto status = writer.write(values); !status)
        return status.error();
    return writer.finish();
}

} // namespace stagewright::config
