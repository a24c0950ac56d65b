// Flags of a pasted command, read from left to right, and what they become.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/config/from_command.h"

namespace stagewright::config {

// Hands out tokens; a flag's value is what follows "=" or the next token.
class FlagReader
{
public:
    explicit FlagReader(std::vector<std::string> tokens) : m_tokens(std::move(tokens)) {}
    bool atEnd() const { return m_at >= m_tokens.size(); }
    const std::string &peek() const { return m_tokens[m_at]; }
    bool isFlag() const { return !atEnd() && peek().size() > 1 && peek()[0] == '-' && !(peek()[1] >= '0' && peek()[1] <= '9'); }
    std::string next() { return m_tokens[m_at++]; }

    // The flag's name without dashes, '_' for '-'; remembers a value behind "=".
    std::string nextFlag();
    bool hasValue() const { return m_hasInline || (!atEnd() && !isFlag()); }
    std::string value();                   // "" where there is none
    std::vector<std::string> rest() { return {m_tokens.begin() + static_cast<std::ptrdiff_t>(m_at), m_tokens.end()}; }
    const std::string &typed() const { return m_typed; }       // the last flag as typed, without its value

private:
    std::vector<std::string> m_tokens;
    std::size_t m_at = 0;
    bool m_hasInline = false;
    std::string m_inline, m_typed;
};

// Where a flag's meaning goes: overrides (the last one of a path wins) and one note a flag.
class CommandSink
{
public:
    explicit CommandSink(FromCommand &result) : m_result(result) {}
    void set(const std::string &flag, const std::string &path, const std::string &text, const std::string &remark = {});
    void alsoSet(const std::string &path, const std::string &text);        // without a note of its own
    void note(const std::string &flag, const std::string &became, bool applied = false) { m_result.notes.push_back({flag, became, applied}); }
    bool has(const std::string &path) const;
    LaunchSettings &launch() { return m_result.launch; }

private:
    FromCommand &m_result;
};

// Open-Sora-Plan's train_t2v_diffusers.py and its siblings.
void readPlanFlags(FlagReader &flags, CommandSink &sink);

// DeepSpeed's JSON, and accelerate's YAML around it, as JSON. `source` is what notes call it.
void readDeepSpeed(const nlohmann::json &config, const std::string &source, CommandSink &sink);
void readAccelerateConfig(const nlohmann::json &config, const std::string &source, const std::filesystem::path &folder, CommandSink &sink);
// The file at `path` below `folder` (JSON or YAML); the error says what is wrong with it.
Result<nlohmann::json> readConfigFile(const std::string &path, const std::filesystem::path &folder);

} // namespace stagewright::config
