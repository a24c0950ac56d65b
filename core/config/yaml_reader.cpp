#include "core/config/yaml_reader.h"

#include <charconv>
#include <cmath>
#include <set>

#include "core/config/value_text.h"
#include "core/config/yaml_tree.h"

namespace stagewright::config::yaml {

namespace {

bool isDigits(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// [-+]? ( . digits | digits ( . digits? )? ) ( [eE] [-+]? digits )?
bool looksLikeFloat(std::string_view text)
{
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t begin = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9')
            ++at;
        return at - begin;
    };
    if (at < text.size() && (text[at] == '+' || text[at] == '-'))
        ++at;
    const std::size_t whole = digits();
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (digits() + whole == 0)
            return false;
    } else if (whole == 0) {
        return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-'))
            ++at;
        if (digits() == 0)
            return false;
    }
    return at == text.size();
}

struct TooLarge {};

Value integer(std::string_view digits, int base, bool negative)
{
    std::uint64_t magnitude = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
    if (result.ec != std::errc() || magnitude > (std::uint64_t(1) << 63) - (negative ? 0 : 1))
        throw TooLarge();
    return negative ? static_cast<std::int64_t>(0 - magnitude) : static_cast<std::int64_t>(magnitude);
}

class Reader
{
public:
    Reader(const Tree &tree, const SourceText &source, std::shared_ptr<const std::string> file, OriginKind kind, python::Budget &budget)
        : m_tree(tree), m_source(source), m_file(std::move(file)), m_kind(kind), m_budget(budget), m_busy(tree.nodes.size())
    {
    }

    Value value(std::uint32_t index)
    {
        const Node &node = m_tree[index];
        try {
            m_budget.takeValues(1);
            m_budget.takeBytes(node.text.size());
        } catch (const python::Trouble &trouble) {
            refuse(trouble.message + (node.kind == NodeKind::Alias ? " (by aliases of aliases)" : ""), node, trouble.code);
        }
        Value out = content(index, node);
        const Position position = m_source.positionOf(node.begin);
        out.origin = {m_kind, m_file, position.line, position.column};
        return out;
    }

    Problems problems;

private:
    [[noreturn]] void refuse(const std::string &message, const Node &node, const char *code = "config.syntax") { throw Refusal{code, message, node.begin}; }

    Value content(std::uint32_t index, const Node &node)
    {
        switch (node.kind) {
        case NodeKind::Null:
            // yaml-cpp gives an empty value of a tag ("!!str") as a Null.
            return {};
        case NodeKind::Scalar: return scalar(node);
        case NodeKind::Alias: return alias(node);
        case NodeKind::Sequence: return sequence(index, node);
        case NodeKind::Map: return map(index, node);
        }
        return {};
    }

    struct Busy {
        Busy(std::vector<bool> &flags, std::uint32_t index) : f(flags), i(index) { f[i] = true; }
        ~Busy() { f[i] = false; }
        std::vector<bool> &f;
        std::uint32_t i;
    };

    Value alias(const Node &node)
    {
        if (m_busy[node.alias])
            refuse("this alias stands inside the value that it stands for", node);
        return value(node.alias);
    }

    Value scalar(const Node &node)
    {
        const std::string &tag = node.tag;
        const std::string core = "tag:yaml.org,2002:";
        try {
            if (tag.empty())
                return node.quoted ? Value(node.text) : plainScalar(node.text);
            if (tag == core + "str")
                return Value(node.text);
            if (tag == core + "int" || tag == core + "bool" || tag == core + "null") {
                Value out = plainScalar(node.text);
                const Type wanted = tag == core + "int" ? Type::Int : tag == core + "bool" ? Type::Bool : Type::None;
                if (out.type() == wanted)
                    return out;
                refuse("'" + node.text + "' is no " + tag.substr(core.size()), node);
            }
            if (tag == core + "float") {
                Value out = plainScalar(node.text);
                if (out.type() == Type::Float)
                    return out;
                if (out.type() == Type::Int)
                    return Value(out.number());
                refuse("'" + node.text + "' is no float", node);
            }
        } catch (const TooLarge &) {
            refuse("'" + node.text.substr(0, 40) + "' is too large; whole numbers go up to 9223372036854775807", node, "config.too-large");
        }
        unknownTag(node);
    }

    [[noreturn]] void unknownTag(const Node &node)
    {
        std::string shown = node.tag;
        if (shown.starts_with("tag:yaml.org,2002:"))
            shown = "!!" + shown.substr(18);
        refuse("the tag " + shown + " has no meaning here; !tuple is the only one of configs", node);
    }

    Value sequence(std::uint32_t index, const Node &node)
    {
        const bool tuple = node.tag == "!tuple" || node.tag == "tag:yaml.org,2002:python/tuple";
        if (!tuple && !node.tag.empty() && node.tag != "tag:yaml.org,2002:seq")
            unknownTag(node);
        const Busy busy(m_busy, index);
        List items;
        for (std::uint32_t child : node.children)
            items.push_back(value(child));
        return tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
    }

