#include "core/config/source_text.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/text.h"

namespace stagewright::config {

namespace {

bool isSpace(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool isWord(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

Error encodingError(const std::string &name, const std::string &what, int line = 0)
{
    return Error(ExitCode::Usage, "config.encoding", name + (line ? ":" + std::to_string(line) : std::string()) + ": " + what, name, line);
}

int lineOfByte(std::string_view text, std::size_t offset)
{
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + std::min(offset, text.size()), '\n'));
}

} // namespace

Template templateAt(std::string_view text, std::size_t at)
{
    Template found;
    if (text.substr(at, 2) != "{{")
        return found;
    std::size_t i = at + 2;
    const auto skipSpace = [&] {
        while (i < text.size() && isSpace(text[i]))
            ++i;
    };
    const auto word = [&](bool dots) {
        const std::size_t begin = i;
        while (i < text.size() && (isWord(text[i]) || (dots && text[i] == '.')))
            ++i;
        return std::string(text.substr(begin, i - begin));
    };
    const bool quoted = i < text.size() && (text[i] == '\'' || text[i] == '"');
    if (quoted)
        ++i;
    skipSpace();
    if (i < text.size() && text[i] == '$') {
        ++i;
        found.name = word(false);
        skipSpace();
        if (found.name.empty() || i >= text.size() || text[i] != ':')
            return {};
        ++i;
        skipSpace();
        // The shortest run of non-spaces that is followed by spaces, a quote or nothing, and the closing braces.
        for (std::size_t end = i; end <= text.size(); ++end) {
            std::size_t close = end;
            while (close < text.size() && isSpace(text[close]))
                ++close;
            if (close < text.size() && (text[close] == '\'' || text[close] == '"') && text.substr(close + 1, 2) == "}}")
                ++close;
            if (text.substr(close, 2) == "}}") {
                found.kind = TemplateKind::Environment;
                found.fallback = std::string(text.substr(i, end - i));
                found.length = close + 2 - at;
                return found;
            }
            if (end == text.size() || isSpace(text[end]) || end - i > 4096)
                return {};
        }
        return {};
    }
    if (quoted)
        return {};
    found.name = word(true);
    skipSpace();
    if (text.substr(i, 2) != "}}")
        return {};
    found.length = i + 2 - at;
    if (found.name.starts_with("_base_.") && found.name.size() > 7) {
        found.name.erase(0, 7);
        found.kind = TemplateKind::Base;
    } else if (found.name == "fileDirname" || found.name == "fileBasename" || found.name == "fileBasenameNoExtension" || found.name == "fileExtname") {
        found.kind = TemplateKind::File;
    } else {
        return {};
    }
    return found;
}

Result<SourceText> SourceText::make(std::string original, const std::filesystem::path &name, Substitute substitute)
{
    SourceText source;
    source.m_path = name;
    source.m_name = name.empty() ? "<text>" : name.string();
    const std::string &shown = source.m_name;
    if (original.size() > kMaxTextBytes)
        return Error(ExitCode::Usage, "config.too-large", shown + " has " + std::to_string(original.size() >> 20) + " MiB, more than the "
            + std::to_string(kMaxTextBytes >> 20) + " MiB that a config may have; is it the right file?", shown);
    if (original.starts_with("\xff\xfe") || original.starts_with("\xfe\xff"))
        return encodingError(shown, "is UTF-16 text; save it as UTF-8");
    std::size_t at = original.find('\0');
    if (at != std::string::npos) {
        const bool wide = at < 64 && std::count(original.begin(), original.begin() + std::min<std::size_t>(original.size(), 64), '\0') > 8;
        return encodingError(shown, wide ? "looks like UTF-16 or UTF-32 text; save it as UTF-8"
            : "holds a NUL byte, so it is no text file, or it was damaged; restore it or remove the byte", lineOfByte(original, at));
    }
    if (!isUtf8(original, &at))
        return encodingError(shown, "is not UTF-8 (the byte at column " + std::to_string(at - (at ? original.rfind('\n', at - 1) : 0) )
            + "); save it as UTF-8", lineOfByte(original, at));
    source.m_byteOrderMark = original.starts_with("\xef\xbb\xbf");
    source.m_original = std::move(original);
    source.m_lineStarts.push_back(0);
    for (std::size_t i = 0; i < source.m_original.size(); ++i) {
        const char c = source.m_original[i];
        if (c == '\n' || (c == '\r' && (i + 1 == source.m_original.size() || source.m_original[i + 1] != '\n')))
            source.m_lineStarts.push_back(i + 1);
    }
    const std::size_t start = source.m_byteOrderMark ? 3 : 0;
    source.m_segments.push_back({0, start, false});
    source.m_text = source.m_original.substr(start);
    if (substitute == Substitute::Templates && source.m_text.find("{{") != std::string::npos) {
        try {
            source.substituteTemplates();
        } catch (const Refusal &refusal) {
            return source.error(refusal);
        }
        if (source.m_text.size() > kMaxTextBytes)
            return Error(ExitCode::Usage, "config.too-large", shown + " grows beyond the size of a config by its {{…}} substitutions", shown);
    }
    return source;
}

void SourceText::substituteTemplates()
{
    const std::string text = std::move(m_text);
    m_text.clear();
    const std::size_t shift = m_segments.front().original;
    m_segments.clear();
    m_segments.push_back({0, shift, false});
    const std::filesystem::path full = std::filesystem::absolute(m_path.empty() ? std::filesystem::path("text.py") : m_path).lexically_normal();
    std::size_t done = 0;
    std::size_t brace = text.find("{{");
    while (brace != std::string::npos) {
        const Template found = templateAt(text, brace);
        if (found.kind != TemplateKind::File && found.kind != TemplateKind::Environment) {
            brace = text.find("{{", brace + 1);
            continue;
        }
        std::string value = found.fallback;
        if (found.kind == TemplateKind::Environment) {
            if (const char *set = std::getenv(found.name.c_str()))
                value = set;
            if (value.empty()) {
                m_text = text;
                throw Refusal{"config.environment", "the environment variable " + found.name + " is not set and has no default; set it, or write {{$"
                    + found.name + ":a default}}", brace};
            }
            if (!isUtf8(value) || value.size() > 65536) {
                m_text = text;
                throw Refusal{"config.environment", "the environment variable " + found.name + " holds no usable text", brace};
            }
        } else if (found.name == "fileDirname") {
            value = full.parent_path().string();
        } else if (found.name == "fileBasename") {
            value = full.filename().string();
        } else if (found.name == "fileBasenameNoExtension") {
            value = full.stem().string();
        } else {
            value = full.extension().string();
        }
        m_text.append(text, done, brace - done);
        m_segments.push_back({m_text.size(), brace + shift, true});
        m_text += value;
        done = brace + found.length;
        m_segments.push_back({m_text.size(), done + shift, false});
        brace = text.find("{{", done);
        if (m_text.size() > kMaxTextBytes)
            break;
    }
    m_text.append(text, done);
}

std::size_t SourceText::originalOffset(std::size_t offset) const
{
    if (m_segments.size() == 1)
        return std::min(m_original.size(), m_segments[0].original + offset);
    auto segment = std::upper_bound(m_segments.begin(), m_segments.end(), offset, [](std::size_t value, const Segment &s) { return value < s.at; });
    if (segment == m_segments.begin())
        return offset;
    --segment;
    return segment->replaced ? segment->original : std::min(m_original.size(), segment->original + (offset - segment->at));
}

Position SourceText::positionOf(std::size_t offset) const
{
    const std::size_t original = originalOffset(offset);
    const auto next = std::upper_bound(m_lineStarts.begin(), m_lineStarts.end(), original);
    const std::size_t line = static_cast<std::size_t>(next - m_lineStarts.begin());
    std::size_t column = original - m_lineStarts[line - 1] + 1;
    if (line == 1 && m_byteOrderMark && column > 3)
        column -= 3;
    return {static_cast<int>(line), static_cast<int>(column)};
}

std::string SourceText::originalSlice(std::size_t begin, std::size_t end) const
{
    const std::size_t from = originalOffset(begin);
    // The end of a template's value is the end of the template.
    const std::size_t to = originalOffset(end);
    return to > from ? m_original.substr(from, to - from) : std::string();
}

std::string SourceText::place(std::size_t offset) const
{
    return m_name + ":" + std::to_string(positionOf(offset).line);
}

Error SourceText::error(const Refusal &refusal) const
{
    const Position position = positionOf(refusal.offset);
    Error error(ExitCode::Usage, refusal.code, m_name + ":" + std::to_string(position.line) + ": " + refusal.message, m_name, position.line);
    error.problem.column = position.column;
    return error;
}

} // namespace stagewright::config
