#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/config/option.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

using Tokens = std::vector<std::string>;
Q_DECLARE_METATYPE(Tokens)

namespace {

// In the manner of Open-Sora's own configs: variables, and sections built from them.
const char *const kStage = R"(
lr = 2e-5
eps = 1e-12
grad_ckpt_settings = (1, 100)
model = dict(type="flux", depth=2, grad_ckpt_settings=grad_ckpt_settings, from_pretrained=None, mlp_ratio=4.0)
optim = dict(cls="HybridAdam", lr=lr, eps=eps)
bucket_config = {"256px": {1: (1.0, 6), 5: (0.5, 3)}, "512px": {1: (0.25, 2)}}
ema_decay = None
async_io = False
epochs = 10
dtype = "bf16"
exp_name = "mine"
a = dict(b=dict(c=1))
b = 3
pin_memory_cache_pre_alloc_numels = [1024]
plugin_config = dict(reduce_bucket_size_in_m=128)
)";

QString valueAt(const Stage &stage, const QString &path)
{
    const Value *value = lookUp(stage.values(), path.toStdString());
    return value ? QString::fromStdString(toPython(*value)) : QStringLiteral("(absent)");
}

} // namespace

class OverridesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void splitsTokens_data();
    void splitsTokens();
    void refusesTokens_data();
    void refusesTokens();
    void explainsTooManyPositionals();
    void convertsByTheDeclaredType_data();
    void convertsByTheDeclaredType();
    void refusesValuesOfAnotherType_data();
    void refusesValuesOfAnotherType();
    void writesVariablesThroughToWhatIsRead_data();
    void writesVariablesThroughToWhatIsRead();
    void saysWhenVariableAndOptionAreBothGiven();
    void refusesUnknownKeysAndNamesTheNearest_data();
    void refusesUnknownKeysAndNamesTheNearest();
    void walksTheRealPathOfKeysThatTheFileHas();
    void takesTheUsersOwnNames();
    void turnsSizesIntoElementsOfTheFinalDtype();
    void replacesTablesAndRows();
    void laterOverridesWin();
    void recordsWhereValuesCameFrom();
    void createsSectionsThatAreOff();
};

void OverridesTest::splitsTokens_data()
{
    QTest::addColumn<Tokens>("tokens");
    QTest::addColumn<Tokens>("overrides");
    QTest::addColumn<Tokens>("positional");
    using L = Tokens;
    QTest::addRow("pair") << L{"stage.py", "--optim.lr", "1e-4"} << L{"optim.lr=1e-4"} << L{"stage.py"};
    QTest::addRow("before the config") << L{"--optim.lr", "1e-4", "stage.py"} << L{"optim.lr=1e-4"} << L{"stage.py"};
    QTest::addRow("equals") << L{"--optim.lr=1e-4", "stage.py"} << L{"optim.lr=1e-4"} << L{"stage.py"};
    QTest::addRow("equals in the value") << L{"--exp_name=a=b"} << L{"exp_name=a=b"} << L{};
    QTest::addRow("empty value") << L{"--exp_name="} << L{"exp_name="} << L{};
    QTest::addRow("set") << L{"--set", "dataset.data-path=x y.csv"} << L{"dataset.data_path=x y.csv"} << L{};
    QTest::addRow("dashes") << L{"--dataset.data-path", "a-b.csv"} << L{"dataset.data_path=a-b.csv"} << L{};
    QTest::addRow("flag at the end") << L{"stage.py", "--wandb"} << L{"wandb=True"} << L{"stage.py"};
    QTest::addRow("flag before a flag") << L{"--async_io", "--seed", "3"} << L{"async_io=True", "seed=3"} << L{};
    QTest::addRow("flag before the config") << L{"--async_io", "stage.py"} << L{"async_io=True"} << L{"stage.py"};
    QTest::addRow("flag with a value") << L{"--async-io", "no", "stage.py"} << L{"async_io=no"} << L{"stage.py"};
    QTest::addRow("negative number") << L{"--start_step", "-3"} << L{"start_step=-3"} << L{};
    QTest::addRow("value with spaces and brackets") << L{"--grad_ckpt_settings", "(4, 20)"} << L{"grad_ckpt_settings=(4, 20)"} << L{};
    QTest::addRow("after the end of options") << L{"--seed", "1", "--", "--odd.py"} << L{"seed=1"} << L{"--odd.py"};
    QTest::addRow("a stray value") << L{"stage.py", "--wandb=True", "3"} << L{"wandb=True"} << L{"stage.py", "3"};
}

