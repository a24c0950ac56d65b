#include <cerrno>
#include <fstream>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/table/json_scanner.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace {

using nlohmann::json;

constexpr std::size_t kChunk = 1 << 20;
constexpr std::int64_t kLongestObject = 16 << 20;      // bytes

// The roles of an annotation's fields (Open-Sora-Plan: opensora/dataset/t2v_datasets.py), with the names that the table's columns have elsewhere.
class AnnotationReader
{
public:
    AnnotationReader(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root)
        : m_file(file), m_options(options), m_builder(builder), m_root(root)
    {
    }

    Status read()
    {
        std::ifstream stream(m_file, std::ios::binary);
        if (!stream)
            return ioError("cannot read", m_file, errno);
        JsonScanner scanner;
        std::string chunk(kChunk, '\0');
        bool first = true;
        const auto take = [&](JsonScanner::Object &object) { return add(object); };
        while (stream.read(chunk.data(), static_cast<std::streamsize>(kChunk)) || stream.gcount() > 0) {
            std::string_view bytes(chunk.data(), static_cast<std::size_t>(stream.gcount()));
            if (std::exchange(first, false)) {
                if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
                    return failed("data.utf16", 1, "this file is UTF-16 (its first bytes are a UTF-16 byte order mark); save it as UTF-8");
                if (bytes.starts_with("\xef\xbb\xbf"))
                    bytes.remove_prefix(3);
            }
            if (!scanner.feed(bytes, take))
                return m_error ? *m_error : failed("data.table-unreadable", scanner.line(), scanner.problem());
        }
        if (!scanner.finish())
            return failed("data.table-unreadable", scanner.line(), scanner.problem());
        return conclude();
    }

private:
    Error failed(const char *code, std::int64_t line, const std::string &what) const
    {
        return Error(ExitCode::Data, code, m_file.string() + ":" + std::to_string(line) + ": " + what, m_file.string(), static_cast<int>(std::min<std::int64_t>(line, INT32_MAX)));
    }

