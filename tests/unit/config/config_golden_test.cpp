// What the original's config parser (mmengine) made of a set of files, and what ours makes of them.
//
// The rule: a case without arguments, plain or not, must give exactly the recorded tree (types, order of keys), except
//  - files that need real Python are refused, whatever the original made of them: recognised by a statement or a lambda of such a kind in
//    the file or in one of its bases (found by a scan of our own below, not by the parser under test), or by a recorded value that is no literal;
//  - where the original recorded an error, we must refuse, too;
//  - `_delete_` inside bucket_config is never a resolution and never a frame count;
//  - "config_path" was added by the trainer and is in no file.
// Cases with arguments are about overrides and tested there.
#include <QTest>

#include <filesystem>
#include <regex>
#include <set>

#include "core/base/files.h"
#include "core/config/document.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;
using nlohmann::json;

namespace {

// The recorded tree as text; any difference of type, value or order shows.
std::string canonical(const json &typed, bool inTable, bool top, bool &literal)
{
    if (typed.is_null())
        return "None";
    if (typed.is_boolean())
        return typed.get<bool>() ? "True" : "False";
    if (typed.is_number_integer())
        return std::to_string(typed.get<std::int64_t>());
    if (typed.is_string())
        return toPython(Value(typed.get<std::string>()));
    if (typed.contains("float")) {
        const std::string text = typed["float"];
        return text == "inf" || text == "-inf" || text == "nan" ? "float('" + text + "')" : text;
    }
    if (typed.contains("list") || typed.contains("tuple")) {
        const bool list = typed.contains("list");
        std::string out = list ? "[" : "(";
        for (const json &item : typed[list ? "list" : "tuple"])
            out += canonical(item, false, false, literal) + ";";
        return out + (list ? "]" : ")");
    }
    if (typed.contains("dict")) {
        std::string out = "{";
        for (const json &entry : typed["dict"]) {
            if ((top && entry[0] == "config_path") || (inTable && entry[0] == "_delete_"))
                continue;
            out += canonical(entry[0], false, false, literal) + ":" + canonical(entry[1], inTable || (top && entry[0] == "bucket_config"), false, literal) + ";";
        }
        return out + "}";
    }
    literal = false;                     // a class, a function, a set …
    return "?";
}

std::string canonical(const Value &value)
{
    if (value.isSequence()) {
        std::string out = value.type() == Type::List ? "[" : "(";
        for (const Value &item : value.items())
            out += canonical(item) + ";";
        return out + (value.type() == Type::List ? "]" : ")");
    }
    if (value.isDict()) {
        std::string out = "{";
        for (const auto &[key, item] : value.dict())
            out += (key.isInteger() ? key.text() : toPython(Value(key.text()))) + ":" + canonical(item) + ";";
        return out + "}";
    }
    return toPython(value);
}

// Statements that only Python can run, in this file or in a base of it.
bool needsPython(const std::filesystem::path &file, std::set<std::string> &seen)
{
    if (!seen.insert(file.lexically_normal().string()).second)
        return false;
    const auto text = readFile(file);
    if (!text)
        return false;
    static const std::regex statement(R"((^|\n)[ \t]*(import|from|def|class|for|while|with|if|try|assert|async|@)\b|\blambda\b)");
    if (std::regex_search(*text, statement))
        return true;
    static const std::regex base(R"((^|\n)_base_\s*=\s*(\[[^\]]*\]|["'][^"']*["']))");
    std::smatch found;
    if (std::regex_search(*text, found, base)) {
        static const std::regex name(R"(["']([^"']+)["'])");
        const std::string list = found[2];
        for (std::sregex_iterator one(list.begin(), list.end(), name), end; one != end; ++one) {
            if (needsPython(file.parent_path() / (*one)[1].str(), seen))
                return true;
        }
    }
    return false;
}

} // namespace

class ConfigGoldenTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void resolvesAsTheOriginal_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("recorded");
        int cases = 0;
        for (const auto &resolved : support::goldenFiles("config", "resolved*.json")) {
            const json golden = support::readJson(resolved);
            for (const json &one : golden.at("cases")) {
                if (!one.at("args").empty())
                    continue;
                ++cases;
                const std::string config = one.at("config");
                QTest::newRow(config.c_str()) << QString::fromStdString((resolved.parent_path() / "files" / config).string()) << QByteArray::fromStdString(one.dump());
            }
        }
        QVERIFY2(cases > 0, "the golden folder holds no config cases");
    }

    void resolvesAsTheOriginal()
    {
        QFETCH(QString, file);
        QFETCH(QByteArray, recorded);
        const json one = json::parse(recorded.toStdString());
        const std::filesystem::path path = file.toStdString();
        bool literal = true;
        const std::string expected = one.contains("resolved_typed") ? canonical(one["resolved_typed"], false, true, literal) : std::string();
        std::set<std::string> seen;
        const bool refusal = one.contains("error") || !literal || needsPython(path, seen);
        const auto loaded = loadDocument(path);
        if (refusal) {
            QVERIFY2(!loaded.ok(), "must be refused");
            QVERIFY2(loaded.error().message().find(".py:") != std::string::npos, loaded.error().message().c_str());
            QVERIFY(loaded.error().problem.line > 0);
            return;
        }
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QCOMPARE(QString::fromStdString(canonical(Value::dict(loaded->values))), QString::fromStdString(expected));
    }

    void everyValueKnowsItsPlace()
    {
        for (const auto &resolved : support::goldenFiles("config", "resolved*.json")) {
            for (const auto &entry : std::filesystem::recursive_directory_iterator(resolved.parent_path() / "files")) {
                if (entry.path().extension() != ".py")
                    continue;
                const auto loaded = loadDocument(entry.path());
                if (loaded)
                    checkOrigins(Value::dict(loaded->values), entry.path().string(), true);
            }
        }
    }

private:
    void checkOrigins(const Value &value, const std::string &leaf, bool root)
    {
        if (!root) {
            QVERIFY(value.origin.file && value.origin.line > 0 && value.origin.column > 0);
            QCOMPARE(value.origin.kind == OriginKind::File, *value.origin.file == leaf);
        }
        if (value.isDict()) {
            for (const auto &[key, item] : value.dict())
                checkOrigins(item, leaf, false);
        }
    }
};

QTEST_GUILESS_MAIN(ConfigGoldenTest)
#include "config_golden_test.moc"