void OverridesTest::splitsTokens()
{
    QFETCH(Tokens, tokens);
    QFETCH(Tokens, overrides);
    QFETCH(Tokens, positional);
    const auto parsed = parseOverrides(tokens);
    QVERIFY2(parsed.ok(), parsed ? "" : parsed.error().message().c_str());
    Tokens got;
    for (const Override &override : parsed->overrides)
        got.push_back(override.path + "=" + override.text);
    QVERIFY2(got == overrides, joined(got, " ").c_str());
    QVERIFY2(parsed->positional == positional, joined(parsed->positional, " ").c_str());
}

void OverridesTest::refusesTokens_data()
{
    QTest::addColumn<Tokens>("tokens");
    QTest::addColumn<QString>("says");
    using L = Tokens;
    QTest::addRow("one dash") << L{"-x", "1"} << "two dashes";
    QTest::addRow("no value") << L{"--optim.lr"} << "needs a value";
    QTest::addRow("no value before a key") << L{"--optim.lr", "--seed", "3"} << "needs a value";
    QTest::addRow("set without equals") << L{"--set", "lr"} << "key=value";
    QTest::addRow("set without anything") << L{"--set"} << "key=value";
    QTest::addRow("empty part") << L{"--optim..lr", "3"} << "empty part";
    QTest::addRow("only dots") << L{"--.lr", "3"} << "empty part";
}

void OverridesTest::refusesTokens()
{
    QFETCH(Tokens, tokens);
    QFETCH(QString, says);
    const auto parsed = parseOverrides(tokens);
    QVERIFY(!parsed.ok());
    QCOMPARE(parsed.error().exit, ExitCode::Usage);
    QVERIFY2(QString::fromStdString(parsed.error().message()).contains(says), parsed.error().message().c_str());
}

void OverridesTest::explainsTooManyPositionals()
{
    const auto shell = parseOverrides({"stage.py", "--load", "run/epoch0-global_step200", "run/epoch0-global_step1000"});
    QVERIFY(shell.ok());
    const Status two = expectPositionals(*shell, 1, 1, "config file");
    QVERIFY(!two.ok());
    const QString sentence = QString::fromStdString(two.error().message());
    QVERIFY2(sentence.contains(QStringLiteral("--load")) && sentence.contains(QStringLiteral("global_step200")) && sentence.contains(QStringLiteral("global_step1000")),
        qPrintable(sentence));
    QVERIFY(!expectPositionals(*parseOverrides({}), 1, 1, "config file").ok());
    QVERIFY(expectPositionals(*parseOverrides({"--load", "x", "stage.py"}), 1, 1, "config file").ok());
    QVERIFY(!expectPositionals(*parseOverrides({"a.py", "b"}), 1, 1, "config file").ok());
}

