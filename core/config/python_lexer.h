// Cuts a config's text into Python's tokens. Knows no grammar but brackets (inside them line breaks mean nothing).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/python_ast.h"

namespace stagewright::config::python {

enum class TokenKind : std::uint8_t { Name, Number, String, Operator, Template, Newline, Indent, End };

// The characters of an operator in one number, so that signs compare quickly.
constexpr std::uint32_t signCode(std::string_view sign)
{
    std::uint32_t code = 0;
    for (char c : sign)
        code = code << 8 | static_cast<unsigned char>(c);
    return code;
}

struct Token {
    TokenKind kind = TokenKind::End;
    std::uint32_t begin = 0, end = 0;
    std::uint32_t sign = 0;          // Operator: its signCode()
};

struct Tokens {
    std::vector<Token> tokens;       // ends with End; no Newline twice in a row, none at the start; Indent: white space before a statement
    std::vector<Comment> comments;
};

inline constexpr std::size_t kMaxTokens = 1'200'000;

// Throws Refusal. With insideExpression, [begin, end) is the inside of a replacement field: line breaks and comments are not expected.
Tokens tokenize(std::string_view text, std::size_t begin, std::size_t end, bool insideExpression = false);

} // namespace stagewright::config::python
