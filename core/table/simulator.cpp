#include "core/table/simulator.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "core/base/host.h"
#include "core/table/bucket_search.h"

namespace stagewright::table {

namespace {

constexpr std::int64_t kRowsPerGrab = 32 * 1024;

// Calls work(begin, end) for pieces of [0, count) on several threads.
void inPieces(std::int64_t count, int threads, auto &&work)
{
    std::atomic<std::int64_t> next{0};
    const auto loop = [&] {
        for (std::int64_t begin = next.fetch_add(kRowsPerGrab); begin < count; begin = next.fetch_add(kRowsPerGrab))
            work(begin, std::min(begin + kRowsPerGrab, count));
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < std::min<std::int64_t>(threads, count / kRowsPerGrab + 1); ++i)
        others.emplace_back(loop);
    loop();
}

struct Pair {
    std::uint64_t first = 0, second = 0;
    bool operator==(const Pair &) const = default;
};
struct HashPair {
    std::size_t operator()(const Pair &pair) const
    {
        std::uint64_t hash = pair.first * 0x9e3779b97f4a7c15ULL ^ (pair.second + 0x7f4a7c15) * 0xc2b2ae3d27d4eb4fULL;
        return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
};
std::uint64_t bits(double value)
{
    std::uint64_t result = 0;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

struct Counts {
    std::vector<std::int64_t> samples, firstRow;
    std::array<std::int64_t, kDropReasons> dropped{};
    std::int64_t retimed = 0;
};

} // namespace

std::int64_t SimulatedBucket::batches() const
{
    return (samples + (bucket.tail == Tail::Fill ? bucket.batchSize - 1 : 0)) / std::max<std::int64_t>(bucket.batchSize, 1);
}

Simulator::Simulator(std::shared_ptr<const Table> table, int threads) : m_table(std::move(table)), m_threads(threads) { prepare(); }
Simulator::~Simulator() = default;

void Simulator::prepare()
{
    const auto rows = static_cast<std::size_t>(m_table->rowCount());
    m_sizeOf.resize(rows);
    m_lengthOf.resize(rows);
    const auto number = [&](NumberColumn column, std::size_t row) { return m_table->number(column, static_cast<std::int64_t>(row)); };
    const auto sizes = [&] {
        std::unordered_map<Pair, std::uint32_t, HashPair> known;
        for (std::size_t row = 0; row < rows; ++row) {
            const Size size{number(NumberColumn::Height, row), number(NumberColumn::Width, row)};
            const auto [at, fresh] = known.try_emplace({bits(size.height), bits(size.width)}, static_cast<std::uint32_t>(m_sizes.size()));
            if (fresh)
                m_sizes.push_back(size);
            m_sizeOf[row] = at->second;
        }
    };
    const auto lengths = [&] {
        std::unordered_map<Pair, std::uint32_t, HashPair> known;
        for (std::size_t row = 0; row < rows; ++row) {
            const Length length{number(NumberColumn::NumFrames, row), number(NumberColumn::Fps, row), false};
            const auto [at, fresh] = known.try_emplace({bits(length.frames), bits(length.fps)}, static_cast<std::uint32_t>(m_lengths.size()));
            if (fresh)
                m_lengths.push_back(length);
            m_lengthOf[row] = at->second;
        }
        const auto unreadable = static_cast<std::uint32_t>(m_lengths.size());
        m_lengths.push_back({0, 0, true});
        for (const std::int64_t row : m_table->unreadableRows())
            m_lengthOf[static_cast<std::size_t>(row)] = unreadable;
    };
    std::jthread other(sizes);
    lengths();
}

void Simulator::prepareDraws(const BucketRules &rules, std::int64_t epoch)
{
    const auto seed = static_cast<std::uint64_t>(rules.seed + epoch), step = static_cast<std::uint64_t>(rules.bucketCount());
    if (m_drawsStep == step && m_drawsSeed == seed)
        return;
    m_drawsStep = step;
    m_drawsSeed = seed;
    m_draws.resize(m_sizeOf.size() * kDrawsKept);
    inPieces(m_table->rowCount(), m_threads, [&](std::int64_t begin, std::int64_t end) {
        firstUniforms(seed + static_cast<std::uint64_t>(begin) * step, step, kDrawsKept,
                      std::span(m_draws).subspan(static_cast<std::size_t>(begin) * kDrawsKept, static_cast<std::size_t>(end - begin) * kDrawsKept));
    });
}

void Simulator::prepareSizes(const BucketRules &rules)
{
    std::string names;
    for (const auto &resolution : rules.resolutions) {
        names += resolution.name + ' ';
        for (const auto &aspect : resolution.aspects)
            names += std::to_string(aspect.height) + 'x' + std::to_string(aspect.width) + ' ';
    }
    if (names == m_sizesFor)
        return;
    const BucketSearch search(rules);
    const std::size_t resolutions = rules.resolutions.size();
    m_firstResolution.resize(m_sizes.size());
    m_aspects.resize(m_sizes.size() * resolutions);
    inPieces(static_cast<std::int64_t>(m_sizes.size()), m_threads, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const Size &size = m_sizes[i];
            m_firstResolution[i] = static_cast<std::uint8_t>(search.firstResolution(size.height, size.width));
            for (std::size_t r = m_firstResolution[i]; r < resolutions; ++r)
                m_aspects[i * resolutions + r] = search.nearestAspect(r, size.height / size.width);
        }
    });
    m_sizesFor = std::move(names);
}

// What the rules make of every size and length that occurs; then rows are look-ups.
class Simulator::Run
{
public:
    Run(Simulator &simulator, const BucketRules &rules, std::int64_t epoch) : m_simulator(simulator), m_search(rules), m_rules(rules), m_epoch(epoch)
    {
        if (needsDraws())
            simulator.prepareDraws(rules, epoch);
        m_drawn = needsDraws();
        simulator.prepareSizes(rules);
        for (const Length &length : simulator.m_lengths)
            m_rates.push_back(mapFrameRate(length.fps, rules.fpsMax));
    }

