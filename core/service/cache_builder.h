// Encodes what a stage trains with into its cache (core/cache/README.md).
#pragma once

#include <atomic>
#include <functional>

#include "core/base/exit_code.h"
#include "core/base/result.h"
#include "core/events/cache.h"

namespace stagewright::service {

using CacheTold = std::function<void(const events::CacheProgress &)>;

// Decodes with the stage's num_workers threads (one at least) and encodes one clip at a time on the stage's device. told: now and then, by one thread at a time. stop: ends it after
// the clips that are being worked on, with the error data.stopped (Stopped). Entries that are there are left. Errors: the stage, its table, its encoders, the folder; a
// clip that cannot be used is none, it is counted and remembered.
Result<events::CacheProgress> buildCache(const events::CacheRequest &request, const std::atomic<bool> &stop, const CacheTold &told = {});

// What the worker's `cache` task does: one request on standard input, progress on standard output, until that is finished. The end of the input asks it to stop.
ExitCode runCacheTask();

} // namespace stagewright::service
