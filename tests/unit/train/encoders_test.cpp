// The embedded encoders: the Haar transform and the hashed text.
#include <QTest>

#include "core/memory/host_peak.h"
#include "core/model/haar.h"
#include "core/model/hashed_text.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::model;

class EncodersTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void haarIsExactWhenAllCoefficientsAreKept_data();
    void haarIsExactWhenAllCoefficientsAreKept();
    void haarKeepsTheEnergy();
    void haarPutsTheMeanFirst();
    void haarKeepsCoarseCoefficientsOfALargerCut();
    void haarLossFallsWithEveryChannelKept();
    void firstFrameOfAClipEqualsTheImageAlone();
    void haarGeometryEqualsTheLearnedAutoencoders();
    void haarSaysWhatItLoses();
    void wordsAreSplitAndLowered_data();
    void wordsAreSplitAndLowered();
    void equalTextsGiveEqualRows();
    void encodersSeeTheOrderOfWords();
    void textIsCutAndPadded();
    void alignmentAppendsPadding();
    void vectorsHaveUnitSize();
    void moreWordsThanAreRememberedChangeNothing();
    void captionsDoNotDecideTheMemory();
    void unknownKindsAreUsageErrors();
};

void EncodersTest::haarIsExactWhenAllCoefficientsAreKept_data()
{
    QTest::addColumn<int>("frames");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    for (const int frames : {1, 5, 9, 17, 4, 6, 7, 8})
        QTest::newRow(std::to_string(frames).c_str()) << frames << 16 << 24;
    QTest::newRow("sides that are no multiples") << 5 << 19 << 21;
}

void EncodersTest::haarIsExactWhenAllCoefficientsAreKept()
{
    QFETCH(int, frames);
    QFETCH(int, height);
    QFETCH(int, width);
    HaarAutoencoder haar(kHaarCoefficients, torch::kCPU, torch::kFloat32);
    const auto video = torch::rand({2, 3, frames, height, width}) * 2 - 1;
    const auto latents = haar.encode(video);
    QCOMPARE(latents.sizes().vec(), (std::vector<std::int64_t>{2, 768, haar.geometry().frames(frames), haar.geometry().side(height), haar.geometry().side(width)}));
    const auto back = haar.decode(latents, frames, height, width);
    QVERIFY2((back - video).abs().max().item<float>() < 2e-6, QByteArray::number((back - video).abs().max().item<float>()).constData());
}

void EncodersTest::haarKeepsTheEnergy()
{
    HaarAutoencoder haar(kHaarCoefficients, torch::kCPU, torch::kFloat32);
    const auto video = torch::randn({1, 3, 8, 16, 16});
    const double before = video.square().sum().item<double>(), after = haar.encode(video).square().sum().item<double>() * 256;
    QVERIFY(std::abs(before - after) / before < 1e-5);
}

void EncodersTest::haarPutsTheMeanFirst()
{
    HaarAutoencoder haar(48, torch::kCPU, torch::kFloat32);
    const auto video = torch::rand({1, 3, 4, 8, 8});
    const auto latents = haar.encode(video).flatten();
    const auto means = video.mean({0, 2, 3, 4});
    QVERIFY((latents.narrow(0, 0, 3) - means).abs().max().item<float>() < 1e-6);
    const auto flat = haar.encode(torch::ones({1, 3, 5, 16, 16})).transpose(0, 1).flatten(1);
    QVERIFY(torch::allclose(flat.narrow(0, 0, 3), torch::ones_like(flat.narrow(0, 0, 3))));
    QVERIFY(flat.narrow(0, 3, 45).abs().max().item<float>() < 1e-6);
}

void EncodersTest::haarKeepsCoarseCoefficientsOfALargerCut()
{
    const auto video = torch::rand({1, 3, 5, 16, 16});
    const auto all = HaarAutoencoder(768, torch::kCPU, torch::kFloat32).encode(video);
    for (const int channels : {1, 12, 48, 50, 192}) {
        const auto some = HaarAutoencoder(channels, torch::kCPU, torch::kFloat32).encode(video);
        QVERIFY(torch::allclose(some, all.narrow(1, 0, channels), 1e-5, 1e-6));
    }
}

