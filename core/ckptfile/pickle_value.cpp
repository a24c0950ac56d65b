#include "core/ckptfile/pickle_value.h"

#include <array>

namespace stagewright::ckptfile {

PickleValue PickleValue::sequence(Kind kind, std::vector<PickleValue> items)
{
    PickleValue value;
    value.kind = kind;
    value.items = std::move(items);
    return value;
}

void PickleValue::add(PickleValue key, PickleValue value)
{
    items.push_back(std::move(key));
    items.push_back(std::move(value));
}

const PickleValue *PickleValue::find(std::string_view key) const
{
    for (std::size_t at = items.size(); kind == Kind::Dict && at >= 2; at -= 2) {
        if (items[at - 2].kind == Kind::String && items[at - 2].text == key)
            return &items[at - 1];
    }
    return nullptr;
}

const char *kindName(PickleValue::Kind kind)
{
    static constexpr std::array<const char *, 11> names{"None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "tensor", "name"};
    return names[static_cast<std::size_t>(kind)];
}

} // namespace stagewright::ckptfile
