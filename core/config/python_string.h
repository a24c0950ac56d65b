// Decodes one string token: prefixes, quotes, escapes, and the replacement fields of f-strings.
#pragma once

#include <string>
#include <string_view>

#include "core/config/python_ast.h"

namespace stagewright::config::python {

// Appends the pieces of the token text[begin, end) to `pieces` (String and Replacement nodes, neighbouring Strings joined).
// Returns true where the token is a plain literal without prefix. Throws Refusal. depth: nesting of f-strings.
bool decodeString(std::string_view text, std::size_t begin, std::size_t end, int depth, std::vector<Node> &pieces);

void appendUtf8(std::string &out, std::uint32_t codePoint);

} // namespace stagewright::config::python
