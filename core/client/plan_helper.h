// The warm helper that plans memory: a worker process that is asked over its standard input and answers on its standard output.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/client/child_process.h"
#include "core/events/plan.h"
#include "core/protocol/socket.h"

namespace stagewright::client {

// One thread at a time. ask(), cancel() and poll(0) never block. The helper is started by the first request, and again by the next one after it has
// died. It ends when this object does.
class PlanHelper
{
public:
    struct Options {
        std::filesystem::path worker;          // empty: as launch()
        double answerSeconds = 300;            // deadline for an answer; the helper is started anew when it passes
        double endSeconds = 0.5;               // that the helper has to end by itself when it is no longer needed
    };
    explicit PlanHelper(Options options) : m_options(std::move(options)) {}
    PlanHelper() : PlanHelper(Options()) {}
    ~PlanHelper();
    PlanHelper(const PlanHelper &) = delete;
    PlanHelper &operator=(const PlanHelper &) = delete;

    // Sends a request; its id (also set in the answer) is returned. Error: there is no helper to start.
    Result<std::int64_t> ask(events::PlanRequest request);
    void cancel(std::int64_t id);              // it is answered soon, with a problem
    // Answers that have come, each request's once. A request that the helper died of, or whose deadline passed, is answered with a problem.
    std::vector<events::PlanAnswer> poll(std::chrono::milliseconds timeout);
    // Readable when poll() has something to do, or -1 while no helper runs; changes with every start.
    int descriptor() const { return m_socket.get(); }
    std::size_t waiting() const { return m_waiting.size(); }
    int pid() const { return m_child ? m_child->pid() : 0; }

    // Asks and waits; `keepWaiting` is asked several times a second, false gives up. The answer's own problem becomes the error.
    Result<events::PlanAnswer> answerTo(events::PlanRequest request, const std::function<bool()> &keepWaiting = {});

private:
    Status start();
    void flush();
    void readAnswers(std::vector<events::PlanAnswer> &answers);
    void loseHelper(const std::string &why, std::vector<events::PlanAnswer> &answers);
    void stop();

    Options m_options;
    std::shared_ptr<ChildProcess> m_child;
    protocol::Descriptor m_socket;
    std::string m_unsent, m_unread;
    std::map<std::int64_t, double> m_waiting;  // id -> deadline
    std::int64_t m_lastId = 0;
};

} // namespace stagewright::client
