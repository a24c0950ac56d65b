// The nodes of a YAML text with the places where they stand, before any meaning is given to them. Built from yaml-cpp's events.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace stagewright::config::yaml {

enum class NodeKind : std::uint8_t { Null, Scalar, Sequence, Map, Alias };

struct Node {
    NodeKind kind = NodeKind::Null;
    bool flow = false;                    // [ ] and { }
    bool quoted = false;                  // Scalar: quotes or a block scalar; never a number
    std::uint32_t begin = 0;              // of its tag or anchor, if it has one; of a Null: where it would stand
    std::uint32_t end = 0;                // behind the last byte of the value; see markEnds()
    std::uint32_t alias = 0;              // Alias: the node it stands for
    std::string tag;                      // "!tuple", "tag:yaml.org,2002:int", empty
    std::string text;                     // Scalar
    std::vector<std::uint32_t> children;  // Sequence: items; Map: key, value, key, value …
};

struct Tree {
    std::deque<Node> nodes;
    std::uint32_t root = 0;
    bool empty = true;                    // no document at all
    const Node &operator[](std::uint32_t index) const { return nodes[index]; }
};

inline constexpr std::size_t kMaxNodes = 400'000;

// Throws Refusal. Node::end is 0 until markEnds() is called.
Tree parse(std::string_view text);

} // namespace stagewright::config::yaml
