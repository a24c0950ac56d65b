#include "core/config/python_lexer.h"

#include <cstdio>
#include <string>

#include "core/config/source_text.h"

namespace stagewright::config::python {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80); }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

std::uint32_t codePointAt(std::string_view text, std::size_t at)
{
    const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) & 0x3Fu : 0u; };
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c < 0x80)
        return c;
    if (c < 0xE0)
        return (c & 0x1Fu) << 6 | byte(at + 1);
    if (c < 0xF0)
        return (c & 0x0Fu) << 12 | byte(at + 1) << 6 | byte(at + 2);
    return (c & 0x07u) << 18 | byte(at + 1) << 12 | byte(at + 2) << 6 | byte(at + 3);
}

// Characters that come in by copying from a page or by an input method and that no name may hold.
bool isTypographic(std::uint32_t c)
{
    return (c >= 0x80 && c <= 0xA9) || (c >= 0xAB && c <= 0xB4) || (c >= 0xB6 && c <= 0xB9) || (c >= 0xBB && c <= 0xBF) || c == 0xD7 || c == 0xF7
        || (c >= 0x2000 && c <= 0x206F) || (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) || (c >= 0xFF00 && c <= 0xFF0F)
        || (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65) || c == 0xFEFF || c == 0xFFFD;
}

class Lexer
{
public:
    Lexer(std::string_view text, std::size_t begin, std::size_t end, bool insideExpression)
        : m_text(text.substr(0, end)), m_at(begin), m_inside(insideExpression)
    {
    }

    Tokens run()
    {
        m_lineStart = true;
        while (m_at < m_text.size())
            next();
        if (!m_brackets.empty())
            refuse(std::string("this '") + m_text[m_brackets.back()] + "' is never closed", m_brackets.back());
        newline(m_text.size());
        add(TokenKind::End, m_text.size(), m_text.size());
        return std::move(m_out);
    }

private:
    [[noreturn]] void refuse(const std::string &message, std::size_t at, const char *code = "config.syntax") { throw Refusal{code, message, at}; }

