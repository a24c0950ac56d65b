// A stage: one training configuration, resolved from all its layers, with the origin of each value and everything that is wrong with it.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/option.h"
#include "core/config/value.h"

namespace stagewright::config {

// One `--a.b-c VALUE` (or `--set a.b=VALUE`) of the command line, or one edit of the window: path and the text as typed.
struct Override {
    std::string path;
    std::string text;
    OriginKind kind = OriginKind::Override;
};

class Stage
{
public:
    // Values in file order, defaults of absent options NOT filled in; keys that nothing reads are still there.
    const Dict &values() const { return m_values; }
    Dict &values() { return m_values; }
    const std::filesystem::path &file() const { return m_file; }                // the leaf file; empty for a stage made in memory
    const std::vector<std::filesystem::path> &baseChain() const { return m_baseChain; }   // every file that was read, leaf first
    const Problems &problems() const { return m_problems; }                     // found while reading and resolving

    // The value of a declared option: what is set, else its default. Asserts that the option is declared (option.h): a reader of an
    // undeclared key is a programmer's mistake. Types were checked by validate(); number() takes Int for Float.
    const Value &at(std::string_view path) const;
    bool isSet(std::string_view path) const;                                    // present and not None
    bool boolean(std::string_view path) const { return at(path).boolean(); }
    std::int64_t integer(std::string_view path) const { return at(path).integer(); }
    double number(std::string_view path) const { return at(path).number(); }
    const std::string &string(std::string_view path) const { return at(path).string(); }

    Dict m_values;
    std::filesystem::path m_file;
    std::vector<std::filesystem::path> m_baseChain;
    Problems m_problems;
    std::set<std::string> m_helperNames;               // top-level names that an expression in the files uses (document.h)
};

// Reads FILE (.py or .yaml) with its base chain, then applies presets and overrides in order. The error is about a file that cannot be
// read or needs real Python; what is wrong with single values is in problems() (see validate.h for the full check).
Result<Stage> loadStage(const std::filesystem::path &file, const std::vector<Override> &overrides = {});

// The stage of a run directory's or checkpoint's config.yaml, or from YAML text (run.json keeps no copy of its own).
Result<Stage> stageFromYaml(const std::string &yaml, const std::filesystem::path &file = {});

// The default that holds in this stage: the declared one, or that of the variant which its other values select.
const Value &defaultOf(const Stage &stage, const Option &option);

std::string toYaml(const Dict &values);            // fully typed: !tuple, integer keys; reads back to an equal tree
nlohmann::json originsJson(const Stage &stage);    // {dotted path: {file, line, kind}}, for every declared option and every set key

// What stands beside the text of a file that is being edited, or of a stage on disk; unsaved text wins over the file.
Result<Stage> stageFromText(const std::string &text, const std::filesystem::path &file, const std::vector<Override> &overrides = {});

} // namespace stagewright::config
