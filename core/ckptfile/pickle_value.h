// What a pickle of a checkpoint can hold, as a plain tree: nothing in it was executed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ckptfile/dtype.h"

namespace stagewright::ckptfile {

// A tensor inside a torch.save archive: a window into one of its storages. Strides and offset count elements.
struct PickledTensor {
    DType dtype = DType::F32;
    std::string storage;                     // key: the archive's data/<key>
    std::int64_t storageElements = 0;
    std::int64_t offset = 0;
    std::vector<std::int64_t> shape, strides;
};

class PickleValue
{
public:
    enum class Kind { None, Bool, Int, Float, String, Bytes, List, Tuple, Dict, Tensor, Name };
    using Entry = std::pair<PickleValue, PickleValue>;

    PickleValue() = default;
    PickleValue(bool value) : kind(Kind::Bool), integer(value) {}
    PickleValue(std::int64_t value) : kind(Kind::Int), integer(value) {}
    PickleValue(int value) : PickleValue(std::int64_t(value)) {}
    PickleValue(double value) : kind(Kind::Float), number(value) {}
    PickleValue(std::string value) : kind(Kind::String), text(std::move(value)) {}
    PickleValue(const char *value) : PickleValue(std::string(value)) {}
    static PickleValue list(std::vector<PickleValue> items) { return sequence(Kind::List, std::move(items)); }
    static PickleValue tuple(std::vector<PickleValue> items) { return sequence(Kind::Tuple, std::move(items)); }
    static PickleValue dict() { return sequence(Kind::Dict, {}); }

    Kind kind = Kind::None;
    std::int64_t integer = 0;                // Bool, Int
    double number = 0;                       // Float
    std::string text;                        // String (UTF-8), Bytes, Name ("torch.float32")
    std::vector<PickleValue> items;          // List, Tuple; Dict: key, value, key, value …
    PickledTensor tensor;

    bool isNumber() const { return kind == Kind::Int || kind == Kind::Float || kind == Kind::Bool; }
    double asNumber() const { return kind == Kind::Float ? number : static_cast<double>(integer); }
    bool isSequence() const { return kind == Kind::List || kind == Kind::Tuple; }

    // Dict only. add() keeps order; find() is by string key, the last one counts as in Python.
    void add(PickleValue key, PickleValue value);
    const PickleValue *find(std::string_view key) const;

private:
    static PickleValue sequence(Kind kind, std::vector<PickleValue> items);
};

const char *kindName(PickleValue::Kind kind);    // "None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "tensor", "name"

} // namespace stagewright::ckptfile
