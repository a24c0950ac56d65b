// What the Torch layers have in common. Including <torch/torch.h> costs 30 s a file; as a precompiled header it costs a few.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
