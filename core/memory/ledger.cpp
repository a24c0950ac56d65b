#include "core/memory/ledger.h"

#include <atomic>
#include <map>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "core/base/units.h"
#include "core/memory/device_module.h"
#include "core/memory/ledger_impl.h"

namespace stagewright::memory {

namespace {

std::atomic<int> g_phase{static_cast<int>(Phase::Idle)};
thread_local int t_phase = -1;
thread_local int t_kind = -1;
thread_local int t_block = -1;
std::atomic<Ledger *> g_current{nullptr};
std::array<std::atomic<std::int64_t>, kHostKindNames.size()> g_host{};

Phase processPhase() { return static_cast<Phase>(g_phase.load(std::memory_order_relaxed)); }

MemoryKind usualKind(Phase phase)
{
    switch (phase) {
    case Phase::Forward: return MemoryKind::Activation;
    case Phase::Encode: return MemoryKind::Encoder;
    default: return MemoryKind::Workspace;
    }
}

void publishPhase(Phase phase)
{
    g_phase.store(static_cast<int>(phase), std::memory_order_relaxed);
    if (Ledger *current = g_current.load(std::memory_order_acquire))
        current->impl().phaseChanged();
}

} // namespace

Phase currentPhase() { return t_phase >= 0 ? static_cast<Phase>(t_phase) : processPhase(); }
int currentBlock() { return t_block; }

PhaseScope::PhaseScope(Phase phase) : m_previous(processPhase()) { publishPhase(phase); }
PhaseScope::~PhaseScope() { publishPhase(m_previous); }
ThreadPhaseScope::ThreadPhaseScope(Phase phase) : m_previous(std::exchange(t_phase, static_cast<int>(phase))) {}
ThreadPhaseScope::~ThreadPhaseScope() { t_phase = m_previous; }
KindScope::KindScope(MemoryKind kind) : m_previous(std::exchange(t_kind, static_cast<int>(kind))) {}
KindScope::~KindScope() { t_kind = m_previous; }
BlockScope::BlockScope(int block) : m_previous(std::exchange(t_block, block)) {}
BlockScope::~BlockScope() { t_block = m_previous; }

// --- Out of memory ---

std::string describe(const OutOfMemoryFacts &facts)
{
    std::string text = fmt::format("out of memory in {}: {} for {} more did not fit beside the {} in use", nameOf(facts.phase),
                                   formatBytes(static_cast<double>(facts.requested)), nameOf(facts.kind), formatBytes(static_cast<double>(facts.inUse)));
    if (facts.limit > 0)
        text += fmt::format(" under the memory_limit of {}", formatBytes(static_cast<double>(facts.limit)));
    std::string parts;
    for (std::size_t i = 0; i < facts.byKind.size(); ++i) {
        if (facts.byKind[i] > 0)
            parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", kMemoryKindNames[i], formatBytes(static_cast<double>(facts.byKind[i])));
    }
    return parts.empty() ? text : text + " (" + parts + ")";
}

OutOfMemory::OutOfMemory(OutOfMemoryFacts facts)
    : c10::OutOfMemoryError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)}, describe(facts)), m_facts(facts)
{
}

// --- Counting ---

OutOfMemoryFacts Ledger::Impl::facts(const Record &record, std::int64_t limit) const
{
    return {record.bytes, total, limit, byKind, static_cast<MemoryKind>(record.kind), static_cast<Phase>(record.phase), record.block};
}

Ledger::Record Ledger::Impl::add(std::int64_t bytes)
{
    const Phase phase = currentPhase();
    const MemoryKind kind = t_kind >= 0 ? static_cast<MemoryKind>(t_kind) : usualKind(phase);
    Record record{bytes, static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(phase), static_cast<std::int16_t>(t_block)};
    std::unique_lock lock(mutex);
    if (budget > 0 && total + bytes > budget) {
        const OutOfMemoryFacts refused = facts(record, budget);
        lock.unlock();
        throw OutOfMemory(refused);
    }
    total += bytes;
    record.id = static_cast<std::uint32_t>(++allocations);
    byKind[record.kind] += bytes;
    byPhase[record.phase] += bytes;
    countBlock(record.block, bytes);
    if (total > peakTotal)
        notePeak(record.block);
    std::int64_t &phasePeak = peakInPhase[static_cast<std::size_t>(processPhase())];
    phasePeak = std::max(phasePeak, total);
    if (tracing)
        tracePoint();
    if (journalling)
        note(JournalEvent::Type::Allocate, record);
    return record;
}

