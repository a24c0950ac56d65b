// Structural edits of a YAML config's text: each returns the new text and leaves every byte that it need not touch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/source_text.h"
#include "core/config/text_lines.h"
#include "core/config/value.h"
#include "core/config/yaml_tree.h"

namespace stagewright::config::yaml {

using Path = std::vector<std::string>;

class EditableText
{
public:
    static Result<EditableText> parse(const std::string &text);

    // `spelling`: how the person wrote the value (Python); kept as a comment "# = 25 * 1024**3" where it is more than a number.
    Result<std::string> set(const Path &path, const Value &value, const std::string &spelling) const;
    Result<std::string> remove(const Path &path) const;
    Result<std::string> rename(const Path &path, const std::string &newName) const;
    // Whether set() only puts a number, a constant or a list of such in the place of a value on a single line that no alias means: then the text
    // still parses to that, and need not be read again to know it.
    bool replacesSimply(const Path &path, const Value &value) const;
    std::optional<int> lineOf(const Path &path) const;
    std::optional<Value> valueAt(const Path &path) const;      // as written here; nothing where it is not, or not readable

private:
    struct Found {
        std::size_t depth = 0;
        std::uint32_t value = 0, container = 0;
        std::size_t index = 0;               // of the key among the container's children
    };
    Found find(const Path &path) const;
    std::optional<std::size_t> keyIndex(const Node &map, const std::string &part) const;
    Result<std::string> replaced(const Path &path, const Found &found, const Value &value, const std::string &spelling) const;
    Result<std::string> stepByStep(const Path &path, std::uint32_t map, const Dict &fresh) const;
    Result<std::string> added(const Path &path, const Found &parent, const Value &value, const std::string &spelling) const;
    std::string addedToBlock(const Node &map, const DictKey &key, const Value &value, const std::string &comment) const;
    std::string addedToFlow(const Node &map, const DictKey &key, const Value &value) const;
    DictKey keyFor(const Node *map, const std::string &part) const;
    std::string valueText(const Value &value, const std::string &indent) const;     // " 3" or block lines
    std::string finished(std::vector<TextChange> changes) const;
    std::string indentOfEntry(const Node &map) const;

    std::shared_ptr<const SourceText> m_source;
    std::shared_ptr<const Tree> m_tree;
};

// "  # = 25 * 1024**3" where the spelling is an expression of more than one literal; else empty.
std::string expressionComment(const std::string &spelling);

} // namespace stagewright::config::yaml
