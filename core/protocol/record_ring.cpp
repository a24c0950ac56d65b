#include "core/protocol/record_ring.h"

#include <algorithm>

namespace stagewright::protocol {

void RecordRing::push(std::int64_t number, Line line)
{
    const std::lock_guard lock(m_mutex);
    if (number != m_first + static_cast<std::int64_t>(m_lines.size())) {
        m_lines.clear();
        m_bytes = 0;
        m_first = number;
    }
    m_bytes += line->size();
    m_lines.push_back(std::move(line));
    while (m_lines.size() > 1 && (m_lines.size() > m_maxRecords || m_bytes > m_maxBytes)) {
        m_bytes -= m_lines.front()->size();
        m_lines.pop_front();
        ++m_first;
    }
}

std::int64_t RecordRing::end() const
{
    const std::lock_guard lock(m_mutex);
    return m_first + static_cast<std::int64_t>(m_lines.size());
}

RecordRing::Slice RecordRing::take(std::int64_t from, std::size_t max) const
{
    const std::lock_guard lock(m_mutex);
    Slice slice{m_first, from < m_first, {}};
    if (slice.behind)
        return slice;
    const auto begin = static_cast<std::size_t>(from - m_first);
    for (std::size_t at = begin; at < m_lines.size() && slice.lines.size() < max; ++at)
        slice.lines.push_back(m_lines[at]);
    return slice;
}

} // namespace stagewright::protocol
