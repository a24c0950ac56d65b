// Conversion between Open-Sora's .py and .yaml: values and their types, comments and order stay.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/text_document.h"

namespace stagewright::config {

enum class Bases {
    KeepIfConverted,     // `_base_` stays where each base's counterpart exists beside OUT, else its values are written into OUT, with a note
    ConvertToo,          // each base is converted as well, at the same relative place
    Flatten
};

struct ConvertedFile {
    std::filesystem::path path;
    std::string text;
};

struct Conversion {
    std::vector<ConvertedFile> files;        // OUT first; nothing has been written
    std::vector<std::string> notes;          // sentences for people: what was flattened, which expression became a number
};

// Formats follow from the extensions; the same format on both sides flattens or copies. An expression (`25 * 1024**3`) survives in YAML
// as a comment "# = 25 * 1024**3" and comes back from there where it still gives the value.
Result<Conversion> convert(const std::filesystem::path &in, const std::filesystem::path &out, Bases bases = Bases::KeepIfConverted);

// A whole .py file from values alone: `name = value`, dicts as dict(…) where their keys allow it, one entry a line.
// The error names a key that cannot be written as a Python name. (toYaml, its sister, is declared in stage.h.)
Result<std::string> toPythonFile(const Dict &values);

} // namespace stagewright::config
