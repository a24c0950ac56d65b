// The text of one config file: checked for its encoding, with mmengine's text substitutions made, and every place of it traceable to
// the line and column that a person sees.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::config {

inline constexpr std::size_t kMaxTextBytes = 8u << 20;

struct Position {
    int line = 0;          // 1-based
    int column = 0;        // 1-based, in bytes
};

// Why a text is not accepted, thrown inside the parsers and caught where they are entered (parsePython, evaluateModule, readYaml, …).
struct Refusal {
    std::string code;      // "config.syntax", "config.needs-python", …
    std::string message;   // half a sentence without the place
    std::size_t offset;    // in SourceText::text()
};

class SourceText
{
public:
    enum class Substitute { Nothing, Templates };

    // `name` is how messages call the file. Refuses UTF-16, text that is not UTF-8, NUL bytes and texts above kMaxTextBytes. A byte order
    // mark is skipped. With Templates, {{ fileDirname }}, {{ fileBasename }}, {{ fileBasenameNoExtension }}, {{ fileExtname }} and
    // {{$NAME:default}} are replaced as mmengine does it, before anything is parsed.
    static Result<SourceText> make(std::string original, const std::filesystem::path &name, Substitute substitute);

    const std::string &text() const { return m_text; }
    const std::string &name() const { return m_name; }
    bool isSubstituted() const { return m_segments.size() > 1; }
    bool hasByteOrderMark() const { return m_byteOrderMark; }

    Position positionOf(std::size_t offset) const;                       // of an offset in text(), in the original text
    std::string originalSlice(std::size_t begin, std::size_t end) const; // what the person wrote there
    Error error(const Refusal &refusal) const;                           // "stage1.py:12: …", ExitCode::Usage
    std::string place(std::size_t offset) const;                         // "stage1.py:12"

private:
    std::size_t originalOffset(std::size_t offset) const;
    void substituteTemplates();

    struct Segment {
        std::size_t at, original;        // from here on text() runs beside the original
        bool replaced;                   // … or everything up to the next segment stands for the template at `original`
    };
    std::string m_name, m_original, m_text;
    std::vector<Segment> m_segments;
    std::vector<std::size_t> m_lineStarts;
    std::filesystem::path m_path;
    bool m_byteOrderMark = false;
};

// Length of the template `{{ … }}` that begins at text[at], if there is one of the kinds above or {{_base_.x}}; 0 otherwise.
enum class TemplateKind { None, File, Environment, Base };
struct Template {
    TemplateKind kind = TemplateKind::None;
    std::size_t length = 0;
    std::string name;                    // "fileDirname", the variable, or the path below _base_
    std::string fallback;                // of an environment variable
};
Template templateAt(std::string_view text, std::size_t at);

} // namespace stagewright::config
