#include "core/plan/compose.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace stagewright::plan {

using memory::JournalEvent;

namespace {

constexpr std::int64_t kAlike = 3;             // blocks of one treatment that a dry run needs

struct Counts {
    std::int64_t offloaded = 0, kept = 0, plain = 0;
    std::int64_t all() const { return offloaded + kept + plain; }
    Counts atMost(std::int64_t most) const { return {std::min(offloaded, most), std::min(kept, most), std::min(plain, most)}; }
};

// Elements that one checkpointed block puts into the buffer.
std::int64_t elementsOfBlock(const Work &work, const ClipShape &shape)
{
    return shape.batch * (imageTokens(work, shape) + textTokens(work, shape)) * work.model.hiddenSize;
}

void standFor(std::vector<int> &stands, std::int64_t whole, std::int64_t few)
{
    for (std::int64_t i = 0; i < few; ++i)
        stands.push_back(i == 1 && whole > few ? static_cast<int>(whole - few + 1) : 1);
}

struct Treatments { Counts doubles, singles; };

Treatments treatmentsOf(const Work &work, const ClipShape &shape)
{
    const std::int64_t room = work.bufferElements > 0 ? work.bufferElements / elementsOfBlock(work, shape) : 0;
    const std::int64_t doubles = work.depth.doubleBlocks, singles = work.depth.singleBlocks;
    const std::int64_t inDoubles = std::min(doubles, room), inSingles = std::min(singles, room - inDoubles);
    return {{inDoubles, doubles - inDoubles, work.model.depth - doubles}, {inSingles, singles - inSingles, work.model.depthSingleBlocks - singles}};
}

} // namespace

Reduced reduced(const Work &work, const ClipShape &shape)
{
    const auto [doubles, singles] = treatmentsOf(work, shape);
    const Counts fewDoubles = doubles.atMost(kAlike), fewSingles = singles.atMost(kAlike);
    Reduced plan{work, {}, true, doubles.offloaded + singles.offloaded, doubles.kept + singles.kept};
    for (const auto &[whole, few] : {std::pair(doubles, fewDoubles), std::pair(singles, fewSingles)}) {
        standFor(plan.stands, whole.offloaded, few.offloaded);
        standFor(plan.stands, whole.kept, few.kept);
        standFor(plan.stands, whole.plain, few.plain);
    }
    auto &model = plan.work.model;
    model.depth = fewDoubles.all();
    model.depthSingleBlocks = fewSingles.all();
    plan.isWhole = model == work.model;
    plan.work.depth = {static_cast<int>(fewDoubles.offloaded + fewDoubles.kept), static_cast<int>(fewSingles.offloaded + fewSingles.kept)};
    const std::int64_t inBuffer = fewDoubles.offloaded + fewSingles.offloaded;
    if (plan.work.bufferElements > 0)
        plan.work.bufferElements = inBuffer > 0 ? inBuffer * elementsOfBlock(work, shape) : std::min<std::int64_t>(work.bufferElements, elementsOfBlock(work, shape) - 1);
    return plan;
}

Reduced notReduced(const Work &work, const ClipShape &shape)
{
    const auto [doubles, singles] = treatmentsOf(work, shape);
    Reduced plan{work, std::vector<int>(static_cast<std::size_t>(work.model.blocks()), 1), true, doubles.offloaded + singles.offloaded, doubles.kept + singles.kept};
    return plan;
}

namespace {

// A piece of the journal between two marks.
struct Segment {
    std::size_t begin = 0, end = 0;
    Place place = Place::MicroStep;
    int block = 0;
    bool isOfBlock() const { return place == Place::Forward || place == Place::Backward; }
};

std::vector<Segment> segmentsOf(const std::vector<JournalEvent> &journal)
{
    std::vector<Segment> segments;
    for (std::size_t i = 0; i < journal.size(); ++i) {
        if (journal[i].type == JournalEvent::Type::Mark) {
            if (!segments.empty())
                segments.back().end = i;
            segments.push_back({i + 1, journal.size(), placeOf(journal[i].id), blockOf(journal[i].id)});
        }
    }
    return segments;
}

// What an update leaves behind for good: moments, sums of gradients, caches. In the second update it is there from the start.
std::unordered_set<std::uint32_t> survivorsOf(const std::vector<JournalEvent> &journal)
{
    std::unordered_set<std::uint32_t> alive;
    for (const auto &event : journal) {
        if (event.type == JournalEvent::Type::Allocate)
            alive.insert(event.id);
        else if (event.type == JournalEvent::Type::Release)
            alive.erase(event.id);
    }
    return alive;
}

class Walker
{
public:
    Walker(const Reduced &plan, const DryRun &run) : m_plan(plan), m_run(run), m_survivors(survivorsOf(run.journal))
    {
        int first = 0;
        for (const int count : plan.stands) {
            m_first.push_back(first);
            first += count;
        }
    }

