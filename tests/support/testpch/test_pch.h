// What the tests without Torch have in common, compiled once: Qt Test alone costs each of them seconds.
#pragma once

#include <QtTest>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
