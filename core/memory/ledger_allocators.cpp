// The wrappers that the ledger puts around Torch's allocators.
//
// CPU: each allocation is made 64 bytes (Torch's alignment) larger, and the record lies in front of the data, where the deleter finds it
// without a look-up. Torch requires data pointer and context of a CPU allocation to be the same, which they are. Meta: there is no
// data; the context is the record itself, so that the deleter runs.
#include <atomic>
#include <new>

#include "core/memory/ledger_impl.h"

namespace stagewright::memory {

namespace {

constexpr std::size_t kHeader = c10::gAlignment;
static_assert(sizeof(Ledger::Record) <= kHeader);

class CpuLedgerAllocator : public c10::Allocator
{
public:
    static CpuLedgerAllocator &instance()
    {
        static auto *allocator = new CpuLedgerAllocator;
        return *allocator;
    }

    void attach(Ledger &ledger)
    {
        m_ledger = &ledger.impl();
        m_base = c10::GetAllocator(c10::kCPU);
        c10::SetAllocator(c10::kCPU, this, 255);
    }
    bool isAttached() const { return m_base; }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        if (bytes == 0)
            return {nullptr, nullptr, &release, c10::Device(c10::kCPU)};
        const Ledger::Record record = m_ledger->add(static_cast<std::int64_t>(bytes));
        char *memory = nullptr;
        try {
            memory = static_cast<char *>(m_base->raw_allocate(bytes + kHeader));
        } catch (const c10::Error &) {
            m_ledger->remove(record);
            m_ledger->deviceIsFull(static_cast<std::int64_t>(bytes));
        }
        new (memory) Ledger::Record(record);
        void *data = memory + kHeader;
        return {data, data, &release, c10::Device(c10::kCPU)};
    }

    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *destination, const void *source, std::size_t count) const override { default_copy_data(destination, source, count); }

    static Ledger::Record *record(void *data) { return reinterpret_cast<Ledger::Record *>(static_cast<char *>(data) - kHeader); }

    static void release(void *data)
    {
        if (!data)
            return;
        Ledger::Record *found = record(data);
        instance().m_ledger->remove(*found);
        instance().m_base->raw_deallocate(found);
    }

private:
    Ledger::Impl *m_ledger = nullptr;
    c10::Allocator *m_base = nullptr;
};

class MetaLedgerAllocator : public c10::Allocator
{
public:
    static MetaLedgerAllocator &instance()
    {
        static auto *allocator = new MetaLedgerAllocator;
        return *allocator;
    }

    void attach(Ledger &ledger)
    {
        m_ledger = &ledger.impl();
        c10::SetAllocator(c10::kMeta, this, 255);
    }
    bool isAttached() const { return m_ledger; }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        auto *record = bytes ? new Ledger::Record(m_ledger->add(static_cast<std::int64_t>(bytes))) : nullptr;
        return {nullptr, record, &release, c10::Device(c10::kMeta)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *, const void *, std::size_t) const override {}

    static void release(void *context)
    {
        if (auto *record = static_cast<Ledger::Record *>(context)) {
            instance().m_ledger->remove(*record);
            delete record;
        }
    }

private:
    Ledger::Impl *m_ledger = nullptr;
};

} // namespace

Status attachAllocator(torch::DeviceType type, Ledger &ledger)
{
    if (type == torch::kCPU) {
        if (!CpuLedgerAllocator::instance().isAttached())
            CpuLedgerAllocator::instance().attach(ledger);
        return Done{};
    }
    if (type == torch::kMeta) {
        if (!MetaLedgerAllocator::instance().isAttached())
            MetaLedgerAllocator::instance().attach(ledger);
        return Done{};
    }
    return Error(ExitCode::Usage, "memory.no-ledger",
                 fmt::format("memory of device type {} cannot be watched; the ledger knows cpu, meta and cuda", c10::DeviceTypeName(type, true)));
}

Ledger::Record *recordOf(const c10::Storage &storage)
{
    const c10::DataPtr &pointer = storage.data_ptr();
    if (!pointer.get_context())
        return nullptr;
    if (pointer.get_deleter() == &CpuLedgerAllocator::release)
        return CpuLedgerAllocator::record(pointer.get_context());
    if (pointer.get_deleter() == &MetaLedgerAllocator::release)
        return static_cast<Ledger::Record *>(pointer.get_context());
    return nullptr;
}

} // namespace stagewright::memory
