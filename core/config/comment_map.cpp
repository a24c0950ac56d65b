#include "core/config/comment_map.h"

#include <algorithm>

#include "core/config/python_edit.h"
#include "core/config/python_evaluator.h"
#include "core/config/python_parser.h"
#include "core/config/yaml_ranges.h"

namespace stagewright::config {

namespace {

using Entries = std::map<std::pair<int, int>, CommentMap::Entry>;

class PythonEntries
{
public:
    PythonEntries(const SourceText &source, Entries &entries) : m_source(source), m_entries(entries) {}

    CommentMap::Entry add(std::size_t begin, const python::Node &value)
    {
        CommentMap::Entry entry{begin, value.begin, value.end, value.end};
        if (python::isDictLike(value)) {
            for (const python::Node &child : value.children) {
                if (child.kind != python::NodeKind::Pair && child.kind != python::NodeKind::Keyword)
                    continue;
                entry.firstChild = std::min<std::size_t>(entry.firstChild, child.begin);
                add(child.begin, child.children.back());
            }
        }
        const Position position = m_source.positionOf(value.begin);
        m_entries.emplace(std::pair{position.line, position.column}, entry);
        return entry;
    }

private:
    const SourceText &m_source;
    Entries &m_entries;
};

// Comments below a block's last entry that are indented like its entries belong to the block.
std::size_t behindBlockComments(std::string_view text, std::size_t end, std::size_t column)
{
    for (std::size_t line = nextLine(text, end); line < text.size(); line = nextLine(text, line)) {
        const std::size_t stop = lineEnd(text, line);
        const std::size_t first = text.find_first_not_of(' ', line);
        if (first < stop && (text[first] != '#' || first - line < column))
            break;
        if (first < stop)
            end = stop;
    }
    return end;
}

void addYaml(const yaml::Tree &tree, std::uint32_t map, const SourceText &source, std::string_view text, Entries &entries, CommentMap::Entry *base)
{
    const yaml::Node &node = tree[map];
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
        const yaml::Node &key = tree[node.children[i]], &value = tree[node.children[i + 1]];
        CommentMap::Entry entry{key.begin, value.kind == yaml::NodeKind::Null ? key.begin : value.begin, std::max(value.end, key.end), value.end};
        if (value.kind == yaml::NodeKind::Map && !value.flow) {
            entry.value = key.begin;
            if (!value.children.empty()) {
                entry.firstChild = tree[value.children[0]].begin;
                entry.end = behindBlockComments(text, entry.end, entry.firstChild - lineStart(text, entry.firstChild));
            }
            addYaml(tree, node.children[i + 1], source, text, entries, nullptr);
        }
        if (base && key.text == "_base_")
            *base = entry;
        const Position position = source.positionOf(value.begin);
        entries.emplace(std::pair{position.line, position.column}, entry);
    }
}

} // namespace

Result<CommentMap> CommentMap::make(const std::string &text, const std::filesystem::path &file, Format format)
{
    auto source = SourceText::make(text, file, SourceText::Substitute::Nothing);
    if (!source)
        return source.error();
    CommentMap out;
    std::vector<python::Comment> comments;
    const std::string &content = source->text();
    try {
        if (format == Format::Python) {
            python::Module module = python::parseModule(content);
            PythonEntries entries(*source, out.m_entries);
            for (const python::Statement &statement : module.statements) {
                if (python::isBaseStatement(statement)) {
                    out.m_base = {statement.begin, statement.value.begin, statement.end, statement.end};
                    out.m_hasBase = true;
                } else if (statement.kind == python::StatementKind::Assign || statement.kind == python::StatementKind::Augmented) {
                    entries.add(statement.begin, statement.value);
                }
            }
            comments = std::move(module.comments);
        } else {
            const std::string masked = yaml::withoutTemplates(content);
            yaml::Tree tree = yaml::parse(masked);
            yaml::markEnds(tree, masked);
            Entry base;
            if (!tree.empty && tree[tree.root].kind == yaml::NodeKind::Map)
                addYaml(tree, tree.root, *source, masked, out.m_entries, &base);
            out.m_base = base;
            out.m_hasBase = base.end > 0;
            comments = yaml::commentsOf(tree, masked);
        }
    } catch (const Refusal &refusal) {
        return source->error(refusal);
    }
    out.m_lineOf.push_back(0);
    for (std::size_t at = nextLine(content, 0); at < content.size(); at = nextLine(content, at))
        out.m_lineOf.push_back(at);
    for (const python::Comment &comment : comments)
        out.m_comments.push_back({comment.begin, out.lineAt(comment.begin), content.substr(comment.begin, comment.end - comment.begin)});
    return out;
}

int CommentMap::lineAt(std::size_t offset) const
{
    return static_cast<int>(std::upper_bound(m_lineOf.begin(), m_lineOf.end(), offset) - m_lineOf.begin());
}

const CommentMap::Entry *CommentMap::entryAt(const Origin &origin) const
{
    const auto found = m_entries.find({origin.line, origin.column});
    return found == m_entries.end() ? nullptr : &found->second;
}

std::vector<std::string> CommentMap::takeBefore(std::size_t offset)
{
    std::vector<std::string> out;
    for (; m_next < m_comments.size() && m_comments[m_next].begin < offset; ++m_next) {
        if (!m_comments[m_next].taken)
            out.push_back(m_comments[m_next].text);
        m_comments[m_next].taken = true;
    }
    return out;
}

std::string CommentMap::takeBehind(std::size_t offset, std::size_t before)
{
    const int line = lineAt(offset);
    auto comment = std::lower_bound(m_comments.begin(), m_comments.end(), offset, [](const Comment &c, std::size_t at) { return c.begin < at; });
    if (comment == m_comments.end() || comment->taken || comment->line != line || comment->begin >= before)
        return {};
    comment->taken = true;
    return comment->text;
}

std::vector<std::string> CommentMap::takeRest()
{
    return takeBefore(std::string::npos);
}

} // namespace stagewright::config
