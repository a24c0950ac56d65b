#include <QtTest>

#include <set>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/config/problem_codes.h"
#include "core/config/schema.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;
using nlohmann::json;

namespace {

void collect(const json &schema, const std::string &prefix, std::set<std::string> &paths)
{
    for (const auto &[name, property] : schema["properties"].items()) {
        paths.insert(prefix + name);
        if (property.contains("properties"))
            collect(property, prefix + name + ".", paths);
    }
}

const json &propertyAt(const json &schema, const std::string &path)
{
    const json *at = &schema;
    for (const std::string &part : split(path, '.'))
        at = &(*at)["properties"][part];
    return *at;
}

} // namespace

class SchemaTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void schemaAndPageListTheDeclaredOptions();
    void schemaSaysTypesAndRanges();
    void schemaRefusesUnknownKeysButNotTheUsersOwn();
    void pageDescribesEveryCodeInBothLanguages();
};

void SchemaTest::schemaAndPageListTheDeclaredOptions()
{
    std::set<std::string> declared, inSchema, inPage;
    for (const Option &option : allOptions())
        declared.insert(std::string(option.path));
    const json schema = stageSchema();
    collect(schema, std::string(), inSchema);
    QVERIFY(inSchema == declared);
    for (const Language language : {Language::English, Language::Chinese}) {
        inPage.clear();
        const QString page = QString::fromStdString(referencePage(language));
        const QRegularExpression heading(QStringLiteral("^### `([^`]+)`$"), QRegularExpression::MultilineOption);
        for (auto it = heading.globalMatch(page); it.hasNext();)
            inPage.insert(it.next().captured(1).toStdString());
        QVERIFY(inPage == declared);
    }
}

void SchemaTest::schemaSaysTypesAndRanges()
{
    const json schema = stageSchema();
    QCOMPARE(schema["$schema"].get<std::string>(), std::string("https://json-schema.org/draft/2020-12/schema"));
    const json &clip = propertyAt(schema, "grad_clip");
    QVERIFY(clip["type"] == "number" && clip["minimum"] == 0.0 && clip["default"] == 0);
    const json &plugin = propertyAt(schema, "plugin");
    QVERIFY(plugin["enum"] == json({"zero1", "zero2", "hybrid"}));
    const json &decay = propertyAt(schema, "ema_decay");
    QVERIFY(decay["type"] == json({"number", "null"}) && decay["default"].is_null());
    const json &depths = propertyAt(schema, "model.grad_ckpt_settings");
    QVERIFY(depths["items"]["type"] == "integer" && depths["maxItems"] == 2);
    QVERIFY(propertyAt(schema, "bucket_config").contains("patternProperties"));
    QCOMPARE(propertyAt(schema, "grad_ckpt_buffer_size")["x-stagewright"]["unit"].get<std::string>(), std::string("elements"));
    QVERIFY(!propertyAt(schema, "grad_ckpt_buffer_size")["x-stagewright"]["title_zh"].get<std::string>().empty());
    for (const Option &option : allOptions()) {
        const json &property = propertyAt(schema, std::string(option.path));
        QVERIFY2(!property["title"].get<std::string>().empty() && !property["description"].get<std::string>().empty(), std::string(option.path).c_str());
    }
}

void SchemaTest::schemaRefusesUnknownKeysButNotTheUsersOwn()
{
    const json schema = stageSchema();
    QCOMPARE(schema["additionalProperties"].get<bool>(), false);
    QVERIFY(schema["patternProperties"].contains("^_"));
    QCOMPARE(propertyAt(schema, "model")["additionalProperties"].get<bool>(), false);
    QVERIFY(std::find(schema["required"].begin(), schema["required"].end(), "model") != schema["required"].end());
    const auto &required = propertyAt(schema, "model")["required"];
    QVERIFY(std::find(required.begin(), required.end(), "hidden_size") != required.end());
}

void SchemaTest::pageDescribesEveryCodeInBothLanguages()
{
    const std::string english = referencePage(), chinese = referencePage(Language::Chinese);
    std::string_view previous;
    for (const ProblemCode &code : problemCodes()) {
        QVERIFY2(previous < code.code, std::string(code.code).c_str());
        previous = code.code;
        const std::string line = "`" + std::string(code.code) + "`";
        QVERIFY2(english.find(line) != std::string::npos && chinese.find(line) != std::string::npos, line.c_str());
        QVERIFY(!code.meaning.en.empty() && !code.meaning.zh.empty());
    }
}

QTEST_GUILESS_MAIN(SchemaTest)
#include "schema_test.moc"
