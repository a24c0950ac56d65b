// Lines of a text that is being edited, as byte offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright::config {

inline std::size_t lineStart(std::string_view text, std::size_t at)
{
    while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r')
        --at;
    return at;
}

// The end of the line, its break excluded.
inline std::size_t lineEnd(std::string_view text, std::size_t at)
{
    return std::min(text.find_first_of("\r\n", at), text.size());
}

// The start of the next line, or the end of the text.
inline std::size_t nextLine(std::string_view text, std::size_t at)
{
    at = lineEnd(text, at);
    if (at < text.size())
        at += text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
    return at;
}

inline bool isBlank(std::string_view text) { return text.find_first_not_of(" \t\f\r\n") == text.npos; }

// The white space that the line at `at` begins with.
inline std::string indentOf(std::string_view text, std::size_t at)
{
    const std::size_t begin = lineStart(text, at);
    std::size_t end = begin;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t'))
        ++end;
    return std::string(text.substr(begin, end - begin));
}

// How this text ends its lines.
inline std::string_view lineBreakOf(std::string_view text)
{
    const std::size_t at = text.find_first_of("\r\n");
    if (at == text.npos || text[at] == '\n')
        return "\n";
    return at + 1 < text.size() && text[at + 1] == '\n' ? "\r\n" : "\r";
}

struct TextChange {
    std::size_t begin = 0, end = 0;
    std::string text;
};

// Applies changes whose ranges do not overlap.
inline std::string applied(std::string text, std::vector<TextChange> changes)
{
    std::stable_sort(changes.begin(), changes.end(), [](const TextChange &a, const TextChange &b) { return a.begin > b.begin; });
    for (const TextChange &change : changes)
        text.replace(change.begin, change.end - change.begin, change.text);
    return text;
}

} // namespace stagewright::config
