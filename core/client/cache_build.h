// A worker that encodes a stage's clips and captions into its cache.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/result.h"
#include "core/events/cache.h"

namespace stagewright::client {

// Blocks until it is done. progress is told how far it is, several times a second; false asks it to stop after the clips that it works on, and then the error
// has exit code Stopped (what was made stays). The worker ends when this process does.
Result<events::CacheProgress> buildCache(const events::CacheRequest &request, const std::function<bool(const events::CacheProgress &)> &progress = {},
                                         const std::filesystem::path &worker = {});

} // namespace stagewright::client
