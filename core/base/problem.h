// What is wrong with an input of the user's, in the one form that every program shows: a severity, a stable code, a sentence that
// names the place and the next step, and a fix where there is one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace stagewright {

enum class Severity { Error, Warning, Hint };

// One change of one config value. A value is written as text in the config's own (Python literal) spelling; an absent `from` adds the
// key, an absent `to` removes it. A rename is two edits: remove, add.
struct Edit {
    std::string path;                 // dotted option path, for example model.grad_ckpt_settings
    std::optional<std::string> from;
    std::optional<std::string> to;
};

struct Fix {
    std::string title;                // imperative, for a button: "Rename to grad_ckpt_settings"
    std::vector<Edit> edits;
};

struct Problem {
    Severity severity = Severity::Error;
    std::string code;                 // "config.unknown-key"; groups config. data. env. memory. checkpoint. run.; never changes once shipped
    std::string path;                 // dotted option path, empty where none applies
    std::string message;              // one sentence or two, complete without the other fields
    std::string file;                 // empty where none applies
    int line = 0;                     // 1-based; 0: unknown
    int column = 0;                   // 1-based; 0: unknown
    std::optional<Fix> fix;
};

using Problems = std::vector<Problem>;

const char *severityName(Severity severity);               // "error", "warning", "hint"
bool hasErrors(const Problems &problems);
nlohmann::json toJson(const Problem &problem);             // the object of the command line's contract; absent parts are left out
nlohmann::json toJson(const Problems &problems);           // an array
std::string oneLine(const Problem &problem);               // "stage1.py:12:5: error: … [config.unknown-key]"

} // namespace stagewright
