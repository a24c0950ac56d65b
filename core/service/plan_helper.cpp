#include "core/service/plan_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/files.h"
#include "core/config/stage.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"
#include "core/memory/device.h"
#include "core/plan/calibration.h"
#include "core/plan/fit.h"
#include "core/plan/remedies.h"
#include "core/plan/sweep.h"

namespace stagewright::service {

namespace {

constexpr std::size_t kMostLineBytes = 16 << 20;

Result<config::TargetDevice> deviceOf(const events::PlanRequest &request, const config::Stage &stage)
{
    if (!request.fitDevice.empty()) {
        auto device = config::targetDevice(request.fitDevice);
        if (device && device->isCpu)
            device->name = memory::cpuName();          // as its runs are remembered
        return device;
    }
    const auto choice = memory::chooseDevice(stage.string("device"));
    if (!choice)
        return choice.error().during("without --fit-device the plan is for the stage's own device");
    if (choice->device.is_cuda())
        return config::presentDevice(choice->name, choice->totalBytes);
    auto cpu = config::cpuDevice();
    if (!choice->name.empty())
        cpu.name = choice->name;
    return cpu;
}

std::vector<plan::Measurement> ofDevice(const std::vector<plan::Measurement> &all, const std::string &device)
{
    std::vector<plan::Measurement> those;
    std::copy_if(all.begin(), all.end(), std::back_inserter(those), [&](const plan::Measurement &m) { return m.device == device; });
    return those;
}

void answerOn(plan::Planner &planner, plan::MeasurementFile &measurements, const events::PlanRequest &request, const plan::Cancelled &cancelled, events::PlanAnswer &answer)
{
    const auto fail = [&](const Error &error) { answer.problem = error.problem; };
    const auto &measured = measurements.now();
    if (request.ask == "score") {
        answer.score = plan::score(measured);
        return;
    }
    const auto stage = config::stageFromYaml(request.config);
    if (!stage)
        return fail(stage.error());
    const auto device = deviceOf(request, *stage);
    if (!device)
        return fail(device.error());
    plan::PlanQuery query{plan::calibrated(*device, measured), request.worldSize, request.bucket, true, plan::measuredBand(measured, device->name, stage->string("dtype"))};
    if (request.uncorrected)
        query.device = *device;
    if (request.ask == "plan") {
        answer.score = plan::score(ofDevice(measured, device->name));
        if (auto made = planner.plan(*stage, query, answer.notes, cancelled); made)
            answer.plan = std::move(*made);
        else
            fail(made.error());
    } else if (request.ask == "sweep") {
        query.reserved = !query.device.isCpu;
        if (auto points = plan::sweep(planner, *stage, query, request.vary, cancelled); points)
            answer.points = std::move(*points);
        else
            fail(points.error());
    } else if (request.ask == "fit") {
        if (auto fitted = plan::fit(planner, *stage, query, request.vary, cancelled); fitted)
            answer.fit = std::move(*fitted);
        else
            fail(fitted.error());
    } else if (request.ask == "remedies") {
        query.reserved = !query.device.isCpu;
        if (auto found = plan::remedies(planner, *stage, query, cancelled); found)
            answer.remedies = std::move(*found);
        else
            fail(found.error());
    } else {
        fail(Error(ExitCode::Usage, "run.bad-message", "the planning helper was asked \"" + request.ask + "\"; it knows plan, sweep, fit, remedies, score and cancel"));
    }
}

// Requests between the reading thread and the planning one.
class Queue
{
public:
    void add(events::PlanRequest request)
    {
        const std::lock_guard lock(m_mutex);
        if (request.ask == "cancel")
            m_cancelled.insert(request.cancels);
        else
            m_requests.push_back(std::move(request));
        m_changed.notify_one();
    }
    void end()
    {
        m_ended = true;
        const std::lock_guard lock(m_mutex);
        m_changed.notify_one();
    }
    std::optional<events::PlanRequest> next()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_ended || !m_requests.empty(); });
        if (m_requests.empty())
            return std::nullopt;
        auto request = std::move(m_requests.front());
        m_requests.pop_front();
        return request;
    }
    bool isCancelled(std::int64_t id)
    {
        if (m_ended)                                   // nobody waits for the answer any more
            return true;
        const std::lock_guard lock(m_mutex);
        return m_cancelled.contains(id);
    }
    void answered(std::int64_t id)
    {
        const std::lock_guard lock(m_mutex);
        m_cancelled.erase(id);
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<events::PlanRequest> m_requests;
    std::set<std::int64_t> m_cancelled;
    std::atomic<bool> m_ended{false};
};

events::PlanRequest parsed(const std::string &line)
{
    events::PlanRequest request;
    if (const auto wrong = events::fromJsonObject(line, request))
        request.ask = "a line that cannot be read: " + *wrong;
    return request;
}

void readRequests(int input, Queue &queue, const std::atomic<bool> &stop)
{
    std::string pending;
    char buffer[64 << 10];
    while (!stop) {
        pollfd waiting{input, POLLIN, 0};
        if (::poll(&waiting, 1, 200) == 0)
            continue;
        const ssize_t got = ::read(input, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || pending.size() + static_cast<std::size_t>(got) > kMostLineBytes)
            break;
        pending.append(buffer, static_cast<std::size_t>(got));
        std::size_t begin = 0;
        for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', begin)) {
            if (end > begin)
                queue.add(parsed(pending.substr(begin, end - begin)));
            begin = end + 1;
        }
        pending.erase(0, begin);
    }
    queue.end();
}

} // namespace

events::PlanAnswer answerPlanRequest(plan::Planner &planner, plan::MeasurementFile &measurements, const events::PlanRequest &request, const plan::Cancelled &cancelled)
{
    events::PlanAnswer answer;
    answer.id = request.id;
    try {
        if (cancelled && cancelled())
            answer.problem = Error(ExitCode::Stopped, "memory.plan-cancelled", "planning was cancelled before it began").problem;
        else
            answerOn(planner, measurements, request, cancelled, answer);
    } catch (const c10::Error &error) {
        const std::string text = error.what_without_backtrace();
        answer.problem = Error(ExitCode::Other, "memory.cannot-plan", "this cannot be planned: " + text.substr(0, text.find('\n'))).problem;
    } catch (const std::exception &error) {
        answer.problem = Error(ExitCode::Other, "memory.cannot-plan", std::string("this cannot be planned: ") + error.what()).problem;
    }
    return answer;
}

ExitCode runPlanHelper(int input, int output)
{
    Queue queue;
    std::atomic<bool> stop{false};
    std::thread reader([&] { readRequests(input, queue, stop); });
    plan::Planner planner;
    plan::MeasurementFile measurements;
    ExitCode exit = ExitCode::Done;
    while (const auto request = queue.next()) {
        const auto answer = answerPlanRequest(planner, measurements, *request, [&] { return queue.isCancelled(request->id); });
        queue.answered(request->id);
        if (writeAll(output, events::toJsonObject(answer) + "\n") != 0) {
            exit = ExitCode::InputOutput;
            break;
        }
    }
    stop = true;
    reader.join();
    return exit;
}

ExitCode runPlanTask()
{
    std::signal(SIGPIPE, SIG_IGN);
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return runPlanHelper(STDIN_FILENO, output);
}

} // namespace stagewright::service