void Ledger::Impl::remove(const Record &record)
{
    std::lock_guard lock(mutex);
    total -= record.bytes;
    byKind[record.kind] -= record.bytes;
    byPhase[record.phase] -= record.bytes;
    countBlock(record.block, -record.bytes);
    if (tracing)
        tracePoint();
    if (journalling)
        note(JournalEvent::Type::Release, record);
}

void Ledger::Impl::move(Record &record, MemoryKind kind)
{
    std::lock_guard lock(mutex);
    const std::uint8_t before = record.kind;
    byKind[record.kind] -= record.bytes;
    record.kind = static_cast<std::uint8_t>(kind);
    byKind[record.kind] += record.bytes;
    if (journalling)
        note(JournalEvent::Type::Rekind, record, before);
}

void Ledger::Impl::note(JournalEvent::Type type, const Record &record, std::uint8_t kindBefore)
{
    journal.push_back({type, static_cast<MemoryKind>(record.kind), static_cast<MemoryKind>(kindBefore), processPhase(), record.block, record.id, record.bytes});
}

void Ledger::Impl::deviceIsFull(std::int64_t requested)
{
    OutOfMemoryFacts refused;
    {
        const Phase phase = currentPhase();
        const MemoryKind kind = t_kind >= 0 ? static_cast<MemoryKind>(t_kind) : usualKind(phase);
        std::lock_guard lock(mutex);
        refused = facts({requested, static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(phase), static_cast<std::int16_t>(t_block)}, 0);
    }
    throw OutOfMemory(refused);
}

void Ledger::Impl::countBlock(int block, std::int64_t bytes)
{
    const std::size_t index = static_cast<std::size_t>(block + 1);      // 0: outside the blocks
    if (index >= byBlock.size())
        byBlock.resize(index + 1);
    byBlock[index] += bytes;
}

void Ledger::Impl::notePeak(int block)
{
    peakTotal = total;
    peakByKind = byKind;
    peakPhase = processPhase();
    peakBlock = block;
    if (perBlock)
        peakByBlock = byBlock;
}

void Ledger::Impl::phaseChanged()
{
    std::lock_guard lock(mutex);
    std::int64_t &phasePeak = peakInPhase[static_cast<std::size_t>(processPhase())];
    phasePeak = std::max(phasePeak, total);
    if (tracing)
        tracePoint();
}

// --- The timeline ---

// Between two kept points only the highest moment is remembered; a change of phase always starts a new point.
void Ledger::Impl::tracePoint()
{
    const Phase phase = processPhase();
    if (tracePendingTotal >= 0 && tracePending.phase != phase)
        traceFlush();
    if (total > tracePendingTotal) {
        tracePendingTotal = total;
        tracePending = {std::chrono::duration<double>(std::chrono::steady_clock::now() - traceStart).count(), phase, byKind};
    }
    if (++traceSince >= traceStride)
        traceFlush();
}

static std::int64_t sum(const KindBytes &bytes)
{
    std::int64_t total = 0;
    for (const std::int64_t part : bytes)
        total += part;
    return total;
}

void Ledger::Impl::traceFlush()
{
    if (tracePendingTotal < 0)
        return;
    trace.push_back(tracePending);
    tracePendingTotal = -1;
    traceSince = 0;
    if (trace.size() < traceCapacity)
        return;
    constexpr std::int64_t kWidestStride = std::int64_t{1} << 30;         // more allocations than a step makes: only phases start points then
    traceStride = std::min(traceStride * 2, kWidestStride);
    // Of two neighbours of one phase the higher stays. When phases alternate too often for that to help, phases are merged as well.
    for (const bool acrossPhases : {false, true}) {
        std::vector<TracePoint> kept;
        for (std::size_t i = 0; i < trace.size(); ++i) {
            const bool pair = i + 1 < trace.size() && (acrossPhases || trace[i].phase == trace[i + 1].phase);
            const std::size_t higher = pair && sum(trace[i + 1].byKind) > sum(trace[i].byKind) ? i + 1 : i;
            kept.push_back(trace[higher]);
            i += pair;
        }
        trace = std::move(kept);
        if (trace.size() <= traceCapacity * 3 / 4)
            break;
    }
}

