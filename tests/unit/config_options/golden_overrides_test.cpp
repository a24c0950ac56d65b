// Command lines that were given to the original's parser. Where the original did what was meant, the result is the same. Where it is known to be
// at fault, by these rules and not by name, the right thing happens:
//   - it failed, or the tokens are no pairs of --key and value: the values have the declared types, or a sentence says what is wrong;
//   - its value has not the declared type ("(4,4)" as characters, 1 for True, None for a number, 1234 for a text): the same;
//   - it created a key that nothing reads: an error that names the key.
// lr, eps, grad_ckpt_settings and patch_size are also set where they are read.
#include <QtTest>

#include <nlohmann/json.hpp>

#include <set>

#include "core/base/text.h"
#include "core/config/known_key.h"
#include "core/config/option_value.h"
#include "tests/support/golden.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;
using nlohmann::json;

namespace {

Value valueOf(const json &typed)
{
    if (typed.is_null())
        return Value();
    if (typed.is_boolean())
        return Value(typed.get<bool>());
    if (typed.is_number_integer())
        return Value(typed.get<std::int64_t>());
    if (typed.is_string())
        return Value(typed.get<std::string>());
    if (typed.contains("float"))
        return Value(std::strtod(typed["float"].get<std::string>().c_str(), nullptr));
    if (typed.contains("dict")) {
        Dict dict;
        for (const json &entry : typed["dict"])
            dict.set(entry[0].is_string() ? DictKey(entry[0].get<std::string>()) : DictKey(entry[0].get<std::int64_t>()), valueOf(entry[1]));
        return Value::dict(std::move(dict));
    }
    const bool isTuple = typed.contains("tuple");
    List items;
    if (isTuple || typed.contains("list")) {
        for (const json &item : typed[isTuple ? "tuple" : "list"])
            items.push_back(valueOf(item));
    }
    return isTuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

struct Pair {
    std::string path, text;
};

// What the original takes for keys and values; nothing where the tokens are no such pairs.
std::optional<std::vector<Pair>> pairsOf(const std::vector<std::string> &args)
{
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
        if (!args[i].starts_with("--") || args[i].find('=') != std::string::npos)
            return std::nullopt;
        std::string path = args[i].substr(2);
        std::replace(path.begin(), path.end(), '-', '_');
        pairs.push_back({path, args[i + 1]});
    }
    return args.size() % 2 ? std::nullopt : std::optional(pairs);
}

bool isSplitIntoCharacters(const Value &value)
{
    return value.isSequence() && !value.items().empty()
        && std::all_of(value.items().begin(), value.items().end(), [](const Value &item) { return item.type() == Type::String && item.string().size() == 1; });
}

enum class Kind { Same, Faulty, Unknown };

Kind kindOf(const json &golden, const Stage &plain, const Dict &result)
{
    const auto pairs = pairsOf(golden["args"].get<std::vector<std::string>>());
    if (golden.contains("error") || !pairs) {
        return Kind::Faulty;
    }
    for (const Pair &pair : *pairs) {
        const Value *value = lookUp(result, pair.path);
        const Option *option = findOption(pair.path);
        const bool declared = governingOption(pair.path) || isUsersOwn(pair.path);
        if (!declared && !lookUp(plain.values(), pair.path))
            return Kind::Unknown;
        if (value && ((option && option->type != OptionType::Choice && typeFault(*option, *value)) || (option && value->isNone() && !option->nullable)))
            return Kind::Faulty;
        if (value && isSplitIntoCharacters(*value))
            return Kind::Faulty;
    }
    return Kind::Same;
}

// The top level of the plain stage with the golden's changes.
Dict resultOf(const json &golden, const Stage &plain)
{
    Dict result = plain.values();
    if (golden.contains("changed_typed")) {
        for (const json &entry : golden["changed_typed"])
            result.set(entry[0].get<std::string>(), valueOf(entry[1]));
    }
    return result;
}

// lr and its like, also where they are read.
void writeThrough(Dict &result, const std::vector<Pair> &pairs)
{
    for (const Pair &pair : pairs) {
        const Option *option = findOption(pair.path);
        const std::string target(option ? option->writesThroughTo : std::string_view());
        const bool alsoExplicit = std::any_of(pairs.begin(), pairs.end(), [&](const Pair &other) { return other.path == target; });
        if (target.empty() || alsoExplicit)
            continue;
        const auto dot = target.find('.');
        Value *section = result.find(target.substr(0, dot));
        if (!section)
            section = &result.set(target.substr(0, dot), Value::dict({}));
        section->dict().set(target.substr(dot + 1), *result.find(pair.path));
    }
}

std::string differences(const Dict &a, const Dict &b)
{
    std::string text;
    for (const auto &[key, value] : a) {
        const Value *other = b.find(key);
        if (!other || !(*other == value))
            text += key.text() + ": " + toPython(value) + " against " + (other ? toPython(*other) : "(absent)") + "\n";
    }
    for (const auto &[key, value] : b) {
        if (!a.find(key))
            text += key.text() + ": (absent) against " + toPython(value) + "\n";
    }
    return text;
}

} // namespace

class GoldenOverridesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void doesWhatWasMeant_data();
    void doesWhatWasMeant();
    void cleanupTestCase();

private:
    std::vector<json> m_cases;
    std::map<Kind, int> m_counts;
};

void GoldenOverridesTest::initTestCase()
{
    const auto files = support::goldenFiles("config", "*.json");
    QVERIFY2(!files.empty(), "no golden configs");
    for (const auto &file : files) {
        const json golden = support::readJson(file);
        for (const json &one : golden["cases"]) {
            if (!one["args"].empty())
                m_cases.push_back(one);
        }
    }
    QVERIFY2(!m_cases.empty(), "no golden case has arguments");
}

void GoldenOverridesTest::doesWhatWasMeant_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < m_cases.size(); ++i) {
        std::string name = std::to_string(i) + " " + m_cases[i]["config"].get<std::string>();
        for (const json &arg : m_cases[i]["args"])
            name += " " + arg.get<std::string>();
        QTest::newRow(name.c_str()) << int(i);
    }
}

void GoldenOverridesTest::doesWhatWasMeant()
{
    QFETCH(int, index);
    const json &golden = m_cases[std::size_t(index)];
    const auto file = support::goldenFolder("config") / "files" / golden["config"].get<std::string>();
    const auto plain = loadStage(file);
    QVERIFY2(plain.ok(), plain ? "" : plain.error().message().c_str());

    std::vector<std::string> tokens = golden["args"].get<std::vector<std::string>>();
    tokens.insert(tokens.begin(), file.string());
    Dict expected = resultOf(golden, *plain);
    const Kind kind = kindOf(golden, *plain, expected);
    ++m_counts[kind];

    const auto arguments = parseOverrides(tokens);
    const bool understood = arguments.ok() && expectPositionals(*arguments, 1, 1, "config file").ok();
    if (!understood) {
        QVERIFY2(kind != Kind::Same, arguments ? "unexpected positionals" : arguments.error().message().c_str());
        return;
    }
    const auto stage = loadStage(file, arguments->overrides);
    QVERIFY2(stage.ok(), stage ? "" : stage.error().message().c_str());

    if (kind == Kind::Same) {
        writeThrough(expected, *pairsOf(golden["args"].get<std::vector<std::string>>()));
        QVERIFY2(stage->values() == expected, differences(stage->values(), expected).c_str());
        QVERIFY2(!hasErrors(stage->problems()), listed(stage->problems()).c_str());
        return;
    }
    if (kind == Kind::Unknown) {
        QVERIFY2(find(stage->problems(), "config.unknown-key"), listed(stage->problems()).c_str());
        QVERIFY2(stage->values() == plain->values(), "a key that nothing reads is not created");
        return;
    }
    for (const Override &override : arguments->overrides) {
        const bool refused = find(stage->problems(), "config.override-value", override.path) || find(stage->problems(), "config.unknown-key", override.path);
        const Value *value = lookUp(stage->values(), override.path);
        const Option *option = findOption(override.path);
        if (refused)
            continue;
        QVERIFY2(value, (override.path + " was neither set nor refused").c_str());
        if (option && option->type != OptionType::Choice)
            QVERIFY2(!typeFault(*option, *value), (override.path + " = " + toPython(*value)).c_str());
        QVERIFY2(!isSplitIntoCharacters(*value), (override.path + " = " + toPython(*value)).c_str());
    }
}

void GoldenOverridesTest::cleanupTestCase()
{
    qInfo("%d alike, %d where the original is at fault, %d unknown keys", m_counts[Kind::Same], m_counts[Kind::Faulty], m_counts[Kind::Unknown]);
    QVERIFY(m_counts[Kind::Same] > 0);
}

QTEST_GUILESS_MAIN(GoldenOverridesTest)
#include "golden_overrides_test.moc"