    const BucketSearch &search() const { return m_search; }

    SearchResult find(std::int64_t row) const
    {
        const auto at = static_cast<std::size_t>(row);
        const std::uint32_t lengthNumber = m_simulator.m_lengthOf[at];
        const Length &length = m_simulator.m_lengths[lengthNumber];
        if (length.unreadable)
            return {-1, DropReason::UnreadableValue};
        const std::uint32_t sizeNumber = m_simulator.m_sizeOf[at];
        const SizeFacts size{m_simulator.m_firstResolution[sizeNumber], &m_simulator.m_aspects[sizeNumber * m_rules.resolutions.size()]};
        const std::uint64_t seed = static_cast<std::uint64_t>(m_rules.seed + m_epoch) + static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(m_search.count());
        LazyDraws draws = m_drawn ? LazyDraws(seed, &m_simulator.m_draws[at * kDrawsKept], static_cast<int>(kDrawsKept)) : LazyDraws(seed);
        return m_search.find(length.frames, m_rates[lengthNumber], size, draws);
    }

    template <class Wanted>
    std::vector<std::int64_t> rows(std::int64_t from, std::int64_t count, Wanted &&wanted) const
    {
        std::vector<std::int64_t> found;
        for (std::int64_t row = 0; row < m_simulator.m_table->rowCount() && static_cast<std::int64_t>(found.size()) < count; ++row) {
            if (wanted(find(row)) && from-- <= 0)
                found.push_back(row);
        }
        return found;
    }

private:
    bool needsDraws() const
    {
        for (const auto &resolution : m_rules.resolutions) {
            for (const auto &frames : resolution.frames) {
                if (frames.frames == 1 || frames.probability < 1 || (frames.nextProbability && *frames.nextProbability < 1))
                    return true;
            }
        }
        return false;
    }

