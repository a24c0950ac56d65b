#include "core/train/reporter.h"

#include "core/base/host.h"
#include "core/base/log.h"
#include "core/base/units.h"
#include "core/train/step_monitor.h"

namespace stagewright::train {

namespace {

spdlog::level::level_enum levelOf(const std::string &name)
{
    return name == "error" ? spdlog::level::err : name == "warning" ? spdlog::level::warn : spdlog::level::info;
}

spdlog::logger &log()
{
    static const auto logger = stagewright::logger("core.train");
    return *logger;
}

} // namespace

void Reporter::report(events::Payload payload)
{
    m_sink.report({wallSeconds(), m_step, std::move(payload)});
}

void Reporter::note(const std::string &level, const std::string &sentence, const std::string &code)
{
    log().log(levelOf(level), "{}", sentence);
    report(events::Note{level, sentence, code});
}

void Reporter::problem(const Error &error)
{
    problem(error.problem);
}

void Reporter::problem(const Problem &problem)
{
    log().log(levelOf(severityName(problem.severity)), "{}", oneLine(problem));
    report(events::ProblemRecord{problem});
}

void Reporter::state(const std::string &state, const std::string &sentence, std::optional<int> exit)
{
    log().info("{}{}{}", state, sentence.empty() ? "" : ": ", sentence);
    report(events::State{state, sentence, exit});
}

void Reporter::milestone(const std::string &at)
{
    const auto now = train::milestone(at);
    log().info("memory at {}: {}", at, formatBytes(double(now.allocatedBytes)));
    report(now);
}

StopRequest Reporter::pollStop()
{
    const Requests now = m_sink.poll();
    m_requests.stop = std::max(m_requests.stop, now.stop);       // declared from none to the most urgent
    m_requests.save = m_requests.save || now.save;
    return m_requests.stop;
}

} // namespace stagewright::train
