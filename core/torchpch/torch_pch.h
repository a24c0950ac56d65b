// What the Torch layers have in common, compiled once.
#pragma once

#include "core/torchpch/torch.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
