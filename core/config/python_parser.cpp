#include "core/config/python_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/config/python_lexer.h"
#include "core/config/python_string.h"
#include "core/config/source_text.h"

namespace stagewright::config::python {

namespace {

constexpr std::string_view kKeywords[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield"};

// What a statement that begins with this word is, for the sentence that refuses it; empty where the word begins no such statement.
std::string_view foreignStatement(std::string_view word)
{
    if (word == "import" || word == "from")
        return "an import";
    if (word == "def")
        return "a function";
    if (word == "class")
        return "a class";
    if (word == "for" || word == "while")
        return "a loop";
    if (word == "if" || word == "elif" || word == "else")
        return "an if block";
    if (word == "with" || word == "try" || word == "except" || word == "finally" || word == "async" || word == "await" || word == "assert"
        || word == "raise" || word == "global" || word == "nonlocal" || word == "return" || word == "yield" || word == "break" || word == "continue")
        return "this statement";
    return {};
}

constexpr int kMaxDepth = 220;           // of expressions inside each other, brackets or not
constexpr std::size_t kMaxNodes = 600'000;

// Binary operators by precedence, lowest first.
int precedenceOf(std::uint32_t sign)
{
    switch (sign) {
    case signCode("|"): return 1;
    case signCode("^"): return 2;
    case signCode("&"): return 3;
    case signCode("<<"): case signCode(">>"): return 4;
    case signCode("+"): case signCode("-"): return 5;
    case signCode("*"): case signCode("/"): case signCode("//"): case signCode("%"): case signCode("@"): return 6;
    default: return 0;
    }
}

char binaryCode(std::string_view sign)
{
    return sign == "//" ? 'F' : sign == "<<" ? 'L' : sign == ">>" ? 'R' : sign == "**" ? 'P' : sign[0];
}

class Parser
{
public:
    Parser(std::string_view text, Tokens tokens, int depth) : m_text(text), m_tokens(std::move(tokens)), m_depth(depth) {}

    Module module()
    {
        Module out;
        while (!at(TokenKind::End)) {
            if (at(TokenKind::Newline)) {
                ++m_next;
                continue;
            }
            out.statements.push_back(statement());
            if (isSign(";"))
                ++m_next;
            else if (!at(TokenKind::Newline) && !at(TokenKind::End))
                refuseHere("expected the end of the statement before");
        }
        out.comments = std::move(m_tokens.comments);
        return out;
    }

    Node wholeExpression()
    {
        while (at(TokenKind::Newline))
            ++m_next;
        Node node = expressionList();
        while (at(TokenKind::Newline))
            ++m_next;
        if (!at(TokenKind::End))
            refuseHere("expected nothing more after the value, but found");
        return node;
    }

private:
    struct Deeper {
        explicit Deeper(Parser &parser) : p(parser)
        {
            if (++p.m_depth > kMaxDepth)
                throw Refusal{"config.too-large", "expressions inside each other too deeply (more than " + std::to_string(kMaxDepth) + " levels)", p.token().begin};
        }
        ~Deeper() { --p.m_depth; }
        Parser &p;
    };

    const Token &token() const { return m_tokens.tokens[m_next]; }
    const Token &previous() const { return m_tokens.tokens[m_next - 1]; }
    bool at(TokenKind kind) const { return token().kind == kind; }
    std::string_view slice(const Token &t) const { return m_text.substr(t.begin, t.end - t.begin); }
    std::string_view word() const { return slice(token()); }
    bool isSign(std::string_view sign) const { return token().sign == signCode(sign); }
    bool isWord(std::string_view name) const { return at(TokenKind::Name) && word() == name; }
    bool takeSign(std::string_view sign)
    {
        if (!isSign(sign))
            return false;
        ++m_next;
        return true;
    }
    bool takeWord(std::string_view name)
    {
        if (!isWord(name))
            return false;
        ++m_next;
        return true;
    }

    [[noreturn]] void refuse(const std::string &message, std::size_t at, const char *code = "config.syntax") { throw Refusal{code, message, at}; }
    // A token may be a string over several lines; a refusal is one sentence.
    static std::string onOneLine(std::string_view word)
    {
        std::string text(word);
        std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
        return text;
    }
    [[noreturn]] void refuseHere(const std::string &expected)
    {
        if (!at(TokenKind::End) && !at(TokenKind::Newline) && word() == ":=")
            refuse("`:=` inside an expression needs real Python; set the name on a line of its own", token().begin);
        const std::string found = at(TokenKind::End) ? "the end of the file" : at(TokenKind::Newline) ? "the end of the line" : "'" + onOneLine(word().substr(0, 40)) + "'";
        refuse(expected + " " + found, token().begin);
    }
    void expectSign(std::string_view sign, const std::string &what)
    {
        if (!takeSign(sign))
            refuseHere("expected '" + std::string(sign) + "' " + what + ", but found");
    }

    Node make(NodeKind kind, std::size_t begin)
    {
        if (++m_nodes > kMaxNodes)
            refuse("the file is too long for a config (more than " + std::to_string(kMaxNodes) + " values and operators)", begin, "config.too-large");
        Node node;
        node.kind = kind;
        node.begin = static_cast<std::uint32_t>(begin);
        node.end = node.begin;
        return node;
    }
    void close(Node &node) { node.end = previous().end; }

    Statement statement()
    {
        if (at(TokenKind::Indent))
            refuse("this line is indented, but a config has no blocks; remove the spaces before it", token().begin);
        Statement out;
        out.begin = token().begin;
        if (at(TokenKind::Name)) {
            const std::string_view what = foreignStatement(word());
            const std::string_view first = word();
            if (!what.empty())
                refuse("`" + lineFrom(token().begin) + "` needs real Python (" + std::string(what) + "), which is never run here; write the values themselves",
                    token().begin, "config.needs-python");
            if (first == "pass") {
                ++m_next;
                out.kind = StatementKind::Pass;
                out.end = previous().end;
                return out;
            }
            if (first == "del") {
                ++m_next;
                out.kind = StatementKind::Delete;
                Node list = expressionList();
                if (list.kind == NodeKind::Tuple)
                    out.targets = std::move(list.children);
                else
                    out.targets.push_back(std::move(list));
                for (const Node &target : out.targets)
                    checkTarget(target);
                out.end = previous().end;
                return out;
            }
        }
        if (isSign("@"))
            refuse("a decorator needs real Python, which is never run here", token().begin, "config.needs-python");
        Node first = expressionList();
        if (isSign(":"))
            return annotated(std::move(first), std::move(out));
        if (isSign(":="))
            refuse("':=' needs real Python; write the name on a line of its own", token().begin, "config.needs-python");
        if (isSign("=")) {
            out.kind = StatementKind::Assign;
            checkTarget(first);
            out.targets.push_back(std::move(first));
            while (takeSign("=")) {
                Node node = expressionList();
                if (isSign("=")) {
                    checkTarget(node);
                    out.targets.push_back(std::move(node));
                } else {
                    out.value = std::move(node);
                }
            }
        } else if (at(TokenKind::Operator) && word().size() >= 2 && word().back() == '=' && precedenceOf(token().sign >> 8) + (token().sign == signCode("**=")) > 0) {
            out.kind = StatementKind::Augmented;
            out.op = binaryCode(word().substr(0, word().size() - 1));
            if (first.kind != NodeKind::Name && first.kind != NodeKind::Subscript && first.kind != NodeKind::Attribute)
                refuse("only a name or an item can be changed with " + std::string(word()), first.begin);
            ++m_next;
            out.targets.push_back(std::move(first));
            out.value = expressionList();
        } else {
            out.kind = StatementKind::Expression;
            out.value = std::move(first);
        }
        out.end = previous().end;
        return out;
    }

    // name: type = value; the annotation is read over, as it has no effect on a config.
    Statement annotated(Node target, Statement out)
    {
        if (target.kind != NodeKind::Name)
            refuse("only a name can carry a type", target.begin);
        takeSign(":");
        expression();
        out.kind = StatementKind::Annotation;
        out.targets.push_back(std::move(target));
        if (takeSign("=")) {
            out.kind = StatementKind::Assign;
            out.value = expressionList();
        }
        out.end = previous().end;
        return out;
    }

    std::string lineFrom(std::size_t begin) const
    {
        std::string line(m_text.substr(begin, std::min<std::size_t>(m_text.find_first_of("\r\n", begin), begin + 61) - begin));
        while (!line.empty() && (line.back() & 0xC0) == 0x80 && line.size() >= 60)       // never cut a character
            line.pop_back();
        if (line.size() >= 60 && (line.back() & 0x80))
            line.pop_back();
        return line;
    }

    void checkTarget(const Node &node)
    {
        switch (node.kind) {
        case NodeKind::Name:
        case NodeKind::Attribute:
        case NodeKind::Subscript: return;
        case NodeKind::Tuple:
        case NodeKind::List:
            for (const Node &child : node.children)
                checkTarget(child.kind == NodeKind::Starred ? child.children[0] : child);
            return;
        default: refuse("nothing can be assigned to this; a name belongs on the left of '='", node.begin);
        }
    }

    // a, b, *c: a tuple without parentheses, or the one expression.
    Node expressionList()
    {
        const std::size_t begin = token().begin;
        Node first = starredOrExpression();
        if (!isSign(",")) {
            if (first.kind == NodeKind::Starred)
                refuse("'*' can only unpack into a list, a tuple or a call", first.begin);
            return first;
        }
        Node tuple = make(NodeKind::Tuple, begin);
        tuple.children.push_back(std::move(first));
        while (takeSign(",")) {
            if (at(TokenKind::Newline) || at(TokenKind::End) || isSign("=") || isSign(";") || isSign(")") || isSign("]"))
                break;
            tuple.children.push_back(starredOrExpression());
        }
        close(tuple);
        return tuple;
    }

    Node starredOrExpression()
    {
        if (!isSign("*"))
            return expression();
        Node node = make(NodeKind::Starred, token().begin);
        ++m_next;
        node.children.push_back(binary(1));
        close(node);
        return node;
    }

    Node expression()
    {
        if (isAtomAlone())
            return atom();
        const Deeper deeper(*this);
        if (isWord("lambda"))
            refuse("`lambda` needs real Python (a function), which is never run here; write the values themselves", token().begin, "config.needs-python");
        if (isWord("yield") || isWord("await"))
            refuse("`" + std::string(word()) + "` needs real Python, which is never run here", token().begin, "config.needs-python");
        Node then = orTest();
        if (!isWord("if"))
            return then;
        ++m_next;
        Node node = make(NodeKind::Conditional, then.begin);
        Node condition = orTest();
        if (!takeWord("else"))
            refuseHere("expected 'else' after the condition, but found");
        node.children.push_back(std::move(condition));
        node.children.push_back(std::move(then));
        node.children.push_back(expression());
        close(node);
        return node;
    }

    // A number, text or name and then the end of the value: most of what configs hold, and no need to ask for every operator.
    bool isAtomAlone() const
    {
        if ((!at(TokenKind::Number) && !at(TokenKind::Name) && !at(TokenKind::String)) || isWord("lambda") || isWord("yield"))
            return false;
        const Token &next = m_tokens.tokens[m_next + 1];
        return next.kind == TokenKind::Newline || next.sign == signCode(",") || next.sign == signCode(")") || next.sign == signCode("]")
            || next.sign == signCode("}") || next.sign == signCode(":");
    }

    Node orTest() { return boolean(NodeKind::Or, "or"); }

    Node boolean(NodeKind kind, std::string_view operatorWord)
    {
        const auto operand = [&] { return kind == NodeKind::Or ? boolean(NodeKind::And, "and") : notTest(); };
        Node first = operand();
        if (!isWord(operatorWord))
            return first;
        Node node = make(kind, first.begin);
        node.children.push_back(std::move(first));
        while (takeWord(operatorWord))
            node.children.push_back(operand());
        close(node);
        return node;
    }

    Node notTest()
    {
        if (!isWord("not"))
            return comparison();
        const Deeper deeper(*this);
        Node node = make(NodeKind::Unary, token().begin);
        node.op = '!';
        ++m_next;
        node.children.push_back(notTest());
        close(node);
        return node;
    }

    char comparisonCode()
    {
        if (at(TokenKind::Operator)) {
            const std::uint32_t sign = token().sign;
            const char code = sign == signCode("<") ? '<' : sign == signCode(">") ? '>' : sign == signCode("<=") ? 'l' : sign == signCode(">=") ? 'g'
                : sign == signCode("==") ? '=' : sign == signCode("!=") ? '!' : 0;
            if (code)
                ++m_next;
            return code;
        }
        if (takeWord("in"))
            return 'i';
        if (isWord("not") && m_tokens.tokens[m_next + 1].kind == TokenKind::Name && slice(m_tokens.tokens[m_next + 1]) == "in") {
            m_next += 2;
            return 'n';
        }
        if (takeWord("is"))
            return takeWord("not") ? 't' : 's';
        return 0;
    }

    Node comparison()
    {
        Node first = binary(1);
        char code = m_noIn && isWord("in") ? 0 : comparisonCode();
        if (!code)
            return first;
        Node node = make(NodeKind::Compare, first.begin);
        node.children.push_back(std::move(first));
        while (code) {
            node.text += code;
            node.children.push_back(binary(1));
            code = comparisonCode();
        }
        close(node);
        return node;
    }

    Node binary(int level)
    {
        if (level > 6)
            return factor();
        Node first = binary(level + 1);
        if (!at(TokenKind::Operator) || precedenceOf(token().sign) != level)
            return first;
        Node node = make(NodeKind::Binary, first.begin);
        node.children.push_back(std::move(first));
        while (at(TokenKind::Operator) && precedenceOf(token().sign) == level) {
            if (word() == "@")
                refuse("'@' (a matrix product) needs real Python", token().begin, "config.needs-python");
            node.text += binaryCode(word());
            ++m_next;
            node.children.push_back(binary(level + 1));
        }
        close(node);
        return node;
    }

    Node factor()
    {
        if (isSign("-") || isSign("+") || isSign("~")) {
            const Deeper deeper(*this);
            Node node = make(NodeKind::Unary, token().begin);
            node.op = word()[0];
            ++m_next;
            node.children.push_back(factor());
            close(node);
            return node;
        }
        Node base = primary();
        if (!isSign("**"))
            return base;
        const Deeper deeper(*this);
        Node node = make(NodeKind::Binary, base.begin);
        node.text = "P";
        ++m_next;
        node.children.push_back(std::move(base));
        node.children.push_back(factor());
        close(node);
        return node;
    }

    Node primary()
    {
        Node node = atom();
        int steps = 0;
        while (isSign(".") || isSign("(") || isSign("[")) {
            if (++steps > 40)
                refuse("more than 40 steps in one expression", token().begin, "config.too-large");
            if (isSign("."))
                node = attribute(std::move(node));
            else if (isSign("("))
                node = call(std::move(node));
            else
                node = subscript(std::move(node));
        }
        return node;
    }

    Node attribute(Node object)
    {
        ++m_next;
        if (!at(TokenKind::Name))
            refuseHere("expected a name after '.', but found");
        Node node = make(NodeKind::Attribute, object.begin);
        node.text = std::string(word());
        ++m_next;
        node.children.push_back(std::move(object));
        close(node);
        return node;
    }

    Node call(Node function)
    {
        const Deeper deeper(*this);
        Node node = make(NodeKind::Call, function.begin);
        node.children.push_back(std::move(function));
        ++m_next;
        while (!isSign(")")) {
            node.children.push_back(argument());
            if (node.children.back().kind != NodeKind::Keyword && isWord("for")) {
                if (node.children.size() != 2)
                    refuse("a generator needs parentheses of its own here", token().begin);
                node.children[1] = comprehension(NodeKind::Generator, std::move(node.children[1]), node.children[1].begin);
            }
            if (!takeSign(",") && !isSign(")"))
                refuseHere("expected ',' or ')' in the call, but found");
        }
        ++m_next;
        close(node);
        return node;
    }

    Node argument()
    {
        if (isSign("**")) {
            Node node = make(NodeKind::DoubleStarred, token().begin);
            ++m_next;
            node.children.push_back(expression());
            close(node);
            return node;
        }
        const Token &next = m_tokens.tokens[m_next + 1 < m_tokens.tokens.size() ? m_next + 1 : m_next];
        if (at(TokenKind::Name) && next.kind == TokenKind::Operator && slice(next) == "=") {
            if (isKeyword(word()))
                refuse("'" + std::string(word()) + "' is a word of Python and cannot be a name", token().begin);
            Node node = make(NodeKind::Keyword, token().begin);
            node.text = std::string(word());
            m_next += 2;
            node.children.push_back(expression());
            close(node);
            return node;
        }
        Node node = starredOrExpression();
        if (isSign(":="))
            refuse("':=' needs real Python; write the name on a line of its own", token().begin, "config.needs-python");
        return node;
    }

    Node subscript(Node object)
    {
        const Deeper deeper(*this);
        Node node = make(NodeKind::Subscript, object.begin);
        node.children.push_back(std::move(object));
        ++m_next;
        node.children.push_back(sliceOrIndex());
        expectSign("]", "after the index");
        close(node);
        return node;
    }

    Node sliceOrIndex()
    {
        const std::size_t begin = token().begin;
        const auto part = [&] { return isSign(":") || isSign("]") || isSign(",") ? make(NodeKind::Absent, token().begin) : expression(); };
        Node first = part();
        if (!isSign(":")) {
            if (first.kind == NodeKind::Absent)
                refuse("an index is missing between the brackets", begin);
            if (isSign(","))
                refuse("an index of several parts needs real Python", begin, "config.needs-python");
            return first;
        }
        Node node = make(NodeKind::Slice, begin);
        node.children.push_back(std::move(first));
        ++m_next;
        node.children.push_back(part());
        node.children.push_back(takeSign(":") ? part() : make(NodeKind::Absent, token().begin));
        close(node);
        return node;
    }

    Node atom()
    {
        switch (token().kind) {
        case TokenKind::Number: return number();
        case TokenKind::String: return strings();
        case TokenKind::Template: return baseTemplate();
        case TokenKind::Name: return nameOrConstant();
        case TokenKind::Operator: break;
        default: refuseHere("expected a value, but found");
        }
        if (isSign("("))
            return parentheses();
        if (isSign("["))
            return listDisplay();
        if (isSign("{"))
            return dictDisplay();
        if (isSign("..."))
            refuse("'...' is no config value", token().begin, "config.needs-python");
        refuseHere("expected a value, but found");
    }

    Node nameOrConstant()
    {
        const std::string_view name = word();
        Node node = make(NodeKind::Name, token().begin);
        if (name == "None")
            node.kind = NodeKind::None;
        else if (name == "True")
            node.kind = NodeKind::True;
        else if (name == "False")
            node.kind = NodeKind::False;
        else if (isKeyword(name))
            refuseHere("expected a value, but found");
        else
            node.text = std::string(name);
        ++m_next;
        close(node);
        return node;
    }

    Node baseTemplate()
    {
        const Template found = templateAt(m_text, token().begin);
        Node node = make(found.kind == TemplateKind::Base ? NodeKind::BaseTemplate : NodeKind::OtherTemplate, token().begin);
        node.text = found.name;
        ++m_next;
        close(node);
        return node;
    }

    Node number()
    {
        Node node = make(NodeKind::Int, token().begin);
        const std::string_view raw = word();
        std::string digits;
        const bool prefixed = raw.size() > 1 && raw[0] == '0' && (raw[1] | 0x20) >= 'b' && ((raw[1] | 0x20) == 'x' || (raw[1] | 0x20) == 'o' || (raw[1] | 0x20) == 'b');
        for (std::size_t i = 0; i < raw.size(); ++i) {
            if (raw[i] != '_') {
                digits += raw[i];
                continue;
            }
            const auto digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
            const bool good = i > 0 && i + 1 < raw.size() && (digit(raw[i - 1]) || (i == 2 && prefixed)) && digit(raw[i + 1]);
            if (!good)
                refuse("an underscore in a number belongs between two digits", node.begin);
        }
        if (digits.back() == 'j' || digits.back() == 'J')
            refuse("complex numbers are no config values", node.begin, "config.needs-python");
        if (prefixed)
            integer(node, digits.substr(2), (raw[1] | 0x20) == 'x' ? 16 : (raw[1] | 0x20) == 'o' ? 8 : 2, raw);
        else if (digits.find_first_not_of("0123456789") == std::string::npos) {
            if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string::npos)
                refuse("'" + std::string(raw) + "' begins with 0; write 0o" + digits.substr(digits.find_first_not_of('0')) + " for octal, or leave the 0 out", node.begin);
            integer(node, digits, 10, raw);
        } else {
            floating(node, digits, raw);
        }
        ++m_next;
        close(node);
        return node;
    }

    void integer(Node &node, const std::string &digits, int base, std::string_view raw)
    {
        std::uint64_t value = 0;
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        if (result.ec == std::errc::result_out_of_range)
            refuse("'" + std::string(raw.substr(0, 40)) + "' is too large; whole numbers go up to 9223372036854775807", node.begin, "config.too-large");
        if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
            refuse("'" + std::string(raw.substr(0, 40)) + "' is no number", node.begin);
        node.magnitude = value;
    }

    void floating(Node &node, const std::string &digits, std::string_view raw)
    {
        double value = 0;
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (result.ptr != digits.data() + digits.size() || (result.ec != std::errc() && result.ec != std::errc::result_out_of_range)
            || digits.find_first_of("0123456789") == std::string::npos)
            refuse("'" + std::string(raw.substr(0, 40)) + "' is no number", node.begin);
        if (result.ec == std::errc::result_out_of_range)         // Python: too large is inf, too small is 0
            value = std::strtod(digits.c_str(), nullptr);
        node.kind = NodeKind::Float;
        node.number = value;
    }

    Node strings()
    {
        const std::size_t begin = token().begin;
        std::vector<Node> pieces;
        bool plain = true;
        int count = 0;
        while (at(TokenKind::String)) {
            plain = decodeString(m_text, token().begin, token().end, m_fieldDepth, pieces) && plain;
            ++count;
            ++m_next;
        }
        if (at(TokenKind::Template))
            refuse("{{_base_.…}} stands for a value, so it takes no quotes around it", token().begin);
        Node node;
        if (pieces.size() == 1) {
            node = make(NodeKind::String, begin);
            node.text = std::move(pieces[0].text);
            node.plainLiteral = plain && count == 1;
            node.op = node.plainLiteral ? m_text[begin] : 0;
        } else {
            node = make(NodeKind::FormattedString, begin);
            node.children = std::move(pieces);
        }
        close(node);
        return node;
    }

    Node parentheses()
    {
        const Deeper deeper(*this);
        const std::size_t begin = token().begin;
        ++m_next;
        Node node;
        if (isSign(")")) {
            node = make(NodeKind::Tuple, begin);
        } else {
            node = starredOrExpression();
            if (isWord("for")) {
                node = comprehension(NodeKind::Generator, std::move(node), begin);
            } else if (isSign(",") || node.kind == NodeKind::Starred) {
                Node tuple = make(NodeKind::Tuple, begin);
                tuple.children.push_back(std::move(node));
                while (takeSign(",") && !isSign(")"))
                    tuple.children.push_back(starredOrExpression());
                node = std::move(tuple);
            }
        }
        expectSign(")", "after the value");
        node.begin = static_cast<std::uint32_t>(begin);
        node.parenthesized = true;
        node.plainLiteral = false;
        close(node);
        return node;
    }

    Node listDisplay()
    {
        const Deeper deeper(*this);
        Node node = make(NodeKind::List, token().begin);
        ++m_next;
        while (!isSign("]")) {
            node.children.push_back(starredOrExpression());
            if (node.children.size() == 1 && isWord("for"))
                node = comprehension(NodeKind::ListComprehension, std::move(node.children[0]), node.begin);
            else if (takeSign(","))
                continue;
            if (!isSign("]"))
                refuseHere("expected ',' or ']' in the list, but found");
        }
        ++m_next;
        close(node);
        return node;
    }

    Node dictDisplay()
    {
        const Deeper deeper(*this);
        Node node = make(NodeKind::Dict, token().begin);
        ++m_next;
        bool isSet = false;
        while (!isSign("}")) {
            Node entry = make(NodeKind::Pair, token().begin);
            if (takeSign("**")) {
                entry.kind = NodeKind::DoubleStarred;
                entry.children.push_back(binary(1));
            } else {
                Node key = starredOrExpression();
                if (isSign(":") && key.kind != NodeKind::Starred) {
                    ++m_next;
                    entry.children.push_back(std::move(key));
                    entry.children.push_back(expression());
                } else {
                    entry = std::move(key);
                    isSet = true;
                }
            }
            close(entry);
            node.children.push_back(std::move(entry));
            if (node.children.size() == 1 && isWord("for"))
                node = comprehension(isSet ? NodeKind::SetComprehension : NodeKind::DictComprehension, std::move(node.children[0]), node.begin);
            else if (takeSign(","))
                continue;
            if (!isSign("}"))
                refuseHere("expected ',' or '}' in the dict, but found");
        }
        ++m_next;
        if (isSet && node.kind == NodeKind::Dict)
            node.kind = NodeKind::Set;
        close(node);
        return node;
    }

    Node comprehension(NodeKind kind, Node element, std::size_t begin)
    {
        if (element.kind == NodeKind::Starred || element.kind == NodeKind::DoubleStarred)
            refuse("nothing can be unpacked inside a comprehension", element.begin);
        Node node = make(kind, begin);
        node.children.push_back(std::move(element));
        while (isWord("for")) {
            Node part = make(NodeKind::For, token().begin);
            ++m_next;
            m_noIn = true;
            Node target = targetList();
            m_noIn = false;
            checkTarget(target);
            if (!takeWord("in"))
                refuseHere("expected 'in' after the name, but found");
            part.children.push_back(std::move(target));
            part.children.push_back(orTest());
            while (takeWord("if"))
                part.children.push_back(orTest());
            close(part);
            node.children.push_back(std::move(part));
        }
        if (isWord("async"))
            refuse("`async` needs real Python", token().begin, "config.needs-python");
        close(node);
        return node;
    }

    Node targetList()
    {
        const std::size_t begin = token().begin;
        Node first = binary(1);
        if (!isSign(","))
            return first;
        Node tuple = make(NodeKind::Tuple, begin);
        tuple.children.push_back(std::move(first));
        while (takeSign(",") && !isWord("in"))
            tuple.children.push_back(binary(1));
        close(tuple);
        return tuple;
    }

public:
    int m_fieldDepth = 0;

private:
    std::string_view m_text;
    Tokens m_tokens;
    std::size_t m_next = 0, m_nodes = 0;
    int m_depth;
    bool m_noIn = false;
};

} // namespace

Module parseModule(std::string_view text)
{
    return Parser(text, tokenize(text, 0, text.size()), 0).module();
}

Node parseExpression(std::string_view text)
{
    return Parser(text, tokenize(text, 0, text.size()), 0).wholeExpression();
}

Node parseExpressionIn(std::string_view text, std::size_t begin, std::size_t end, int depth)
{
    if (text.substr(begin, end - begin).find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw Refusal{"config.syntax", "an f-string's {} needs a value inside", begin};
    Parser parser(text, tokenize(text, begin, end, true), depth * 20);
    parser.m_fieldDepth = depth;
    return parser.wholeExpression();
}

bool isKeyword(std::string_view word)
{
    return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

bool isIdentifier(std::string_view word)
{
    if (word.empty() || (word[0] >= '0' && word[0] <= '9') || isKeyword(word))
        return false;
    return std::all_of(word.begin(), word.end(), [](char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
}

} // namespace stagewright::config::python
