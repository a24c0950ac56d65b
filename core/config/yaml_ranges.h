// Where the values of a YAML text end, and where its comments are: yaml-cpp only says where values begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/python_ast.h"
#include "core/config/yaml_tree.h"

namespace stagewright::config::yaml {

// Sets Node::end of every node. `text` is what the tree was parsed from.
void markEnds(Tree &tree, std::string_view text);

// All comments, in order; needs the ends.
std::vector<python::Comment> commentsOf(const Tree &tree, std::string_view text);

// {{…}} would be braces to YAML: while places are looked for, they are a word of the same length.
std::string withoutTemplates(std::string text);

// Behind a tag and an anchor before the value at `at`: where the value itself begins.
std::size_t behindProperties(std::string_view text, std::size_t at);

// The offset behind the ':' that follows a key which ends at `keyEnd`.
std::size_t behindColon(std::string_view text, std::size_t keyEnd);

} // namespace stagewright::config::yaml
