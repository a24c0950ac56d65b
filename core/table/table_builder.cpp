#include "core/table/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <xxhash.h>

#include "core/base/units.h"

namespace stagewright::table {

namespace {

constexpr std::size_t kFirstRows = 5, kCellText = 80;
constexpr std::int64_t kMaxRows = 200'000'000;         // row numbers are 32 bits wide, and shuffles draw 32 bits

std::string hex(XXH128_hash_t hash)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : canonical.digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace

void TableBuilder::Rows::add(std::int64_t row)
{
    if (first.size() < kFirstRows)
        first.push_back(row);
    ++count;
}

TableBuilder::TableBuilder(std::filesystem::path absoluteFile, bool isFolder) : m_table(std::make_shared<Table>())
{
    m_table->m_isFolder = isFolder;
    m_table->m_file = std::move(absoluteFile);
    m_table->m_integer.fill(true);
}

void TableBuilder::beginPart(const std::filesystem::path &file, const ColumnMap &columns, const std::filesystem::path &root)
{
    m_part = file;
    m_root = root;
    for (std::size_t i = 0; i < kNumberColumns; ++i)
        m_table->m_present[i] = m_table->m_present[i] || columns.numbers[i] >= 0;
    m_renamed.insert(columns.renamed.begin(), columns.renamed.end());
}

Status TableBuilder::addPath(std::string_view text)
{
    if (m_root.empty() || text.empty() || text.front() == '/' || text.front() == '~')
        return m_table->m_paths.append(text);
    m_resolved = (m_root / text).lexically_normal().string();
    return m_table->m_paths.append(m_resolved);
}

Status TableBuilder::addOtherCaption(std::string_view text)
{
    m_table->m_otherCaptionRows.push_back(m_table->m_captions.size() - 1);
    return m_table->m_otherCaptions.append(text);
}

Status TableBuilder::addFile(FileColumn column, std::string_view text)
{
    return m_table->m_files[static_cast<std::size_t>(column)].append(text);
}

Status TableBuilder::endPart()
{
    Table &table = *m_table;
    const std::int64_t rows = table.m_paths.size();
    bool wrong = false;
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        auto &values = table.m_numbers[i];
        const auto length = static_cast<std::int64_t>(values.size());
        wrong = wrong || length > rows;
        if (length < rows) {
            if (table.m_present[i]) {
                for (std::int64_t row = length; row < rows; ++row)
                    m_empty[i].add(row);
            }
            values.resize(static_cast<std::size_t>(rows), std::numeric_limits<double>::quiet_NaN());
            table.m_integer[i] = false;
        }
    }
    const auto fill = [&](TextColumn &column, bool always) -> Status {
        wrong = wrong || column.size() > rows;
        while ((always || column.size() > 0) && column.size() < rows) {
            if (Status status = column.append({}); !status)
                return status;
        }
        return Done{};
    };
    if (Status status = fill(table.m_captions, true); !status)
        return status;
    for (TextColumn &column : table.m_files) {
        if (Status status = fill(column, false); !status)
            return status;
    }
    if (wrong) {
        return Error(ExitCode::Data, "data.table-unreadable", m_part.string() + ": its columns have different lengths; the file is damaged, write it again",
                     m_part.string());
    }
    return Done{};
}

void TableBuilder::addNumber(NumberColumn column, std::string_view text)
{
    const ParsedNumber parsed = parseNumber(text);
    if (parsed.kind != ParsedNumber::Kind::Unreadable) {
        const bool empty = parsed.kind == ParsedNumber::Kind::Empty;
        keep(column, empty ? std::numeric_limits<double>::quiet_NaN() : parsed.value, parsed.wholeSpelling);
        return;
    }
    const auto index = static_cast<std::size_t>(column);
    const auto row = static_cast<std::int64_t>(m_table->m_numbers[index].size());
    m_unreadable[index].add(row);
    if (m_table->m_badCells.size() < 100)
        m_table->m_badCells.push_back({row, column, std::string(text.substr(0, kCellText))});
    if (column != NumberColumn::MotionScore)
        m_table->m_unreadableRows.push_back(row);
    m_table->m_numbers[index].push_back(std::numeric_limits<double>::quiet_NaN());
    m_table->m_integer[index] = false;
}

void TableBuilder::addNumber(NumberColumn column, double value, bool whole) { keep(column, value, whole); }

void TableBuilder::keep(NumberColumn column, double value, bool whole)
{
    const auto index = static_cast<std::size_t>(column);
    auto &values = m_table->m_numbers[index];
    const auto row = static_cast<std::int64_t>(values.size());
    if (std::isnan(value))
        m_empty[index].add(row);
    else if (std::isinf(value))
        m_infinite[index].add(row);
    else if (column <= NumberColumn::Width && value != std::floor(value))
        m_fractional[index].add(row);
    if (!whole)
        m_table->m_integer[index] = false;
    values.push_back(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);      // one NaN, for the fingerprint
}

Status TableBuilder::checkSize() const
{
    const std::string file = m_table->m_file.string();
    if (m_table->m_rows == 0)
        return Error(ExitCode::Data, "data.table-empty", file + " has a header but no rows; add the clips to train on", file);
    if (m_table->m_rows > kMaxRows) {
        return Error(ExitCode::Data, "data.table-too-long", file + " has " + formatCount(m_table->m_rows) + " rows; at most "
                     + formatCount(kMaxRows) + " can be shuffled, so split it", file);
    }
    return Done{};
}

void TableBuilder::noteEmptyTexts()
{
    for (std::int64_t row = 0; row < m_table->m_rows; ++row) {
        if (m_table->m_captions.at(row).empty())
            m_emptyCaptions.add(row);
        if (m_table->m_paths.at(row).empty())
            m_emptyPaths.add(row);
    }
}

void TableBuilder::warn(const std::string &code, const Rows &rows, const std::string &what)
{
    if (rows.count == 0)
        return;
    addProblem(Severity::Warning, code, describeRows(rows.first, rows.count) + " " + what);
}

void TableBuilder::addProblem(Severity severity, const std::string &code, const std::string &message)
{
    Problem problem;
    problem.severity = severity;
    problem.code = code;
    problem.file = m_table->m_file.string();
    problem.message = problem.file + ": " + message;
    m_table->m_problems.push_back(std::move(problem));
}

void TableBuilder::noteRenamed()
{
    std::string list;
    for (const auto &[written, role] : m_renamed)
        list += (list.empty() ? "\"" : ", \"") + written + "\" is read as " + role;
    if (!list.empty())
        addProblem(Severity::Hint, "data.column-alias", "the column " + list);
}

void TableBuilder::addProblems()
{
    noteRenamed();
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        const std::string name = columnName(static_cast<NumberColumn>(i));
        const bool score = static_cast<NumberColumn>(i) == NumberColumn::MotionScore;
        std::string example;
        for (const BadCell &cell : m_table->m_badCells) {
            if (static_cast<std::size_t>(cell.column) == i) {
                example = " (\"" + cell.text + "\")";
                break;
            }
        }
        warn("data.unreadable-value", m_unreadable[i], "hold text instead of a number in " + name + example
             + (score ? "; no motion score is said for them" : "; they are left out, so correct them"));
        warn("data.fractional-value", m_fractional[i], "hold a fraction in " + name + ", which should be whole; the bucket is chosen as if it were exact");
        warn("data.infinite-value", m_infinite[i], "are infinite in " + name + (static_cast<NumberColumn>(i) == NumberColumn::Fps
             ? "; they are left out, so correct them" : ""));
        if (!m_table->m_present[i])
            continue;
        if (static_cast<NumberColumn>(i) == NumberColumn::NumFrames)
            warn("data.missing-value", m_empty[i], "are empty in num_frames; they are left out, so fill them in");
        if (static_cast<NumberColumn>(i) == NumberColumn::Height || static_cast<NumberColumn>(i) == NumberColumn::Width)
            warn("data.missing-value", m_empty[i], "are empty in " + name + "; they go to the first aspect of the largest resolution, so fill them in");
    }
    warn("data.empty-caption", m_emptyCaptions, "have no caption; they train as text that says nothing (unconditional)");
    warn("data.empty-path", m_emptyPaths, "have no path; they will be replaced by other rows of their bucket");
}

