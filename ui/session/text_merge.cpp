#include "ui/session/text_merge.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stagewright::session {

namespace {

using Lines = std::vector<std::string_view>;

Lines linesOf(const std::string &text)
{
    Lines lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        const std::size_t next = end == std::string::npos ? text.size() : end + 1;
        lines.push_back(std::string_view(text).substr(begin, next - begin));
        begin = next;
    }
    return lines;
}

// Lines [begin, end) of the base became `lines`.
struct Hunk {
    std::size_t begin = 0, end = 0;
    Lines lines;
    bool operator==(const Hunk &) const = default;
};

constexpr std::size_t kMostCells = 16'000'000;     // of the table of common subsequences; larger differences are one hunk

// The differing stretch between common head and tail, split by its longest common subsequence of lines.
std::vector<Hunk> hunksOf(const Lines &base, const Lines &other)
{
    const std::size_t shorter = std::min(base.size(), other.size());
    std::size_t head = 0, tail = 0;
    while (head < shorter && base[head] == other[head])
        ++head;
    while (tail < shorter - head && base[base.size() - 1 - tail] == other[other.size() - 1 - tail])
        ++tail;
    const std::size_t n = base.size() - head - tail, m = other.size() - head - tail;
    if (n == 0 && m == 0)
        return {};
    if (n * m > kMostCells)
        return {{head, head + n, Lines(other.begin() + std::ptrdiff_t(head), other.begin() + std::ptrdiff_t(head + m))}};
    std::vector<std::uint32_t> common((n + 1) * (m + 1), 0);
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t & { return common[i * (m + 1) + j]; };
    for (std::size_t i = n; i-- > 0;)
        for (std::size_t j = m; j-- > 0;)
            at(i, j) = base[head + i] == other[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    std::vector<Hunk> hunks;
    bool open = false;
    for (std::size_t i = 0, j = 0; i < n || j < m;) {
        if (i < n && j < m && base[head + i] == other[head + j]) {
            open = false;
            ++i, ++j;
            continue;
        }
        if (!std::exchange(open, true))
            hunks.push_back({head + i, head + i, {}});
        if (j < m && (i == n || at(i, j + 1) >= at(i + 1, j)))
            hunks.back().lines.push_back(other[head + j++]);
        else
            hunks.back().end = head + ++i;
    }
    return hunks;
}

} // namespace

std::optional<std::string> mergedTexts(const std::string &base, const std::string &mine, const std::string &theirs)
{
    const Lines lines = linesOf(base), left = linesOf(mine), right = linesOf(theirs);
    std::vector<Hunk> all = hunksOf(lines, left);
    for (Hunk &hunk : hunksOf(lines, right))
        if (std::find(all.begin(), all.end(), hunk) == all.end())
            all.push_back(std::move(hunk));
    std::sort(all.begin(), all.end(), [](const Hunk &a, const Hunk &b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].begin <= all[i - 1].end)            // adjoining edits may belong together: a person decides
            return std::nullopt;
    std::string text;
    std::size_t at = 0;
    const auto append = [&text](std::string_view line) {
        if (!text.empty() && text.back() != '\n')      // an unfinished last line that something was added behind
            text += '\n';
        text += line;
    };
    for (const Hunk &hunk : all) {
        for (; at < hunk.begin; ++at)
            append(lines[at]);
        for (const auto line : hunk.lines)
            append(line);
        at = hunk.end;
    }
    for (; at < lines.size(); ++at)
        append(lines[at]);
    return text;
}

} // namespace stagewright::session
