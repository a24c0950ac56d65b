// Reads a run's history from its first record on and goes on as it grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/events/record.h"

namespace stagewright::runlog {

// Used by one thread at a time. The file may be absent at first (the worker is about to make it).
class EventReader
{
public:
    explicit EventReader(std::filesystem::path file, std::int64_t fromRecord = 0);
    ~EventReader();
    EventReader(EventReader &&) noexcept;
    EventReader &operator=(EventReader &&) noexcept;

    struct Batch {
        std::int64_t first = 0;                    // number of the first record read, counted in lines from 0
        std::vector<events::Record> records;
        std::int64_t lost = 0;                     // empty lines: records that a full disk swallowed
        std::int64_t skipped = 0;                  // events of a newer program, which this one does not know
        std::vector<Error> bad;                    // lines that are no records, each with file and line; reading went on
        bool atEnd = false;                        // nothing complete is left in the file at this moment
    };
    // Up to maxRecords or about maxBytes, whichever comes first. An incomplete last line is left for the next call.
    Result<Batch> read(std::size_t maxRecords = 4096, std::size_t maxBytes = 4 << 20);

    std::int64_t nextRecord() const { return std::max(m_next, m_skipUntil); }     // number of the record that read() will deliver next
    bool hasTornTail() const { return !m_rest.empty(); }      // bytes without a line's end are waiting
    const std::filesystem::path &file() const { return m_file; }
    // Records below `record` are not delivered: they were received another way (from the socket).
    void skipTo(std::int64_t record) { m_skipUntil = std::max(m_skipUntil, record); }

private:
    Status ensureOpen();
    void takeLine(std::string_view line, Batch &batch);

    std::filesystem::path m_file;
    int m_fd = -1;
    std::int64_t m_next = 0;                       // line that m_rest begins with, and so record number
    std::int64_t m_skipUntil = 0;                  // records below are not delivered
    std::string m_rest;                            // begun line
    bool m_restTooLong = false;
};

} // namespace stagewright::runlog
