// Records on their way to the sink: stamped with time and step, logged where a person should see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/problem.h"
#include "core/base/result.h"
#include "core/events/record.h"
#include "core/train/sink.h"

namespace stagewright::train {

class Reporter
{
public:
    explicit Reporter(Sink &sink) : m_sink(sink) {}
    void setStep(std::int64_t step) { m_step = step; }           // of the records that follow; -1: none
    void report(events::Payload payload);
    void note(const std::string &level, const std::string &sentence, const std::string &code = {});
    void problem(const Error &error);
    void problem(const Problem &problem);
    void state(const std::string &state, const std::string &sentence = {}, std::optional<int> exit = {});
    void milestone(const std::string &at);                       // memory now, in the record and in the log

    // Asks the sink; the strongest stop request since the start is kept, a save request until takeSaveRequest().
    StopRequest pollStop();
    bool takeSaveRequest() { return std::exchange(m_requests.save, false); }

private:
    Sink &m_sink;
    Requests m_requests;
    std::int64_t m_step = -1;
};

} // namespace stagewright::train