    Simulator &m_simulator;
    BucketSearch m_search;
    const BucketRules &m_rules;
    std::int64_t m_epoch;
    bool m_drawn = false;
    std::vector<std::optional<FrameRate>> m_rates;     // by length
};

namespace {

// The order in which the batches come decides only which of them miss the last round of ranks.
BucketPlan::Use useOf(const Simulation &simulation, const BucketRules &rules, std::int64_t epoch, std::int64_t worldSize)
{
    std::vector<const SimulatedBucket *> used;
    std::int64_t places = 0, accesses = 0;
    for (const SimulatedBucket &cell : simulation.buckets) {
        if (cell.samples == 0)
            continue;
        used.push_back(&cell);
        places += cell.batches() * cell.bucket.batchSize;
        accesses += cell.batches();
    }
    const bool fills = rules.policy == DataPolicy::Keep;
    const std::int64_t rest = accesses % worldSize;
    if (rest > 0) {
        std::sort(used.begin(), used.end(), [](const auto *a, const auto *b) { return a->firstRow < b->firstRow; });
        TorchPermuter permuter(static_cast<std::uint64_t>(rules.seed + epoch));
        std::vector<std::int64_t> batchSize;
        for (const SimulatedBucket *cell : used) {
            permuter.skip(cell->batches() * cell->bucket.batchSize);
            batchSize.insert(batchSize.end(), static_cast<std::size_t>(cell->batches()), cell->bucket.batchSize);
        }
        const auto order = permuter.permutation(accesses);
        for (std::int64_t i = 0; !fills && i < rest; ++i)
            places -= batchSize[static_cast<std::size_t>(order[static_cast<std::size_t>(accesses - 1 - i)])];
        for (std::int64_t i = 0; fills && i < worldSize - rest; ++i)
            places += batchSize[static_cast<std::size_t>(order[static_cast<std::size_t>(i % accesses)])];
    }
    return {std::max<std::int64_t>(simulation.kept - places, 0), std::max<std::int64_t>(places - simulation.kept, 0)};
}

} // namespace

Simulation Simulator::simulate(const BucketRules &rules, std::int64_t epoch, std::int64_t worldSize)
{
    const double begun = steadySeconds();
    const Run run(*this, rules, epoch);
    const auto cells = static_cast<std::size_t>(run.search().count());
    Counts all{std::vector<std::int64_t>(cells, 0), std::vector<std::int64_t>(cells, INT64_MAX), {}, 0};
    std::mutex mutex;
    inPieces(m_table->rowCount(), m_threads, [&](std::int64_t first, std::int64_t last) {
        Counts mine{std::vector<std::int64_t>(cells, 0), std::vector<std::int64_t>(cells, INT64_MAX), {}, 0};
        for (std::int64_t row = first; row < last; ++row) {
            const SearchResult found = run.find(row);
            if (found.bucket < 0) {
                ++mine.dropped[static_cast<std::size_t>(found.reason)];
                continue;
            }
            const auto cell = static_cast<std::size_t>(found.bucket);
            if (mine.samples[cell]++ == 0)
                mine.firstRow[cell] = row;
            mine.retimed += found.retimed;
        }
        const std::lock_guard lock(mutex);
        for (std::size_t cell = 0; cell < cells; ++cell) {
            all.samples[cell] += mine.samples[cell];
            all.firstRow[cell] = std::min(all.firstRow[cell], mine.firstRow[cell]);
        }
        for (std::size_t reason = 0; reason < kDropReasons; ++reason)
            all.dropped[reason] += mine.dropped[reason];
        all.retimed += mine.retimed;
    });

    Simulation result;
    result.rows = m_table->rowCount();
    result.retimed = all.retimed;
    result.dropped = all.dropped;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        SimulatedBucket bucket{run.search().describe(static_cast<std::int32_t>(cell)), all.samples[cell], all.samples[cell] > 0 ? all.firstRow[cell] : -1};
        bucket.bucket.tail = rules.policy == DataPolicy::Keep ? Tail::Fill : Tail::Drop;
        result.kept += bucket.samples;
        result.batches += bucket.batches();
        result.buckets.push_back(std::move(bucket));
    }
    result.batchesPerRank = (result.batches + (rules.policy == DataPolicy::Keep ? worldSize - 1 : 0)) / worldSize;
    result.use = useOf(result, rules, epoch, worldSize);
    result.seconds = steadySeconds() - begun;
    return result;
}

std::vector<std::int64_t> Simulator::rowsOfBucket(const BucketRules &rules, std::int64_t epoch, std::size_t cell, std::int64_t from, std::int64_t count)
{
    return Run(*this, rules, epoch).rows(from, count, [&](const SearchResult &found) { return found.bucket == static_cast<std::int32_t>(cell); });
}

std::vector<std::int64_t> Simulator::droppedRows(const BucketRules &rules, std::int64_t epoch, DropReason reason, std::int64_t from, std::int64_t count)
{
    return Run(*this, rules, epoch).rows(from, count, [&](const SearchResult &found) { return found.bucket < 0 && found.reason == reason; });
}

} // namespace stagewright::table