    bool add(const JsonScanner::Object &object)
    {
        if (static_cast<std::int64_t>(object.text.size()) > kLongestObject) {
            m_error = failed("data.table-unreadable", object.line, "this annotation is longer than 16 MiB");
            return false;
        }
        if (std::size_t at = 0; !isUtf8(object.text, &at)) {
            m_error = failed("data.not-utf8", object.line + std::count(object.text.begin(), object.text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
                             "not UTF-8 in this annotation; save the file as UTF-8");
            return false;
        }
        const json value = json::parse(object.text, nullptr, /*allow_exceptions=*/false);
        if (value.is_discarded()) {
            m_error = failed("data.table-unreadable", object.line, "this annotation is not valid JSON; check its quotes and commas");
            return false;
        }
        if (m_rows == 0) {
            if (Status begun = begin(value); !begun) {
                m_error = begun.error();
                return false;
            }
        }
        if (Status added = addRow(value, object.line); !added)
            m_error = added.error();
        ++m_rows;
        return !m_error;
    }

    // Which fields there are is judged by the first annotation; conclude() looks at all of them.
    Status begin(const json &value)
    {
        ColumnMap map;
        std::vector<std::string> names;
        for (const auto &[name, ignored] : value.items())
            names.push_back(name);
        if (value.contains("resolution") && value["resolution"].is_object())
            names.insert(names.end(), {"height", "width"});
        ReadOptions lenient = m_options;
        lenient.needMeasures = lenient.needCaptions = false;
        auto mapped = mapColumns(names, m_file.string(), lenient);
        if (!mapped)
            return mapped.error();
        const auto nameAt = [&](int position) { return position < 0 ? std::string() : names[static_cast<std::size_t>(position)]; };
        m_path = nameAt(mapped->path);
        m_caption = nameAt(mapped->caption);
        if (m_caption.empty())
            m_caption = "cap";
        for (std::size_t i = 0; i < kNumberColumns; ++i) {
            const std::string found = nameAt(mapped->numbers[i]);
            m_numbers[i] = found.empty() ? columnName(static_cast<NumberColumn>(i)) : found;
        }
        std::erase_if(mapped->renamed, [](const auto &pair) { return pair.first == "cap"; });      // the format's own name
        mapped->numbers.fill(0);                       // each may appear later on
        mapped->numbers[static_cast<std::size_t>(NumberColumn::MotionScore)] = value.contains(m_numbers[static_cast<std::size_t>(NumberColumn::MotionScore)]) ? 0 : -1;
        m_builder.beginPart(m_file, *mapped, m_root);
        return Done{};
    }

    Status addRow(const json &value, std::int64_t line)
    {
        const auto path = value.find(m_path);
        if (path == value.end() || !path->is_string())
            return failed("data.missing-value", line, "this annotation has no \"" + m_path + "\"; every one must name its file");
        const std::string file = path->get<std::string>();
        if (Status status = m_builder.addPath(file); !status)
            return status;
        if (Status status = addCaptions(value); !status)
            return status;
        addNumbers(value, file);
        if (Status status = addFiles(value); !status)
            return status;
        return addCutout(value, line);
    }

    Status addCaptions(const json &value)
    {
        const auto caption = value.find(m_caption);
        m_captions += caption != value.end();
        if (caption == value.end() || caption->is_null())
            return m_builder.addCaption({});
        if (!caption->is_array())
            return m_builder.addCaption(caption->is_string() ? caption->get<std::string>() : caption->dump());
        bool first = true;
        for (const json &text : *caption) {
            const std::string written = text.is_string() ? text.get<std::string>() : text.dump();
            if (Status status = first ? m_builder.addCaption(written) : m_builder.addOtherCaption(written); !status)
                return status;
            first = false;
        }
        return first ? m_builder.addCaption({}) : Status(Done{});
    }

    void addNumbers(const json &value, const std::string &file)
    {
        const auto sizes = value.find("resolution");
        const bool nested = sizes != value.end() && sizes->is_object();
        for (std::size_t i = 0; i < kNumberColumns; ++i) {
            const auto column = static_cast<NumberColumn>(i);
            const bool size = column == NumberColumn::Height || column == NumberColumn::Width;
            const json &place = nested && size ? *sizes : value;
            const auto cell = place.find(nested && size ? std::string(columnName(column)) : m_numbers[i]);
            const bool there = cell != place.end() && !cell->is_null();
            m_seen[i] = m_seen[i] || there;
            if (!there && column == NumberColumn::NumFrames && isImagePath(file))
                m_builder.addNumber(column, 1, true);
            else if (!there)
                m_builder.addNumber(column, std::string_view());
            else if (cell->is_number())
                m_builder.addNumber(column, cell->get<double>(), cell->is_number_integer());
            else
                m_builder.addNumber(column, cell->is_string() ? cell->get<std::string>() : cell->dump());
            m_images += !there && column == NumberColumn::NumFrames && isImagePath(file);
        }
    }

    Status addFiles(const json &value)
    {
        for (std::size_t i = 0; i < kFileColumns; ++i) {
            const auto column = static_cast<FileColumn>(i);
            const auto cell = value.find(columnName(column));
            if (cell == value.end() || !cell->is_string())
                continue;
            while (m_builder.fileCount(column) < m_builder.rowCount() - 1) {
                if (Status status = m_builder.addFile(column, {}); !status)
                    return status;
            }
            if (Status status = m_builder.addFile(column, cell->get<std::string>()); !status)
                return status;
        }
        return Done{};
    }

    // cut: [first frame, end), of which num_frames tells the length; crop: [left, right, top, bottom].
    Status addCutout(const json &value, std::int64_t line)
    {
        Cutout cutout;
        if (const auto cut = value.find("cut"); cut != value.end() && !cut->is_null()) {
            if (!cut->is_array() || cut->empty() || !(*cut)[0].is_number() || (*cut)[0].get<double>() < 0)
                return failed("data.unreadable-value", line, "\"cut\" must be [first frame, end], both 0 or more");
            cutout.firstFrame = static_cast<std::int64_t>((*cut)[0].get<double>());
        }
        if (const auto crop = value.find("crop"); crop != value.end() && !crop->is_null()) {
            std::array<std::int64_t, 4> sides{};
            bool good = crop->is_array() && crop->size() == 4;
            for (std::size_t i = 0; good && i < 4; ++i) {
                good = (*crop)[i].is_number();
                if (good)
                    sides[i] = static_cast<std::int64_t>((*crop)[i].get<double>());
            }
            good = good && sides[0] >= 0 && sides[2] >= 0 && sides[1] > sides[0] && sides[3] > sides[2] && std::max(sides[1], sides[3]) <= 65536;
            if (!good)
                return failed("data.unreadable-value", line, "\"crop\" must be [left, right, top, bottom] in pixels, left < right and top < bottom");
            cutout.left = static_cast<int>(sides[0]);
            cutout.width = static_cast<int>(sides[1] - sides[0]);
            cutout.top = static_cast<int>(sides[2]);
            cutout.height = static_cast<int>(sides[3] - sides[2]);
        }
        if (!cutout.isWhole())
            m_builder.addCutout(m_builder.rowCount() - 1, cutout);
        return Done{};
    }

    Status conclude()
    {
        if (m_rows == 0)
            return Error(ExitCode::Data, "data.table-empty", m_file.string() + " has no annotations; add the clips to train on", m_file.string());
        std::vector<std::string> missing;
        if (m_options.needCaptions && m_captions == 0)
            missing.push_back("cap");
        for (const NumberColumn column : {NumberColumn::NumFrames, NumberColumn::Height, NumberColumn::Width, NumberColumn::Fps}) {
            const bool onlyImages = m_images == m_rows && (column == NumberColumn::NumFrames || column == NumberColumn::Fps);
            if (m_options.needMeasures && !m_seen[static_cast<std::size_t>(column)] && !onlyImages)
                missing.push_back(columnName(column));
        }
        if (!missing.empty()) {
            return Error(ExitCode::Data, "data.missing-column", m_file.string() + ": no annotation has " + joined(missing, ", ")
                         + (missing[0] == "cap" ? "; an annotation needs path, cap, resolution {height, width}, num_frames and fps"
                                                : ". They can be measured: stagewright-cli buckets CONFIG --probe writes a table that has them"), m_file.string());
        }
        return m_builder.endPart();
    }

    std::filesystem::path m_file;
    const ReadOptions &m_options;
    TableBuilder &m_builder;
    std::filesystem::path m_root;
    std::string m_path, m_caption;                     // names of these fields here
    std::array<std::string, kNumberColumns> m_numbers;
    std::array<bool, kNumberColumns> m_seen{};
    std::int64_t m_rows = 0, m_captions = 0, m_images = 0;
    std::optional<Error> m_error;
};

} // namespace

Status readJson(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root)
{
    return AnnotationReader(file, options, builder, root).read();
}

} // namespace stagewright::table
