// What the Torch layers have in common, compiled once.
#pragma once

#if !defined(_OPENMP) && !defined(__SANITIZE_THREAD__)
#error "without OpenMP at::parallel_for runs on one thread: link thirdparty::torch, which brings the option"
#endif

#include "core/torchpch/torch.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
