// Edits of a text that come from elsewhere: the values of another stage, and fixes.
#include <QTemporaryDir>
#include <QtTest>

#include "core/base/files.h"
#include "core/config/apply_fix.h"
#include "core/config/take_changes.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

std::string shown(const std::vector<Change> &changes)
{
    std::string text;
    for (const Change &change : changes)
        text += change.path + ": " + (change.a ? toPython(*change.a) : "-") + " > " + (change.b ? toPython(*change.b) : "-") + "\n";
    return text;
}

constexpr const char *kBase = "lr = 1e-4\n"
                              "optim = dict(lr=lr, eps=1e-15)\n"
                              "ema_decay = 0.99\n"
                              "model = dict(type='flux', depth=19)\n"
                              "bucket_config = {\n    '256px': {1: (1.0, 50), 5: (1.0, 12)},\n    '768px': {1: (0.5, 11)},\n}\n";

} // namespace

class TakeChangesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void bringsOneStageToAnother_data();
    void bringsOneStageToAnother();
    void keepsWhatIsNotConcerned();
    void saysWhatCannotBeTakenOut();
    void renamesKeepLineAndComment();
    void aFixThatFailsChangesNothing();

private:
    Stage stage(const std::string &text, const std::string &name)
    {
        auto made = stageFromText(text, file(name));
        if (!made)
            qFatal("%s", made.error().message().c_str());
        return std::move(*made);
    }
    std::filesystem::path file(const std::string &name) const { return m_dir->path().toStdString() + "/" + name; }

    std::unique_ptr<QTemporaryDir> m_dir;
};

void TakeChangesTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    QVERIFY(replaceFile(file("base.py"), kBase).ok());
}

void TakeChangesTest::bringsOneStageToAnother_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("mine");
    QTest::addColumn<QString>("theirs");                   // always Python
    const auto row = [](const char *what, const char *name, const QString &mine, const QString &theirs) { QTest::addRow("%s", what) << name << mine << theirs; };
    const QString whole = QString::fromLatin1(kBase), onBase = QStringLiteral("_base_ = 'base.py'\n");
    row("a number", "a.py", whole, whole + QStringLiteral("seed = 3\n"));
    row("a number in YAML", "a.yaml", QStringLiteral("seed: 1\n"), QStringLiteral("seed = 3\nlr = 3e-4\n"));
    row("a section", "a.py", QStringLiteral("seed = 1\n"), QStringLiteral("model = dict(depth=3, hidden_size=64, axes_dim=[4, 6, 6])\n"));
    row("a value less", "a.py", QStringLiteral("seed = 1\nload = 'x'\n"), QStringLiteral("seed = 1\n"));
    row("inherited values", "a.py", onBase, QStringLiteral("_base_ = 'base.py'\noptim = dict(lr=2e-4)\nema_decay = None\n"));
    row("an expression of another file", "a.py", QStringLiteral("seed = 1\n"), QStringLiteral("n = 4\ngrad_ckpt_buffer_size = n * 1024**3\nx = dict(n=n)\n"));
    row("a bucket row", "a.py", whole, whole + QStringLiteral("bucket_config['256px'][5] = (0.5, 3)\n"));
    row("a bucket row more", "a.py", whole, whole + QStringLiteral("bucket_config['256px'][9] = (0.5, 3)\n"));
    row("a bucket row less", "a.py", whole, QString(whole).replace(QStringLiteral(", 5: (1.0, 12)"), QString()));
    row("a resolution less", "a.py", whole, QString(whole).replace(QStringLiteral("    '768px': {1: (0.5, 11)},\n"), QString()));
    row("another table", "a.py", whole, QStringLiteral("bucket_config = {'480px': {1: ([0.2, 0.3], 4)}}\n") );
    row("inherited rows less", "a.py", onBase, QStringLiteral("_base_ = 'base.py'\nbucket_config = {'_delete_': True, '256px': {33: (1.0, 2)}}\n"));
    row("inherited rows changed", "a.py", onBase, QStringLiteral("_base_ = 'base.py'\nbucket_config = {'256px': {1: (1.0, 2)}}\n"));
    row("a table in YAML", "a.yaml", QStringLiteral("bucket_config:\n  256px:\n    1: !tuple [1.0, 4]  # images\n"), QStringLiteral("bucket_config = {'256px': {1: (1.0, 4), 5: (1.0, 2)}, '768px': {1: (1.0, 1)}}\n"));
    row("weights", "a.yaml", QStringLiteral("condition_config: {t2v: 1, i2v_head: 2}\n"), QStringLiteral("condition_config = dict(t2v=1, i2v_tail=3)\n"));
    row("twenty rows", "a.py", whole, QStringLiteral("bucket_config = {'256px': {4 * k + 1: (1.0, 2) for k in range(20)}}\n"));
    row("a table that was not there", "a.py", QStringLiteral("seed = 1\n"), QStringLiteral("bucket_config = {'256px': {1: (1.0, 4)}}\n"));
}

