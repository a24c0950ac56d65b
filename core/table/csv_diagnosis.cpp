#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/table/csv_scanner.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

Error csvError(const fs::path &file, const char *code, std::int64_t line, const std::string &what)
{
    const std::string place = file.string() + (line > 0 ? ":" + std::to_string(line) : std::string());
    return Error(ExitCode::Data, code, place + ": " + what, file.string(), static_cast<int>(std::min<std::int64_t>(line, INT32_MAX)));
}

// Feeds a file to the scanner, the byte order mark left out.
template <class Found>
Status scan(const fs::path &file, Found &&found)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return ioError("cannot read", file, errno);
    CsvScanner scanner;
    std::string chunk(kChunk, '\0');
    bool first = true;
    while (stream.read(chunk.data(), static_cast<std::streamsize>(kChunk)) || stream.gcount() > 0) {
        std::string_view bytes(chunk.data(), static_cast<std::size_t>(stream.gcount()));
        if (std::exchange(first, false) && bytes.starts_with(kUtf8Mark))
            bytes.remove_prefix(kUtf8Mark.size());
        if (!scanner.feed(bytes, found))
            return Done{};
    }
    scanner.finish(found);
    return Done{};
}

// Double-byte encodings of Chinese come in pairs of a high lead byte and a trail byte; Latin text has single high bytes.
const char *likelyEncoding(std::string_view field)
{
    std::size_t pairs = 0, singles = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
        const auto lead = static_cast<unsigned char>(field[i]);
        if (lead < 0x80)
            continue;
        const auto trail = i + 1 < field.size() ? static_cast<unsigned char>(field[i + 1]) : 0;
        if (lead >= 0x81 && lead <= 0xfe && trail >= 0xa1) {
            ++pairs;
            ++i;
        } else {
            ++singles;
        }
    }
    return pairs > singles ? "GBK or Big5" : "Latin-1 or Windows-1252";
}

std::optional<Error> checkUtf8(const fs::path &file, const CsvScanner::Record &record, const std::vector<std::string> &header)
{
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
        std::size_t at = 0;
        if (isUtf8(record.fields[i], &at))
            continue;
        const std::string &field = record.fields[i];
        const auto line = record.line + std::count(field.begin(), field.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        char byte[8];
        std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(field[at]));
        const std::string column = i < header.size() ? "column " + header[i] : "field " + std::to_string(i + 1);
        return csvError(file, "data.not-utf8", line, "not UTF-8: byte " + std::string(byte) + " in " + column + " at byte " + std::to_string(at + 1)
                        + " of the field; it is probably " + likelyEncoding(field) + ". Save the table as UTF-8");
    }
    return std::nullopt;
}

std::string shortened(const CsvScanner::Record &record)
{
    std::string text = joined(record.fields, ",");
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.size() <= 60)
        return text;
    std::size_t end = 57;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return text.substr(0, end) + "…";
}

std::optional<Error> checkRecord(const fs::path &file, const CsvScanner::Record &record, const std::vector<std::string> &header)
{
    if (record.unterminated)
        return csvError(file, "data.open-quote", record.line, "a quote that opens in this row never closes; close it, or double it if it belongs to the text");
    if (auto error = checkUtf8(file, record, header))
        return error;
    if (header.empty() || record.fields.size() == header.size())
        return std::nullopt;
    return csvError(file, "data.field-count", record.line, "this row has " + std::to_string(record.fields.size()) + " fields and the header has "
                    + std::to_string(header.size()) + " (" + shortened(record) + "); put texts that contain a comma into double quotes");
}

std::optional<Error> checkFirstBytes(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return ioError("cannot read", file, errno);
    std::string start(512, '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
    if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff"))
        return csvError(file, "data.utf16", 1, "this table is UTF-16 (its first bytes are a UTF-16 byte order mark); save it as UTF-8");
    if (start.find('\0') != std::string::npos)
        return csvError(file, "data.not-text", 1, "this is not a text file (it contains zero bytes): perhaps UTF-16 without a mark, or another format with the wrong name. Save it as CSV in UTF-8");
    return std::nullopt;
}

} // namespace

Result<std::vector<std::string>> readCsvHeader(const fs::path &file)
{
    if (auto error = checkFirstBytes(file))
        return *error;
    std::vector<std::string> header;
    std::optional<Error> problem;
    const Status read = scan(file, [&](CsvScanner::Record &record) {
        problem = checkRecord(file, record, {});
        header = std::move(record.fields);
        return false;
    });
    if (!read)
        return read.error();
    if (problem)
        return *problem;
    if (header.empty())
        return csvError(file, "data.table-empty", 1, "there is no header, only blank lines; the first line must name the columns");
    return header;
}

Error diagnoseCsv(const fs::path &file, const std::string &fallback)
{
    std::vector<std::string> header;
    std::optional<Error> problem;
    const Status read = scan(file, [&](CsvScanner::Record &record) {
        problem = checkRecord(file, record, header);
        if (header.empty())
            header = std::move(record.fields);
        return !problem;
    });
    if (!read)
        return read.error();
    return problem ? *problem : csvError(file, "data.table-unreadable", 0, fallback);
}

} // namespace stagewright::table
