#include "core/config/take_changes.h"

#include <map>

#include "core/config/known_key.h"
#include "core/config/stage.h"
#include "core/config/text_document.h"

namespace stagewright::config {

namespace {

constexpr std::size_t kMostSingleRows = 8;         // more than these are told more clearly by the whole table

// An expression that means the same in another file: as it was written, unless it uses names.
std::string spelledAlone(const Value &value)
{
    return !value.spelling.empty() && parseLiteral(value.spelling) ? value.spelling : toPython(value);
}

// The table that the path lies in.
const Option *tableOf(const std::string &path)
{
    const Option *option = governingOption(path);
    return option && option->path != path && option->type != OptionType::Any ? option : nullptr;
}

DictKey keyOf(const std::string &text)
{
    const bool number = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    return number ? DictKey{static_cast<std::int64_t>(std::stoll(text))} : DictKey{text};
}

// `path` below the table, its parts being keys.
std::vector<DictKey> keysBelow(const std::string &path, std::string_view table)
{
    std::vector<DictKey> keys;
    for (std::size_t begin = table.size() + 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        keys.push_back(keyOf(path.substr(begin, end - begin)));
        begin = end + 1;
    }
    return keys;
}

void setIn(Dict &dict, const std::vector<DictKey> &keys, std::size_t at, const std::optional<Value> &value)
{
    if (at + 1 == keys.size()) {
        if (value)
            dict.set(keys[at], *value);
        else
            dict.remove(keys[at]);
        return;
    }
    Value *inner = dict.find(keys[at]);
    if (!inner || !inner->isDict()) {
        if (!value)
            return;
        inner = &dict.set(keys[at], Value::dict({}));
    }
    setIn(inner->dict(), keys, at + 1, value);
    if (inner->dict().size() == 0)
        dict.remove(keys[at]);
}

std::string spelledKey(const DictKey &key)
{
    return key.isInteger() ? key.text() : toPython(Value(key.text()));
}

// A table as a person writes it: a row a line.
std::string tableText(const Dict &table, bool replacesBase)
{
    std::string text = replacesBase ? "{\n    \"_delete_\": True,\n" : "{\n";
    for (const auto &[key, value] : table) {
        text += "    " + spelledKey(key) + ": ";
        if (value.isDict()) {
            text += "{\n";
            for (const auto &[inner, row] : value.dict())
                text += "        " + spelledKey(inner) + ": " + spelledAlone(row) + ",\n";
            text += "    },\n";
        } else {
            text += spelledAlone(value) + ",\n";
        }
    }
    return text + "}";
}

class Taker
{
public:
    Taker(const std::string &text, const std::filesystem::path &file) : m_file(file), m_document(text, formatOf(file)) {}

    Status take(const std::vector<Change> &changes)
    {
        std::map<const Option *, std::vector<const Change *>> tables;
        for (const Change &change : changes) {
            if (const Option *table = tableOf(change.path))
                tables[table].push_back(&change);
            else if (auto status = takeOne(m_document, change); !status)
                return status;
        }
        for (const auto &[table, rows] : tables) {
            if (auto status = takeRows(*table, rows); !status)
                return status;
        }
        return Done{};
    }

    const std::string &text() const { return m_document.text(); }

private:
    Status takeOne(TextDocument &document, const Change &change) const
    {
        if (change.b)
            return document.setValue(change.path, spelledAlone(*change.b));
        if (document.removeKey(change.path))
            return Done{};
        const Option *option = findOption(change.path);
        if (option && option->nullable)                        // inherited: what cannot be taken out can be switched off
            return document.setValue(change.path, "None");
        return Error(ExitCode::Usage, "config.edit", change.path + " stands in a base file, so this file cannot take it out", m_file.string());
    }

    Result<Stage> resolved(const TextDocument &document) const { return stageFromText(document.text(), m_file); }

    bool holds(const TextDocument &document, const Option &table, const Dict &wanted) const
    {
        const auto stage = resolved(document);
        const Value *now = stage ? lookUp(stage->values(), table.path) : nullptr;
        return now && now->isDict() && sameTables(now->dict(), wanted);
    }

    static bool sameTables(const Dict &a, const Dict &b)
    {
        Stage left, right;
        left.values().set(DictKey{std::string("bucket_config")}, Value::dict(a));
        right.values().set(DictKey{std::string("bucket_config")}, Value::dict(b));
        return diff(left, right, Compare::AsWritten).empty();
    }

    Status takeRows(const Option &table, const std::vector<const Change *> &rows)
    {
        const auto now = resolved(m_document);
        if (!now)
            return now.error();
        const Value *set = lookUp(now->values(), table.path);
        Dict wanted = set && set->isDict() ? set->dict() : Dict();
        for (const Change *row : rows)
            setIn(wanted, keysBelow(row->path, table.path), 0, row->b);

        TextDocument attempt = m_document;
        bool made = rows.size() <= kMostSingleRows && set && set->isDict();
        for (const Change *row : rows)
            made = made && (row->b ? attempt.setValue(row->path, spelledAlone(*row->b)) : attempt.removeKey(row->path));
        for (const bool replacesBase : {false, true}) {
            if (made && holds(attempt, table, wanted))
                break;
            attempt = m_document;
            if (auto status = attempt.setValue(table.path, tableText(wanted, replacesBase)); !status)
                return status;
            made = true;
        }
        if (!holds(attempt, table, wanted))
            return Error(ExitCode::Usage, "config.edit", std::string(table.path) + " cannot be written into this file so that it holds these rows", m_file.string());
        m_document = std::move(attempt);
        return Done{};
    }

    std::filesystem::path m_file;
    TextDocument m_document;
};

} // namespace

Result<std::string> takeChanges(const std::string &text, const std::filesystem::path &file, const std::vector<Change> &changes)
{
    Taker taker(text, file);
    if (auto status = taker.take(changes); !status)
        return status.error();
    return taker.text();
}

} // namespace stagewright::config
