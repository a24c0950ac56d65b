// Stages written as text in tests.
#pragma once

#include <string>
#include <vector>

#include "core/config/overrides.h"
#include "core/config/stage.h"
#include "core/config/validate.h"

namespace stagewright::config::test {

// A small stage that validates without any problem; tests change one thing of it.
extern const char *const kSmallStage;

// The stage of a Python text plus lines that are appended to it ("lr = 3"), and the tokens of a command line. Aborts where the text does not parse.
Stage stageOf(const std::string &text, const std::vector<std::string> &tokens = {});
inline Stage smallStage(const std::string &more = {}, const std::vector<std::string> &tokens = {}) { return stageOf(kSmallStage + more, tokens); }

// The small stage with lines changed: "seed = 3" is appended to the text, "model.depth = 3" sets a value inside a section.
Stage changed(const std::string &lines);

// The problem of a code, null where there is none.
const Problem *find(const Problems &problems, std::string_view code, std::string_view path = {});
// "error config.unknown-key model.dpth: …" a line, for messages of failed tests.
std::string listed(const Problems &problems);

// A copy of the stage with the edits of a fix applied as an editor would.
Stage fixed(const Stage &stage, const Fix &fix);

} // namespace stagewright::config::test
