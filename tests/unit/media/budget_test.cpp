// What decoders may hold at once.
#include <QtTest/QtTest>

#include <atomic>
#include <thread>
#include <vector>

#include "core/media/clip.h"
#include "core/media/decode_budget.h"
#include "core/media/demo_clip.h"

using namespace stagewright;
using namespace stagewright::media;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMiB = std::int64_t(1) << 20;
const std::vector<std::int64_t> kWanted{0, 3};

Limits with(DecodeBudget &budget, std::chrono::milliseconds time = std::chrono::seconds(60))
{
    Limits limits = Limits::within(time);
    limits.budget = &budget;
    return limits;
}

QString codeOf(const Error &error) { return QString::fromStdString(error.problem.code); }

} // namespace

class BudgetTest : public QObject
{
    Q_OBJECT

private:
    const fs::path m_clip = fs::path(STAGEWRIGHT_FIXTURES) / "media/h264.mp4";
    std::int64_t m_need = 0;                           // of m_clip

private Q_SLOTS:
    void initTestCase()
    {
        DecodeBudget budget(1024 * kMiB);
        QVERIFY(decode(m_clip, kWanted, with(budget)));
        m_need = budget.highWater();
        const auto info = probe(m_clip);
        QVERIFY(info);
        const std::int64_t picture = std::int64_t(info->width) * info->height * 3 / 2;
        QVERIFY2(m_need > 17 * picture && m_need < 10 * kMiB, std::to_string(m_need).c_str());         // what H.264 may keep to predict from
    }

    void clipThatNeedsTooMuchIsRefusedWithASentence()
    {
        DecodeBudget enough(m_need), tooLittle(m_need - 1);
        QVERIFY(decode(m_clip, kWanted, with(enough)));
        const auto refused = decode(m_clip, kWanted, with(tooLittle));
        QVERIFY(!refused);
        QCOMPARE(codeOf(refused.error()), QStringLiteral("data.too-large"));
        const QString said = QString::fromStdString(refused.error().message());
        QVERIFY2(said.contains(QStringLiteral("h264.mp4")) && said.contains(QStringLiteral("decoder_memory")), qPrintable(said));
        QCOMPARE(tooLittle.highWater(), std::int64_t(0));
    }

    // A still picture keeps no others, so a large one is let through where a clip of its size is not.
    void picturesNeedLess()
    {
        QTemporaryDir folder;
        const fs::path png = fs::path(folder.path().toStdString()) / "large.png";
        DemoScene scene;
        scene.graph = "testsrc=size=1280x720:rate=1";
        scene.frames = 1;
        scene.height = 720;
        scene.width = 1280;
        scene.rate = 0;
        QVERIFY(writeScene(scene, png));
        DecodeBudget budget(16 * kMiB);
        QVERIFY(decode(png, std::vector<std::int64_t>{0}, with(budget)));
        QVERIFY(budget.highWater() > 4 * kMiB);
    }

    // Many at once: never more than the budget, and all of them come through.
    void decodersShareTheBudget()
    {
        DecodeBudget budget(2 * m_need + m_need / 2);
        std::atomic<int> good{0};
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 6; ++i) {
                threads.emplace_back([&] {
                    for (int turn = 0; turn < 10; ++turn)
                        good += decode(m_clip, kWanted, with(budget)).ok();
                });
            }
        }
        QCOMPARE(good.load(), 60);
        QVERIFY(budget.highWater() <= budget.bytes());
        QVERIFY(budget.highWater() >= m_need);
    }

    void waitingEndsAtItsLimits_data()
    {
        QTest::addColumn<bool>("stopped");
        QTest::newRow("deadline") << false;
        QTest::newRow("stop") << true;
    }

    void waitingEndsAtItsLimits()
    {
        QFETCH(bool, stopped);
        DecodeBudget budget(100);
        auto lease = std::make_unique<DecodeBudget::Lease>(std::move(budget.take(80, "other.mp4", {}).value()));
        const std::atomic<bool> stop{stopped};
        Limits limits = with(budget, std::chrono::milliseconds(stopped ? 60000 : 30));
        limits.stop = &stop;
        const auto waited = budget.take(80, "clip.mp4", limits);
        QVERIFY(!waited);
        QCOMPARE(codeOf(waited.error()), stopped ? QStringLiteral("data.stopped") : QStringLiteral("data.timeout"));
        lease.reset();
        QVERIFY(budget.take(100, "clip.mp4", {}));     // nothing is left taken
        QVERIFY(budget.take(100, "clip.mp4", {}));
    }

    void sharesOfAllProcessesFitTheMachine()
    {
        for (const std::int64_t processes : {1, 3, 8})
            QVERIFY(DecodeBudget::share(1000, processes) * processes <= 1000);
        QCOMPARE(DecodeBudget::share(1000, 0), std::int64_t(1000));
    }
};

QTEST_GUILESS_MAIN(BudgetTest)
#include "budget_test.moc"