// The right-hand column of what people type at Open-Sora's trainer, row by row.
void OverridesTest::convertsByTheDeclaredType_data()
{
    QTest::addColumn<Tokens>("tokens");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("value");
    using L = Tokens;
    QTest::addRow("float") << L{"--optim.lr", "1e-4"} << "optim.lr" << "0.0001";
    QTest::addRow("tuple") << L{"--model.grad_ckpt_settings", "(4,4)"} << "model.grad_ckpt_settings" << "(4, 4)";
    QTest::addRow("list") << L{"--model.grad_ckpt_settings", "[4,4]"} << "model.grad_ckpt_settings" << "[4, 4]";
    QTest::addRow("tuple without brackets") << L{"--model.grad_ckpt_settings", "4,20"} << "model.grad_ckpt_settings" << "(4, 20)";
    QTest::addRow("empty tuple") << L{"--model.grad_ckpt_settings", "()"} << "model.grad_ckpt_settings" << "()";
    QTest::addRow("list of integers") << L{"--pin_memory_cache_pre_alloc_numels", "[1]"} << "pin_memory_cache_pre_alloc_numels" << "[1]";
    QTest::addRow("a file's None") << L{"--ema_decay", "0.9999"} << "ema_decay" << "0.9999";
    QTest::addRow("exponent for an integer") << L{"--epochs", "1e3"} << "epochs" << "1000";
    QTest::addRow("whole float") << L{"--ckpt_every", "2.0"} << "ckpt_every" << "2";
    QTest::addRow("whole float in a section") << L{"--model.depth", "19.0"} << "model.depth" << "19";
    QTest::addRow("hexadecimal") << L{"--seed", "0x10"} << "seed" << "16";
    QTest::addRow("underscores") << L{"--grad_ckpt_buffer_size", "25_000"} << "grad_ckpt_buffer_size" << "25000";
    QTest::addRow("arithmetic") << L{"--grad_ckpt_buffer_size", "25*1024**3"} << "grad_ckpt_buffer_size" << "26843545600";
    QTest::addRow("leading zeros") << L{"--epochs", "0012"} << "epochs" << "12";
    QTest::addRow("blanks") << L{"--epochs", " 4 "} << "epochs" << "4";
    for (const char *yes : {"1", "yes", "True", "true", "TRUE", "on"})
        QTest::addRow("yes: %s", yes) << L{"--async_io", yes} << "async_io" << "True";
    for (const char *no : {"0", "no", "False", "false", "off"})
        QTest::addRow("no: %s", no) << L{"--async_io", no} << "async_io" << "False";
    for (const char *name : {"0012", "1e5", "240101_120000", "True", "'q'", "[1]", "1,2"})
        QTest::addRow("text stays: %s", name) << L{"--exp_name", name} << "exp_name" << QString::fromStdString(toPython(Value(name)));
    QTest::addRow("empty text") << L{"--exp_name", ""} << "exp_name" << "''";
    QTest::addRow("none for a text") << L{"--exp_name", "none"} << "exp_name" << "None";
    QTest::addRow("path of digits") << L{"--model.from_pretrained", "1234"} << "model.from_pretrained" << "'1234'";
    QTest::addRow("none for a path") << L{"--model.from-pretrained", "NONE"} << "model.from_pretrained" << "None";
    QTest::addRow("none for a number") << L{"--warmup_steps", "none"} << "warmup_steps" << "None";
    QTest::addRow("pair of floats") << L{"--optim.betas", "(0.8,0.9)"} << "optim.betas" << "(0.8, 0.9)";
    QTest::addRow("float keeps being one") << L{"--optim.eps", "1"} << "optim.eps" << "1.0";
    QTest::addRow("infinite") << L{"--model.mlp_ratio", "inf"} << "model.mlp_ratio" << "float('inf')";
    QTest::addRow("out of range is set, and validate() says so") << L{"--warmup_steps", "-3"} << "warmup_steps" << "-3";
    QTest::addRow("GiB of a device") << L{"--memory_limit", "24 GiB"} << "memory_limit" << "24.0";
}

void OverridesTest::convertsByTheDeclaredType()
{
    QFETCH(Tokens, tokens);
    QFETCH(QString, path);
    QFETCH(QString, value);
    const Stage stage = stageOf(kStage, tokens);
    QVERIFY2(!hasErrors(stage.problems()), listed(stage.problems()).c_str());
    QCOMPARE(valueAt(stage, path), value);
}

