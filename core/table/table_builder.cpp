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

TableBuilder::TableBuilder(std::filesystem::path absoluteFile, std::array<bool, kNumberColumns> present)
    : m_table(std::make_shared<Table>())
{
    m_table->m_file = std::move(absoluteFile);
    m_table->m_present = present;
    m_table->m_integer = present;
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

Status TableBuilder::checkLengths()
{
    Table &table = *m_table;
    table.m_rows = table.m_paths.size();
    const auto mismatch = [&](std::int64_t length) { return length != table.m_rows; };
    bool wrong = mismatch(table.m_captions.size());
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        auto &values = table.m_numbers[i];
        if (!table.m_present[i])
            values.assign(static_cast<std::size_t>(table.m_rows), std::numeric_limits<double>::quiet_NaN());
        wrong = wrong || mismatch(static_cast<std::int64_t>(values.size()));
        values.shrink_to_fit();
    }
    const std::string file = table.m_file.string();
    if (wrong)
        return Error(ExitCode::Data, "data.table-unreadable", file + ": its columns have different lengths; the file is damaged, write it again", file);
    if (table.m_rows == 0)
        return Error(ExitCode::Data, "data.table-empty", file + " has a header but no rows; add the clips to train on", file);
    if (table.m_rows > kMaxRows) {
        return Error(ExitCode::Data, "data.table-too-long", file + " has " + formatCount(table.m_rows) + " rows; at most "
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
    Problem problem;
    problem.severity = Severity::Warning;
    problem.code = code;
    problem.file = m_table->m_file.string();
    problem.message = problem.file + ": " + describeRows(rows.first, rows.count) + " " + what;
    m_table->m_problems.push_back(std::move(problem));
}

void TableBuilder::addProblems()
{
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
    const std::string text = hex(XXH3_128bits_digest(state));
    XXH3_freeState(state);
    return text;
}

Result<std::shared_ptr<const Table>> TableBuilder::finish()
{
    for (TextColumn *column : {&m_table->m_paths, &m_table->m_captions}) {
        if (Status status = column->finish(); !status)
            return status.error();
    }
    if (Status status = checkLengths(); !status)
        return status.error();
    auto &rows = m_table->m_unreadableRows;
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    noteEmptyTexts();
    addProblems();
    m_table->m_fingerprint = computeFingerprint();
    return std::shared_ptr<const Table>(std::move(m_table));
}

} // namespace stagewright::table
