#include "core/runlog/event_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/files.h"

namespace stagewright::runlog {

namespace {

constexpr std::size_t kMaxLineBytes = 64 << 20;
constexpr std::size_t kChunkBytes = 256 << 10;

} // namespace

EventReader::EventReader(std::filesystem::path file, std::int64_t fromRecord)
    : m_file(std::move(file)), m_skipUntil(fromRecord)
{
}

EventReader::~EventReader()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

EventReader::EventReader(EventReader &&other) noexcept
{
    *this = std::move(other);
}

EventReader &EventReader::operator=(EventReader &&other) noexcept
{
    std::swap(m_file, other.m_file);
    std::swap(m_fd, other.m_fd);
    std::swap(m_next, other.m_next);
    std::swap(m_skipUntil, other.m_skipUntil);
    std::swap(m_rest, other.m_rest);
    std::swap(m_restTooLong, other.m_restTooLong);
    return *this;
}

Status EventReader::ensureOpen()
{
    if (m_fd >= 0)
        return Done{};
    m_fd = ::open(m_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (m_fd < 0 && errno != ENOENT)
        return ioError("open", m_file, errno);
    return Done{};
}

void EventReader::takeLine(std::string_view line, Batch &batch)
{
    const std::int64_t number = m_next++;
    if (number < m_skipUntil)
        return;
    if (line.empty()) {
        ++batch.lost;
        return;
    }
    auto record = events::parseRecord(line);
    if (record) {
        batch.records.push_back(std::move(*record));
    } else if (record.error().problem.code == "run.unknown-event") {
        ++batch.skipped;
    } else {
        Error error = record.error();
        error.problem.file = m_file.string();
        error.problem.line = static_cast<int>(std::min<std::int64_t>(number + 1, 1 << 30));
        error.problem.message = m_file.string() + ", line " + std::to_string(number + 1) + ": " + error.problem.message;
        batch.bad.push_back(std::move(error));
    }
}

Result<EventReader::Batch> EventReader::read(std::size_t maxRecords, std::size_t maxBytes)
{
    Batch batch;
    if (auto opened = ensureOpen(); !opened)
        return opened.error();
    bool fileEnded = m_fd < 0;
    std::size_t taken = 0;
    std::size_t at = 0;                                  // in m_rest: everything before is consumed
    std::size_t searched = 0;
    batch.first = std::max(m_next, m_skipUntil);
    while (batch.records.size() < maxRecords && taken < maxBytes) {
        const std::size_t end = m_rest.find('\n', std::max(at, searched));
        if (end != std::string::npos) {
            if (std::exchange(m_restTooLong, false)) {
                batch.bad.push_back(Error(ExitCode::InputOutput, "run.bad-record", m_file.string() + ", line " + std::to_string(m_next + 1)
                                              + ": longer than any record", m_file.string(), static_cast<int>(m_next + 1)));
                ++m_next;
            } else {
                takeLine(std::string_view(m_rest).substr(at, end - at), batch);
            }
            taken += end + 1 - at;
            at = searched = end + 1;
            continue;
        }
        if (m_rest.size() - at > kMaxLineBytes) {        // not ours; its end is still waited for, without keeping it
            m_restTooLong = true;
            at = m_rest.size();
        }
        m_rest.erase(0, at);
        at = 0;
        searched = m_rest.size();
        if (fileEnded)
            break;
        m_rest.resize(searched + kChunkBytes);
        ssize_t got;
        do {
            got = ::read(m_fd, m_rest.data() + searched, kChunkBytes);
        } while (got < 0 && errno == EINTR);
        const int failed = errno;
        m_rest.resize(searched + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0)
            return ioError("read", m_file, failed);
        fileEnded = got == 0;
    }
    m_rest.erase(0, at);
    batch.atEnd = fileEnded && m_rest.find('\n') == std::string::npos;
    return batch;
}

} // namespace stagewright::runlog