void OverridesTest::refusesValuesOfAnotherType_data()
{
    QTest::addColumn<Tokens>("tokens");
    QTest::addColumn<QString>("says");
    using L = Tokens;
    QTest::addRow("word for a number") << L{"--optim.lr", "fast"} << "must be a number";
    QTest::addRow("word for a top-level number") << L{"--lr", "abc"} << "must be a number";
    QTest::addRow("none for what cannot be none") << L{"--lr", "none"} << "cannot be None";
    QTest::addRow("none for dtype") << L{"--dtype", "none"} << "cannot be None";
    QTest::addRow("fraction for an integer") << L{"--epochs", "1.5"} << "whole number";
    QTest::addRow("true for an integer") << L{"--epochs", "True"} << "whole number";
    QTest::addRow("word for a boolean") << L{"--async_io=perhaps"} << "true or false";
    QTest::addRow("two for a boolean") << L{"--async_io=2"} << "true or false";
    QTest::addRow("one number for two") << L{"--model.grad_ckpt_settings", "8"} << "two numbers";
    QTest::addRow("three numbers for two") << L{"--model.grad_ckpt_settings", "(1,2,3)"} << "exactly two";
    QTest::addRow("texts in a list of integers") << L{"--pin_memory_cache_pre_alloc_numels", "['a']"} << "whole numbers";
    QTest::addRow("list for a table") << L{"--bucket_config", "[1]"} << "dict of resolutions";
    QTest::addRow("number for a section") << L{"--optim", "3"} << "a dict";
    QTest::addRow("unit that is none") << L{"--grad_ckpt_buffer_size", "25 apples"} << "size such as 25GiB";
}

void OverridesTest::refusesValuesOfAnotherType()
{
    QFETCH(Tokens, tokens);
    QFETCH(QString, says);
    const Stage before = stageOf(kStage), stage = stageOf(kStage, tokens);
    QVERIFY2(hasErrors(stage.problems()), listed(stage.problems()).c_str());
    const Problem &problem = stage.problems().front();
    QVERIFY2(QString::fromStdString(problem.message).contains(says), problem.message.c_str());
    QVERIFY2(stage.values() == before.values(), "what cannot be understood changes nothing");
}

void OverridesTest::writesVariablesThroughToWhatIsRead_data()
{
    QTest::addColumn<Tokens>("tokens");
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("value");
    using L = Tokens;
    QTest::addRow("lr") << L{"--lr", "1e-4"} << "optim.lr" << "0.0001";
    QTest::addRow("lr as integer") << L{"--lr", "1"} << "optim.lr" << "1.0";
    QTest::addRow("eps") << L{"--eps", "1e-8"} << "optim.eps" << "1e-08";
    QTest::addRow("grad_ckpt_settings") << L{"--grad_ckpt_settings", "(4, 20)"} << "model.grad_ckpt_settings" << "(4, 20)";
    QTest::addRow("grad-ckpt-settings without brackets") << L{"--grad-ckpt-settings", "4,20"} << "model.grad_ckpt_settings" << "(4, 20)";
    QTest::addRow("patch_size") << L{"--patch_size", "1"} << "model.patch_size" << "1";
}

void OverridesTest::writesVariablesThroughToWhatIsRead()
{
    QFETCH(Tokens, tokens);
    QFETCH(QString, target);
    QFETCH(QString, value);
    const Stage stage = stageOf(kStage, tokens);
    QVERIFY2(stage.problems().empty(), listed(stage.problems()).c_str());
    QCOMPARE(valueAt(stage, target), value);
    QCOMPARE(lookUp(stage.values(), target.toStdString())->origin.kind, OriginKind::Override);
}

void OverridesTest::saysWhenVariableAndOptionAreBothGiven()
{
    for (const auto &tokens : {std::vector<std::string>{"--lr", "1e-4", "--optim.lr", "3e-4"}, std::vector<std::string>{"--optim.lr", "3e-4", "--lr", "1e-4"}}) {
        const Stage stage = stageOf(kStage, tokens);
        QCOMPARE(stage.number("optim.lr"), 3e-4);
        QVERIFY2(find(stage.problems(), "config.both-given", "optim.lr"), listed(stage.problems()).c_str());
        QVERIFY(!hasErrors(stage.problems()));
    }
}

