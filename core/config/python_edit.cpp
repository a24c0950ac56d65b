#include "core/config/python_edit.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/base/text.h"
#include "core/config/python_evaluator.h"
#include "core/config/python_parser.h"
#include "core/config/value_text.h"

namespace stagewright::config::python {

namespace {

constexpr std::size_t npos = std::string::npos;

bool allDigits(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == npos && text.size() < 19;
}

std::string joinedPath(const Path &path)
{
    return joined(path, ".");
}

Error failed(const std::string &message)
{
    return Error(ExitCode::Usage, "config.edit", message);
}

bool isDictCall(const Node &node)
{
    return node.kind == NodeKind::Call && node.children[0].kind == NodeKind::Name && node.children[0].text == "dict";
}

bool keyIs(const Node &key, const std::string &part)
{
    return (key.kind == NodeKind::String && key.text == part) || (key.kind == NodeKind::Int && std::to_string(key.magnitude) == part);
}

// The last entry of a dict that is named `part`; null where none is. `container` becomes the dict that holds it (dict(**{…}) holds another).
const Node *entryOf(const Node *&container, const std::string &part, std::size_t &index)
{
    for (std::size_t i = container->children.size(); i-- > 0;) {
        const Node &child = container->children[i];
        if ((child.kind == NodeKind::Keyword && child.text == part) || (child.kind == NodeKind::Pair && keyIs(child.children[0], part))) {
            index = i;
            return &child;
        }
        if (child.kind == NodeKind::DoubleStarred && isDictLike(child.children[0])) {
            const Node *inner = &child.children[0];
            if (const Node *found = entryOf(inner, part, index)) {
                container = inner;
                return found;
            }
        }
    }
    return nullptr;
}

const Node &valueOf(const Node &entry)
{
    return entry.kind == NodeKind::Keyword ? entry.children[0] : entry.children[1];
}

// "model", "model.depth" for model["depth"] = …; empty where it is no constant path.
Path targetPath(const Node &target)
{
    Path path;
    const Node *node = &target;
    for (; node->kind == NodeKind::Subscript || node->kind == NodeKind::Attribute; node = &node->children[0]) {
        if (node->kind == NodeKind::Attribute)
            path.push_back(node->text);
        else if (node->children[1].kind == NodeKind::String)
            path.push_back(node->children[1].text);
        else if (node->children[1].kind == NodeKind::Int)
            path.push_back(std::to_string(node->children[1].magnitude));
        else
            return {};
    }
    if (node->kind != NodeKind::Name)
        return {};
    if (node->text != "_base_" || path.empty())
        path.push_back(node->text);
    std::reverse(path.begin(), path.end());
    return path;
}

void eachName(const Node &node, const std::function<void(const Node &)> &visit)
{
    if (node.kind == NodeKind::Name)
        visit(node);
    for (const Node &child : node.children)
        eachName(child, visit);
}

// key=value of a call, or key: value of a dict.
std::string keyText(const Node &container, const std::string &key)
{
    char quote = '"';
    bool digitTexts = false;
    for (const Node &child : container.children) {
        if (child.kind != NodeKind::Pair || child.children[0].kind != NodeKind::String)
            continue;
        digitTexts |= allDigits(child.children[0].text);
        if (child.children[0].op)
            quote = child.children[0].op;
    }
    if (allDigits(key) && !digitTexts)
        return key;
    const bool simple = std::all_of(key.begin(), key.end(), [](char c) { return (c & 0x80) || (c >= ' ' && c != '"' && c != '\'' && c != '\\'); });
    return simple ? quote + key + quote : pythonString(key);
}

std::string nested(const Path &path, std::size_t from, const std::string &expression)
{
    std::string out = expression;
    for (std::size_t i = path.size(); i-- > from;) {
        if (isIdentifier(path[i]))
            out = "dict(" + path[i] + "=" + out + ")";
        else
            out = "{" + keyText(Node(), path[i]) + ": " + out + "}";
    }
    return out;
}

} // namespace

bool isDictLike(const Node &node)
{
    return node.kind == NodeKind::Dict || isDictCall(node);
}

Result<EditableText> EditableText::parse(const std::string &text)
{
    auto source = SourceText::make(text, {}, SourceText::Substitute::Nothing);
    if (!source)
        return source.error();
    try {
        EditableText out;
        out.m_byteOrderMark = source->hasByteOrderMark();
        out.m_module = std::make_shared<const Module>(parseModule(source->text()));
        out.m_source = std::make_shared<const SourceText>(std::move(source.value()));
        return out;
    } catch (const Refusal &refusal) {
        return source->error(refusal);
    }
}

std::string EditableText::finished(std::vector<TextChange> changes) const
{
    return (m_byteOrderMark ? "\xef\xbb\xbf" : "") + applied(m_source->text(), std::move(changes));
}

EditableText::Found EditableText::find(const Path &path) const
{
    Found best;
    for (std::size_t i = m_module->statements.size(); i-- > 0;) {
        const Statement &statement = m_module->statements[i];
        if (statement.kind != StatementKind::Assign && statement.kind != StatementKind::Augmented)
            continue;
        for (const Node &target : statement.targets) {
            const Node *value = &statement.value;
            Path written = targetPath(target);
            const bool tuples = target.kind == NodeKind::Tuple && value->kind == NodeKind::Tuple && target.children.size() == value->children.size();
            for (std::size_t k = 0; k < (tuples ? target.children.size() : 1); ++k) {
                if (tuples) {
                    written = targetPath(target.children[k]);
                    value = &statement.value.children[k];
                }
                if (written.empty() || written.size() > path.size() || !std::equal(written.begin(), written.end(), path.begin()))
                    continue;
                Found found{&statement, nullptr, k, value, written.size()};
                while (found.depth < path.size() && isDictLike(*found.value)) {
                    const Node *container = found.value;
                    const Node *entry = entryOf(container, path[found.depth], found.index);
                    if (!entry)
                        break;
                    found.container = container;
                    found.value = &valueOf(*entry);
                    ++found.depth;
                }
                if (found.depth == path.size())
                    return found;
                if (found.depth > best.depth)
                    best = found;
                if (written.size() == 1)
                    return best;                        // what stands above it is replaced by it
            }
        }
    }
    return best;
}

Result<std::string> EditableText::set(const Path &path, const std::string &expression) const
{
    std::string text = expression;
    try {
        const Node node = parseExpression(expression);
        if (node.kind == NodeKind::Tuple && !node.parenthesized)
            text = "(" + expression + ")";
    } catch (const Refusal &refusal) {
        return Error(ExitCode::Usage, refusal.code, "'" + expression.substr(0, 60) + "': " + refusal.message);
    }
    const Found found = find(path);
    if (found.depth == path.size())
        return replaced(path, found, text);
    return added(path, found, text);
}

static bool isSimple(const Node &node)
{
    switch (node.kind) {
    case NodeKind::Int:
    case NodeKind::Float:
    case NodeKind::True:
    case NodeKind::False:
    case NodeKind::None: return true;
    case NodeKind::String: return node.plainLiteral;
    case NodeKind::Unary: return node.op == '-' && isSimple(node.children[0]);
    case NodeKind::Tuple:
        if (!node.parenthesized)
            return false;
        [[fallthrough]];
    case NodeKind::List: return std::all_of(node.children.begin(), node.children.end(), isSimple);
    default: return false;
    }
}

bool EditableText::replacesSimply(const Path &path, const std::string &expression) const
{
    const Found found = find(path);
    if (found.depth != path.size() || !found.value || found.statement->kind != StatementKind::Assign)
        return false;
    if ((slice(*found.value) + expression).find_first_of("\r\n#\\{") != npos)
        return false;
    try {
        return isSimple(parseExpression(expression));
    } catch (const Refusal &) {
        return false;
    }
}

Result<std::string> EditableText::replaced(const Path &path, const Found &found, const std::string &expression) const
{
    const Node &old = *found.value;
    if (found.statement->kind == StatementKind::Augmented)
        return failed("`" + joinedPath(path) + "` is computed in several steps (line " + std::to_string(m_source->positionOf(old.begin).line) + "); edit the text");
    const std::string before = slice(old);
    if (before == expression)
        return finished({});
    const Node fresh = parseExpression(expression);
    const bool manyLines = before.find_first_of("\r\n") != npos;
    if (manyLines && old.kind == fresh.kind && old.children.size() == fresh.children.size() && (old.kind == NodeKind::List || old.kind == NodeKind::Tuple)) {
        std::vector<TextChange> changes;
        for (std::size_t i = 0; i < old.children.size(); ++i) {
            const std::string item = expression.substr(fresh.children[i].begin, fresh.children[i].end - fresh.children[i].begin);
            if (slice(old.children[i]) != item)
                changes.push_back({old.children[i].begin, old.children[i].end, item});
        }
        return finished(std::move(changes));
    }
    if (manyLines && isDictLike(old) && isDictLike(fresh)) {
        // Key by key, so that the lines of the others stay as they are.
        struct Step {
            Path path;
            std::string expression;              // empty: remove
        };
        std::vector<Step> steps;
        bool simple = true;
        const auto entries = [&](const Node &dict, std::size_t from, auto visit) {
            for (std::size_t i = from; i < dict.children.size(); ++i) {
                const Node &entry = dict.children[i];
                if (entry.kind == NodeKind::Keyword)
                    visit(entry.text, entry);
                else if (entry.kind == NodeKind::Pair && entry.children[0].kind == NodeKind::String)
                    visit(entry.children[0].text, entry);
                else if (entry.kind == NodeKind::Pair && entry.children[0].kind == NodeKind::Int)
                    visit(std::to_string(entry.children[0].magnitude), entry);
                else
                    simple = false;
            }
        };
        std::vector<std::string> wanted;
        entries(fresh, isDictCall(fresh), [&](const std::string &key, const Node &entry) {
            wanted.push_back(key);
            const std::string item = expression.substr(valueOf(entry).begin, valueOf(entry).end - valueOf(entry).begin);
            const Node *container = &old;
            std::size_t index = 0;
            const Node *same = entryOf(container, key, index);
            if (!same || slice(valueOf(*same)) != item) {
                Path step = path;
                step.push_back(key);
                steps.push_back({std::move(step), item});
            }
        });
        std::sort(wanted.begin(), wanted.end());
        entries(old, isDictCall(old), [&](const std::string &key, const Node &) {
            if (!std::binary_search(wanted.begin(), wanted.end(), key)) {
                Path step = path;
                step.push_back(key);
                steps.push_back({std::move(step), {}});
            }
        });
        if (simple && steps.size() <= 60) {
            std::string text = finished({});
            for (const Step &step : steps) {
                auto next = EditableText::parse(text);
                if (!next)
                    return next.error();
                auto result = step.expression.empty() ? next->remove(step.path) : next->set(step.path, step.expression);
                if (!result)
                    return result.error();
                text = std::move(result.value());
            }
            return text;
        }
    }
    return finished({{old.begin, old.end, expression}});
}

Result<std::string> EditableText::added(const Path &path, const Found &parent, const std::string &expression) const
{
    if (parent.depth > 0) {
        if (isDictLike(*parent.value)) {
            return addedToDict(*parent.value, path[parent.depth], nested(path, parent.depth + 1, expression));
        }
        const Path reached(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(parent.depth));
        return failed("`" + joinedPath(reached) + "` is " + slice(*parent.value).substr(0, 40) + " in line " + std::to_string(m_source->positionOf(parent.value->begin).line)
            + ", which has no entries to set; write it as dict(…) first");
    }
    if (!isIdentifier(path[0]))
        return failed("`" + path[0] + "` cannot be a name in a .py file");
    return addedAtEnd(path[0] + " = " + nested(path, 1, expression));
}

std::string EditableText::addedAtEnd(const std::string &line) const
{
    const std::string &text = m_source->text();
    const std::string eol(lineBreakOf(text));
    if (m_module->statements.empty()) {
        const bool open = !text.empty() && text.back() != '\n' && text.back() != '\r';
        return finished({{text.size(), text.size(), (open ? eol : "") + line + eol}});
    }
    // Behind the last statement and what stands on its line; comments at the file's end stay at the end.
    const std::size_t at = lineEnd(text, m_module->statements.back().end);
    return finished({{at, at, eol + line + (at == text.size() ? eol : "")}});
}

std::size_t EditableText::commaAfter(std::size_t at) const
{
    const std::string &text = m_source->text();
    while (at < text.size()) {
        if (text[at] == '#')
            at = lineEnd(text, at);
        else if (text[at] == ',')
            return at + 1;
        else if (text[at] == '\\' || isBlank(std::string_view(text).substr(at, 1)))
            ++at;
        else
            return npos;
    }
    return npos;
}

Result<std::string> EditableText::addedToDict(const Node &container, const std::string &key, const std::string &expression) const
{
    const std::string &text = m_source->text();
    std::string entry;
    if (container.kind == NodeKind::Dict)
        entry = keyText(container, key) + ": " + expression;
    else if (isIdentifier(key))
        entry = key + "=" + expression;
    else
        entry = "**{" + keyText(container, key) + ": " + expression + "}";
    const std::size_t first = container.kind == NodeKind::Dict ? 0 : 1;
    if (container.children.size() == first) {
        std::size_t open = container.begin;
        if (container.kind == NodeKind::Call)
            open = container.children[0].end;
        open = text.find(container.kind == NodeKind::Dict ? '{' : '(', open) + 1;
        return finished({{open, open, entry}});
    }
    // Behind the last entry, or, among whole numbers, behind the last smaller one.
    std::size_t after = container.children.size();
    const auto numberOf = [&](std::size_t i) -> std::optional<std::uint64_t> {
        const Node &child = container.children[i];
        if (child.kind == NodeKind::Pair && child.children[0].kind == NodeKind::Int)
            return child.children[0].magnitude;
        return std::nullopt;
    };
    if (allDigits(key) && entry[0] != '"' && entry[0] != '\'') {
        while (after > first && numberOf(after - 1) && *numberOf(after - 1) > std::stoull(key))
            --after;
        if (after == first && numberOf(first)) {
            const Node &next = container.children[first];
            if (isBlank(std::string_view(text).substr(lineStart(text, next.begin), next.begin - lineStart(text, next.begin)))) {
                const std::size_t at = lineStart(text, next.begin);
                return finished({{at, at, indentOf(text, next.begin) + entry + "," + std::string(lineBreakOf(text))}});
            }
            return finished({{next.begin, next.begin, entry + ", "}});
        }
    }
    const Node &previous = container.children[after - 1];
    const std::size_t comma = commaAfter(previous.end);
    const std::size_t behind = comma == npos ? previous.end : comma;
    const std::size_t end = lineEnd(text, behind);
    const bool ownLine = isBlank(std::string_view(text).substr(lineStart(text, previous.begin), previous.begin - lineStart(text, previous.begin)));
    std::string_view rest = trimmed(std::string_view(text).substr(behind, end - behind));
    if (ownLine && end < container.end && (rest.empty() || rest[0] == '#')) {
        const std::string line = std::string(lineBreakOf(text)) + indentOf(text, previous.begin) + entry + ",";
        std::vector<TextChange> changes{{end, end, line}};
        if (comma == npos)
            changes.push_back({previous.end, previous.end, ","});
        return finished(std::move(changes));
    }
    return finished({{previous.end, previous.end, ", " + entry}});
}

Result<std::string> EditableText::remove(const Path &path) const
{
    if (path.size() == 1)
        return removedName(path[0]);
    const Found found = find(path);
    if (found.depth != path.size())
        return failed("`" + joinedPath(path) + "` is not written in this file");
    if (!found.container) {                       // model["depth"] = 3
        const std::string &text = m_source->text();
        return finished({{lineStart(text, found.statement->begin), nextLine(text, found.statement->end), ""}});
    }
    return finished(removalOf(*found.container, found.index));
}

std::vector<TextChange> EditableText::removalOf(const Node &container, std::size_t index) const
{
    const std::string &text = m_source->text();
    const Node &entry = container.children[index];
    const std::size_t comma = commaAfter(entry.end);
    const std::size_t behind = comma == npos ? entry.end : comma;
    const std::size_t start = lineStart(text, entry.begin), end = lineEnd(text, behind);
    const std::string_view before = std::string_view(text).substr(start, entry.begin - start);
    const std::string_view rest = trimmed(std::string_view(text).substr(behind, end - behind));
    if (isBlank(before) && end < container.end && (rest.empty() || rest[0] == '#'))
        return {{start, nextLine(text, behind), ""}};
    const std::size_t first = container.kind == NodeKind::Call ? 1 : 0;
    if (index + 1 < container.children.size()) {
        std::size_t to = behind;
        while (to < text.size() && (text[to] == ' ' || text[to] == '\t'))
            ++to;
        return {{entry.begin, to, ""}};
    }
    if (index > first) {
        const std::size_t previousEnd = container.children[index - 1].end;
        const std::string_view between = std::string_view(text).substr(previousEnd, entry.begin - previousEnd);
        if (between.find_first_of("\r\n#") == npos)
            return {{previousEnd, entry.end, ""}};
    }
    return {{entry.begin, behind, ""}};
}

Result<std::string> EditableText::removedName(const std::string &name) const
{
    const std::string &text = m_source->text();
    std::vector<TextChange> changes;
    for (const Statement &statement : m_module->statements) {
        int usedIn = 0;
        const auto use = [&](const Node &node) {
            if (node.text == name)
                usedIn = m_source->positionOf(node.begin).line;
        };
        eachName(statement.value, use);
        bool mine = false, others = false;
        for (const Node &target : statement.targets) {
            const Path written = targetPath(target);
            const bool here = !written.empty() && written[0] == name;
            mine |= here;
            others |= !here;
            if (!here)
                eachName(target, use);
        }
        if (mine && others && statement.kind == StatementKind::Assign && usedIn == 0) {
            for (std::size_t i = 0; i < statement.targets.size(); ++i) {        // a = b = 1
                if (targetPath(statement.targets[i]) == Path{name}) {
                    const std::size_t next = i + 1 < statement.targets.size() ? statement.targets[i + 1].begin : statement.value.begin;
                    changes.push_back({statement.targets[i].begin, next, ""});
                }
            }
            continue;
        }
        if (usedIn && !(mine && !others))
            return failed("`" + name + "` is used in line " + std::to_string(usedIn) + ", so it cannot be removed");
        if (!mine)
            continue;
        const std::size_t start = lineStart(text, statement.begin), end = lineEnd(text, statement.end);
        const std::string_view rest = trimmed(std::string_view(text).substr(statement.end, end - statement.end));
        if (isBlank(std::string_view(text).substr(start, statement.begin - start)) && (rest.empty() || rest[0] == '#')) {
            changes.push_back({start, nextLine(text, statement.end), ""});
        } else {                                                                 // a = 1; b = 2
            std::size_t to = statement.end;
            while (to < text.size() && (text[to] == ' ' || text[to] == ';'))
                ++to;
            changes.push_back({statement.begin, to, ""});
        }
    }
    if (changes.empty())
        return failed("`" + name + "` is not written in this file");
    return finished(std::move(changes));
}

Result<std::string> EditableText::rename(const Path &path, const std::string &newName) const
{
    Path wanted = path;
    wanted.back() = newName;
    if (find(wanted).depth == wanted.size())
        return failed("`" + joinedPath(wanted) + "` is there already");
    const Found found = find(path);
    if (found.depth != path.size())
        return failed("`" + joinedPath(path) + "` is not written in this file");
    if (path.size() == 1) {
        if (!isIdentifier(newName))
            return failed("`" + newName + "` cannot be a name in a .py file");
        std::vector<TextChange> changes;
        const auto change = [&](const Node &node) {
            if (node.text != path[0])
                return;
            std::size_t at = node.begin;                     // the range may hold parentheses around the name
            const std::string &text = m_source->text();
            while (text.compare(at, node.text.size(), node.text) != 0)
                at = text[at] == '#' ? nextLine(text, at) : at + 1;
            changes.push_back({at, at + node.text.size(), newName});
        };
        for (const Statement &statement : m_module->statements) {
            for (const Node &target : statement.targets)
                eachName(target, change);
            eachName(statement.value, change);
        }
        std::sort(changes.begin(), changes.end(), [](const TextChange &a, const TextChange &b) { return a.begin < b.begin; });
        changes.erase(std::unique(changes.begin(), changes.end(), [](const TextChange &a, const TextChange &b) { return a.begin == b.begin; }), changes.end());
        return finished(std::move(changes));
    }
    if (!found.container)
        return failed("`" + joinedPath(path) + "` is set by a statement of its own in line " + std::to_string(m_source->positionOf(found.value->begin).line) + "; edit the text");
    const Node &entry = found.container->children[found.index];
    if (entry.kind == NodeKind::Keyword) {
        if (!isIdentifier(newName))
            return failed("`" + newName + "` cannot be a name inside dict(…)");
        return finished({{entry.begin, entry.begin + entry.text.size(), newName}});
    }
    const Node &key = entry.children[0];
    return finished({{key.begin, key.end, keyText(*found.container, newName)}});
}

std::optional<int> EditableText::lineOf(const Path &path) const
{
    const Found found = find(path);
    if (found.depth != path.size())
        return std::nullopt;
    return m_source->positionOf(found.value->begin).line;
}

} // namespace stagewright::config::python
