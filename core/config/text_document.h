// The text of a stage file under edit: an edit of one value changes one line; comments, order, number spelling and unknown keys stay.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/value.h"

namespace stagewright::config {

enum class Format { Python, Yaml };
Format formatOf(const std::filesystem::path &file);            // by extension; .yaml and .yml are YAML, everything else Python

class TextDocument
{
public:
    // Text that does not parse is kept and can be edited as text; only the structural edits below then fail.
    TextDocument(std::string text, Format format);
    const std::string &text() const { return m_text; }
    Format format() const { return m_format; }

    // Sets the value at a dotted path, or adds it where its parent dict is (or in the place mmengine would read it from).
    // `expression` is Python spelling ("25 * 1024**3"); for YAML it is evaluated and written as a YAML scalar or flow collection.
    Status setValue(std::string_view dottedPath, std::string_view expression);
    Status removeKey(std::string_view dottedPath);
    Status renameKey(std::string_view dottedPath, std::string_view newName);
    // Line (1-based) where the path's value is written in this text; nothing where it is inherited.
    std::optional<int> lineOf(std::string_view dottedPath) const;
    // Parses the text now, so that the next edit need not: for another thread, before the document is handed over.
    void prepare() const;

private:
    std::string m_text;
    Format m_format;
    template <class Editable> Result<Editable> parsed() const;
    Status take(Result<std::string> edited);
    template <class Editable> Status accept(Result<std::string> edited);
    mutable std::shared_ptr<const void> m_parsed;              // of m_text, so that an edit parses once; one thread at a time
};

// One Python literal or expression that needs no names: what a person types into a field or after a flag.
Result<Value> parseLiteral(std::string_view text);

} // namespace stagewright::config