void OverridesTest::refusesUnknownKeysAndNamesTheNearest_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("meant");
    QTest::addRow("swapped letters") << "ckpt_evry" << "ckpt_every";
    QTest::addRow("in a section") << "model.dpth" << "model.depth";
    QTest::addRow("double letter") << "optim.lrr" << "optim.lr";
    QTest::addRow("kepp") << "kepp_n_latest" << "keep_n_latest";
    QTest::addRow("singular") << "model.grad_ckpt_setting" << "model.grad_ckpt_settings";
    QTest::addRow("singular at the top") << "grad_ckpt_setting" << "model.grad_ckpt_settings";
    QTest::addRow("plural") << "bucket_configs" << "bucket_config";
    QTest::addRow("wrong section") << "hidden_size" << "model.hidden_size";
    QTest::addRow("section missing") << "data_path" << "dataset.data_path";
    QTest::addRow("needless section") << "optim.ckpt_every" << "ckpt_every";
    QTest::addRow("another tool's name") << "learning_rate" << "optim.lr";
    QTest::addRow("gradient accumulation") << "gradient_accumulation_steps" << "accumulation_steps";
    QTest::addRow("missing parent") << "foo.bar" << "";
    QTest::addRow("nothing near") << "qwertyuiop" << "";
}

void OverridesTest::refusesUnknownKeysAndNamesTheNearest()
{
    QFETCH(QString, key);
    QFETCH(QString, meant);
    const Stage before = stageOf(kStage), stage = stageOf(kStage, {"--" + key.toStdString(), "5"});
    const Problem *problem = find(stage.problems(), "config.unknown-key", key.toStdString());
    QVERIFY2(problem && problem->severity == Severity::Error, listed(stage.problems()).c_str());
    QVERIFY(stage.values() == before.values());
    if (!meant.isEmpty()) {
        QVERIFY2(QString::fromStdString(problem->message).contains(QStringLiteral("--") + meant + QLatin1Char(' ')), problem->message.c_str());
        QVERIFY(problem->fix.has_value());
    }
}

void OverridesTest::walksTheRealPathOfKeysThatTheFileHas()
{
    QCOMPARE(valueAt(stageOf(kStage, {"--a.b.c", "2"}), QStringLiteral("a.b.c")), QStringLiteral("2"));
    const Stage stage = stageOf(kStage, {"--a.b.d", "2"});
    const Problem *problem = find(stage.problems(), "config.unknown-key");
    QVERIFY(problem);
    QVERIFY2(problem->message.find("(a.b exists") != std::string::npos, problem->message.c_str());
}

void OverridesTest::takesTheUsersOwnNames()
{
    const Stage stage = stageOf(kStage, {"--x.note", "1e3", "--_mine", "(1, 2)", "--x.words", "hello"});
    QVERIFY2(stage.problems().empty(), listed(stage.problems()).c_str());
    QCOMPARE(valueAt(stage, QStringLiteral("x.note")), QStringLiteral("1000.0"));
    QCOMPARE(valueAt(stage, QStringLiteral("_mine")), QStringLiteral("(1, 2)"));
    QCOMPARE(valueAt(stage, QStringLiteral("x.words")), QStringLiteral("'hello'"));
}

