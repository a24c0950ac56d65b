#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/api.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include "core/base/text.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace {

constexpr std::int64_t kBatchRows = 64 * 1024;

struct Failure {                                       // unwinds a reader; becomes an Error at its one catch
    Error error;
};

class ParquetTable
{
public:
    ParquetTable(std::filesystem::path file, const ReadOptions &options) : m_file(std::move(file)), m_options(options) {}

    void read(TableBuilder &builder, const std::filesystem::path &root)
    {
        open();
        const std::vector<int> columns = chooseColumns();
        auto batches = must(m_reader->GetRecordBatchReader(allRowGroups(), columns));
        builder.beginPart(m_file, m_map, root);
        for (;;) {
            std::shared_ptr<arrow::RecordBatch> batch;
            check(batches->ReadNext(&batch));
            if (!batch)
                break;
            addBatch(builder, *batch);
        }
        check(builder.endPart());
    }

private:
    [[noreturn]] void fail(const char *code, const std::string &what) const
    {
        throw Failure{Error(ExitCode::Data, code, m_file.string() + ": " + what, m_file.string())};
    }
    void check(const arrow::Status &status) const
    {
        if (!status.ok())
            fail("data.table-unreadable", "cannot be read as Parquet: " + status.message() + ". The file is damaged or cut off; write it again");
    }
    template <class T>
    T must(arrow::Result<T> result) const
    {
        check(result.status());
        return std::move(result).ValueUnsafe();
    }
    static void check(const Status &status)
    {
        if (!status)
            throw Failure{status.error()};
    }

    void open()
    {
        auto input = must(arrow::io::ReadableFile::Open(m_file.string()));
        parquet::ArrowReaderProperties properties(/*use_threads=*/true);
        properties.set_batch_size(kBatchRows);
        parquet::arrow::FileReaderBuilder builder;
        check(builder.Open(input));
        builder.properties(properties);
        check(builder.Build(&m_reader));
    }

    std::vector<int> allRowGroups() const
    {
        std::vector<int> groups(static_cast<std::size_t>(m_reader->num_row_groups()));
        for (std::size_t i = 0; i < groups.size(); ++i)
            groups[i] = static_cast<int>(i);
        return groups;
    }

    // Leaf columns to read. Columns of ours are flat, so a top-level field's position is found by its name in the batches.
    std::vector<int> chooseColumns()
    {
        std::shared_ptr<arrow::Schema> schema;
        check(m_reader->GetSchema(&schema));
        const auto map = mapColumns(schema->field_names(), m_file.string(), m_options);
        if (!map)
            throw Failure{map.error()};
        m_map = *map;
        m_names = schema->field_names();
        std::vector<int> leaves;
        const auto take = [&](int position) {
            if (position < 0)
                return;
            const std::string &name = schema->field(position)->name();
            const parquet::SchemaDescriptor &descriptor = *m_reader->parquet_reader()->metadata()->schema();
            for (int leaf = 0; leaf < descriptor.num_columns(); ++leaf) {
                if (descriptor.GetColumnRoot(leaf)->name() == name)
                    leaves.push_back(leaf);
            }
        };
        take(m_map.path);
        take(m_map.caption);
        for (const int position : m_map.numbers)
            take(position);
        for (const int position : m_map.files)
            take(position);
        return leaves;
    }

    std::shared_ptr<arrow::Array> column(const arrow::RecordBatch &batch, int position) const
    {
        const std::string &name = m_names[static_cast<std::size_t>(position)];
        auto array = batch.GetColumnByName(name);
        if (!array)
            fail("data.table-unreadable", "the column " + name + " cannot be found again; write the file again");
        if (array->type_id() == arrow::Type::DICTIONARY) {
            const auto &type = static_cast<const arrow::DictionaryType &>(*array->type());
            array = must(arrow::compute::Cast(*array, type.value_type()));
        }
        return array;
    }

