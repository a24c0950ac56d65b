#include "core/ckptfile/finite.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

namespace stagewright::ckptfile {

namespace {

// The bits that are all set in values that are not finite, and in no other; 0 for types that have none.
std::uint64_t exponentBits(DType dtype)
{
    switch (dtype) {
    case DType::F64: return 0x7ff0000000000000;
    case DType::F32: return 0x7f800000;
    case DType::BF16: return 0x7f80;
    case DType::F16: return 0x7c00;
    case DType::F8E5M2: return 0x7c;
    case DType::F8E4M3: return 0x7f;         // NaN alone, which has the mantissa's bits set too; it has no infinity
    default: return 0;
    }
}

template <class Word>
std::int64_t countWords(const char *bytes, std::int64_t size, Word exponent)
{
    std::int64_t count = 0;
    for (std::int64_t at = 0; at < size; at += std::int64_t(sizeof(Word))) {
        Word word;
        std::memcpy(&word, bytes + at, sizeof word);
        count += (word & exponent) == exponent;
    }
    return count;
}

std::int64_t countIn(DType dtype, const char *bytes, std::int64_t size)
{
    const std::uint64_t exponent = exponentBits(dtype);
    switch (bytesOf(dtype)) {
    case 8: return countWords<std::uint64_t>(bytes, size, exponent);
    case 4: return countWords<std::uint32_t>(bytes, size, static_cast<std::uint32_t>(exponent));
    case 2: return countWords<std::uint16_t>(bytes, size, static_cast<std::uint16_t>(exponent));
    default: return countWords<std::uint8_t>(bytes, size, static_cast<std::uint8_t>(exponent));
    }
}

// Tensors taken in turn by any number of threads.
class Search
{
public:
    Search(const std::vector<const StoredTensor *> &tensors, const ReadProgress &progress) : m_tensors(tensors), m_progress(progress), m_counts(tensors.size())
    {
        for (const StoredTensor *tensor : tensors)
            m_total += tensor->bytes();
    }

    void work()
    {
        std::vector<char> buffer;
        for (std::size_t at = m_next++; at < m_tensors.size(); at = m_next++) {
            if (!count(*m_tensors[at], m_counts[at], buffer))
                return;
        }
    }

    Result<std::vector<NotFinite>> result() const            // after all threads have ended
    {
        if (m_failure)
            return *m_failure;
        std::vector<NotFinite> found;
        for (std::size_t at = 0; at < m_tensors.size(); ++at) {
            if (m_counts[at] > 0)
                found.push_back({m_tensors[at], m_counts[at]});
        }
        return found;
    }

private:
    static constexpr std::int64_t kPiece = 4 << 20;          // bytes; a multiple of every element's size

    bool count(const StoredTensor &tensor, std::int64_t &found, std::vector<char> &buffer)
    {
        if (exponentBits(tensor.dtype) == 0)
            return tell(tensor, tensor.bytes());
        buffer.resize(static_cast<std::size_t>(std::max(std::int64_t(buffer.size()), std::min(kPiece, tensor.bytes()))));
        for (std::int64_t at = 0; at < tensor.bytes(); at += kPiece) {
            const std::int64_t bytes = std::min(kPiece, tensor.bytes() - at);
            if (Status read = tensor.read(at, buffer.data(), bytes); !read)
                return fail(read.error());
            found += countIn(tensor.dtype, buffer.data(), bytes);
            if (!tell(tensor, bytes))
                return false;
        }
        return true;
    }
    bool tell(const StoredTensor &tensor, std::int64_t added)
    {
        const std::lock_guard lock(m_mutex);
        m_done += added;
        if (!m_failure && m_progress && !m_progress(m_done, m_total, tensor.file().filename().string()))
            m_failure = cancelled(tensor.file());
        return !m_failure;
    }
    bool fail(Error error)
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure)
            m_failure = std::move(error);
        return false;
    }

    const std::vector<const StoredTensor *> &m_tensors;
    const ReadProgress &m_progress;
    std::vector<std::int64_t> m_counts;      // each by the one thread that took it
    std::int64_t m_total = 0;
    std::atomic<std::size_t> m_next{0};
    std::mutex m_mutex;
    std::int64_t m_done = 0;                 // guarded by m_mutex, as the next
    std::optional<Error> m_failure;
};

} // namespace

Error notFinite(const NotFinite &found)
{
    const StoredTensor &tensor = *found.tensor;
    return Error(ExitCode::Checkpoint, "checkpoint.not-finite", tensor.file().string() + ": " + std::to_string(found.count) + " of " + std::to_string(tensor.elements()) + " values of \"" + tensor.name
                     + "\" are NaN or infinite; training had broken down before this save, choose an earlier one", tensor.file().string());
}

Result<std::vector<NotFinite>> findNotFinite(const std::vector<const StoredTensor *> &tensors, const ReadProgress &progress)
{
    Search search(tensors, progress);
    std::vector<std::thread> others;
    for (int number = 1; number < std::min<int>(kReaders, static_cast<int>(tensors.size())); ++number)
        others.emplace_back([&] { search.work(); });
    search.work();
    for (std::thread &other : others)
        other.join();
    return search.result();
}

} // namespace stagewright::ckptfile