void OverridesTest::turnsSizesIntoElementsOfTheFinalDtype()
{
    const Stage half = stageOf(kStage, {"--grad_ckpt_buffer_size", "25GiB"});
    QCOMPARE(half.integer("grad_ckpt_buffer_size"), std::int64_t(25) * 1024 * 1024 * 1024 / 2);
    const Problem *note = find(half.problems(), "config.size-in-bytes");
    QVERIFY(note && note->severity == Severity::Hint);
    QVERIFY2(note->message.find("13,421,772,800") != std::string::npos, note->message.c_str());

    const Stage full = stageOf(kStage, {"--grad_ckpt_buffer_size", "25 GiB", "--dtype", "fp32"});
    QCOMPARE(full.integer("grad_ckpt_buffer_size"), std::int64_t(25) * 1024 * 1024 * 1024 / 4);
    QCOMPARE(stageOf(kStage, {"--plugin_config.reduce_bucket_size_in_m", "256MiB"}).integer("plugin_config.reduce_bucket_size_in_m"), std::int64_t(128));
}

void OverridesTest::replacesTablesAndRows()
{
    const Stage whole = stageOf(kStage, {"--bucket_config", "{'256px': {'1': [1.0, 2]}}"});
    QCOMPARE(valueAt(whole, QStringLiteral("bucket_config")), QStringLiteral("{'256px': {1: (1.0, 2)}}"));
    const Stage one = stageOf(kStage, {"--bucket_config.256px", "{1:(1.0,2)}"});
    QCOMPARE(valueAt(one, QStringLiteral("bucket_config")), QStringLiteral("{'256px': {1: (1.0, 2)}, '512px': {1: (0.25, 2)}}"));
    const Stage row = stageOf(kStage, {"--bucket_config.256px.5", "(1.0, 9)"});
    QCOMPARE(valueAt(row, QStringLiteral("bucket_config.256px")), QStringLiteral("{1: (1.0, 6), 5: (1.0, 9)}"));
    const Stage added = stageOf(kStage, {"--bucket_config.256px_ar2.39:1.9", "(1.0, 1)"});
    QVERIFY2(valueAt(added, QStringLiteral("bucket_config")).contains(QStringLiteral("'256px_ar2.39:1': {9: (1.0, 1)}")), qPrintable(valueAt(added, QStringLiteral("bucket_config"))));
    QVERIFY(whole.problems().empty() && one.problems().empty() && row.problems().empty() && added.problems().empty());
}

void OverridesTest::laterOverridesWin()
{
    QCOMPARE(stageOf(kStage, {"--seed", "3", "--seed", "4"}).integer("seed"), std::int64_t(4));
    QCOMPARE(stageOf(kStage, {"--lr", "3", "--lr", "4"}).number("optim.lr"), 4.0);
}

void OverridesTest::recordsWhereValuesCameFrom()
{
    const Stage stage = stageOf(kStage, {"--seed", "3"});
    QCOMPARE(lookUp(stage.values(), "seed")->origin.kind, OriginKind::Override);
    const nlohmann::json origins = originsJson(stage);
    QCOMPARE(origins["seed"]["kind"].get<std::string>(), std::string("override"));
    QCOMPARE(origins["grad_clip"]["kind"].get<std::string>(), std::string("default"));
    QCOMPARE(origins["optim.lr"]["kind"].get<std::string>(), std::string("file"));
    QCOMPARE(origins["epochs"]["line"].get<int>(), 10);
    for (const Option &option : allOptions())
        QVERIFY2(origins.contains(std::string(option.path)), std::string(option.path).c_str());
}

void OverridesTest::createsSectionsThatAreOff()
{
    const Stage stage = stageOf(std::string(kStage) + "lora_config = None\n", {"--lora_config.r", "8", "--dropout_ratio.t5", "0.1"});
    QVERIFY2(stage.problems().empty(), listed(stage.problems()).c_str());
    QCOMPARE(stage.integer("lora_config.r"), std::int64_t(8));
    QCOMPARE(stage.number("dropout_ratio.t5"), 0.1);
    const Stage broken = stageOf(std::string(kStage) + "condition_config = 3\n", {"--condition_config.t2v", "1"});
    QVERIFY2(find(broken.problems(), "config.override-value", "condition_config.t2v"), listed(broken.problems()).c_str());
}

QTEST_GUILESS_MAIN(OverridesTest)
#include "overrides_test.moc"
