#include "core/table/columns.h"

#include <algorithm>

#include "core/base/text.h"

namespace stagewright::table {

namespace {

constexpr const char *kPath = "path", *kText = "text";

// Names under which other tools keep the same thing.
std::optional<std::string> otherName(const std::string &wanted, const std::vector<std::string> &names)
{
    static const std::vector<std::pair<std::string, std::vector<std::string>>> known{
        {"text", {"caption", "captions", "prompt", "cap"}}, {"path", {"file", "filename", "file_path", "video", "video_path"}},
        {"num_frames", {"frames", "n_frames", "frame_count", "length"}}, {"fps", {"frame_rate", "framerate"}}};
    for (const auto &[name, others] : known) {
        if (name != wanted)
            continue;
        for (const std::string &candidate : names) {
            if (std::find(others.begin(), others.end(), lowered(trimmed(candidate))) != others.end())
                return candidate;
        }
    }
    return nearestOf(wanted, names);
}

std::string listed(const std::vector<std::string> &names)
{
    std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 20)));
    for (std::string &name : shown)
        name = '"' + name.substr(0, 40) + '"';
    return joined(shown, ", ") + (names.size() > shown.size() ? ", …" : "");
}

Error missingColumns(const std::vector<std::string> &missing, const std::vector<std::string> &names, const std::string &file)
{
    std::string message = file + " has no column " + joined(missing, ", ") + "; found: " + listed(names) + ". ";
    std::string hint;
    for (const std::string &name : missing) {
        if (const auto other = otherName(name, names))
            hint += (hint.empty() ? "Rename " : ", ") + ('"' + *other + "\" to " + name);
    }
    if (names.size() == 1 && names[0].find_first_of(";\t|") != std::string::npos)
        hint = "Its header has no comma: save it with commas as separators";
    message += hint.empty() ? "A table needs path, text, num_frames, height, width and fps (fps empty for images); add what is missing" : hint;
    return Error(ExitCode::Data, "data.missing-column", message, file, 1);
}

} // namespace

std::array<bool, kNumberColumns> ColumnMap::present() const
{
    std::array<bool, kNumberColumns> result{};
    for (std::size_t i = 0; i < kNumberColumns; ++i)
        result[i] = numbers[i] >= 0;
    return result;
}

Result<ColumnMap> mapColumns(const std::vector<std::string> &names, const std::string &file, const ReadOptions &options)
{
    ColumnMap map;
    std::vector<std::string> missing;
    std::string doubled;
    const auto find = [&](const std::string &name, bool needed) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) {
            if (needed)
                missing.push_back(name);
            return -1;
        }
        if (std::find(at + 1, names.end(), name) != names.end())
            doubled = name;
        return static_cast<int>(at - names.begin());
    };
    map.path = find(kPath, true);
    map.caption = find(kText, options.needCaptions);
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        const auto column = static_cast<NumberColumn>(i);
        map.numbers[i] = find(columnName(column), column != NumberColumn::MotionScore);
    }
    if (!doubled.empty()) {
        return Error(ExitCode::Data, "data.double-column", file + ": the column " + doubled + " is there twice; remove or rename one of them", file, 1);
    }
    if (!missing.empty())
        return missingColumns(missing, names, file);
    return map;
}

} // namespace stagewright::table
