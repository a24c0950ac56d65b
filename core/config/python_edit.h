// Structural edits of a Python config's text: each returns the new text and leaves every byte that it need not touch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/python_ast.h"
#include "core/config/source_text.h"
#include "core/config/text_lines.h"

namespace stagewright::config::python {

using Path = std::vector<std::string>;

class EditableText
{
public:
    static Result<EditableText> parse(const std::string &text);

    // All return the new text. A path that is not written here is added where its nearest parent is, or at the end of the file.
    Result<std::string> set(const Path &path, const std::string &expression) const;
    Result<std::string> remove(const Path &path) const;
    Result<std::string> rename(const Path &path, const std::string &newName) const;
    // Whether set() only puts one simple value (a number, text, constant, or a list of such) in the place of one on a single line: then the text
    // still parses, and need not be read again to know it.
    bool replacesSimply(const Path &path, const std::string &expression) const;
    std::optional<int> lineOf(const Path &path) const;

    struct Found {
        const Statement *statement = nullptr;
        const Node *container = nullptr;     // the dict that holds the entry; null at the top
        std::size_t index = 0;               // of the entry among the container's children
        const Node *value = nullptr;
        std::size_t depth = 0;               // how many parts of the path were found; all of them where this is path.size()
    };

private:
    Found find(const Path &path) const;
    Result<std::string> replaced(const Path &path, const Found &found, const std::string &expression) const;
    Result<std::string> added(const Path &path, const Found &parent, const std::string &expression) const;
    Result<std::string> addedToDict(const Node &container, const std::string &key, const std::string &expression) const;
    std::string addedAtEnd(const std::string &line) const;
    std::vector<TextChange> removalOf(const Node &container, std::size_t index) const;
    Result<std::string> removedName(const std::string &name) const;
    std::size_t commaAfter(std::size_t at) const;    // the offset behind the comma that follows, or npos
    std::string slice(const Node &node) const { return m_source->text().substr(node.begin, node.end - node.begin); }
    // Offsets in the module are of the text without byte order mark.
    std::string finished(std::vector<TextChange> changes) const;

    std::shared_ptr<const SourceText> m_source;
    std::shared_ptr<const Module> m_module;
    bool m_byteOrderMark = false;
};

bool isDictLike(const Node &node);           // {…} or dict(…)

} // namespace stagewright::config::python
