// The newest records, held once for all viewers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stagewright::protocol {

// Any thread.
class RecordRing
{
public:
    using Line = std::shared_ptr<const std::string>;
    RecordRing(std::size_t maxRecords, std::size_t maxBytes) : m_maxRecords(maxRecords), m_maxBytes(maxBytes) {}

    // Numbers go up by one; after a gap the ring begins anew.
    void push(std::int64_t number, Line line);
    std::int64_t end() const;                              // number that the next record will have
    struct Slice {
        std::int64_t first = 0;                            // oldest record in the ring
        bool behind = false;                               // `from` lies before it
        std::vector<Line> lines;                           // from `from` on
    };
    Slice take(std::int64_t from, std::size_t max) const;

private:
    const std::size_t m_maxRecords, m_maxBytes;
    mutable std::mutex m_mutex;
    std::deque<Line> m_lines;
    std::int64_t m_first = 0;
    std::size_t m_bytes = 0;
};

} // namespace stagewright::protocol
