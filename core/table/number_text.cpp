#include "core/table/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.h"

namespace stagewright::table {

namespace {

constexpr std::array<std::string_view, 19> kMissingWords{
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"};

bool isWholeSpelling(std::string_view digits)
{
    if (!digits.empty() && digits.front() == '-')
        digits.remove_prefix(1);
    return !digits.empty() && digits.size() <= 18 && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

ParsedNumber parseNumber(std::string_view text)
{
    text = trimmed(text);
    if (std::find(kMissingWords.begin(), kMissingWords.end(), text) != kMissingWords.end())
        return {};
    std::string_view digits = text;
    if (digits.front() == '+')
        digits.remove_prefix(1);
    ParsedNumber parsed;
    const char *end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, parsed.value);
    const bool doubleSign = text.front() == '+' && !digits.empty() && digits.front() == '-';
    if (error != std::errc() || at != end || doubleSign || std::isnan(parsed.value)) {
        parsed.kind = ParsedNumber::Kind::Unreadable;
        return parsed;
    }
    parsed.kind = ParsedNumber::Kind::Number;
    parsed.wholeSpelling = isWholeSpelling(digits);
    return parsed;
}

} // namespace stagewright::table
