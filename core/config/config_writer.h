// Writes a tree of values as the text of a config in either format, with the comments of the files that the values came from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/comment_map.h"
#include "core/config/text_document.h"
#include "core/config/value.h"

namespace stagewright::config {

class ConfigWriter
{
public:
    explicit ConfigWriter(Format format) : m_format(format) {}

    // Comments are taken from the file that a value's origin names. keepsBase: `_base_` is written, so names below it may be used.
    void addComments(const std::string &file, CommentMap comments) { m_comments.emplace(file, std::move(comments)); }
    void writeBase(const std::vector<std::string> &paths, const std::string &file);
    Status write(const Dict &values);        // the error names a key that Python cannot write
    std::string finish();                    // the text, with what comments are left at its end

private:
    Status writeEntry(const DictKey &key, const Value &value, int depth, bool inCall);
    Status writeDict(const DictKey &key, const Value &value, int depth, bool inCall, CommentMap *comments, const CommentMap::Entry *entry);
    std::string yamlValue(const Value &value, std::string &behind) const;
    std::string pythonValue(const Value &value, std::string &behind) const;
    bool gives(const std::string &expression, const Value &value) const;
    void comment(const std::vector<std::string> &texts, int depth);
    std::string prefix(const DictKey &key, int depth, bool inCall) const;

    Format m_format;
    std::map<std::string, CommentMap> m_comments;
    std::string m_out;
    Dict m_written;                          // top-level names so far, for expressions that use them
    bool m_keepsBase = false;
};

} // namespace stagewright::config
