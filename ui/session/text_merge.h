// Two edits of one text, made apart from each other, brought together line by line.
#pragma once

#include <optional>
#include <string>

namespace stagewright::session {

// `base` with the changes of both; nothing where the two changed the same or adjoining lines in different ways.
std::optional<std::string> mergedTexts(const std::string &base, const std::string &mine, const std::string &theirs);

} // namespace stagewright::session
