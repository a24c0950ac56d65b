#include "core/config/python_string.h"

#include "core/config/python_parser.h"
#include "core/config/source_text.h"

namespace stagewright::config::python {

namespace {

int hexDigit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Decoder
{
public:
    Decoder(std::string_view text, std::size_t begin, std::size_t end, int depth, std::vector<Node> &pieces)
        : m_text(text), m_at(begin), m_end(end), m_depth(depth), m_pieces(pieces)
    {
    }

    bool run()
    {
        const std::size_t begin = m_at;
        for (; m_text[m_at] != '"' && m_text[m_at] != '\''; ++m_at) {
            const char c = m_text[m_at] | 0x20;
            m_raw |= c == 'r';
            m_formatted |= c == 'f';
            if (c == 'b')
                refuse("bytes (b\"…\") are no config value; write a string", m_at, "config.needs-python");
        }
        const bool plain = m_at == begin;
        const bool triple = m_end - m_at >= 6 && m_text[m_at + 1] == m_text[m_at] && m_text[m_at + 2] == m_text[m_at];
        m_at += triple ? 3 : 1;
        m_end -= triple ? 3 : 1;
        while (m_at < m_end)
            next();
        flush();
        return plain;
    }

private:
    [[noreturn]] void refuse(const std::string &message, std::size_t at, const char *code = "config.syntax") { throw Refusal{code, message, at}; }

    void flush()
    {
        if (m_pieces.empty() || m_pieces.back().kind != NodeKind::String) {
            Node node;
            node.kind = NodeKind::String;
            m_pieces.push_back(std::move(node));
        }
        m_pieces.back().text += m_current;
        m_current.clear();
    }

    void next()
    {
        const char c = m_text[m_at];
        if (c == '\r') {                               // Python reads every line end as "\n"
            m_current += '\n';
            m_at += m_at + 1 < m_end && m_text[m_at + 1] == '\n' ? 2 : 1;
        } else if (c == '\\' && !m_raw) {
            escape();
        } else if (m_formatted && (c == '{' || c == '}')) {
            if (m_at + 1 < m_end && m_text[m_at + 1] == c) {
                m_current += c;
                m_at += 2;
            } else if (c == '}') {
                refuse("a single '}' in an f-string; write '}}'", m_at);
            } else {
                replacement();
            }
        } else {
            if (c == '{' && templateAt(m_text, m_at).kind == TemplateKind::Base)
                refuse("{{_base_.…}} stands for a value, so it takes no quotes around it", m_at);
            m_current += c;
            ++m_at;
        }
    }

    void escape()
    {
        const std::size_t begin = m_at++;
        const char c = m_at < m_end ? m_text[m_at] : '\0';
        ++m_at;
        switch (c) {
        case '\n': return;
        case '\r':
            if (m_at < m_end && m_text[m_at] == '\n')
                ++m_at;
            return;
        case '\\': case '\'': case '"': m_current += c; return;
        case 'a': m_current += '\a'; return;
        case 'b': m_current += '\b'; return;
        case 'f': m_current += '\f'; return;
        case 'n': m_current += '\n'; return;
        case 'r': m_current += '\r'; return;
        case 't': m_current += '\t'; return;
        case 'v': m_current += '\v'; return;
        case 'x': return code(2, begin);
        case 'u': return code(4, begin);
        case 'U': return code(8, begin);
        case 'N': refuse("characters by name (\\N{…}) need real Python; write the character itself", begin, "config.needs-python");
        default: break;
        }
        if (c >= '0' && c <= '7') {
            std::uint32_t value = 0;
            --m_at;
            for (int i = 0; i < 3 && m_at < m_end && m_text[m_at] >= '0' && m_text[m_at] <= '7'; ++i)
                value = value * 8 + static_cast<std::uint32_t>(m_text[m_at++] - '0');
            appendUtf8(m_current, value);
            return;
        }
        m_current += '\\';                             // an unknown escape stays as it is
        m_at = begin + 1;
    }

    void code(int digits, std::size_t begin)
    {
        std::uint32_t value = 0;
        for (int i = 0; i < digits; ++i) {
            const int digit = m_at < m_end ? hexDigit(m_text[m_at]) : -1;
            if (digit < 0)
                refuse("this escape needs " + std::to_string(digits) + " hexadecimal digits", begin);
            value = value << 4 | static_cast<std::uint32_t>(digit);
            ++m_at;
        }
        if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
            refuse("this escape names no character", begin);
        appendUtf8(m_current, value);
    }

    void replacement()
    {
        const std::size_t open = m_at++;
        if (m_depth >= 4)
            refuse("f-strings inside each other too deeply", open, "config.too-large");
        flush();
        const std::size_t begin = m_at;
        const std::size_t close = endOfExpression(open);
        Node field;
        field.kind = NodeKind::Replacement;
        field.begin = static_cast<std::uint32_t>(open);
        std::size_t end = close;
        if (m_text[close] == '=') {                    // f"{name=}"
            m_pieces.back().text += m_text.substr(begin, close + 1 - begin);
            field.op = 'r';
            m_at = close + 1;
        }
        if (m_at < m_end && m_text[m_at] == '!') {
            const char conversion = m_at + 1 < m_end ? m_text[m_at + 1] : '\0';
            if (conversion != 'r' && conversion != 's' && conversion != 'a')
                refuse("an f-string's conversion is !r, !s or !a", m_at);
            field.op = conversion;
            m_at += 2;
        }
        if (m_at < m_end && m_text[m_at] == ':') {
            const std::size_t from = ++m_at;
            while (m_at < m_end && m_text[m_at] != '}') {
                if (m_text[m_at] == '{')
                    refuse("a computed format inside an f-string needs real Python", m_at, "config.needs-python");
                ++m_at;
            }
            field.text = std::string(m_text.substr(from, m_at - from));
            if (field.op == 'r' && m_text[close] == '=')
                field.op = 0;
        }
        if (m_at >= m_end || m_text[m_at] != '}')
            refuse("this '{' of an f-string is never closed", open);
        ++m_at;
        field.end = static_cast<std::uint32_t>(m_at);
        field.children.push_back(parseExpressionIn(m_text, begin, end, m_depth + 1));
        m_pieces.push_back(std::move(field));
    }

    // The place of the '}', '!', ':' or '=' that ends the field's expression; m_at goes there.
    std::size_t endOfExpression(std::size_t open)
    {
        int brackets = 0;
        char quote = 0;
        for (; m_at < m_end; ++m_at) {
            const char c = m_text[m_at];
            const char after = m_at + 1 < m_end ? m_text[m_at + 1] : '\0';
            if (quote) {
                if (c == quote)
                    quote = 0;
                continue;
            }
            if (c == '\\')
                refuse("an f-string's expression may hold no backslash", m_at);
            if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == '(' || c == '[' || c == '{') {
                ++brackets;
            } else if (brackets > 0 && (c == ')' || c == ']' || c == '}')) {
                --brackets;
            } else if (brackets == 0) {
                if (c == '}' || c == ':' || (c == '!' && after != '='))
                    return m_at;
                const char before = m_text[m_at - 1];
                if (c == '=' && after == '=')
                    ++m_at;
                else if (c == '=' && before != '<' && before != '>' && before != '!')
                    return m_at;
            }
        }
        refuse("this '{' of an f-string is never closed", open);
    }

    std::string_view m_text;
    std::size_t m_at, m_end;
    int m_depth;
    std::vector<Node> &m_pieces;
    std::string m_current;
    bool m_raw = false, m_formatted = false;
};

} // namespace

void appendUtf8(std::string &out, std::uint32_t c)
{
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    }
}

bool decodeString(std::string_view text, std::size_t begin, std::size_t end, int depth, std::vector<Node> &pieces)
{
    return Decoder(text, begin, end, depth, pieces).run();
}

} // namespace stagewright::config::python
