#include "core/runlog/event_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "core/base/files.h"
#include "core/base/host.h"

namespace stagewright::runlog {

namespace {

constexpr std::size_t kBatchRecords = 1024;            // serialised at once: bounds the delay of the first of them
constexpr std::size_t kWriteBytes = 1 << 20;
constexpr auto kRetry = std::chrono::milliseconds(250);

bool mayBeLost(const events::Record &record)
{
    return std::holds_alternative<events::Step>(record.payload) || std::holds_alternative<events::MemoryTrace>(record.payload)
        || std::holds_alternative<events::Buffer>(record.payload);
}

// After these the history is flushed to the disk: what they tell must outlive a power cut.
bool mustLast(const events::Record &record)
{
    if (const auto *checkpoint = std::get_if<events::Checkpoint>(&record.payload))
        return checkpoint->phase == "done" || checkpoint->phase == "failed";
    if (const auto *state = std::get_if<events::State>(&record.payload))
        return state->exit.has_value();
    return std::holds_alternative<events::Summary>(record.payload);
}

events::Record lossNote(std::int64_t count)
{
    return {wallSeconds(), -1, events::Note{"warning", std::to_string(count) + " records of steps could not be kept while the disk refused the history; "
                                                "their lines in events.jsonl are empty", "run.history-lost"}};
}

} // namespace

class EventWriter::Implementation
{
public:
    Implementation(std::filesystem::path file, int fd, Observer observer, TroubleObserver trouble, Limits limits)
        : m_file(std::move(file)), m_fd(fd), m_observer(std::move(observer)), m_trouble(std::move(trouble)), m_limits(limits)
    {
        m_thread = std::thread([this] { run(); });
    }
    ~Implementation() { ::close(m_fd); }

    void append(events::Record record);
    Status flush(double deadlineSeconds);
    Status close(double deadlineSeconds);
    std::int64_t count() const { const std::lock_guard lock(m_mutex); return m_handled; }
    std::int64_t lost() const { const std::lock_guard lock(m_mutex); return m_lost; }

private:
    struct Lost { std::int64_t count = 0; };
    using Item = std::variant<events::Record, Lost>;
    struct Unwritten {
        std::shared_ptr<const std::string> line;
        bool mayBeLost = false;
    };

    void run();
    std::vector<Item> nextItems(std::unique_lock<std::mutex> &lock);
    void handle(std::vector<Item> items);
    void serialise(std::int64_t number, const events::Record *record, std::vector<WrittenLine> &lines);
    void writeWhatIsUnwritten();
    void advance(std::size_t written);
    void giveUpWhatDoesNotFit();
    void setTrouble(const std::optional<Error> &error);
    void sync();

    const std::filesystem::path m_file;
    const int m_fd;
    const Observer m_observer;
    const TroubleObserver m_trouble;
    const Limits m_limits;

    mutable std::mutex m_mutex;
    std::condition_variable m_wake, m_progress;
    // Guarded by m_mutex:
    std::deque<Item> m_incoming;
    std::size_t m_incomingRecords = 0;
    std::int64_t m_appended = 0, m_handled = 0, m_durable = 0, m_lost = 0;
    bool m_flushWanted = false, m_stop = false, m_closed = false;
    std::optional<Error> m_lastError;

    // The writer's thread only:
    std::deque<Unwritten> m_unwritten;
    std::size_t m_unwrittenBytes = 0;
    std::size_t m_headWritten = 0;                         // bytes of the first unwritten line that are in the file already
    std::int64_t m_next = 0;
    std::int64_t m_lostInTrouble = 0;
    bool m_inTrouble = false, m_syncWanted = false;

    std::thread m_thread;
};

void EventWriter::Implementation::append(events::Record record)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_stop)
            return;
        ++m_appended;
        if (m_incomingRecords >= m_limits.queuedRecords && mayBeLost(record)) {
            ++m_lost;
            if (m_incoming.empty() || !std::holds_alternative<Lost>(m_incoming.back()))
                m_incoming.push_back(Lost{});
            ++std::get<Lost>(m_incoming.back()).count;
        } else {
            m_incoming.push_back(std::move(record));
            ++m_incomingRecords;
        }
    }
    m_wake.notify_one();
}