    void addBatch(TableBuilder &builder, const arrow::RecordBatch &batch)
    {
        addTexts(*column(batch, m_map.path), "path", [&](std::string_view text) { return builder.addPath(text); });
        if (m_map.caption >= 0)
            addTexts(*column(batch, m_map.caption), "text", [&](std::string_view text) { return builder.addCaption(text); });
        for (std::size_t i = 0; i < kFileColumns; ++i) {
            const auto which = static_cast<FileColumn>(i);
            if (m_map.files[i] >= 0)
                addTexts(*column(batch, m_map.files[i]), columnName(which), [&](std::string_view text) { return builder.addFile(which, text); });
        }
        for (std::size_t i = 0; i < kNumberColumns; ++i) {
            if (m_map.numbers[i] >= 0)
                addNumbers(builder, static_cast<NumberColumn>(i), *column(batch, m_map.numbers[i]));
        }
        m_rows += batch.num_rows();
    }

    void addTexts(const arrow::Array &array, const char *name, auto &&add) const
    {
        if (array.type_id() == arrow::Type::NA) {
            for (std::int64_t i = 0; i < array.length(); ++i)
                check(add(std::string_view{}));
            return;
        }
        // Numbers as captions ("2024") become their text.
        const auto text = must(arrow::compute::Cast(array, arrow::large_utf8()));
        if (!arrow::is_base_binary_like(array.type_id()) && !arrow::is_primitive(array.type_id()))
            fail("data.column-type", std::string("the column ") + name + " holds " + array.type()->ToString() + " and must hold text");
        const auto &cells = static_cast<const arrow::LargeStringArray &>(*text);
        for (std::int64_t i = 0; i < cells.length(); ++i) {
            const std::string_view cell = cells.IsNull(i) ? std::string_view{} : cells.GetView(i);
            if (!isUtf8(cell))
                fail("data.not-utf8", std::string("the column ") + name + " holds bytes that are not UTF-8 in row " + std::to_string(m_rows + i)
                     + "; write the file again as UTF-8");
            check(add(cell));
        }
    }

    void addNumbers(TableBuilder &builder, NumberColumn which, const arrow::Array &array) const
    {
        if (arrow::is_base_binary_like(array.type_id())) {
            const auto text = must(arrow::compute::Cast(array, arrow::large_utf8()));
            const auto &cells = static_cast<const arrow::LargeStringArray &>(*text);
            for (std::int64_t i = 0; i < cells.length(); ++i)
                builder.addNumber(which, cells.IsNull(i) ? std::string_view{} : cells.GetView(i));
            return;
        }
        const bool number = arrow::is_integer(array.type_id()) || arrow::is_floating(array.type_id()) || arrow::is_decimal(array.type_id())
            || array.type_id() == arrow::Type::NA;
        if (!number)
            fail("data.column-type", std::string("the column ") + columnName(which) + " holds " + array.type()->ToString() + " and must hold numbers");
        const auto cast = must(arrow::compute::Cast(array, arrow::float64(), arrow::compute::CastOptions::Unsafe()));
        const auto &cells = static_cast<const arrow::DoubleArray &>(*cast);
        const bool whole = arrow::is_integer(array.type_id());
        for (std::int64_t i = 0; i < cells.length(); ++i)
            builder.addNumber(which, cells.IsNull(i) ? std::numeric_limits<double>::quiet_NaN() : cells.Value(i), whole && !cells.IsNull(i));
    }

    std::filesystem::path m_file;
    ReadOptions m_options;
    std::unique_ptr<parquet::arrow::FileReader> m_reader;
    ColumnMap m_map;
    std::vector<std::string> m_names;                  // of the file's columns
    std::int64_t m_rows = 0;                           // read so far
};

} // namespace

Status readParquet(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root)
{
    (void)arrow::compute::Initialize();
    try {
        ParquetTable(file, options).read(builder, root);
        return Done{};
    } catch (const Failure &failure) {
        return failure.error;
    }
}

} // namespace stagewright::table
