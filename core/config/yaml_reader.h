// YAML as a config's value tree: YAML 1.2's rules for plain scalars (1e-5 is a number, yes and on are texts), `!tuple`, integer keys, `<<`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/problem.h"
#include "core/config/python_arithmetic.h"
#include "core/config/source_text.h"
#include "core/config/value.h"
#include "core/config/yaml_tree.h"

namespace stagewright::config::yaml {

struct Document {
    Value root;                          // None for an empty text; every value has line and column of `source`
    Problems problems;                   // keys written twice
};

// Reads `text`, byte for byte as long as source.text(), which gives the places. Throws Refusal. Aliases are copied; `budget` bounds what
// they grow to. Two documents in one text are refused.
Document read(const SourceText &source, std::string_view text, std::shared_ptr<const std::string> file, OriginKind kind, python::Budget &budget);

// The value of one node. Throws Refusal.
Value valueOf(const Tree &tree, std::uint32_t index, const SourceText &source, python::Budget &budget);

// The value of a plain (unquoted) scalar; its spelling is set where the repr differs.
Value plainScalar(std::string_view text);

} // namespace stagewright::config::yaml
