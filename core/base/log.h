// Logging set-up: one logger an area ("core.train", "ui.session"), levels as everywhere: error = someone must act, warning = someone
// should know, info = milestones, debug = conversation.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <spdlog/spdlog.h>

namespace stagewright {

// The logger of an area, created on first use with the process's sinks. Any thread.
std::shared_ptr<spdlog::logger> logger(const std::string &area);

// Sends everything from now on to standard error at or above `level`, and to file (all from info on) where it is not empty.
// Call once, early, from main or a run's start; loggers made before follow.
void setUpLogging(spdlog::level::level_enum level, const std::filesystem::path &file = {});

} // namespace stagewright
