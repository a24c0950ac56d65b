// Python's operators on config values, with every result bounded: 9**9**9 and [0] * 10**9 are refused, never tried.
#pragma once

#include <cstddef>
#include <string>

#include "core/config/value.h"

namespace stagewright::config::python {

// What one file may still create, so that a small text cannot become a large tree.
struct Budget {
    std::size_t values = 400'000;
    std::size_t bytes = 32u << 20;
    void takeValues(std::size_t count);         // throw Trouble ("config.too-large") when used up
    void takeBytes(std::size_t count);
    void takeTree(const Value &value, int depth = 0);     // all values of a tree that is being copied; at most 90 levels of it
};

inline constexpr std::size_t kMaxKeyBytes = 200;     // YAML has no short form for keys much longer than this

// Half a sentence without a place; the evaluator knows the place.
struct Trouble {
    std::string message;
    const char *code = "config.expression";
};

bool truth(const Value &value);
bool equal(const Value &a, const Value &b);                  // 1 == 1.0 == True, as Python
int compare(const Value &a, const Value &b);                 // -1, 0, 1; 2 where unordered (nan); throws where Python has no order
Value binary(char op, const Value &a, const Value &b, Budget &budget);     // op as in Node::text of Binary
Value unary(char op, const Value &a);
bool contains(const Value &container, const Value &item);

std::size_t length(const Value &value);                      // len(): characters, items, entries
Value itemAt(const Value &container, const Value &index);    // container[index] of a sequence or string
Value slice(const Value &sequence, const Value &begin, const Value &end, const Value &step, Budget &budget);

std::int64_t asInteger(const Value &value, const char *what);       // Int or Bool; throws otherwise
std::string described(const Value &value);                   // "the str 'abc'", shortened, for sentences

} // namespace stagewright::config::python
