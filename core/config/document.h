// What is written in a config file and in the files it is based on, before options, presets and the command line have their say.
// Open-Sora's .py files are read by our own parser and evaluator: nothing is ever executed, and what needs real Python is refused.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/text_document.h"
#include "core/config/value.h"

namespace stagewright::config {

// A child file assigns a name anew that a base had used to build other values, and those still hold what the base built:
// base `lr = 1e-5; optim = dict(lr=lr)`, child `lr = 5e-5`. Each is also in LoadedConfig::problems (config.stale-helper, a warning).
struct StaleHelper {
    std::string name;                        // "lr"
    Origin assigned;                         // in the child
    Origin builtFrom;                        // where the base gave the name the value that was used
    std::vector<std::string> kept;           // dotted paths that keep the base's value: {"optim.lr"}
};

struct LoadedConfig {
    Dict values;                             // as mmengine would resolve them, in its order; `_base_` and names beginning with "__" are gone
    std::vector<std::filesystem::path> baseChain;   // every file that was read, the leaf first, then bases in the order of reading
    std::set<std::string> helperNames;       // top-level names that a later expression of any of the files uses
    std::vector<StaleHelper> staleHelpers;
    Problems problems;                       // warnings and hints only; whatever makes the file unreadable is the Error instead
};

// Reads FILE with its base chain. Origins are File for the leaf and Base for the others; Origin::file is the path as given, made
// absolute lexically. Errors (ExitCode::Usage, also for a file that is not there; InputOutput where one cannot be read) name file and line. May be called from any
// thread; reads the environment for {{$NAME:default}}.
// Bounds: 8 MiB a file, 200 files, 400,000 values, 90 levels of brackets.
Result<LoadedConfig> loadDocument(const std::filesystem::path &file);

// The same for TEXT that stands in place of FILE's content (unsaved edits); bases are looked for beside FILE. An empty FILE is a Python
// text without bases.
Result<LoadedConfig> loadDocumentText(const std::string &text, const std::filesystem::path &file);
Result<LoadedConfig> loadDocumentText(const std::string &text, const std::filesystem::path &file, Format format);

} // namespace stagewright::config