    void add(TokenKind kind, std::size_t begin, std::size_t end)
    {
        if (m_out.tokens.size() >= kMaxTokens)
            refuse("the file is too long for a config (more than " + std::to_string(kMaxTokens) + " words and signs)", begin, "config.too-large");
        const std::uint32_t sign = kind == TokenKind::Operator ? signCode(m_text.substr(begin, end - begin)) : 0;
        m_out.tokens.push_back({kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), sign});
    }

    void newline(std::size_t at)
    {
        if (!m_out.tokens.empty() && m_out.tokens.back().kind != TokenKind::Newline)
            add(TokenKind::Newline, at, at);
    }

    char peek(std::size_t ahead) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }

    void next()
    {
        const char c = m_text[m_at];
        if (c == '\n' || c == '\r') {
            if (m_brackets.empty() && !m_inside)
                newline(m_at);
            m_at += c == '\r' && peek(1) == '\n' ? 2 : 1;
            m_lineStart = true;
            m_indented = false;
            return;
        }
        if (c == ' ' || c == '\t' || c == '\f') {
            m_indented = m_lineStart && c != '\f';
            ++m_at;
            return;
        }
        if (c == '#' && !m_inside) {
            comment();
            return;
        }
        if (c == '\\') {
            if (peek(1) != '\n' && peek(1) != '\r')
                refuse("a backslash may only stand at the end of a line", m_at);
            m_at += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
            return;
        }
        if (m_lineStart && m_indented && m_brackets.empty() && !m_inside)          // the parser says what is wrong, as the line before may be the reason
            add(TokenKind::Indent, m_at, m_at);
        m_lineStart = false;
        if (c == '{' && peek(1) == '{') {
            const Template found = templateAt(m_text, m_at);
            if (found.kind != TemplateKind::None) {
                add(TokenKind::Template, m_at, m_at + found.length);
                m_at += found.length;
                return;
            }
        }
        if (isDigit(c) || (c == '.' && isDigit(peek(1))))
            number();
        else if (c == '"' || c == '\'')
            string(m_at);
        else if (isNameStart(c))
            name();
        else
            operatorSign();
    }

    void comment()
    {
        const std::size_t begin = m_at;
        m_at = std::min(m_text.find_first_of("\r\n", m_at), m_text.size());
        m_out.comments.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(m_at), m_lineStart});
    }

    void number()
    {
        const std::size_t begin = m_at;
        const bool prefixed = m_text[m_at] == '0' && (peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'o' || peek(1) == 'O' || peek(1) == 'b' || peek(1) == 'B');
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            const bool sign = (c == '+' || c == '-') && !prefixed && m_at > begin && (m_text[m_at - 1] == 'e' || m_text[m_at - 1] == 'E');
            if ((!isNamePart(c) || (c & 0x80)) && !sign && c != '.')
                break;
            ++m_at;
        }
        add(TokenKind::Number, begin, m_at);
    }

    void name()
    {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && isNamePart(m_text[m_at])) {
            if (m_text[m_at] & 0x80) {
                const std::uint32_t code = codePointAt(m_text, m_at);
                if (isTypographic(code)) {
                    char shown[16];
                    std::snprintf(shown, sizeof shown, "U+%04X", static_cast<unsigned>(code));
                    refuse(std::string("the character ") + shown + " cannot stand here (copied from a page or typed with an input method?); type it anew", m_at);
                }
                ++m_at;
                while (m_at < m_text.size() && (m_text[m_at] & 0xC0) == 0x80)
                    ++m_at;
            } else {
                ++m_at;
            }
        }
        const std::size_t length = m_at - begin;
        if (length <= 2 && (peek(0) == '"' || peek(0) == '\'')) {
            for (std::size_t i = begin; i < m_at; ++i) {
                if (std::string_view("rRbBuUfF").find(m_text[i]) == std::string_view::npos)
                    return add(TokenKind::Name, begin, m_at);
            }
            string(begin);
            return;
        }
        add(TokenKind::Name, begin, m_at);
    }

    void string(std::size_t begin)
    {
        const char quote = m_text[m_at];
        const bool triple = peek(1) == quote && peek(2) == quote;
        const std::size_t open = m_at;
        m_at += triple ? 3 : 1;
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '\\') {
                m_at += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
                continue;
            }
            if (!triple && (c == '\n' || c == '\r'))
                break;
            if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
                m_at += triple ? 3 : 1;
                add(TokenKind::String, begin, m_at);
                return;
            }
            ++m_at;
        }
        refuse("this string has no closing quote", open);
    }

    void operatorSign()
    {
        const std::size_t begin = m_at;
        const char c = m_text[m_at];
        // Most signs are one character: the longer ones all go on with one of these.
        const bool longer = std::string_view("*/<>=.").find(peek(1)) != std::string_view::npos;
        static constexpr std::string_view three[] = {"**=", "//=", "<<=", ">>=", "..."};
        static constexpr std::string_view two[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":="};
        for (std::string_view sign : three) {
            if (longer && m_text.substr(m_at, 3) == sign)
                return take(3);
        }
        for (std::string_view sign : two) {
            if (longer && m_text.substr(m_at, 2) == sign)
                return take(2);
        }
        if (c == '(' || c == '[' || c == '{') {
            if (m_brackets.size() >= kMaxDepth)
                refuse("more than " + std::to_string(kMaxDepth) + " brackets inside each other", begin, "config.too-large");
            m_brackets.push_back(begin);
        } else if (c == ')' || c == ']' || c == '}') {
            const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (m_brackets.empty())
                refuse(std::string("this '") + c + "' closes nothing", begin);
            if (m_text[m_brackets.back()] != open)
                refuse(std::string("this '") + c + "' does not match the '" + m_text[m_brackets.back()] + "' that is open here", begin);
            m_brackets.pop_back();
        } else if (std::string_view("+-*/%@&|^~<>=.,:;").find(c) == std::string_view::npos) {
            refuse(std::string("'") + c + "' has no meaning here", begin);
        }
        take(1);
    }

    void take(std::size_t length)
    {
        add(TokenKind::Operator, m_at, m_at + length);
        m_at += length;
    }

    static constexpr std::size_t kMaxDepth = 90;
    std::string_view m_text;
    std::size_t m_at;
    bool m_inside, m_lineStart = true, m_indented = false;
    std::vector<std::size_t> m_brackets;
    Tokens m_out;
};

} // namespace

Tokens tokenize(std::string_view text, std::size_t begin, std::size_t end, bool insideExpression)
{
    return Lexer(text, begin, end, insideExpression).run();
}

} // namespace stagewright::config::python
