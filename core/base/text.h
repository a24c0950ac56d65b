// Small questions about text that several layers ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright {

// Optimal string alignment distance (insert, delete, replace, swap of neighbours), case ignored, '-' and '_' taken for the same.
int editDistance(std::string_view a, std::string_view b);

// The candidate nearest to name, if it is near enough to be what was meant (a third of the longer name, at least 2).
std::optional<std::string> nearestOf(std::string_view name, const std::vector<std::string> &candidates);

// True where the bytes are well-formed UTF-8; otherwise *at is the first bad byte's offset.
bool isUtf8(std::string_view bytes, std::size_t *at = nullptr);

// Text from anywhere as it can stand in a sentence that is shown to people: valid UTF-8 on one line, control characters and stray bytes written as
// \n or \x1b, and at most kLongestSentence bytes, the middle left out ("…"), since the end says what to do.
inline constexpr std::size_t kLongestSentence = 2000;
std::string asSentence(std::string text);

std::vector<std::string> split(std::string_view text, char separator);
std::string joined(const std::vector<std::string> &parts, std::string_view separator);
std::string lowered(std::string_view text);        // ASCII only
std::string_view trimmed(std::string_view text);
bool globMatches(std::string_view pattern, std::string_view name);   // * ? and [abc], over a whole name

} // namespace stagewright
