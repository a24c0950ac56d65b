#include <QtTest>

#include "core/config/diff.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

std::string shown(const std::vector<Change> &changes)
{
    std::string text;
    for (const Change &change : changes)
        text += change.path + ": " + (change.a ? toPython(*change.a) : "-") + (change.aIsDefault ? " (default)" : "") + " > " + (change.b ? toPython(*change.b) : "-")
            + (change.bIsDefault ? " (default)" : "") + "\n";
    return text;
}

} // namespace

class DiffTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tellsWhatDiffers_data();
    void tellsWhatDiffers();
    void writingADefaultOutIsNoChange();
    void saysWhetherResultsChange();
    void isSymmetric();
    void shippedStagesDifferInWhatTheyRedefine();
};

void DiffTest::tellsWhatDiffers_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<QString>("changes");
    QTest::addRow("nothing") << "seed = 3" << "seed = 3" << "";
    QTest::addRow("an option") << "seed = 3" << "seed = 4" << "seed: 3 > 4\n";
    QTest::addRow("an option against its default") << "" << "seed = 4" << "seed: 1024 (default) > 4\n";
    QTest::addRow("number's spelling") << "grad_clip = 1" << "grad_clip = 1.0" << "";
    QTest::addRow("list and tuple") << "model = dict(grad_ckpt_settings=[8, 100])" << "model = dict(grad_ckpt_settings=(8, 100))" << "";
    QTest::addRow("order of keys") << "seed = 3\nepochs = 2" << "epochs = 2\nseed = 3" << "";
    QTest::addRow("a bucket row") << "bucket_config = {'256px': {1: (1.0, 4), 5: (1.0, 2)}}" << "bucket_config = {'256px': {5: (1.0, 3), 1: (1.0, 4)}}"
                                  << "bucket_config.256px.5: (1.0, 2) > (1.0, 3)\n";
    QTest::addRow("rows added and removed") << "bucket_config = {'256px': {1: (1.0, 4)}}" << "bucket_config = {'768px': {1: (1.0, 4)}}"
                                            << "bucket_config.256px.1: (1.0, 4) > -\nbucket_config.768px.1: - > (1.0, 4)\n";
    QTest::addRow("a weight") << "condition_config = dict(t2v=1, i2v_head=5)" << "condition_config = dict(t2v=1, i2v_head=7)" << "condition_config.i2v_head: 5 > 7\n";
    QTest::addRow("a table that is not there") << "" << "condition_config = dict(t2v=1)" << "condition_config.t2v: - > 1\n";
    QTest::addRow("None for a table") << "condition_config = None" << "" << "";
    QTest::addRow("a section that is off") << "lora_config = None" << "lora_config = dict(r=4)" << "lora_config: None > {'r': 4}\nlora_config.r: 8 (default) > 4\n";
    QTest::addRow("the user's own") << "_note = 1" << "_note = 2\nx = dict(a=3)" << "_note: 1 > 2\nx.a: - > 3\n";
    QTest::addRow("an unknown key") << "sed = 1" << "" << "sed: 1 > -\n";
    QTest::addRow("a default that depends on the type") << "ae = dict(type='haar')" << "ae = dict(type='haar', latent_channels=48)" << "";
}

void DiffTest::tellsWhatDiffers()
{
    QFETCH(QString, a);
    QFETCH(QString, b);
    QFETCH(QString, changes);
    QCOMPARE(QString::fromStdString(shown(diff(stageOf(a.toStdString()), stageOf(b.toStdString())))), changes);
}

void DiffTest::writingADefaultOutIsNoChange()
{
    const Stage without = stageOf("epochs = 3"), with = stageOf("epochs = 3\nseed = 1024");
    QVERIFY(diff(without, with).empty());
    const auto asWritten = diff(without, with, Compare::AsWritten);
    QCOMPARE(QString::fromStdString(shown(asWritten)), QStringLiteral("seed: - > 1024\n"));
}

void DiffTest::saysWhetherResultsChange()
{
    const auto changes = diff(stageOf("outputs = 'a'\nseed = 1"), stageOf("outputs = 'b'\nseed = 2"));
    QCOMPARE(changes.size(), std::size_t(2));
    for (const Change &change : changes)
        QCOMPARE(change.changesResults, change.path == "seed");
}

void DiffTest::isSymmetric()
{
    const Stage a = changed("seed = 3\nmodel.depth = 3\n_mine = 2"), b = changed("ckpt_every = 3\nae.latent_channels = 96");
    const auto forth = diff(a, b), back = diff(b, a);
    QCOMPARE(forth.size(), back.size());
    for (const Change &change : forth) {
        const auto other = std::find_if(back.begin(), back.end(), [&](const Change &candidate) { return candidate.path == change.path; });
        QVERIFY2(other != back.end(), change.path.c_str());
        QVERIFY(other->a == change.b && other->b == change.a && other->aIsDefault == change.bIsDefault);
    }
}

void DiffTest::shippedStagesDifferInWhatTheyRedefine()
{
    const std::string folder = STAGEWRIGHT_FIXTURES "/opensora_configs/";
    const auto changes = diff(*loadStage(folder + "stage1.py"), *loadStage(folder + "stage1_i2v.py"));
    QCOMPARE(QString::fromStdString(shown(changes)),
        QStringLiteral("model.cond_embed: False (default) > True\ncondition_config.t2v: - > 1\ncondition_config.i2v_head: - > 5\ncondition_config.i2v_loop: - > 1\n"
                       "condition_config.i2v_tail: - > 1\noptim.lr: 5e-05 > 1e-05\nlr: 5e-05 > 1e-05\n"));
}

QTEST_GUILESS_MAIN(DiffTest)
#include "diff_test.moc"
