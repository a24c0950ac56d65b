// The built-in functions of Python that a config may call: those that only make a value from values.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/config/python_arithmetic.h"

namespace stagewright::config::python {

// A value, or what iterates over values (range, zip, …) and cannot be kept as a config value.
struct Argument {
    Value value;
    bool iterator = false;         // value is a List of what comes out
};

bool isBuiltin(std::string_view name);

// Throws Trouble: wrong arguments, too large a result. dict() is not here (its keys make paths, see the evaluator).
Argument callBuiltin(std::string_view name, const std::vector<Argument> &arguments, const std::vector<std::pair<std::string, Argument>> &keywords, Budget &budget);

// What list(value) holds; throws where the value cannot be iterated over.
List iterated(const Value &value, Budget &budget);

DictKey keyOf(const Value &value);           // throws where the value is no string or whole number

} // namespace stagewright::config::python