void Ledger::startTrace(std::size_t capacity)
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->tracing = true;
    m_impl->trace.clear();
    m_impl->traceCapacity = std::max<std::size_t>(capacity, 16);
    m_impl->trace.reserve(m_impl->traceCapacity);
    m_impl->traceStride = 1;
    m_impl->traceSince = 0;
    m_impl->tracePendingTotal = -1;
    m_impl->traceStart = std::chrono::steady_clock::now();
    m_impl->tracePoint();
}

std::vector<TracePoint> Ledger::takeTrace()
{
    std::lock_guard lock(m_impl->mutex);
    if (m_impl->tracing)
        m_impl->traceFlush();
    m_impl->tracing = false;
    return std::exchange(m_impl->trace, {});
}

// --- The journal ---

void Ledger::startJournal()
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->journalling = true;
    m_impl->journal.clear();
}

void Ledger::mark(std::uint32_t number)
{
    std::lock_guard lock(m_impl->mutex);
    if (m_impl->journalling)
        m_impl->journal.push_back({JournalEvent::Type::Mark, MemoryKind::Workspace, MemoryKind::Workspace, processPhase(), -1, number, 0});
}

std::vector<JournalEvent> Ledger::takeJournal()
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->journalling = false;
    return std::exchange(m_impl->journal, {});
}

// --- The public face ---

Ledger::Ledger() : m_impl(std::make_unique<Impl>()) {}
Ledger::~Ledger() = default;

Snapshot Ledger::snapshot() const
{
    Snapshot s;
    {
        std::lock_guard lock(m_impl->mutex);
        s.total = m_impl->total;
        s.byKind = m_impl->byKind;
        s.byPhase = m_impl->byPhase;
        s.peakTotal = m_impl->peakTotal;
        s.peakByKind = m_impl->peakByKind;
        s.peakPhase = m_impl->peakPhase;
        s.peakBlock = m_impl->peakBlock;
        s.peakInPhase = m_impl->peakInPhase;
        s.allocations = m_impl->allocations;
        s.reserved = m_impl->reserved >= 0 ? m_impl->reserved : m_impl->total;
        if (m_impl->perBlock) {
            s.byBlock = m_impl->byBlock;
            s.peakByBlock = m_impl->peakByBlock;
        }
    }
    s.host = hostBytes();
    return s;
}

std::int64_t Ledger::total() const
{
    std::lock_guard lock(m_impl->mutex);
    return m_impl->total;
}

void Ledger::resetPeak()
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->peakTotal = m_impl->total;
    m_impl->peakByKind = m_impl->byKind;
    m_impl->peakPhase = processPhase();
    m_impl->peakBlock = -1;
    if (m_impl->perBlock)
        m_impl->peakByBlock = m_impl->byBlock;
    m_impl->peakInPhase = {};
    m_impl->peakInPhase[static_cast<std::size_t>(processPhase())] = m_impl->total;
}

void Ledger::setBudget(std::int64_t bytes)
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->budget = std::max<std::int64_t>(bytes, 0);
}

std::int64_t Ledger::budget() const
{
    std::lock_guard lock(m_impl->mutex);
    return m_impl->budget;
}

void Ledger::setPerBlock(bool on)
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->perBlock = on;
    m_impl->peakByBlock.clear();
}

void Ledger::rekind(const torch::Tensor &tensor, MemoryKind kind)
{
    if (!tensor.defined() || !tensor.has_storage())
        return;
    if (Record *record = recordOf(tensor.storage())) {
        m_impl->move(*record, kind);
        return;
    }
    std::unique_lock lock(m_impl->mutex);
    const auto found = m_impl->external.find(tensor.storage().data());
    if (found == m_impl->external.end())
        return;
    m_impl->byKind[found->second.kind] -= found->second.bytes;
    found->second.kind = static_cast<std::uint8_t>(kind);
    m_impl->byKind[found->second.kind] += found->second.bytes;
}

void Ledger::allocated(const void *address, std::int64_t bytes)
{
    const Record record = m_impl->add(bytes);
    std::lock_guard lock(m_impl->mutex);
    m_impl->external[address] = record;
}

