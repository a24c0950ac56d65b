#include <QtTest>

#include "core/config/aspect.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;

class AspectTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tablesEqualTheOriginals_data();
    void tablesEqualTheOriginals();
    void readsResolutionNames_data();
    void readsResolutionNames();
    void refusesNamesThatAreNone_data();
    void refusesNamesThatAreNone();
    void maxAndAspectSuffixesLeaveOneSize();
    void tinyResolutionsHaveNoZeroSide();
    void countsTokensAsPackingDoes();
};

void AspectTest::tablesEqualTheOriginals_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("granularity");
    QTest::addColumn<bool>("training");
    QTest::addColumn<QString>("expected");
    const auto files = support::goldenFiles("data", "aspect_tables.json");
    QVERIFY2(!files.empty(), "no golden aspect tables");
    for (const auto &file : files) {
        const nlohmann::json golden = support::readJson(file);
        for (const auto &[granularity, resolutions] : golden["tables"].items()) {
            for (const auto &[name, table] : resolutions.items()) {
                for (const char *kind : {"train", "inference"}) {
                    if (table.contains(kind))
                        QTest::addRow("%s %s %s", granularity.c_str(), name.c_str(), kind)
                            << QString::fromStdString(name) << std::stoi(granularity) << (std::string(kind) == "train") << QString::fromStdString(table[kind].dump());
                }
            }
        }
    }
}

void AspectTest::tablesEqualTheOriginals()
{
    QFETCH(QString, name);
    QFETCH(int, granularity);
    QFETCH(bool, training);
    QFETCH(QString, expected);
    nlohmann::json table = nlohmann::json::array();
    for (const AspectSize &size : aspectTable(name.toStdString(), granularity, training))
        table.push_back({size.name, size.height, size.width});
    QCOMPARE(QString::fromStdString(table.dump()), expected);
}

void AspectTest::readsResolutionNames_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<qint64>("pixels");
    QTest::addRow("square") << "256px" << qint64(65536);
    QTest::addRow("360p") << "360p" << qint64(230400);
    QTest::addRow("480p") << "480p" << qint64(409600);
    QTest::addRow("720p") << "720p" << qint64(921600);
    QTest::addRow("1080p") << "1080p" << qint64(2073600);
    QTest::addRow("max") << "768px_max" << qint64(589824);
    QTest::addRow("aspect") << "768px_ar16:9" << qint64(589824);
}

void AspectTest::readsResolutionNames()
{
    QFETCH(QString, name);
    QFETCH(qint64, pixels);
    const auto resolution = parseResolution(name.toStdString());
    QVERIFY2(resolution.ok(), name.toUtf8().constData());
    QCOMPARE(qint64(resolution->pixels), pixels);
    QVERIFY(resolutionSuggestion(name.toStdString()).empty() || name.contains(QLatin1Char('_')));
}

void AspectTest::refusesNamesThatAreNone_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("meant");
    QTest::addRow("old style") << "256" << "256px";
    QTest::addRow("capital") << "256P" << "256p";
    QTest::addRow("capital px") << "256PX" << "256px";
    QTest::addRow("product") << "256x256" << "256px";
    QTest::addRow("zero") << "0px" << "";
    QTest::addRow("negative") << "-256px" << "";
    QTest::addRow("words") << "large" << "";
    QTest::addRow("empty") << "" << "";
    QTest::addRow("two suffixes") << "256px_max_ar1:1" << "";
    QTest::addRow("empty aspect") << "256px_ar" << "";
    QTest::addRow("huge") << "99999999999999999999px" << "";
    QTest::addRow("delete") << "_delete_" << "";
}

void AspectTest::refusesNamesThatAreNone()
{
    QFETCH(QString, name);
    QFETCH(QString, meant);
    const auto resolution = parseResolution(name.toStdString());
    QVERIFY(!resolution.ok());
    const QString sentence = QString::fromStdString(resolution.error().message());
    QVERIFY2(sentence.contains(QStringLiteral("256px")), "the sentence lists the accepted forms");
    if (!meant.isEmpty())
        QVERIFY2(sentence.contains(QLatin1Char('"') + meant + QLatin1Char('"')), qPrintable(sentence));
    QCOMPARE(QString::fromStdString(resolutionSuggestion(name.toStdString())), meant);
}

void AspectTest::maxAndAspectSuffixesLeaveOneSize()
{
    const auto most = aspectTable("768px_max", 16);
    QCOMPARE(most.size(), std::size_t(1));
    for (const AspectSize &size : aspectTable("768px", 16))
        QVERIFY(size.height * size.width <= most[0].height * most[0].width);
    const auto wide = aspectTable("768px_ar16:9", 16);
    QCOMPARE(wide.size(), std::size_t(1));
    QVERIFY((wide[0] == AspectSize{"16:9", 576, 1024}));
    QVERIFY(aspectTable("256px_ar7:5", 16).empty());
    QVERIFY2(aspectTable("256px_ar1.85:1", 16).empty(), "a ratio that was dropped as a duplicate");
}

void AspectTest::tinyResolutionsHaveNoZeroSide()
{
    for (const char *name : {"1px", "8px", "16px", "20px", "33px"}) {
        for (const AspectSize &size : aspectTable(name, 16))
            QVERIFY2(size.height >= 16 && size.width >= 16, name);
    }
    QVERIFY(aspectTable("8px", 16).empty());
    QVERIFY(aspectTable("256px", 0).empty());
}

void AspectTest::countsTokensAsPackingDoes()
{
    const LatentGeometry hunyuan{4, 8, 2, 16}, highCompression{4, 32, 1, 128};
    QCOMPARE(tokensPerLatentFrame(256, 256, hunyuan), 256);
    QCOMPARE(tokensPerLatentFrame(208, 320, hunyuan), 260);
    QCOMPARE(imageTokens(21, 256, 256, hunyuan), std::int64_t(1536));
    QCOMPARE(imageTokens(1, 256, 256, hunyuan), std::int64_t(256));
    QCOMPARE(imageTokens(129, 576, 1024, hunyuan), std::int64_t(33 * 36 * 64));
    QCOMPARE(latentFrames(128, highCompression), 32);
    QCOMPARE(imageTokens(96, 640, 928, highCompression), std::int64_t(24 * 20 * 29));
}

QTEST_GUILESS_MAIN(AspectTest)
#include "aspect_test.moc"
