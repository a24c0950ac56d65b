// The syntax tree of the part of Python that a config may use. Offsets are bytes of the parsed text; a node's range includes the
// parentheses around it, so that replacing the range replaces what a person sees as the value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagewright::config::python {

enum class NodeKind : std::uint8_t {
    Int,              // magnitude
    Float,            // number
    String,           // text, decoded
    FormattedString,  // children: String and Replacement
    Replacement,      // children[0]; text: the format spec; op: conversion 'r', 's', 'a' or 0; "=" form: a String before it
    None, True, False,
    Name,             // text
    BaseTemplate,     // {{_base_.text}}
    OtherTemplate,    // a template that was not substituted (text under edit)
    List, Tuple,      // children, Starred among them
    Dict,             // children: Pair and DoubleStarred
    Set,
    Pair,             // children: key, value
    Starred, DoubleStarred,   // children[0]
    Keyword,          // text = children[0]; an argument of a call
    Call,             // children: function, arguments…
    Attribute,        // children[0] . text
    Subscript,        // children[0] [ children[1] ]
    Slice,            // children: begin, end, step; Absent where left out
    Absent,
    Unary,            // op: '-', '+', '~', '!' (not)
    Binary,           // a run of equal precedence: children a b c, text holds one operator character for each step: "+-"; 'P' power, 'F' floor division, 'L' shift left, 'R' right
    And, Or,          // children
    Compare,          // children a b c, text: one character for each step: '<' '>' 'l' (<=) 'g' (>=) '=' '!' 'i' (in) 'n' (not in) 's' (is) 't' (is not)
    Conditional,      // children: condition, then, otherwise
    ListComprehension, DictComprehension, SetComprehension, Generator,   // children: element (or Pair), then For…
    For               // children: target, iterable, conditions…
};

struct Node {
    NodeKind kind = NodeKind::Absent;
    char op = 0;
    bool parenthesized = false;      // a Tuple written with parentheses; any other node inside them
    bool plainLiteral = false;       // String: one piece without prefix, `op` its quote; its spelling says nothing that the value does not
    std::uint32_t begin = 0, end = 0;
    union {
        double number = 0;
        std::uint64_t magnitude;
    };
    std::string text;
    std::vector<Node> children;
};

enum class StatementKind : std::uint8_t { Assign, Augmented, Delete, Expression, Pass, Annotation };

struct Statement {
    StatementKind kind = StatementKind::Expression;
    char op = 0;                     // Augmented: as in Binary
    std::uint32_t begin = 0, end = 0;
    std::vector<Node> targets;       // Assign: a = b = …; Delete: what goes
    Node value;
};

struct Comment {
    std::uint32_t begin = 0, end = 0;     // from '#' to the line's end, line break excluded
    bool ownLine = false;                 // nothing but white space before it
};

struct Module {
    std::vector<Statement> statements;
    std::vector<Comment> comments;
};

} // namespace stagewright::config::python
