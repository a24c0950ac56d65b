// Which comments of a config file belong to which of its values: looked up by the place that a value's origin names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/text_document.h"
#include "core/config/value.h"

namespace stagewright::config {

class CommentMap
{
public:
    static Result<CommentMap> make(const std::string &text, const std::filesystem::path &file, Format format);

    struct Entry {
        std::size_t begin = 0;               // of the key
        std::size_t value = 0, end = 0;      // of the value
        std::size_t firstChild = 0;          // where a dict's first entry begins; its end where it has none
    };
    const Entry *entryAt(const Origin &origin) const;
    bool isOneLine(const Entry &entry) const { return lineAt(entry.begin) == lineAt(entry.end); }
    const Entry *baseEntry() const { return m_hasBase ? &m_base : nullptr; }

    // Each comment comes out once. Texts begin with "#".
    std::vector<std::string> takeBefore(std::size_t offset);
    std::string takeBehind(std::size_t offset, std::size_t before);    // on the same line as `offset`, behind it; `before` bounds it
    std::vector<std::string> takeRest();

private:
    struct Comment {
        std::size_t begin;
        int line;
        std::string text;
        bool taken = false;
    };
    std::map<std::pair<int, int>, Entry> m_entries;
    std::vector<Comment> m_comments;
    std::vector<std::size_t> m_lineOf;       // starts of lines, to find the line of an offset
    std::size_t m_next = 0;                  // all comments before it are taken
    Entry m_base;
    bool m_hasBase = false;
    int lineAt(std::size_t offset) const;
};

} // namespace stagewright::config
