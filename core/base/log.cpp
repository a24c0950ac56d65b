#include "core/base/log.h"

#include <mutex>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace stagewright {

namespace {

std::shared_ptr<spdlog::sinks::dist_sink_mt> processSink()
{
    static const auto sink = [] {
        auto all = std::make_shared<spdlog::sinks::dist_sink_mt>();
        auto console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
        console->set_level(spdlog::level::warn);
        all->add_sink(console);
        return all;
    }();
    return sink;
}

} // namespace

std::shared_ptr<spdlog::logger> logger(const std::string &area)
{
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (auto existing = spdlog::get(area))
        return existing;
    auto made = std::make_shared<spdlog::logger>(area, processSink());
    made->set_level(spdlog::level::debug);
    made->flush_on(spdlog::level::info);
    spdlog::register_logger(made);
    return made;
}

void setUpLogging(spdlog::level::level_enum level, const std::filesystem::path &file)
{
    auto console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    console->set_level(level);
    std::vector<spdlog::sink_ptr> sinks{console};
    if (!file.empty()) {
        auto written = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
        written->set_level(spdlog::level::info);
        sinks.push_back(written);
    }
    processSink()->set_sinks(std::move(sinks));
    processSink()->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %n: %v");
}

} // namespace stagewright
