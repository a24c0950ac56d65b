#include "core/config/shell_words.h"

#include <cctype>

namespace stagewright::config {

namespace {

Error refused(const std::string &sentence)
{
    return Error(ExitCode::Usage, "config.command-line", sentence);
}

class Splitter
{
public:
    explicit Splitter(std::string_view text) : m_text(text) {}

    Result<std::vector<std::string>> split()
    {
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '\'' || c == '"') {
                if (const Status status = quoted(c); !status)
                    return status.error();
            } else if (c == '\\') {
                escaped();
            } else if (c == '#' && !m_inWord) {
                skipLine();
            } else if (c == '\n' || std::isspace(static_cast<unsigned char>(c))) {
                endWord();
                ++m_at;
                if (c == '\n')
                    m_newLine = true;
            } else if (const Status status = plain(c); !status) {
                return status.error();
            }
        }
        endWord();
        return std::move(m_words);
    }

private:
    Status plain(char c)
    {
        if (m_newLine && !m_words.empty() && !m_inWord)
            return refused("the text holds more than one command; paste one (a line that goes on ends with a backslash)");
        if (c == '$' && m_words.empty() && !m_inWord && m_at + 1 < m_text.size() && m_text[m_at + 1] == ' ') {
            m_at += 2;                     // a prompt that was copied too
            return Done{};
        }
        if (c == '$' || c == '`')
            return refused(variableSentence());
        if (c == '|' || c == ';' || c == '&' || c == '>' || c == '<')
            return refused(std::string("\"") + c + "\" is the shell's; paste only the training command itself, without pipes, redirections or further commands");
        m_word += c;
        m_inWord = true;
        ++m_at;
        return Done{};
    }

    std::string variableSentence() const
    {
        std::size_t end = m_at + 1;
        while (end < m_text.size() && (std::isalnum(static_cast<unsigned char>(m_text[end])) || m_text[end] == '_' || m_text[end] == '{' || m_text[end] == '('))
            ++end;
        return "\"" + std::string(m_text.substr(m_at, end - m_at)) + "\" has a value that only your shell knows; write the value in its place";
    }

    Status quoted(char quote)
    {
        if (m_newLine && !m_words.empty() && !m_inWord)
            return refused("the text holds more than one command; paste one");
        m_inWord = true;
        for (++m_at; m_at < m_text.size() && m_text[m_at] != quote; ++m_at) {
            const char c = m_text[m_at];
            if (quote == '"' && (c == '$' || c == '`'))
                return refused(variableSentence());
            const bool escapes = quote == '"' && c == '\\' && m_at + 1 < m_text.size()
                && (m_text[m_at + 1] == '"' || m_text[m_at + 1] == '\\' || m_text[m_at + 1] == '$' || m_text[m_at + 1] == '`');
            if (escapes)
                ++m_at;
            m_word += m_text[m_at];
        }
        if (m_at == m_text.size())
            return refused(std::string("a quote (") + quote + ") is not closed");
        ++m_at;
        return Done{};
    }

    void escaped()
    {
        ++m_at;
        if (m_at < m_text.size() && m_text[m_at] == '\r')
            ++m_at;
        if (m_at < m_text.size() && m_text[m_at] == '\n') {
            ++m_at;                        // the line goes on
            return;
        }
        if (m_at < m_text.size()) {
            m_word += m_text[m_at++];
            m_inWord = true;
        }
    }

    void skipLine()
    {
        while (m_at < m_text.size() && m_text[m_at] != '\n')
            ++m_at;
    }

    void endWord()
    {
        if (m_inWord)
            m_words.push_back(std::move(m_word));
        m_word.clear();
        m_inWord = false;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::string m_word;
    bool m_inWord = false;
    bool m_newLine = false;
    std::vector<std::string> m_words;
};

} // namespace

Result<std::vector<std::string>> shellWords(std::string_view text)
{
    return Splitter(text).split();
}

} // namespace stagewright::config
