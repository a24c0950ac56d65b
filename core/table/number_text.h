// Numbers as tables spell them: typed, without guessing.
#pragma once

#include <string_view>

namespace stagewright::table {

struct ParsedNumber {
    enum class Kind { Number, Empty, Unreadable } kind = Kind::Empty;
    double value = 0;
    bool wholeSpelling = false;        // only digits and a sign: what makes a column of whole numbers
};

// Spaces around are allowed; "129.0", "1e3", "+5" and "inf" are numbers; the words that tables use for a missing value (nan, NA, null, None …,
// the list of pandas) and nothing at all are Empty; the rest ("12 frames") is Unreadable. '.' is the decimal point whatever the locale.
ParsedNumber parseNumber(std::string_view text);

} // namespace stagewright::table