void TakeChangesTest::bringsOneStageToAnother()
{
    QFETCH(QString, name);
    QFETCH(QString, mine);
    QFETCH(QString, theirs);
    const Stage target = stage(theirs.toStdString(), "theirs.py");
    const auto changes = diff(stage(mine.toStdString(), name.toStdString()), target);
    QVERIFY(!changes.empty());
    const auto text = takeChanges(mine.toStdString(), file(name.toStdString()), changes);
    QVERIFY2(text.ok(), text ? "" : text.error().message().c_str());
    const auto left = diff(stage(*text, name.toStdString()), target);
    QVERIFY2(left.empty(), (shown(left) + "\n" + *text).c_str());
}

void TakeChangesTest::keepsWhatIsNotConcerned()
{
    const std::string mine = "# mine\nseed = 1  # lucky\nfoo_unknown = 3\nbucket_config = {\n    '256px': {\n        1: (1.0, 4),  # images\n        5: (1.0, 2),\n    },\n}\n";
    const auto changes = diff(stage(mine, "a.py"), stage(mine + "bucket_config['256px'][5] = (1.0, 3)\nseed = 2\n", "b.py"));
    const auto text = takeChanges(mine, file("a.py"), changes);
    QVERIFY(text.ok());
    QCOMPARE(QString::fromStdString(*text), QString::fromStdString(mine).replace(QStringLiteral("seed = 1"), QStringLiteral("seed = 2")).replace(QStringLiteral("5: (1.0, 2)"), QStringLiteral("5: (1.0, 3)")));
}

void TakeChangesTest::saysWhatCannotBeTakenOut()
{
    // `model.type` is inherited and cannot be None, so a file on this base cannot be without it.
    Change change;
    change.path = "optim.eps";
    change.a = Value(1e-15);
    const auto text = takeChanges("_base_ = 'base.py'\n", file("a.py"), {change});
    QVERIFY(!text.ok());
    QVERIFY(text.error().message().find("optim.eps") != std::string::npos);
}

void TakeChangesTest::renamesKeepLineAndComment()
{
    TextDocument document("seed = 1\nkepp_n_latest = 3  # few\nepochs = 2\n", Format::Python);
    QVERIFY(applyFix(document, Fix{"Rename", {{"kepp_n_latest", "3", std::nullopt}, {"keep_n_latest", std::nullopt, "3"}}}).ok());
    QCOMPARE(document.text(), std::string("seed = 1\nkeep_n_latest = 3  # few\nepochs = 2\n"));
}

void TakeChangesTest::aFixThatFailsChangesNothing()
{
    TextDocument document("seed = 1\n", Format::Python);
    const Problem one{Severity::Error, "config.type", "seed", "", "", 0, 0, Fix{"Two edits", {{"seed", "1", "2"}, {"not_there", "1", std::nullopt}}}};
    const Problem two{Severity::Error, "config.type", "epochs", "", "", 0, 0, Fix{"One edit", {{"epochs", std::nullopt, "3"}}}};
    const FixedText outcome = applyFixes(document, {&one, &two});
    QCOMPARE(outcome.failed.size(), std::size_t(1));
    QCOMPARE(outcome.fixed.size(), std::size_t(1));
    QCOMPARE(document.text(), std::string("seed = 1\nepochs = 3\n"));
}

QTEST_GUILESS_MAIN(TakeChangesTest)
#include "take_changes_test.moc"
