// Command lines as Open-Sora's users type them: `--a.b-c VALUE`, `--key=value`, `--set key=value`, `--flag`, before or after the config
// path. Values are converted by the option's declared type. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::config {

struct ParsedArguments {
    std::vector<Override> overrides;                  // in the order typed; path with '_' for '-'
    std::vector<std::string> positional;              // everything that is neither a key nor its value
    std::vector<std::string> positionalAfter;         // for each of them the path of the override directly before it, or ""
};

// Splits tokens (without the program's own options) into overrides and positionals. A key without a value is true where the option is
// a boolean or unknown, else an error. A boolean takes the next token only where that is a boolean's spelling. A token such as "-3" is a value,
// "-x" an error. "--" ends the overrides.
Result<ParsedArguments> parseOverrides(const std::vector<std::string> &tokens);

// An error unless there are between `least` and `most` positionals; names what a shell's pattern probably expanded to, for `--load a b`.
Status expectPositionals(const ParsedArguments &arguments, std::size_t least, std::size_t most, std::string_view what);

// Text to a value of the option's type: a Python literal, then type and length; integral floats for integers; "25 GiB" for element counts (of
// bytesPerElement each); the text itself for strings; none only where the option is nullable; true/false/yes/no/on/off/1/0 for booleans.
// Ranges are left to validate(). `note` receives a sentence where something was understood that deserves saying.
Result<Value> convertText(const Option &option, std::string_view text, int bytesPerElement = 2, std::string *note = nullptr);

// Sets each override's value with its origin; lr, eps, grad_ckpt_settings and patch_size also where they are read. Later ones win; an
// explicit path wins over a write-through. Overrides that cannot be applied are errors (unknown keys with the nearest known one); the rest is applied.
Problems applyOverrides(Stage &stage, const std::vector<Override> &overrides);
// The stage with all of them, or the first that cannot be applied (Usage).
Result<Stage> overridden(Stage stage, const std::vector<Override> &overrides);

int bytesPerElement(std::string_view dtype);          // 2 for bf16 and fp16, 4 for fp32, 8 for fp64; 2 where the name is unknown

} // namespace stagewright::config
