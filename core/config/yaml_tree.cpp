#include "core/config/yaml_tree.h"

#include <istream>
#include <streambuf>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "core/config/source_text.h"

namespace stagewright::config::yaml {

namespace {

// yaml-cpp reads streams; this one reads the text in place.
struct TextBuffer : std::streambuf {
    explicit TextBuffer(std::string_view text)
    {
        char *begin = const_cast<char *>(text.data());
        setg(begin, begin, begin + text.size());
    }
};

class Builder : public YAML::EventHandler
{
public:
    explicit Builder(Tree &tree) : m_tree(tree) {}

    void OnDocumentStart(const YAML::Mark &mark) override
    {
        m_documentAt = mark.pos;
        ++m_documents;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override
    {
        if (m_documents > 1 && m_open.empty())
            return;
        add(NodeKind::Null, mark, {}, anchor);
    }
    void OnAlias(const YAML::Mark &mark, YAML::anchor_t anchor) override
    {
        const std::uint32_t index = add(NodeKind::Alias, mark, {}, 0);
        m_tree.nodes[index].alias = m_anchors.at(anchor);
    }
    void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, const std::string &value) override
    {
        Node &node = m_tree.nodes[add(NodeKind::Scalar, mark, tag, anchor)];
        node.quoted = tag == "!";
        node.text = value;
    }
    void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override
    {
        open(NodeKind::Sequence, mark, tag, anchor, style);
    }
    void OnSequenceEnd() override { m_open.pop_back(); }
    void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override
    {
        open(NodeKind::Map, mark, tag, anchor, style);
    }
    void OnMapEnd() override { m_open.pop_back(); }

private:
    void open(NodeKind kind, const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style)
    {
        const std::uint32_t index = add(kind, mark, tag, anchor);
        m_tree.nodes[index].flow = style == YAML::EmitterStyle::Flow;
        m_open.push_back(index);
        if (m_open.size() > 90)
            throw Refusal{"config.too-large", "more than 90 levels inside each other", at(mark)};
    }

    static std::size_t at(const YAML::Mark &mark) { return mark.pos > 0 ? static_cast<std::size_t>(mark.pos) : 0; }

    std::uint32_t add(NodeKind kind, const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor)
    {
        if (m_documents > 1)
            throw Refusal{"config.syntax", "a second YAML document begins here; a config is one document", at(mark)};
        if (m_tree.nodes.size() >= kMaxNodes)
            throw Refusal{"config.too-large", "the file is too long for a config (more than " + std::to_string(kMaxNodes) + " values)", at(mark)};
        const auto index = static_cast<std::uint32_t>(m_tree.nodes.size());
        Node node;
        node.kind = kind;
        node.begin = static_cast<std::uint32_t>(at(mark));
        if (tag != "?" && tag != "!")
            node.tag = tag;
        m_tree.nodes.push_back(std::move(node));
        if (anchor)
            m_anchors[anchor] = index;
        if (m_open.empty()) {
            m_tree.root = index;
            m_tree.empty = false;
        } else {
            m_tree.nodes[m_open.back()].children.push_back(index);
        }
        return index;
    }

    Tree &m_tree;
    std::vector<std::uint32_t> m_open;
    std::unordered_map<YAML::anchor_t, std::uint32_t> m_anchors;
    int m_documents = 0, m_documentAt = 0;
};

} // namespace

namespace {

constexpr int kMostDocuments = 100;    // empty ones, as "---" lines without content make them

std::size_t firstWord(std::string_view text)
{
    const auto at = text.find_first_of(',');
    return at == std::string_view::npos ? 0 : at;
}

// Whether the line of `at`, or the one before (where the parser may give up), begins with a tab behind its spaces.
bool tabIndents(std::string_view text, std::size_t at)
{
    for (int back = 0; back < 2; ++back) {
        const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
        const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        const std::size_t first = text.find_first_not_of(' ', begin);
        if (first != std::string_view::npos && text[first] == '\t')
            return true;
        if (begin == 0)
            return false;
        at = begin - 1;
    }
    return false;
}

} // namespace

Tree parse(std::string_view text)
{
    Tree tree;
    TextBuffer buffer(text);
    std::istream stream(&buffer);
    try {
        YAML::Parser parser(stream);
        Builder builder(tree);
        // A second document is refused by the builder where it has content. The parser may also hand out empty documents for ever without
        // reading on, at a ',' where no value can begin: those end here.
        int documents = 0;
        while (parser.HandleNextDocument(builder)) {
            if (++documents > kMostDocuments)
                throw Refusal{"config.syntax", "YAML: no value can begin here; quote text that begins with a comma", firstWord(text)};
        }
    } catch (const YAML::Exception &exception) {
        const std::size_t at = exception.mark.pos > 0 ? std::min(static_cast<std::size_t>(exception.mark.pos), text.size()) : 0;
        throw Refusal{"config.syntax", "YAML: " + (tabIndents(text, at) ? "a tab indents this line; YAML takes spaces only" : exception.msg), at};
    }
    return tree;
}

} // namespace stagewright::config::yaml