void Ledger::released(const void *address)
{
    Record record;
    {
        std::lock_guard lock(m_impl->mutex);
        const auto found = m_impl->external.find(address);
        if (found == m_impl->external.end())
            return;
        record = found->second;
        m_impl->external.erase(found);
    }
    m_impl->remove(record);
}

void Ledger::setReserved(std::int64_t bytes)
{
    std::lock_guard lock(m_impl->mutex);
    m_impl->reserved = bytes;
}

// Ledgers live for the whole process: tensors may be freed while it ends.
static Ledger &ledgerOf(torch::DeviceType type)
{
    static std::mutex mutex;
    static auto *ledgers = new std::map<torch::DeviceType, Ledger *>;
    std::lock_guard lock(mutex);
    Ledger *&found = (*ledgers)[type];
    if (!found)
        found = new Ledger;
    return *found;
}

static Status attachDeviceModule(torch::Device device, Ledger &target)
{
    auto module = loadDeviceModule();
    if (!module)
        return module.error();
    static std::map<int, LedgerCallbacks> attached;         // the training thread's set-up; callbacks must outlive the process's allocations
    const int index = device.has_index() ? device.index() : 0;
    if (attached.count(index))
        return Done{};
    attached[index] = {&target,
                       [](void *context, const void *address, std::int64_t bytes) { static_cast<Ledger *>(context)->allocated(address, bytes); },
                       [](void *context, const void *address) { static_cast<Ledger *>(context)->released(address); },
                       [](void *context, std::int64_t change) {
                           Ledger::Impl &impl = static_cast<Ledger *>(context)->impl();
                           std::lock_guard lock(impl.mutex);
                           impl.reserved = std::max<std::int64_t>(impl.reserved, 0) + change;
                       }};
    if ((*module)->attachLedger(index, &attached[index]) != 0) {
        attached.erase(index);
        return Error(ExitCode::Other, "env.device-module", fmt::format("cannot watch the memory of {}: {}", device.str(), (*module)->lastError()));
    }
    return Done{};
}

Result<Ledger *> attachLedger(torch::Device device)
{
    Ledger &target = ledgerOf(device.type());
    Status status = device.is_cuda() ? attachDeviceModule(device, target) : attachAllocator(device.type(), target);
    if (!status)
        return status.error();
    g_current.store(&target, std::memory_order_release);
    return &target;
}

Ledger &ledger()
{
    if (Ledger *current = g_current.load(std::memory_order_acquire))
        return *current;
    static Ledger *empty = new Ledger;
    return *empty;
}

namespace {
struct CountAsGradient : torch::autograd::PostAccumulateGradHook {
    void operator()(const torch::autograd::Variable &parameter) override { ledger().rekind(parameter.grad(), MemoryKind::Gradient); }
};
} // namespace

void trackGradients(const std::vector<torch::Tensor> &parameters)
{
    for (const torch::Tensor &parameter : parameters)
        torch::autograd::impl::set_post_acc_grad_hooks(parameter, std::make_unique<CountAsGradient>());
}

// --- Host memory ---

void addHost(HostKind kind, std::int64_t bytes) { g_host[static_cast<std::size_t>(kind)] += bytes; }
void removeHost(HostKind kind, std::int64_t bytes) { g_host[static_cast<std::size_t>(kind)] -= bytes; }

HostBytes hostBytes()
{
    HostBytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = g_host[i];
    return bytes;
}

HostEntry::HostEntry(HostKind kind, std::int64_t bytes) : m_kind(kind), m_bytes(bytes) { addHost(kind, bytes); }
HostEntry::~HostEntry() { removeHost(m_kind, m_bytes); }
HostEntry::HostEntry(HostEntry &&other) noexcept : m_kind(other.m_kind), m_bytes(std::exchange(other.m_bytes, 0)) {}

HostEntry &HostEntry::operator=(HostEntry &&other) noexcept
{
    if (this != &other) {
        removeHost(m_kind, m_bytes);
        m_kind = other.m_kind;
        m_bytes = std::exchange(other.m_bytes, 0);
    }
    return *this;
}

void HostEntry::resize(std::int64_t bytes)
{
    addHost(m_kind, bytes - m_bytes);
    m_bytes = bytes;
}

} // namespace stagewright::memory