std::vector<EventWriter::Implementation::Item> EventWriter::Implementation::nextItems(std::unique_lock<std::mutex> &lock)
{
    const auto hasWork = [this] { return !m_incoming.empty() || m_flushWanted || m_stop; };
    if (m_unwritten.empty())
        m_wake.wait(lock, hasWork);
    else
        m_wake.wait_for(lock, kRetry, [this] { return !m_incoming.empty() || m_stop; });
    std::vector<Item> items;
    while (!m_incoming.empty() && items.size() < kBatchRecords) {
        m_incomingRecords -= std::holds_alternative<events::Record>(m_incoming.front());
        items.push_back(std::move(m_incoming.front()));
        m_incoming.pop_front();
    }
    return items;
}

void EventWriter::Implementation::run()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        std::vector<Item> items = nextItems(lock);
        const bool wantsFlush = m_flushWanted && m_incoming.empty();
        const bool stopping = m_stop && m_incoming.empty();
        lock.unlock();
        handle(std::move(items));
        if ((m_syncWanted || wantsFlush || stopping) && m_unwritten.empty())
            sync();
        lock.lock();
        m_handled = m_next;
        if (wantsFlush && m_unwritten.empty())
            m_flushWanted = !m_incoming.empty();
        m_progress.notify_all();
        if (stopping && m_incoming.empty())
            return;
    }
}

void EventWriter::Implementation::handle(std::vector<Item> items)
{
    std::vector<WrittenLine> lines;
    for (const Item &item : items) {
        if (const auto *record = std::get_if<events::Record>(&item)) {
            serialise(m_next++, record, lines);
        } else {
            const std::int64_t count = std::get<Lost>(item).count;
            m_lostInTrouble += count;
            for (std::int64_t i = 0; i < count; ++i)
                serialise(m_next++, nullptr, lines);
        }
    }
    writeWhatIsUnwritten();
    giveUpWhatDoesNotFit();
    if (m_observer) {
        for (const WrittenLine &line : lines)
            m_observer(line);
    }
    if (m_lostInTrouble > 0 && m_unwritten.empty())
        append(lossNote(std::exchange(m_lostInTrouble, 0)));
}

void EventWriter::Implementation::serialise(std::int64_t number, const events::Record *record, std::vector<WrittenLine> &lines)
{
    auto line = std::make_shared<const std::string>(record ? events::toJsonLine(*record) : std::string());
    m_unwrittenBytes += line->size() + 1;
    m_unwritten.push_back({line, record && mayBeLost(*record)});
    m_syncWanted = m_syncWanted || (record && mustLast(*record));
    if (m_observer)
        lines.push_back({number, std::move(line), record});
}

void EventWriter::Implementation::writeWhatIsUnwritten()
{
    std::string buffer;
    while (!m_unwritten.empty()) {
        buffer.clear();
        for (const Unwritten &one : m_unwritten) {
            buffer += *one.line;
            buffer += '\n';
            if (buffer.size() >= kWriteBytes)
                break;
        }
        const std::string_view rest = std::string_view(buffer).substr(m_headWritten);
        const ssize_t written = ::write(m_fd, rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            setTrouble(ioError("write", m_file, written < 0 ? errno : ENOSPC));
            return;
        }
        advance(static_cast<std::size_t>(written));
    }
    setTrouble(std::nullopt);
}

void EventWriter::Implementation::advance(std::size_t written)
{
    m_headWritten += written;
    while (!m_unwritten.empty() && m_headWritten >= m_unwritten.front().line->size() + 1) {
        const std::size_t size = m_unwritten.front().line->size() + 1;
        m_headWritten -= size;
        m_unwrittenBytes -= size;
        m_unwritten.pop_front();
    }
}

