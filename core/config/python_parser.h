// Turns a config's text into statements. Accepts the grammar of Python's expressions and simple statements; everything that would need
// a real interpreter (import, def, class, loops, lambda, with, …) is refused by name.
#pragma once

#include <string_view>

#include "core/config/python_ast.h"

namespace stagewright::config::python {

// Throws Refusal ("config.syntax", "config.needs-python", "config.too-large").
Module parseModule(std::string_view text);
Node parseExpression(std::string_view text);           // the whole text is one expression (or a tuple without parentheses)
// One expression in text[begin, end): the inside of a replacement field. depth: nesting so far.
Node parseExpressionIn(std::string_view text, std::size_t begin, std::size_t end, int depth);

bool isKeyword(std::string_view word);                 // Python's reserved words
bool isIdentifier(std::string_view word);              // usable as a name and as dict(NAME=…)

} // namespace stagewright::config::python
