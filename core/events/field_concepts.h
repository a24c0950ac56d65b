// How a struct says what its fields are: a function fields(struct, visit) that calls visit(jsonName, member) for each, found by its namespace.
// One declaration serves reading (struct not const) and writing (const).
#pragma once

#include <concepts>
#include <type_traits>

#include "core/events/record.h"

namespace stagewright::events {

// Constrains such a function to one struct, const or not.
template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

struct AnyVisitor {
    void operator()(const char *, auto &) {}
};

// A struct that has such a function and so is a JSON object.
template <class T>
concept Nested = std::is_class_v<T> && requires(T &value, AnyVisitor &visit) { fields(value, visit); };

} // namespace stagewright::events
