#include "core/config/yaml_edit.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/config/python_parser.h"
#include "core/config/yaml_ranges.h"
#include "core/config/yaml_reader.h"
#include "core/config/yaml_writer.h"

namespace stagewright::config::yaml {

namespace {

constexpr std::string_view kExpressionMark = "# = ";

bool allDigits(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos && text.size() < 19;
}

Error failed(const std::string &message)
{
    return Error(ExitCode::Usage, "config.edit", message);
}

Value nested(const Path &path, std::size_t from, Value value)
{
    for (std::size_t i = path.size(); i-- > from;) {
        Dict dict;
        dict.set(allDigits(path[i]) ? DictKey(std::int64_t(std::stoll(path[i]))) : DictKey(path[i]), std::move(value));
        value = Value::dict(std::move(dict));
    }
    return value;
}

bool isLiteral(const python::Node &node)
{
    using python::NodeKind;
    switch (node.kind) {
    case NodeKind::Int: case NodeKind::Float: case NodeKind::String: case NodeKind::None: case NodeKind::True: case NodeKind::False: return true;
    case NodeKind::Unary: return node.op != '!' && isLiteral(node.children[0]);
    case NodeKind::List: case NodeKind::Tuple: case NodeKind::Dict: case NodeKind::Pair:
        return std::all_of(node.children.begin(), node.children.end(), isLiteral);
    default: return false;
    }
}

} // namespace

std::string expressionComment(const std::string &spelling)
{
    if (spelling.empty() || spelling.find_first_of("\r\n") != std::string::npos)
        return {};
    try {
        if (isLiteral(python::parseExpression(spelling)))
            return {};
    } catch (const Refusal &) {
        return {};
    }
    return "  " + std::string(kExpressionMark) + spelling;
}

Result<EditableText> EditableText::parse(const std::string &text)
{
    auto source = SourceText::make(text, {}, SourceText::Substitute::Nothing);
    if (!source)
        return source.error();
    try {
        EditableText out;
        const std::string masked = withoutTemplates(source->text());
        Tree tree = yaml::parse(masked);
        if (!tree.empty && tree[tree.root].kind != NodeKind::Map && tree[tree.root].kind != NodeKind::Null)
            throw Refusal{"config.syntax", "a config is a mapping (`name: value` lines)", 0};
        if (!tree.empty && tree[tree.root].kind == NodeKind::Null)
            tree.empty = true;
        markEnds(tree, masked);
        out.m_tree = std::make_shared<const Tree>(std::move(tree));
        out.m_source = std::make_shared<const SourceText>(std::move(source.value()));
        return out;
    } catch (const Refusal &refusal) {
        return source->error(refusal);
    }
}

std::string EditableText::finished(std::vector<TextChange> changes) const
{
    return (m_source->hasByteOrderMark() ? "\xef\xbb\xbf" : "") + applied(m_source->text(), std::move(changes));
}

std::optional<std::size_t> EditableText::keyIndex(const Node &map, const std::string &part) const
{
    for (std::size_t i = map.children.size(); i >= 2; i -= 2) {
        const Node &key = (*m_tree)[map.children[i - 2]];
        if (key.kind == NodeKind::Scalar && key.text == part)
            return i - 2;
    }
    return std::nullopt;
}

EditableText::Found EditableText::find(const Path &path) const
{
    Found found;
    if (m_tree->empty)
        return found;
    found.value = m_tree->root;
    while (found.depth < path.size()) {
        const Node &map = (*m_tree)[found.value];
        if (map.kind != NodeKind::Map)
            break;
        const auto index = keyIndex(map, path[found.depth]);
        if (!index)
            break;
        found.container = found.value;
        found.index = *index;
        found.value = map.children[*index + 1];
        ++found.depth;
    }
    return found;
}

DictKey EditableText::keyFor(const Node *map, const std::string &part) const
{
    if (!allDigits(part))
        return DictKey(part);
    for (std::size_t i = 0; map && i + 1 < map->children.size(); i += 2) {
        const Node &key = (*m_tree)[map->children[i]];
        if (key.quoted && allDigits(key.text))
            return DictKey(part);
    }
    return DictKey(std::int64_t(std::stoll(part)));
}

std::string EditableText::valueText(const Value &value, const std::string &indent) const
{
    if (!value.isDict() || value.dict().empty())
        return " " + flow(value, Numbers::AsTyped);
    const std::string eol(lineBreakOf(m_source->text()));
    std::string out;
    for (const auto &[key, item] : value.dict())
        out += eol + indent + yaml::key(key) + ":" + valueText(item, indent + "  ");
    return out;
}

Result<std::string> EditableText::set(const Path &path, const Value &value, const std::string &spelling) const
{
    const Found found = find(path);
    return found.depth == path.size() ? replaced(path, found, value, spelling) : added(path, found, value, spelling);
}

static bool isSimple(const Value &value)
{
    if (value.isSequence())
        return std::all_of(value.items().begin(), value.items().end(), isSimple);
    return value.isNone() || value.isNumber() || value.type() == Type::Bool;
}

bool EditableText::replacesSimply(const Path &path, const Value &value) const
{
    const Found found = find(path);
    if (found.depth != path.size() || !isSimple(value))
        return false;
    const Node &old = (*m_tree)[found.value];
    const Node &key = (*m_tree)[(*m_tree)[found.container].children[found.index]];
    if (!((old.kind == NodeKind::Scalar) || (old.kind == NodeKind::Sequence && old.flow)) || key.quoted || key.begin >= old.begin)
        return false;
    // `key: value` and nothing else: no anchor, no alias, no explicit key, no block scalar.
    const std::string_view line = std::string_view(m_source->text()).substr(key.begin, old.end - key.begin);
    return line.starts_with(key.text + ": ") && line.find_first_of("\r\n&*?|>{#") == line.npos;
}

Result<std::string> EditableText::replaced(const Path &path, const Found &found, const Value &value, const std::string &spelling) const
{
    const std::string &text = m_source->text();
    const Node &old = (*m_tree)[found.value];
    const Node &container = (*m_tree)[found.container];
    const Node &key = (*m_tree)[container.children[found.index]];
    const bool manyLines = std::string_view(text).substr(old.begin, old.end - old.begin).find_first_of("\r\n") != std::string::npos;
    const bool block = (old.kind == NodeKind::Map || old.kind == NodeKind::Sequence) && !old.flow;
    if (old.kind == NodeKind::Map && value.isDict() && !value.dict().empty() && (block || manyLines))
        return stepByStep(path, found.value, value.dict());
    if (old.kind == NodeKind::Sequence && value.isSequence() && (block || manyLines) && value.items().size() == old.children.size()) {
        std::vector<TextChange> changes;
        bool simple = (value.type() == Type::Tuple) == (old.tag == "!tuple");
        for (std::size_t i = 0; i < old.children.size(); ++i) {
            const Node &item = (*m_tree)[old.children[i]];
            simple &= item.kind == NodeKind::Scalar || (item.flow && item.kind != NodeKind::Alias);
            if (text.substr(item.begin, item.end - item.begin) != flow(value.items()[i], Numbers::AsTyped))
                changes.push_back({item.begin, item.end, flow(value.items()[i], Numbers::AsTyped)});
        }
        if (simple)
            return finished(std::move(changes));
    }
    // An anchor stays, since aliases elsewhere mean it.
    std::string anchor;
    const std::size_t properties = behindProperties(text, old.begin);
    for (std::size_t at = old.begin; at < properties && old.kind != NodeKind::Null; ++at) {
        if (text[at] == '&') {
            std::size_t end = at;
            while (end < properties && !isBlank(std::string_view(text).substr(end, 1)))
                ++end;
            anchor = " " + text.substr(at, end - at);
            break;
        }
    }
    const std::size_t begin = behindColon(text, key.end);
    if (container.flow)
        return finished({{begin, std::max<std::size_t>(old.end, begin), anchor + " " + flow(value, Numbers::AsTyped)}});
    const std::string indent = indentOfEntry(container) + "  ";
    std::vector<TextChange> changes{{begin, std::max<std::size_t>(old.end, begin), anchor + valueText(value, indent)}};
    // A comment that says how the number came about follows the number.
    const std::size_t end = changes[0].end, stop = lineEnd(text, end);
    const std::string_view rest = std::string_view(text).substr(end, stop - end);
    const std::string comment = value.isDict() ? std::string() : expressionComment(spelling);
    if (trimmed(rest).starts_with(kExpressionMark)) {
        const std::size_t second = rest.find("  # ", rest.find(kExpressionMark) + 1);
        changes.push_back({end, second == rest.npos ? stop : end + second, comment});
    } else if (isBlank(rest) && !comment.empty()) {
        changes.push_back({end, stop, comment});
    }
    return finished(std::move(changes));
}

Result<std::string> EditableText::stepByStep(const Path &path, std::uint32_t map, const Dict &fresh) const
{
    Value old;
    try {
        python::Budget budget;
        old = valueOf(*m_tree, map, *m_source, budget);
    } catch (const Refusal &refusal) {
        return m_source->error(refusal);
    }
    std::string text = finished({});
    for (const auto &[key, value] : fresh) {
        const Value *same = old.dict().find(key);
        if (same && *same == value)
            continue;
        auto next = parse(text);
        if (!next)
            return next.error();
        Path step = path;
        step.push_back(key.text());
        auto result = next->set(step, value, value.spelling);
        if (!result)
            return result.error();
        text = std::move(result.value());
    }
    for (const auto &[key, value] : old.dict()) {
        if (fresh.find(key))
            continue;
        auto next = parse(text);
        if (!next)
            return next.error();
        Path step = path;
        step.push_back(key.text());
        auto result = next->remove(step);
        if (!result)
            return result.error();
        text = std::move(result.value());
    }
    return text;
}

std::string EditableText::indentOfEntry(const Node &map) const
{
    if (map.children.empty())
        return {};
    const std::size_t at = (*m_tree)[map.children[0]].begin;
    return std::string(at - lineStart(m_source->text(), at), ' ');
}

Result<std::string> EditableText::added(const Path &path, const Found &parent, const Value &value, const std::string &spelling) const
{
    const std::string &text = m_source->text();
    const std::string eol(lineBreakOf(text));
    const Value inner = nested(path, parent.depth + 1, value);
    const std::string comment = parent.depth + 1 == path.size() && !value.isDict() ? expressionComment(spelling) : std::string();
    if (m_tree->empty) {
        const bool open = !text.empty() && text.back() != '\n' && text.back() != '\r';
        return finished({{text.size(), text.size(), (open ? eol : "") + key(keyFor(nullptr, path[0])) + ":" + valueText(inner, "  ") + comment + eol}});
    }
    const Node &map = (*m_tree)[parent.value];
    if (map.kind == NodeKind::Map) {
        const DictKey entry = keyFor(&map, path[parent.depth]);
        if (map.flow)
            return addedToFlow(map, entry, inner);
        return addedToBlock(map, entry, inner, comment);
    }
    if (map.kind == NodeKind::Null && parent.depth > 0) {
        Dict dict;
        dict.set(keyFor(nullptr, path[parent.depth]), inner);
        Path here(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(parent.depth));
        return replaced(here, parent, Value::dict(std::move(dict)), {});
    }
    const Path reached(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(parent.depth));
    return failed("`" + joined(reached, ".") + "` is " + text.substr(map.begin, std::min<std::size_t>(map.end - map.begin, 40)) + " in line "
        + std::to_string(m_source->positionOf(map.begin).line) + ", which has no entries to set");
}

std::string EditableText::addedToBlock(const Node &map, const DictKey &entry, const Value &value, const std::string &comment) const
{
    const std::string &text = m_source->text();
    const std::string eol(lineBreakOf(text));
    const std::string indent = indentOfEntry(map);
    std::size_t after = map.children.size();
    if (entry.isInteger()) {
        const auto larger = [&](std::size_t i) {
            const Node &other = (*m_tree)[map.children[i - 2]];
            return allDigits(other.text) && std::stoll(other.text) > std::get<std::int64_t>(entry.key);
        };
        while (after >= 2 && larger(after))
            after -= 2;
    }
    const std::string line = key(entry) + ":" + valueText(value, indent + "  ") + comment;
    if (after == 0) {
        const std::size_t at = (*m_tree)[map.children[0]].begin;
        return finished({{at, at, line + eol + indent}});
    }
    const std::size_t end = lineEnd(text, std::max((*m_tree)[map.children[after - 1]].end, (*m_tree)[map.children[after - 2]].end));
    return finished({{end, end, eol + indent + line + (end == text.size() ? eol : "")}});
}

std::string EditableText::addedToFlow(const Node &map, const DictKey &entry, const Value &value) const
{
    const std::string line = key(entry) + ": " + flow(value, Numbers::AsTyped);
    if (map.children.empty()) {
        const std::size_t open = behindProperties(m_source->text(), map.begin) + 1;
        return finished({{open, open, line}});
    }
    const Node &last = (*m_tree)[map.children.back()];
    return finished({{last.end, last.end, ", " + line}});
}

Result<std::string> EditableText::remove(const Path &path) const
{
    const std::string &text = m_source->text();
    const Found found = find(path);
    if (found.depth != path.size())
        return failed("`" + joined(path, ".") + "` is not written in this file");
    const Node &map = (*m_tree)[found.container];
    const Node &entry = (*m_tree)[map.children[found.index]];
    const std::size_t end = std::max<std::size_t>((*m_tree)[found.value].end, behindColon(text, entry.end));
    if (map.flow) {
        if (found.index + 2 < map.children.size())
            return finished({{entry.begin, (*m_tree)[map.children[found.index + 2]].begin, ""}});
        if (found.index > 0)
            return finished({{(*m_tree)[map.children[found.index - 1]].end, end, ""}});
        return finished({{entry.begin, end, ""}});
    }
    const std::size_t start = lineStart(text, entry.begin);
    if (!isBlank(std::string_view(text).substr(start, entry.begin - start)))
        return failed("`" + joined(path, ".") + "` begins an item of a list in line " + std::to_string(m_source->positionOf(entry.begin).line) + "; edit the text");
    if (map.children.size() == 2 && found.depth > 1) {              // a block without entries would be None
        Path parent(path.begin(), path.end() - 1);
        return replaced(parent, find(parent), Value::dict({}), {});
    }
    return finished({{start, nextLine(text, end), ""}});
}

Result<std::string> EditableText::rename(const Path &path, const std::string &newName) const
{
    Path wanted = path;
    wanted.back() = newName;
    if (find(wanted).depth == wanted.size())
        return failed("`" + joined(wanted, ".") + "` is there already");
    const Found found = find(path);
    if (found.depth != path.size())
        return failed("`" + joined(path, ".") + "` is not written in this file");
    const Node &map = (*m_tree)[found.container];
    const Node &entry = (*m_tree)[map.children[found.index]];
    return finished({{entry.begin, entry.end, key(keyFor(&map, newName))}});
}

std::optional<Value> EditableText::valueAt(const Path &path) const
{
    const Found found = find(path);
    if (found.depth != path.size())
        return std::nullopt;
    try {
        python::Budget budget;
        return valueOf(*m_tree, found.value, *m_source, budget);
    } catch (const Refusal &) {
        return std::nullopt;
    }
}

std::optional<int> EditableText::lineOf(const Path &path) const
{
    const Found found = find(path);
    if (found.depth != path.size() || path.empty())
        return std::nullopt;
    const Node &map = (*m_tree)[found.container];
    const Node &value = (*m_tree)[found.value];
    return m_source->positionOf(value.kind == NodeKind::Null ? (*m_tree)[map.children[found.index]].begin : value.begin).line;
}

} // namespace stagewright::config::yaml
