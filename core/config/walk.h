// Visiting a value tree with dotted paths.
#pragma once

#include <string>

#include "core/config/value.h"

namespace stagewright::config {

namespace detail {

template <class Visit>
void walk(const Dict &dict, const std::string &prefix, Visit &visit)
{
    for (const auto &[key, value] : dict) {
        const std::string path = prefix + key.text();
        if (value.isDict() && !value.dict().empty())
            walk(value.dict(), path + ".", visit);
        else
            visit(path, value);
    }
}

} // namespace detail

// Every value that is no dict, and every empty dict: visit(path, value), in file order.
template <class Visit>
void forEachLeaf(const Dict &root, Visit visit)
{
    detail::walk(root, std::string(), visit);
}

} // namespace stagewright::config