void EncodersTest::haarLossFallsWithEveryChannelKept()
{
    const auto video = torch::rand({1, 3, 5, 16, 16});
    double last = 1e9;
    for (const int channels : {3, 12, 48, 192, 768}) {
        HaarAutoencoder haar(channels, torch::kCPU, torch::kFloat32);
        const double loss = (haar.decode(haar.encode(video), 5, 16, 16) - video).square().mean().item<double>();
        QVERIFY(loss < last);
        last = loss;
    }
}

void EncodersTest::firstFrameOfAClipEqualsTheImageAlone()
{
    HaarAutoencoder haar(48, torch::kCPU, torch::kFloat32);
    const auto video = torch::rand({1, 3, 9, 16, 16});
    QVERIFY(torch::allclose(haar.encode(video).narrow(2, 0, 1), haar.encode(video.narrow(2, 0, 1)), 1e-5, 1e-6));
}

void EncodersTest::haarGeometryEqualsTheLearnedAutoencoders()
{
    const LatentGeometry geometry = HaarAutoencoder(48, torch::kCPU, torch::kFloat32).geometry();
    QCOMPARE(geometry.frames(1), std::int64_t(1));
    QCOMPARE(geometry.frames(129), std::int64_t(33));
    QCOMPARE(geometry.frames(128), std::int64_t(32));
    QCOMPARE(geometry.side(768), std::int64_t(96));
}

void EncodersTest::haarSaysWhatItLoses()
{
    QVERIFY(HaarAutoencoder(48, torch::kCPU, torch::kFloat32).note().find("48 of the 768") != std::string::npos);
    QVERIFY(HaarAutoencoder(768, torch::kCPU, torch::kFloat32).note().find("exact") != std::string::npos);
}

void EncodersTest::wordsAreSplitAndLowered_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("words");
    QTest::newRow("plain") << QStringLiteral("A red Ball") << QStringList{QStringLiteral("a"), QStringLiteral("red"), QStringLiteral("ball")};
    QTest::newRow("marks") << QStringLiteral("fast, 24 FPS.") << QStringList{QStringLiteral("fast"), QStringLiteral(","), QStringLiteral("24"), QStringLiteral("fps"), QStringLiteral(".")};
    QTest::newRow("beyond ASCII") << QStringLiteral("café 红球") << QStringList{QStringLiteral("café"), QStringLiteral("红球")};
    QTest::newRow("empty") << QStringLiteral(" \n") << QStringList{};
}

void EncodersTest::wordsAreSplitAndLowered()
{
    QFETCH(QString, text);
    QFETCH(QStringList, words);
    QStringList found;
    for (const auto &word : wordsOf(text.toStdString()))
        found.append(QString::fromStdString(word));
    QCOMPARE(found, words);
}

void EncodersTest::equalTextsGiveEqualRows()
{
    for (const auto output : {HashedText::Output::Tokens, HashedText::Output::Pooled}) {
        HashedText one(output, 32, 16, torch::kCPU, torch::kFloat32), other(output, 32, 16, torch::kCPU, torch::kFloat32);
        const auto rows = one.encode({"a red ball", "a blue ball", "a red ball"});
        QVERIFY(torch::equal(rows[0], rows[2]));
        QVERIFY(!torch::equal(rows[0], rows[1]));
        QVERIFY(torch::equal(rows, other.encode({"a red ball", "a blue ball", "a red ball"})));
        QVERIFY(torch::equal(one.nullEmbedding(), one.encode({""})));
    }
}

void EncodersTest::encodersSeeTheOrderOfWords()
{
    for (const auto output : {HashedText::Output::Tokens, HashedText::Output::Pooled}) {
        HashedText encoder(output, 32, 16, torch::kCPU, torch::kFloat32);
        const auto rows = encoder.encode({"dog bites man", "man bites dog"});
        QVERIFY((rows[0] - rows[1]).norm().item<float>() > 0.5);
    }
}