// The newest go first: the beginning of the trouble is the more telling part. A line that is partly in the file stays.
void EventWriter::Implementation::giveUpWhatDoesNotFit()
{
    if (m_unwrittenBytes <= m_limits.unwrittenBytes)
        return;
    static const auto empty = std::make_shared<const std::string>();
    std::int64_t given = 0;
    for (auto one = m_unwritten.rbegin(); one != m_unwritten.rend() && m_unwrittenBytes > m_limits.unwrittenBytes; ++one) {
        const bool begun = &*one == &m_unwritten.front() && m_headWritten > 0;
        if (!one->mayBeLost || begun)
            continue;
        m_unwrittenBytes -= one->line->size();
        *one = {empty, false};
        ++given;
    }
    m_lostInTrouble += given;
    const std::lock_guard lock(m_mutex);
    m_lost += given;
}

void EventWriter::Implementation::setTrouble(const std::optional<Error> &error)
{
    if (error.has_value() == m_inTrouble)
        return;
    m_inTrouble = error.has_value();
    {
        const std::lock_guard lock(m_mutex);
        m_lastError = error;
    }
    if (m_trouble)
        m_trouble(error);
}

void EventWriter::Implementation::sync()
{
    m_syncWanted = false;
    // Not every file can be flushed (a pipe, /dev/null); then nothing more can be done.
    const bool failed = ::fdatasync(m_fd) != 0 && errno != EINVAL && errno != EROFS;
    if (failed)
        setTrouble(ioError("flush", m_file, errno));
    const std::lock_guard lock(m_mutex);
    if (!failed)
        m_durable = m_next;
}

Status EventWriter::Implementation::flush(double deadlineSeconds)
{
    std::unique_lock lock(m_mutex);
    const std::int64_t target = m_appended;
    m_flushWanted = true;
    m_wake.notify_one();
    const bool done = m_progress.wait_for(lock, std::chrono::duration<double>(deadlineSeconds), [&] { return m_durable >= target; });
    if (done)
        return Done{};
    if (m_lastError)
        return *m_lastError;
    return Error(ExitCode::InputOutput, "env.io", "the disk did not take " + m_file.string() + " within " + std::to_string(int(deadlineSeconds))
                     + " s; check the disk", m_file.string());
}

Status EventWriter::Implementation::close(double deadlineSeconds)
{
    {
        const std::lock_guard lock(m_mutex);
        if (std::exchange(m_closed, true))
            return Done{};
    }
    Status flushed = flush(deadlineSeconds);
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_one();
    m_thread.join();
    return flushed;
}

Result<std::unique_ptr<EventWriter>> EventWriter::open(const std::filesystem::path &file, Observer observer, TroubleObserver trouble, Limits limits)
{
    // Exclusive: whoever makes the history owns the run folder.
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST) {
        return Error(ExitCode::InputOutput, "run.folder-occupied",
                     file.string() + " exists: a run has been in this folder; start a new run (its folder gets a new name), with --load to go on from a checkpoint",
                     file.string());
    }
    if (fd < 0)
        return ioError("create", file, errno);
    return std::unique_ptr<EventWriter>(
        new EventWriter(std::make_unique<Implementation>(file, fd, std::move(observer), std::move(trouble), limits)));
}

Result<std::unique_ptr<EventWriter>> EventWriter::open(const std::filesystem::path &file, Observer observer, TroubleObserver trouble)
{
    return open(file, std::move(observer), std::move(trouble), Limits());
}

EventWriter::EventWriter(std::unique_ptr<Implementation> implementation) : m_implementation(std::move(implementation)) {}
EventWriter::~EventWriter() { (void)m_implementation->close(2); }
void EventWriter::append(events::Record record) { m_implementation->append(std::move(record)); }
Status EventWriter::flush(double deadlineSeconds) { return m_implementation->flush(deadlineSeconds); }
Status EventWriter::close(double deadlineSeconds) { return m_implementation->close(deadlineSeconds); }
std::int64_t EventWriter::count() const { return m_implementation->count(); }
std::int64_t EventWriter::lost() const { return m_implementation->lost(); }

} // namespace stagewright::runlog
