// What a GPU's caching allocator reserves for sequences whose answers follow from its rules by hand.
#include <QTest>

#include <random>

#include "core/plan/caching_allocator.h"

using stagewright::plan::CachingAllocator;

namespace {

constexpr std::int64_t kMiB = std::int64_t(1) << 20;

// +n: n bytes are allocated; -k: the k-th allocation (from 1) is given back.
using Sequence = QList<qint64>;

std::int64_t reservedAfter(const Sequence &sequence, bool expandable)
{
    CachingAllocator allocator(expandable);
    std::vector<CachingAllocator::Handle> handles;
    for (const qint64 what : sequence) {
        if (what > 0)
            handles.push_back(allocator.allocate(what));
        else
            allocator.release(handles.at(static_cast<std::size_t>(-what - 1)));
    }
    return allocator.reserved();
}

Sequence times(int count, qint64 bytes) { return Sequence(count, bytes); }

} // namespace

class CachingAllocatorTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void reservesByTheRules_data();
    void reservesByTheRules();
    void neverReservesLessThanIsInUse_data();
    void neverReservesLessThanIsInUse();
    void givesTheSamePlaceTwiceToNobody();
};

void CachingAllocatorTest::reservesByTheRules_data()
{
    QTest::addColumn<Sequence>("sequence");
    QTest::addColumn<bool>("expandable");
    QTest::addColumn<qint64>("megabytes");
    const auto row = [](const char *name, const Sequence &sequence, bool expandable, qint64 megabytes) { QTest::newRow(name) << sequence << expandable << megabytes; };
    row("nothing", {}, false, 0);
    row("the smallest takes a small segment", {1}, false, 2);
    row("4096 times 512 B fill one small segment", times(4096, 512), false, 2);
    row("one more needs the next", times(4097, 512), false, 4);
    row("513 B count as 1024", times(2049, 513), false, 4);
    row("two of 1 MiB share a small segment", {kMiB, kMiB}, false, 2);
    row("above 1 MiB: a segment of 20", {kMiB + 1}, false, 20);
    row("four of 5 MiB share it", times(4, 5 * kMiB), false, 20);
    row("a fifth does not", times(5, 5 * kMiB), false, 40);
    row("10 MiB: a segment of its own", {10 * kMiB}, false, 10);
    row("rounded to 2 MiB", {10 * kMiB + 1}, false, 12);
    row("small and large never mix", {19 * kMiB, kMiB}, false, 22);
    row("what was given back is used again", {30 * kMiB, -1, 30 * kMiB}, false, 30);
    row("segments are not given back", {30 * kMiB, -1, 32 * kMiB}, false, 62);
    row("the smallest that is large enough", {40 * kMiB, 30 * kMiB, -1, -2, 30 * kMiB, 40 * kMiB}, false, 70);
    row("a large block is split", {40 * kMiB, -1, 30 * kMiB, 10 * kMiB}, false, 40);
    row("but not for 1 MiB", {12 * kMiB, -1, 11 * kMiB, 2 * kMiB}, false, 32);
    row("freed neighbours join", {5 * kMiB, 5 * kMiB, 5 * kMiB, 5 * kMiB, -1, -2, 9 * kMiB}, false, 20);
    row("whichever is freed first", {5 * kMiB, 5 * kMiB, 5 * kMiB, 5 * kMiB, -2, -1, 9 * kMiB}, false, 20);
    row("all three of them", {5 * kMiB, 5 * kMiB, 5 * kMiB, 5 * kMiB, -1, -3, -2, 9 * kMiB}, false, 20);
    row("not over one in use", {5 * kMiB, 5 * kMiB, 5 * kMiB, 5 * kMiB, -1, -3, 9 * kMiB}, false, 40);
    row("not over a segment's end", {12 * kMiB, 12 * kMiB, -1, -2, 24 * kMiB}, false, 48);
    row("expandable: grows by pages of 20", {12 * kMiB}, true, 20);
    row("by what is missing only", {12 * kMiB, 12 * kMiB}, true, 40);
    row("and joins over all", {12 * kMiB, 12 * kMiB, -1, -2, 24 * kMiB}, true, 40);
    row("small pages of 2", times(4097, 512), true, 4);
    row("small and large grow apart", {19 * kMiB, kMiB}, true, 22);
}

void CachingAllocatorTest::reservesByTheRules()
{
    QFETCH(Sequence, sequence);
    QFETCH(bool, expandable);
    QFETCH(qint64, megabytes);
    QCOMPARE(reservedAfter(sequence, expandable), megabytes * kMiB);
}

void CachingAllocatorTest::neverReservesLessThanIsInUse_data()
{
    QTest::addColumn<bool>("expandable");
    QTest::newRow("segments") << false;
    QTest::newRow("expandable") << true;
}

// And little more than the most that was in use, where everything is given back before more is asked for.
void CachingAllocatorTest::neverReservesLessThanIsInUse()
{
    QFETCH(bool, expandable);
    std::mt19937 random(7);
    CachingAllocator allocator(expandable);
    std::vector<std::pair<CachingAllocator::Handle, std::int64_t>> alive;
    std::int64_t inUse = 0, most = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (!alive.empty() && random() % 100 < 50) {
            const auto which = random() % alive.size();
            allocator.release(alive[which].first);
            inUse -= alive[which].second;
            alive[which] = alive.back();
            alive.pop_back();
        } else {
            const std::int64_t bytes = 1 + std::int64_t(random() % (random() % 10 == 0 ? 50 * kMiB : kMiB));
            alive.emplace_back(allocator.allocate(bytes), bytes);
            inUse += bytes;
            most = std::max(most, inUse);
        }
        QVERIFY(allocator.reserved() >= inUse);
    }
    QVERIFY2(allocator.reserved() <= 2 * most + 64 * kMiB, qPrintable(QStringLiteral("%1 for %2").arg(allocator.reserved()).arg(most)));
    const auto before = allocator.reserved();
    for (const auto &[handle, bytes] : alive)
        allocator.release(handle);
    allocator.allocate(expandable ? most / 2 : kMiB);            // everything is free and, where segments grow, one piece
    QCOMPARE(allocator.reserved(), before);
}

void CachingAllocatorTest::givesTheSamePlaceTwiceToNobody()
{
    CachingAllocator allocator;
    std::set<CachingAllocator::Handle> handles;
    for (int i = 0; i < 100; ++i)
        handles.insert(allocator.allocate(3 * kMiB));
    QCOMPARE(handles.size(), std::size_t(100));
}

QTEST_GUILESS_MAIN(CachingAllocatorTest)
#include "caching_allocator_test.moc"
