// Gives a parsed config its values, as Python would, without being Python: no statement or call is known to it that could do anything
// else than make a value.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/config/python_arithmetic.h"
#include "core/config/python_ast.h"
#include "core/config/source_text.h"
#include "core/config/value.h"

namespace stagewright::config::python {

// Somewhere the value of a top-level name went into another value.
struct NameUse {
    std::string source;            // "lr", or "model.depth" where a part was used
    Origin sourceOrigin;           // where the used value had been set
    std::string path;              // what was built: "optim.lr"; lists count as a whole
    Origin pathOrigin;
};

struct Evaluated {
    Dict names;                    // in Python's order; names that begin with "__" and `_base_` left out
    Dict base;                     // as given, with what the file changed through `_base_.x = …`
    std::vector<NameUse> uses;
    Problems problems;             // warnings: a key written twice
};

// One file. Throws Refusal.
Evaluated evaluateModule(const Module &module, const SourceText &source, std::shared_ptr<const std::string> file, OriginKind kind, Dict base, Budget &budget);

// One expression without any names (parseLiteral, `_base_`). Throws Refusal.
Value evaluateAlone(const Node &node, const SourceText &source, Budget &budget);

// The expression as written, where the value's plain repr would not say the same: "25 * 1024**3", "1e-5"; else empty. One line, at most 500 bytes.
std::string spellingOf(const Node &node, const Value &value, const SourceText &source);

bool isBaseStatement(const Statement &statement);      // _base_ = …

} // namespace stagewright::config::python
