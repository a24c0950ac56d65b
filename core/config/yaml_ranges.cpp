#include "core/config/yaml_ranges.h"

#include <algorithm>

#include "core/config/source_text.h"
#include "core/config/text_lines.h"

namespace stagewright::config::yaml {

namespace {

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Behind white space, line breaks and comments.
std::size_t skipSpace(std::string_view text, std::size_t at)
{
    while (at < text.size()) {
        if (text[at] == '#' && (at == 0 || isSpace(text[at - 1])))
            at = lineEnd(text, at);
        else if (isSpace(text[at]))
            ++at;
        else
            break;
    }
    return at;
}

std::size_t quotedEnd(std::string_view text, std::size_t at)
{
    const char quote = text[at++];
    while (at < text.size()) {
        if (quote == '"' && text[at] == '\\') {
            at += 2;
        } else if (text[at] == quote) {
            if (quote == '\'' && at + 1 < text.size() && text[at + 1] == '\'')
                at += 2;
            else
                return at + 1;
        } else {
            ++at;
        }
    }
    return text.size();
}

// A plain scalar ends where its words end; folding turned its line breaks into spaces.
std::size_t plainEnd(std::string_view text, std::size_t at, std::string_view value)
{
    std::size_t i = 0;
    while (i < value.size() && at < text.size()) {
        if (isSpace(value[i])) {
            if (!isSpace(text[at]))
                return at;
            while (i < value.size() && isSpace(value[i]))
                ++i;
            while (at < text.size() && isSpace(text[at]))
                ++at;
        } else if (value[i] == text[at]) {
            ++i;
            ++at;
        } else {
            return at;
        }
    }
    return at;
}

std::size_t blockScalarEnd(std::string_view text, std::size_t at, int parentColumn)
{
    std::size_t end = lineEnd(text, at);
    for (std::size_t line = nextLine(text, at); line < text.size(); line = nextLine(text, line)) {
        const std::size_t stop = lineEnd(text, line);
        const std::string_view content = text.substr(line, stop - line);
        if (isBlank(content)) {
            if (nextLine(text, line) == line)
                break;
            continue;
        }
        const int indent = static_cast<int>(content.find_first_not_of(' '));
        if (indent <= parentColumn)
            break;
        end = stop;
    }
    return end;
}

class Marker
{
public:
    Marker(Tree &tree, std::string_view text) : m_tree(tree), m_text(text) {}

    // parentColumn: of the block collection that the node stands in; -1 at the root.
    void mark(std::uint32_t index, int parentColumn)
    {
        Node &node = m_tree.nodes[index];
        switch (node.kind) {
        case NodeKind::Null: node.end = node.begin; return;
        case NodeKind::Alias: {
            std::size_t at = node.begin;
            while (at < m_text.size() && !isSpace(m_text[at]) && m_text[at] != ',' && m_text[at] != ']' && m_text[at] != '}')
                ++at;
            node.end = static_cast<std::uint32_t>(at);
            return;
        }
        case NodeKind::Scalar: node.end = static_cast<std::uint32_t>(scalarEnd(node, parentColumn)); return;
        default: break;
        }
        const int column = node.flow || node.children.empty() ? parentColumn : columnOf(node);
        std::size_t last = behindProperties(m_text, node.begin) + (node.flow ? 1 : 0);
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            Node &child = m_tree.nodes[node.children[i]];
            mark(node.children[i], column);
            if (child.kind == NodeKind::Null) {
                // Nothing is written: it stands behind the ':' or '-' before it.
                const bool isValue = node.kind == NodeKind::Map && i % 2 == 1;
                child.begin = child.end = static_cast<std::uint32_t>(isValue ? behindColon(m_text, m_tree.nodes[node.children[i - 1]].end) : std::max<std::size_t>(last, std::min<std::size_t>(child.begin, last + 1)));
            }
            last = std::max<std::size_t>(last, child.end);
        }
        if (node.flow) {
            while (last < m_text.size() && m_text[last] != ']' && m_text[last] != '}') {
                const std::size_t next = skipSpace(m_text, last);
                last = next == last ? last + 1 : next;
            }
            last = std::min(last + 1, m_text.size());
        }
        node.end = static_cast<std::uint32_t>(std::min(last, m_text.size()));
    }

private:
    int columnOf(const Node &node) const
    {
        const std::size_t at = node.kind == NodeKind::Map ? m_tree.nodes[node.children[0]].begin : skipSpace(m_text, behindProperties(m_text, node.begin));
        const std::size_t from = std::min(at, m_text.size());
        return static_cast<int>(from - lineStart(m_text, from));
    }

    std::size_t scalarEnd(const Node &node, int parentColumn) const
    {
        const std::size_t at = behindProperties(m_text, node.begin);
        if (at >= m_text.size())
            return m_text.size();
        const char c = m_text[at];
        if (node.quoted && (c == '\'' || c == '"'))
            return quotedEnd(m_text, at);
        if ((c == '|' || c == '>') && (node.text.empty() || node.quoted || node.text[0] != c))
            return blockScalarEnd(m_text, at, parentColumn);
        if (c == '\'' || c == '"')
            return quotedEnd(m_text, at);
        return plainEnd(m_text, at, node.text);
    }

    Tree &m_tree;
    std::string_view m_text;
};

} // namespace

std::string withoutTemplates(std::string text)
{
    for (std::size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 1)) {
        const std::size_t length = templateAt(text, at).length;
        for (std::size_t i = at; i < at + length; ++i)
            text[i] = text[i] == '\n' || text[i] == '\r' ? text[i] : 'x';
    }
    return text;
}

std::size_t behindProperties(std::string_view text, std::size_t at)
{
    while (at < text.size() && (text[at] == '!' || text[at] == '&')) {
        while (at < text.size() && !isSpace(text[at]))
            ++at;
        at = skipSpace(text, at);
    }
    return at;
}

std::size_t behindColon(std::string_view text, std::size_t keyEnd)
{
    const std::size_t colon = skipSpace(text, keyEnd);
    return colon < text.size() && text[colon] == ':' ? colon + 1 : keyEnd;
}

void markEnds(Tree &tree, std::string_view text)
{
    if (!tree.empty)
        Marker(tree, text).mark(tree.root, -1);
}

std::vector<python::Comment> commentsOf(const Tree &tree, std::string_view text)
{
    std::vector<std::pair<std::size_t, std::size_t>> scalars;
    for (const Node &node : tree.nodes) {
        if (node.kind == NodeKind::Scalar)
            scalars.emplace_back(behindProperties(text, node.begin), node.end);
    }
    std::sort(scalars.begin(), scalars.end());
    std::vector<python::Comment> out;
    auto scalar = scalars.begin();
    for (std::size_t at = text.find('#'); at < text.size(); at = text.find('#', at)) {
        while (scalar != scalars.end() && scalar->second <= at)
            ++scalar;
        if (scalar != scalars.end() && scalar->first <= at) {
            at = std::max(scalar->second, at + 1);
            continue;
        }
        if (at > 0 && !isSpace(text[at - 1])) {
            ++at;
            continue;
        }
        const std::size_t end = lineEnd(text, at);
        out.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end), isBlank(text.substr(lineStart(text, at), at - lineStart(text, at)))});
        at = end;
    }
    return out;
}

} // namespace stagewright::config::yaml
