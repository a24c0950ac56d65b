#include "core/config/overrides.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/config/known_key.h"
#include "core/config/option_value.h"

namespace stagewright::config {

namespace {

bool isKey(std::string_view token)
{
    return token.size() > 2 && token.starts_with("--");
}

bool isNegativeNumber(std::string_view token)
{
    return token.size() > 1 && token[0] == '-' && (std::isdigit(static_cast<unsigned char>(token[1])) || token[1] == '.');
}

std::string pathOf(std::string_view key)
{
    std::string path(key);
    std::replace(path.begin(), path.end(), '-', '_');
    return path;
}

Error usage(const std::string &sentence, std::string_view path = {})
{
    Error error(ExitCode::Usage, "config.command-line", sentence);
    error.problem.path = path;
    return error;
}

// Reads the tokens one after the other; the value of a key is the next token unless that is a key itself.
class Reader
{
public:
    explicit Reader(const std::vector<std::string> &tokens) : m_tokens(tokens) {}

    Result<ParsedArguments> read()
    {
        bool onlyPositionals = false;
        while (m_at < m_tokens.size()) {
            const std::string &token = m_tokens[m_at++];
            if (!onlyPositionals && token == "--") {
                onlyPositionals = true;
            } else if (!onlyPositionals && isKey(token)) {
                if (const Status status = readKey(token.substr(2)); !status)
                    return status.error();
            } else if (!onlyPositionals && token.size() > 1 && token[0] == '-' && !isNegativeNumber(token)) {
                return usage("\"" + token + "\" is not an option: options of a stage start with two dashes, for example --optim.lr 1e-4");
            } else {
                addPositional(token);
            }
        }
        return std::move(m_result);
    }

private:
    Status readKey(const std::string &key)
    {
        if (key == "set")
            return readSet();
        if (const auto equals = key.find('='); equals != std::string::npos)
            return add(pathOf(key.substr(0, equals)), key.substr(equals + 1));

        const std::string path = pathOf(key);
        const Option *option = findOption(path);
        const bool last = m_at == m_tokens.size() || isKey(m_tokens[m_at]) || m_tokens[m_at] == "--";
        const bool isFlag = option && option->type == OptionType::Bool;
        if (isFlag && (last || !isBooleanText(m_tokens[m_at])))
            return add(path, "True");
        if (!last)
            return add(path, m_tokens[m_at++]);
        if (!option && !governingOption(path))
            return add(path, "True");
        return usage("--" + key + " needs a value: " + expectedWords(option ? *option : *governingOption(path)), path);
    }

    static bool isBooleanText(const std::string &text)
    {
        return booleanSpelling(text) || lowered(text) == "none";
    }

    Status readSet()
    {
        if (m_at == m_tokens.size())
            return usage("--set needs key=value, for example --set optim.lr=1e-4");
        const std::string &pair = m_tokens[m_at++];
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return usage("--set " + pair + ": write key=value, for example --set optim.lr=1e-4");
        return add(pathOf(pair.substr(0, equals)), pair.substr(equals + 1));
    }

    Status add(const std::string &path, const std::string &text)
    {
        if (path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos)
            return usage("\"--" + path + "\" has an empty part in its name");
        m_result.overrides.push_back({path, text, path == "preset" ? OriginKind::Preset : OriginKind::Override});
        m_lastKey = path;
        return Done{};
    }

    void addPositional(const std::string &token)
    {
        m_result.positional.push_back(token);
        m_result.positionalAfter.push_back(m_lastKey);
    }

    const std::vector<std::string> &m_tokens;
    std::size_t m_at = 0;
    std::string m_lastKey;                 // path of the override that the current positional may belong to
    ParsedArguments m_result;
};

} // namespace

Result<ParsedArguments> parseOverrides(const std::vector<std::string> &tokens)
{
    return Reader(tokens).read();
}

Status expectPositionals(const ParsedArguments &arguments, std::size_t least, std::size_t most, std::string_view what)
{
    const std::vector<std::string> &given = arguments.positional;
    if (given.size() < least)
        return usage(std::string(what) + " is missing");
    if (given.size() <= most)
        return Done{};
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string &key = arguments.positionalAfter[i];
        const Option *option = findOption(key);
        if (key.empty() || !option || option->type != OptionType::Path)
            continue;
        std::vector<std::string> values;
        for (const Override &override : arguments.overrides) {
            if (override.path == key)
                values.push_back(override.text);
        }
        for (std::size_t j = 0; j < given.size(); ++j) {
            if (arguments.positionalAfter[j] == key)
                values.push_back(given[j]);
        }
        return usage("--" + key + " takes one path, but " + std::to_string(values.size()) + " follow (" + joined(values, ", ")
                + "): did the shell expand a pattern? Name one of them, or put the pattern in quotes", key);
    }
    return usage("\"" + given.back() + "\" was not expected: one " + std::string(what) + " is enough, and a value follows its option, as in --optim.lr 1e-4");
}

} // namespace stagewright::config
