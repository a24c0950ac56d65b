#include "core/table/columns.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"

namespace stagewright::table {

namespace {

constexpr const char *kPath = "path", *kText = "text";

// Names under which other tools keep the same thing, and nothing else.
const std::vector<std::string> &otherNames(const std::string &name)
{
    static const std::map<std::string, std::vector<std::string>> known{
        {kText, {"caption", "captions", "prompt", "cap"}},
        {kPath, {"file", "filename", "file_name", "file_path", "filepath", "video", "video_path", "image_path", "media_path"}},
        {"num_frames", {"frames", "n_frames", "nframes", "frame_count", "number_of_frames"}},
        {"fps", {"frame_rate", "framerate", "video_fps"}},
        {"height", {"h", "video_height"}},
        {"width", {"w", "video_width"}}};
    static const std::vector<std::string> none;
    const auto found = known.find(name);
    return found == known.end() ? none : found->second;
}

std::string inQuotes(const std::string &name) { return '"' + name.substr(0, 40) + '"'; }

std::string listed(const std::vector<std::string> &names)
{
    std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 20)));
    for (std::string &name : shown)
        name = inQuotes(name);
    return joined(shown, ", ") + (names.size() > shown.size() ? ", …" : "");
}

// Looks columns up, and remembers what is wrong.
class Finder
{
public:
    Finder(const std::vector<std::string> &names, const std::string &file, ColumnMap &map) : m_names(names), m_file(file), m_map(map) {}

    int find(const std::string &wanted, bool needed)
    {
        std::vector<int> found = positions([&](const std::string &name) { return name == wanted; });
        if (found.empty()) {
            const auto &others = otherNames(wanted);
            found = positions([&](const std::string &name) {
                const std::string plain = lowered(trimmed(name));
                return plain == wanted || std::find(others.begin(), others.end(), plain) != others.end();
            });
            if (found.size() == 1)
                m_map.renamed.emplace_back(m_names[static_cast<std::size_t>(found[0])], wanted);
        }
        if (found.size() > 1)
            noteSeveral(wanted, found);
        if (found.empty() && needed)
            m_missing.push_back(wanted);
        return found.empty() ? -1 : found[0];
    }

    std::optional<Error> error() const
    {
        if (m_error)
            return m_error;
        return m_missing.empty() ? std::nullopt : std::optional(missingColumns());
    }

private:
    std::vector<int> positions(auto &&matches) const
    {
        std::vector<int> found;
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            if (matches(m_names[i]))
                found.push_back(static_cast<int>(i));
        }
        return found;
    }

    void noteSeveral(const std::string &wanted, const std::vector<int> &found)
    {
        const std::string &first = m_names[static_cast<std::size_t>(found[0])], &second = m_names[static_cast<std::size_t>(found[1])];
        const std::string what = first == second ? "the column " + first + " is there twice; remove or rename one of them"
            : "both " + inQuotes(first) + " and " + inQuotes(second) + " could be " + wanted + "; rename the one that is meant to " + wanted;
        m_error = m_error ? m_error : Error(ExitCode::Data, "data.double-column", m_file + ": " + what, m_file, 1);
    }

    Error missingColumns() const
    {
        std::string hint;
        for (const std::string &name : m_missing) {
            if (const auto near = nearestOf(name, m_names))
                hint += (hint.empty() ? "Rename " : ", ") + inQuotes(*near) + " to " + name;
        }
        if (m_names.size() == 1 && m_names[0].find_first_of(";\t|") != std::string::npos)
            hint = "Its header has no comma: save it with commas as separators";
        const bool measurable = std::none_of(m_missing.begin(), m_missing.end(), [](const std::string &name) { return name == kPath || name == kText; });
        if (hint.empty() && measurable)
            hint = "They can be measured: stagewright-cli buckets CONFIG --probe writes a table that has them";
        if (hint.empty())
            hint = "A table needs path, text, num_frames, height, width and fps (fps empty for images); add what is missing";
        return Error(ExitCode::Data, "data.missing-column", m_file + " has no column " + joined(m_missing, ", ") + "; found: " + listed(m_names) + ". " + hint, m_file, 1);
    }

    const std::vector<std::string> &m_names;
    const std::string &m_file;
    ColumnMap &m_map;
    std::vector<std::string> m_missing;
    std::optional<Error> m_error;
};

} // namespace

Result<ColumnMap> mapColumns(const std::vector<std::string> &names, const std::string &file, const ReadOptions &options)
{
    ColumnMap map;
    Finder finder(names, file, map);
    map.path = finder.find(kPath, true);
    map.caption = options.captionShards ? -1 : finder.find(kText, options.needCaptions);
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        const auto column = static_cast<NumberColumn>(i);
        map.numbers[i] = finder.find(columnName(column), options.needMeasures && column != NumberColumn::MotionScore);
    }
    for (std::size_t i = 0; i < kFileColumns; ++i)
        map.files[i] = finder.find(columnName(static_cast<FileColumn>(i)), false);
    if (const auto error = finder.error())
        return *error;
    return map;
}

} // namespace stagewright::table
