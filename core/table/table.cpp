#include "core/table/table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/base/units.h"

namespace stagewright::table {

namespace fs = std::filesystem;

const char *columnName(NumberColumn column)
{
    static constexpr std::array<const char *, kNumberColumns> names{"num_frames", "height", "width", "fps", "score_vmafmotion"};
    return names[static_cast<std::size_t>(column)];
}

const char *columnName(FileColumn column)
{
    static constexpr std::array<const char *, kFileColumns> names{"latents_path", "text_t5_path", "text_clip_path"};
    return names[static_cast<std::size_t>(column)];
}

bool isImagePath(std::string_view text)
{
    static constexpr std::array<std::string_view, 9> extensions{
        ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};
    const std::size_t dot = text.rfind('.'), slash = text.rfind('/');
    if (dot == std::string_view::npos || (slash != std::string_view::npos && slash > dot))
        return false;
    return std::find(extensions.begin(), extensions.end(), lowered(text.substr(dot))) != extensions.end();
}

// A folder of tables is its own root.
fs::path Table::resolved(std::string_view text) const
{
    const fs::path written = expandUser(text);
    if (written.is_absolute())
        return written.lexically_normal();
    return ((m_isFolder ? m_file : m_file.parent_path()) / written).lexically_normal();
}

fs::path Table::mediaPath(std::int64_t row) const { return resolved(path(row)); }

fs::path Table::cachedFile(FileColumn column, std::int64_t row) const
{
    const std::string_view written = m_files[static_cast<std::size_t>(column)].at(row);
    return written.empty() ? fs::path() : resolved(written);
}

std::int64_t Table::captionCount(std::int64_t row) const
{
    const auto [first, last] = std::equal_range(m_otherCaptionRows.begin(), m_otherCaptionRows.end(), row);
    return 1 + (last - first);
}

std::string_view Table::caption(std::int64_t row, std::int64_t which) const
{
    if (which == 0)
        return caption(row);
    const auto first = std::lower_bound(m_otherCaptionRows.begin(), m_otherCaptionRows.end(), row) - m_otherCaptionRows.begin();
    return m_otherCaptions.at(first + which - 1);
}

Cutout Table::cutout(std::int64_t row) const
{
    const auto found = m_cutouts.find(row);
    return found == m_cutouts.end() ? Cutout() : found->second;
}

std::vector<std::int64_t> missingFiles(const Table &table, int threads)
{
    constexpr std::int64_t step = 1024;
    std::atomic<std::int64_t> next{0};
    std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(std::max(threads, 1)));
    const auto look = [&](std::vector<std::int64_t> &missing) {
        for (std::int64_t begin = next.fetch_add(step); begin < table.rowCount(); begin = next.fetch_add(step)) {
            for (std::int64_t row = begin; row < std::min(begin + step, table.rowCount()); ++row) {
                std::error_code error;
                if (!fs::is_regular_file(table.mediaPath(row), error))
                    missing.push_back(row);
            }
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < found.size(); ++i)
        others.emplace_back([&look, &mine = found[i]] { look(mine); });
    look(found[0]);
    others.clear();
    std::vector<std::int64_t> all;
    for (const auto &part : found)
        all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    return all;
}

std::string describeRows(const std::vector<std::int64_t> &firstRows, std::int64_t count)
{
    constexpr std::size_t shownAtMost = 5;
    std::string text = count == 1 ? "row " : "rows ";
    const std::size_t shown = std::min(firstRows.size(), shownAtMost);
    const auto more = count - static_cast<std::int64_t>(shown);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0)
            text += more == 0 && i + 1 == shown ? " and " : ", ";
        text += std::to_string(firstRows[i]);
    }
    if (more > 0)
        text += " and " + formatCount(more) + " more";
    return text;
}

} // namespace stagewright::table