    Replay walk()
    {
        fixed();
        for (const auto &segment : segmentsOf(m_run.journal)) {
            if (segment.place == Place::Update)
                m_replay.update = m_replay.changes.size();
            const int count = segment.isOfBlock() ? m_plan.stands[static_cast<std::size_t>(segment.block)] : 1;
            for (int i = 0; i < count; ++i) {
                // Backward goes from the last to the first.
                const int instance = segment.place == Place::Backward ? count - 1 - i : i;
                m_block = segment.isOfBlock() ? m_first[static_cast<std::size_t>(segment.block)] + instance : -1;
                play(segment, instance);
            }
        }
        return std::move(m_replay);
    }

private:
    void fixed()
    {
        auto &bytes = m_replay.fixed;
        bytes = m_run.before;
        std::int64_t elements = 0, sums = 0, known = 0;
        for (const auto &parameter : m_run.parameters)
            elements += parameter.elements;
        for (const auto &event : m_run.journal) {
            if (event.type == JournalEvent::Type::Allocate && m_survivors.contains(event.id)) {
                bytes[static_cast<std::size_t>(event.kind)] += event.bytes;
                sums += event.kind == MemoryKind::Gradient ? event.bytes : 0;
            }
        }
        const auto add = [&](MemoryKind kind, std::int64_t size) { bytes[static_cast<std::size_t>(kind)] += size; };
        for (const auto &parameter : m_run.parameters) {
            const int stands = parameter.block < 0 ? 1 : m_plan.stands[static_cast<std::size_t>(parameter.block)];
            const std::int64_t sum = elements > 0 ? sums / elements * parameter.elements : 0;
            add(MemoryKind::Parameter, (stands - 1) * parameter.weight);
            add(MemoryKind::Optimizer, (stands - 1) * (parameter.master + parameter.moments));
            add(MemoryKind::Ema, (stands - 1) * parameter.average);
            add(MemoryKind::Gradient, (stands - 1) * sum);
            for (int i = 0; i < stands; ++i) {
                for (const std::int64_t size : {parameter.weight, parameter.master, parameter.moments / 2, parameter.moments / 2, parameter.average, sum}) {
                    known += size;
                    if (size > 0)
                        m_replay.fixedSizes.push_back(size);
                }
            }
        }
        std::int64_t all = 0;
        for (const auto size : bytes)
            all += size;
        if (all > known)
            m_replay.fixedSizes.push_back(all - known);
    }

    void play(const Segment &segment, int instance)
    {
        for (std::size_t i = segment.begin; i < segment.end; ++i) {
            const auto &event = m_run.journal[i];
            if (m_survivors.contains(event.id) && event.type != JournalEvent::Type::Mark) {
                continue;
            }
            switch (event.type) {
            case JournalEvent::Type::Allocate: allocate(event, segment, instance); break;
            case JournalEvent::Type::Release: release(event, segment, instance); break;
            case JournalEvent::Type::Rekind:
                rekind(event, segment, instance);
                m_replay.changes.push_back({false, event.before, event.phase, m_block, event.bytes, kRekind});
                m_replay.changes.push_back({true, event.kind, event.phase, m_block, event.bytes, kRekind});
                break;
            case JournalEvent::Type::Mark: break;
            }
        }
    }

    struct Made {
        bool alive = true;
        MemoryKind kind = MemoryKind::Workspace;
        int block = -1;                        // of the whole model
    };

    struct Owner {                             // where an allocation of the journal was made
        int block = -1;                        // of the dry run's model; -1: not in a block's segment
        std::vector<std::uint64_t> ids;        // one an instance
    };

    void allocate(const JournalEvent &event, const Segment &segment, int instance)
    {
        auto &owner = m_owners[event.id];
        owner.block = segment.isOfBlock() ? segment.block : -1;
        const int count = owner.block < 0 ? 1 : m_plan.stands[static_cast<std::size_t>(owner.block)];
        owner.ids.resize(static_cast<std::size_t>(count), kNone);
        owner.ids[static_cast<std::size_t>(instance)] = m_next;
        m_bytes[event.bytes].push_back(m_next);
        m_replay.changes.push_back({true, event.kind, event.phase, m_block, event.bytes, m_next++});
        m_made.push_back({true, event.kind, m_block});
    }

    void rekind(const JournalEvent &event, const Segment &segment, int instance)
    {
        const auto found = m_owners.find(event.id);
        const auto id = found == m_owners.end() ? kNone : resolved(found->second, event.bytes, event.before, segment, instance);
        if (id != kNone)
            m_made[id].kind = event.kind;
    }

    void emitRelease(const JournalEvent &event, std::uint64_t id)
    {
        m_made[id].alive = false;
        m_replay.changes.push_back({false, event.kind, event.phase, m_block, event.bytes, id});
    }