    DictKey key(std::uint32_t index)
    {
        const Node &node = m_tree[index];
        if (node.kind == NodeKind::Alias || node.kind == NodeKind::Scalar) {
            const Value key = value(index);
            if (key.type() == Type::String) {
                if (key.string().size() > python::kMaxKeyBytes)
                    refuse("a key of more than " + std::to_string(python::kMaxKeyBytes) + " bytes", node, "config.too-large");
                return DictKey(key.string());
            }
            if (key.type() == Type::Int)
                return DictKey(key.integer());
            refuse("a key must be a text or a whole number; write " + (node.text.empty() ? std::string("it") : "\"" + node.text + "\"") + " in quotes if it is a text", node);
        }
        refuse("a key must be a text or a whole number", node);
    }

    Value map(std::uint32_t index, const Node &node)
    {
        if (!node.tag.empty() && node.tag != "tag:yaml.org,2002:map")
            unknownTag(node);
        const Busy busy(m_busy, index);
        Dict merged, own;
        for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
            const Node &keyNode = m_tree[node.children[i]];
            if (keyNode.kind == NodeKind::Scalar && keyNode.text == "<<" && !keyNode.quoted && keyNode.tag.empty()) {
                mergeKeys(merged, node.children[i + 1]);
                continue;
            }
            const DictKey k = key(node.children[i]);
            Value item = value(node.children[i + 1]);
            if (own.find(k))
                noteDuplicate(k, keyNode);
            own.set(k, std::move(item));
        }
        if (merged.empty())
            return Value::dict(std::move(own));
        for (auto &[k, item] : own)
            merged.set(k, std::move(item));
        return Value::dict(std::move(merged));
    }

    // <<: *anchor, or a list of them: earlier ones win.
    void mergeKeys(Dict &merged, std::uint32_t index)
    {
        Value source = value(index);
        List sources;
        if (source.isSequence())
            sources = std::move(source.items());
        else
            sources.push_back(std::move(source));
        for (const Value &one : sources) {
            if (!one.isDict())
                refuse("'<<' takes a mapping or a list of mappings", m_tree[index]);
            for (const auto &[k, item] : one.dict()) {
                if (!merged.find(k))
                    merged.set(k, item);
            }
        }
    }

    void noteDuplicate(const DictKey &key, const Node &node)
    {
        const Position position = m_source.positionOf(node.begin);
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = "config.duplicate-key";
        problem.path = key.text();
        problem.message = m_source.place(node.begin) + ": the key " + key.text() + " is written twice here; the first value is lost, so remove one";
        problem.file = m_source.name();
        problem.line = position.line;
        problem.column = position.column;
        if (problems.size() < 100)
            problems.push_back(std::move(problem));
    }

    const Tree &m_tree;
    const SourceText &m_source;
    std::shared_ptr<const std::string> m_file;
    OriginKind m_kind;
    python::Budget &m_budget;
    std::vector<bool> m_busy;
};

} // namespace

Value plainScalar(std::string_view text)
{
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
        return {};
    if (text == "true" || text == "True" || text == "TRUE")
        return true;
    if (text == "false" || text == "False" || text == "FALSE")
        return false;
    Value out;
    const bool negative = text[0] == '-';
    const std::string_view unsignedText = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
    if (isDigits(unsignedText)) {
        out = integer(unsignedText, 10, negative);
    } else if (text.starts_with("0x") && text.size() > 2 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos) {
        out = integer(text.substr(2), 16, false);
    } else if (text.starts_with("0o") && text.size() > 2 && text.find_first_not_of("01234567", 2) == text.npos) {
        out = integer(text.substr(2), 8, false);
    } else if (looksLikeFloat(text)) {
        out = Value(std::strtod(std::string(text).c_str(), nullptr));
    } else if (unsignedText == ".inf" || unsignedText == ".Inf" || unsignedText == ".INF") {
        return negative ? -HUGE_VAL : HUGE_VAL;
    } else if (text == ".nan" || text == ".NaN" || text == ".NAN") {
        return std::nan("");
    } else {
        return std::string(text);
    }
    if (toPython(out) != text)
        out.spelling = std::string(text);
    return out;
}

Value valueOf(const Tree &tree, std::uint32_t index, const SourceText &source, python::Budget &budget)
{
    return Reader(tree, source, nullptr, OriginKind::File, budget).value(index);
}

Document read(const SourceText &source, std::string_view text, std::shared_ptr<const std::string> file, OriginKind kind, python::Budget &budget)
{
    const Tree tree = parse(text);
    Document document;
    if (tree.empty)
        return document;
    Reader reader(tree, source, std::move(file), kind, budget);
    document.root = reader.value(tree.root);
    document.problems = std::move(reader.problems);
    return document;
}

} // namespace stagewright::config::yaml
