// A fix, made in the text of the file that it is about.
#pragma once

#include "core/base/result.h"
#include "core/config/text_document.h"

namespace stagewright::config {

// All edits of the fix or, where one cannot be made, none: the document is then as before and the error says why. "Remove A, add B
// beside it with A's value" is made as a rename, which keeps the line, its comment and its spelling.
Status applyFix(TextDocument &document, const Fix &fix);

struct FixedText {
    std::vector<const Problem *> fixed;                    // of the problems given, in their order
    std::vector<std::pair<const Problem *, Error>> failed;
};
// Every problem's fix in turn; one that cannot be made leaves the others.
FixedText applyFixes(TextDocument &document, const std::vector<const Problem *> &problems);

} // namespace stagewright::config