    // The newest allocation of the same size and kind that another block made and that still lives: in a repeated block, the counterpart of what
    // the first one's neighbour made.
    std::uint64_t counterpart(std::int64_t bytes, MemoryKind kind)
    {
        auto &ids = m_bytes[bytes];
        while (!ids.empty() && !m_made[ids.back()].alive)
            ids.pop_back();
        const auto found = std::find_if(ids.rbegin(), ids.rend(), [&](std::uint64_t id) {
            return m_made[id].alive && m_made[id].kind == kind && m_made[id].block != m_block;
        });
        return found == ids.rend() ? kNone : *found;
    }

    // Which allocation of the whole model an event in a block's segment is about.
    std::uint64_t resolved(const Owner &owner, std::int64_t bytes, MemoryKind kind, const Segment &segment, int instance)
    {
        std::size_t which = 0;
        if (owner.ids.size() > 1 && segment.isOfBlock())
            which = owner.block == segment.block ? static_cast<std::size_t>(instance) : owner.block < segment.block ? owner.ids.size() - 1 : 0;
        const std::uint64_t id = owner.ids[which];
        const bool isIt = id != kNone && m_made[id].alive && m_made[id].kind == kind;
        return isIt ? id : counterpart(bytes, kind);
    }

    void release(const JournalEvent &event, const Segment &segment, int instance)
    {
        const auto found = m_owners.find(event.id);
        if (found == m_owners.end())
            return;                            // older than the journal: it belongs to what is fixed
        const Owner &owner = found->second;
        if (!segment.isOfBlock()) {            // everything that the repeated block made
            for (const auto id : owner.ids) {
                if (id != kNone && m_made[id].alive)
                    emitRelease(event, id);
            }
            return;
        }
        const auto id = resolved(owner, event.bytes, event.kind, segment, instance);
        if (id != kNone)
            emitRelease(event, id);
    }

public:
    static constexpr std::uint64_t kNone = ~std::uint64_t(0), kRekind = Change::kSameMemory;

private:
    const Reduced &m_plan;
    const DryRun &m_run;
    const std::unordered_set<std::uint32_t> m_survivors;
    std::vector<int> m_first;
    std::unordered_map<std::uint32_t, Owner> m_owners;
    std::unordered_map<std::int64_t, std::vector<std::uint64_t>> m_bytes;
    std::vector<Made> m_made;                  // by id
    std::uint64_t m_next = 0;
    int m_block = -1;
    Replay m_replay;
};

} // namespace

Replay replay(const Reduced &plan, const DryRun &run)
{
    return Walker(plan, run).walk();
}

namespace {

// Adds changes up and keeps the highest moments.
class Level
{
public:
    Level(Prediction &prediction, const memory::KindBytes &begin) : m_prediction(prediction), m_now(begin)
    {
        for (const auto bytes : begin)
            m_total += bytes;
        m_prediction.peak = m_total;
        m_prediction.byKind = begin;
    }
    void add(MemoryKind kind, std::int64_t bytes, Phase phase, int block)
    {
        m_now[static_cast<std::size_t>(kind)] += bytes;
        m_total += bytes;
        auto &inPhase = m_prediction.byPhase[static_cast<std::size_t>(phase)];
        inPhase = std::max(inPhase, m_total);
        if (m_total <= m_prediction.peak)
            return;
        m_prediction.peak = m_total;
        m_prediction.byKind = m_now;
        m_prediction.phase = phase;
        m_prediction.block = block;
    }

private:
    Prediction &m_prediction;
    memory::KindBytes m_now;
    std::int64_t m_total = 0;
};

} // namespace

Prediction predict(const Reduced &plan, const DryRun &run, const Replay &replayed, std::int64_t workspace)
{
    Prediction p;
    p.fixed = replayed.fixed;
    Level level(p, replayed.fixed);
    for (std::size_t i = 0; i < replayed.changes.size(); ++i) {
        if (i == replayed.update && workspace > 0) {
            level.add(MemoryKind::Workspace, workspace, Phase::Optimizer, -1);
            level.add(MemoryKind::Workspace, -workspace, Phase::Optimizer, -1);
        }
        const auto &change = replayed.changes[i];
        level.add(change.kind, change.allocates ? change.bytes : -change.bytes, change.phase, change.block);
    }
    const std::int64_t perBlock = run.offloadedBlocks > 0 ? run.bufferBytes / run.offloadedBlocks : 0;
    p.offloadedBlocks = plan.offloaded;
    p.keptBlocks = plan.kept;
    p.bufferBytes = perBlock * plan.offloaded;
    for (const auto &parameter : run.parameters)
        p.stateBytes += parameter.fixed() * (parameter.block < 0 ? 1 : plan.stands[static_cast<std::size_t>(parameter.block)]);
    p.reserved = p.peak;
    return p;
}

} // namespace stagewright::plan
