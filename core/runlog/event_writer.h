// Writes the history of a run from a thread of its own. The training thread only moves a record into a queue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/events/record.h"

namespace stagewright::runlog {

// What became of one record.
struct WrittenLine {
    std::int64_t number = 0;                               // of the record, counted from 0: its line in the file
    std::shared_ptr<const std::string> line;               // without the line's end; empty: a lost record
    const events::Record *record = nullptr;                // alive during the call only; null: a lost record
};

// append() may be called from any thread; it never blocks on the disk. The observer is called on the writer's thread, in order, each record
// once, after the attempt to write it: history first, viewers second.
// When the disk is full (or hangs) records wait in memory and are written as soon as it takes them again. Beyond the limit the per-step records
// (step, memory, buffer) are given up, the newest first; each leaves an empty line so that numbers stay, and a note with
// code run.history-lost says how many. State, checkpoint, note, problem and summary records are never given up.
class EventWriter
{
public:
    struct Limits {
        std::size_t queuedRecords = 200'000;               // not yet serialised
        std::size_t unwrittenBytes = 64 << 20;             // serialised, and the disk did not take them
    };
    using Observer = std::function<void(const WrittenLine &)>;
    // Called on the writer's thread when the disk begins and ceases to refuse: the error, then nothing.
    using TroubleObserver = std::function<void(const std::optional<Error> &)>;

    static Result<std::unique_ptr<EventWriter>> open(const std::filesystem::path &file, Observer observer, TroubleObserver trouble, Limits limits);
    static Result<std::unique_ptr<EventWriter>> open(const std::filesystem::path &file, Observer observer = {}, TroubleObserver trouble = {});
    ~EventWriter();                                        // close() with a short deadline
    EventWriter(const EventWriter &) = delete;
    EventWriter &operator=(const EventWriter &) = delete;

    void append(events::Record record);
    // Waits until everything appended so far is in the file and flushed to the disk; an error after the deadline or where the disk refuses.
    Status flush(double deadlineSeconds);
    Status close(double deadlineSeconds);                  // flush, then end the thread; further records are ignored
    std::int64_t count() const;                            // records handled so far, lost ones included
    std::int64_t lost() const;

private:
    class Implementation;
    explicit EventWriter(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> m_implementation;
};

} // namespace stagewright::runlog
