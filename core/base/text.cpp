#include "core/base/text.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

namespace stagewright {

namespace {

char folded(char c)
{
    return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

} // namespace

int editDistance(std::string_view a, std::string_view b)
{
    const std::size_t n = a.size(), m = b.size();
    std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1));
    for (std::size_t i = 0; i <= n; ++i)
        d[i][0] = static_cast<int>(i);
    for (std::size_t j = 0; j <= m; ++j)
        d[0][j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= n; ++i) {
        for (std::size_t j = 1; j <= m; ++j) {
            const int cost = folded(a[i - 1]) == folded(b[j - 1]) ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

std::optional<std::string> nearestOf(std::string_view name, const std::vector<std::string> &candidates)
{
    std::optional<std::string> best;
    int bestDistance = 0;
    for (const std::string &candidate : candidates) {
        if (name.size() > 200 || candidate.size() > 200)
            continue;
        const int distance = editDistance(name, candidate);
        const int limit = std::max<int>(2, static_cast<int>(std::max(name.size(), candidate.size())) / 3);
        if (distance <= limit && distance < static_cast<int>(std::max(name.size(), candidate.size()))
            && (!best || distance < bestDistance)) {
            best = candidate;
            bestDistance = distance;
        }
    }
    return best;
}

bool isUtf8(std::string_view bytes, std::size_t *at)
{
    std::size_t i = 0;
    const auto fail = [&] {
        if (at)
            *at = i;
        return false;
    };
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
    while (i < bytes.size()) {
        const unsigned char c = byte(i);
        if (c < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = c >= 0xF0 && c <= 0xF4 ? 4 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xC2 && c <= 0xDF ? 2 : 0;
        if (length == 0 || i + length > bytes.size())
            return fail();
        for (std::size_t k = 1; k < length; ++k) {
            if ((byte(i + k) & 0xC0) != 0x80)
                return fail();
        }
        const unsigned char second = byte(i + 1);
        if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F))
            return fail();
        i += length;
    }
    return true;
}

namespace {

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string escaped(unsigned char byte)
{
    static constexpr char digits[] = "0123456789abcdef";
    if (byte == '\n')
        return "\\n";
    if (byte == '\t')
        return "\\t";
    return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

std::string withoutMiddle(const std::string &text)
{
    static constexpr std::string_view dots = " … ";
    std::size_t head = (kLongestSentence - dots.size()) * 2 / 3, tail = text.size() - (kLongestSentence - dots.size() - head);
    while (head > 0 && isContinuation(text[head]))
        --head;
    while (tail < text.size() && isContinuation(text[tail]))
        ++tail;
    return text.substr(0, head).append(dots).append(text, tail);
}

} // namespace

std::string asSentence(std::string text)
{
    std::size_t bad = 0;
    const auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (std::any_of(text.begin(), text.end(), isControl) || !isUtf8(text)) {
        std::string clean;
        for (std::string_view rest = text; !rest.empty();) {
            std::size_t good = isUtf8(rest, &bad) ? rest.size() : bad;
            for (const char c : rest.substr(0, good))
                isControl(static_cast<unsigned char>(c)) ? clean += escaped(static_cast<unsigned char>(c)) : clean += c;
            if (good < rest.size())
                clean += escaped(static_cast<unsigned char>(rest[good++]));
            rest.remove_prefix(good);
            if (clean.size() > 4 * kLongestSentence && rest.size() > 2 * kLongestSentence)
                rest.remove_prefix(rest.size() - 2 * kLongestSentence);      // of a huge text only the ends are shown
        }
        text = std::move(clean);
    }
    return text.size() > kLongestSentence ? withoutMiddle(text) : text;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || text[i] == separator) {
            parts.emplace_back(text.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    return parts;
}

std::string joined(const std::vector<std::string> &parts, std::string_view separator)
{
    std::string text;
    for (const std::string &part : parts) {
        if (!text.empty())
            text += separator;
        text += part;
    }
    return text;
}

std::string lowered(std::string_view text)
{
    std::string copy(text);
    std::transform(copy.begin(), copy.end(), copy.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return copy;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

bool globMatches(std::string_view pattern, std::string_view name)
{
    return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

} // namespace stagewright
