// Numbers with units, for people: bytes in GiB, counts with separators, durations; and sizes that people type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stagewright {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string formatBytes(double bytes);             // "21.4 GiB", "412 MiB", "98 B"; one decimal from GiB on
std::string formatCount(std::int64_t count);       // "26,843,545,600"
std::string formatDuration(double seconds);        // "0.41 s", "3 min 20 s", "1 d 9 h"
std::string formatNumber(double value);            // shortest text that reads back to the same double: "5e-05", "0.9999"

// "12 GiB", "512MiB", "1.5 GB" (decimal), "4096" (bytes): the number of bytes; nothing where it is not a size.
std::optional<std::int64_t> parseBytes(std::string_view text);

} // namespace stagewright