std::string TableBuilder::computeFingerprint() const
{
    const Table &table = *m_table;
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    const auto add = [state](const void *data, std::size_t size) { XXH3_128bits_update(state, data, size); };
    for (const TextColumn *column : {&table.m_paths, &table.m_captions}) {
        std::vector<std::uint32_t> lengths(static_cast<std::size_t>(table.m_rows));
        for (std::int64_t row = 0; row < table.m_rows; ++row)
            lengths[row] = static_cast<std::uint32_t>(column->at(row).size());
        add(lengths.data(), lengths.size() * sizeof lengths[0]);
        add(column->at(0).data(), static_cast<std::size_t>(column->at(table.m_rows - 1).data() + column->at(table.m_rows - 1).size() - column->at(0).data()));
    }
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        const char flags = static_cast<char>(table.m_present[i] ? (table.m_integer[i] ? 2 : 1) : 0);
        add(&flags, 1);
        add(table.m_numbers[i].data(), table.m_numbers[i].size() * sizeof(double));
    }
    add(table.m_unreadableRows.data(), table.m_unreadableRows.size() * sizeof(std::int64_t));
    // What most tables do not have adds nothing, so that their fingerprints stay what they are.
    for (const TextColumn *column : {&table.m_otherCaptions, &table.m_files[0], &table.m_files[1], &table.m_files[2]}) {
        for (std::int64_t i = 0; i < column->size(); ++i) {
            const std::uint64_t length = column->at(i).size();
            add(&length, sizeof length);
            add(column->at(i).data(), length);
        }
    }
    add(table.m_otherCaptionRows.data(), table.m_otherCaptionRows.size() * sizeof(std::int64_t));
    for (const auto &[row, cutout] : table.m_cutouts) {
        const std::array<std::int64_t, 6> values{row, cutout.firstFrame, cutout.left, cutout.top, cutout.width, cutout.height};
        add(values.data(), sizeof values);
    }
    const std::string text = hex(XXH3_128bits_digest(state));
    XXH3_freeState(state);
    return text;
}

Result<std::shared_ptr<const Table>> TableBuilder::finish()
{
    m_table->m_rows = m_table->m_paths.size();
    if (Status status = checkSize(); !status)
        return status.error();
    std::vector<TextColumn *> texts{&m_table->m_paths, &m_table->m_captions, &m_table->m_otherCaptions};
    for (TextColumn &column : m_table->m_files)
        texts.push_back(&column);
    for (TextColumn *column : texts) {
        if (Status status = column->finish(); !status)
            return status.error();
    }
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        m_table->m_numbers[i].shrink_to_fit();
        m_table->m_integer[i] = m_table->m_integer[i] && m_table->m_present[i];
    }
    auto &rows = m_table->m_unreadableRows;
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    noteEmptyTexts();
    addProblems();
    m_table->m_fingerprint = computeFingerprint();
    return std::shared_ptr<const Table>(std::move(m_table));
}

} // namespace stagewright::table