void EncodersTest::textIsCutAndPadded()
{
    HashedText encoder(HashedText::Output::Tokens, 8, 4, torch::kCPU, torch::kBFloat16);
    const auto rows = encoder.encode({"one two three four five six", "one two three four", ""});
    QCOMPARE(rows.sizes().vec(), (std::vector<std::int64_t>{3, 4, 8}));
    QCOMPARE(rows.scalar_type(), torch::kBFloat16);
    QVERIFY(torch::equal(rows[0], rows[1]));
    QCOMPARE(encoder.length(), std::int64_t(4));
    QCOMPARE(HashedText(HashedText::Output::Pooled, 8, 4, torch::kCPU, torch::kFloat32).length(), std::int64_t(0));
}

void EncodersTest::alignmentAppendsPadding()
{
    QCOMPARE(alignmentPadding(30, 4, 4), std::int64_t(2));
    QCOMPARE(alignmentPadding(28, 4, 4), std::int64_t(0));
    HashedText encoder(HashedText::Output::Tokens, 8, 4, torch::kCPU, torch::kFloat32);
    const auto longer = encoder.encode({"a b"}, 2);
    QCOMPARE(longer.size(1), std::int64_t(6));
    QVERIFY(torch::allclose(longer.narrow(1, 0, 4), encoder.encode({"a b"})));
}

void EncodersTest::vectorsHaveUnitSize()
{
    HashedText tokens(HashedText::Output::Tokens, 256, 32, torch::kCPU, torch::kFloat32), pooled(HashedText::Output::Pooled, 4096, 32, torch::kCPU, torch::kFloat32);
    const double tokenSize = tokens.encode({"a yellow train crosses a long bridge at night"}).square().mean().item<double>();
    const double pooledSize = pooled.encode({"a yellow train crosses a long bridge at night"}).square().mean().item<double>();
    QVERIFY2(std::abs(tokenSize - 1) < 0.2, QByteArray::number(tokenSize).constData());
    QVERIFY2(std::abs(pooledSize - 1) < 0.4, QByteArray::number(pooledSize).constData());
}

void EncodersTest::moreWordsThanAreRememberedChangeNothing()
{
    HashedText text(HashedText::Output::Tokens, 6, 4, torch::kCPU, torch::kFloat32);
    const auto first = text.encode({"a red ball"});
    std::string many;
    for (std::int64_t word = 0; word < 3 * HashedText::kRemembered; ++word) {
        many += "w" + std::to_string(word) + " ";
        if (word % 4 == 3) {
            text.encode({many});
            many.clear();
        }
    }
    QVERIFY(torch::equal(text.encode({"a red ball"}), first));
    const std::string all = "w0 w1 w2 w3";
    HashedText fresh(HashedText::Output::Tokens, 6, 4, torch::kCPU, torch::kFloat32);
    QVERIFY(torch::equal(text.encode({all}), fresh.encode({all})));
}

void EncodersTest::captionsDoNotDecideTheMemory()
{
    for (const auto output : {HashedText::Output::Tokens, HashedText::Output::Pooled}) {
        HashedText text(output, 8, 16, torch::kCPU, torch::kFloat32);
        text.encode({"one"});                          // positions are made
        const auto taken = [&](const std::string &caption) { return memory::hostPeakDuring([&] { text.encode({caption}); }); };
        const auto few = taken("one");
        QCOMPARE(taken("two three four five six seven eight nine ten eleven twelve"), few);
        QCOMPARE(taken("one"), few);
    }
}

void EncodersTest::unknownKindsAreUsageErrors()
{
    for (const char *type : {"hunyuan_vae", "dc_ae", "wavelet"}) {
        const auto made = makeAutoencoder(test::tinyStage({{"ae.type", type}}), torch::kCPU, torch::kFloat32);
        QVERIFY(!made.ok());
        QCOMPARE(int(made.error().exit), int(ExitCode::Usage));
    }
    QVERIFY(!makeTokenEncoder(test::tinyStage({{"t5.type", "text_embedder"}}), torch::kCPU, torch::kFloat32).ok());
    QVERIFY(makePooledEncoder(test::tinyStage(), torch::kCPU, torch::kFloat32).ok());
}

QTEST_GUILESS_MAIN(EncodersTest)
#include "encoders_test.moc"
