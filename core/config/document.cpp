#include "core/config/document.h"

#include <system_error>

#include "core/config/base_chain.h"

namespace stagewright::config {

Format formatOf(const std::filesystem::path &file)
{
    const std::string extension = file.extension().string();
    return extension == ".yaml" || extension == ".yml" || extension == ".json" ? Format::Yaml : Format::Python;      // JSON is YAML's flow style
}

Result<LoadedConfig> loadDocument(const std::filesystem::path &file)
{
    const std::string extension = file.extension().string();
    std::error_code ignored;
    if (extension != ".py" && extension != ".yaml" && extension != ".yml" && extension != ".json" && std::filesystem::exists(file, ignored))
        return Error(ExitCode::Usage, "config.unknown-format", file.string() + ": a config is a .py, .yaml, .yml or .json file", file.string());
    return resolveChain(file, nullptr, formatOf(file));
}

Result<LoadedConfig> loadDocumentText(const std::string &text, const std::filesystem::path &file)
{
    return resolveChain(file, &text, formatOf(file));
}

Result<LoadedConfig> loadDocumentText(const std::string &text, const std::filesystem::path &file, Format format)
{
    return resolveChain(file, &text, format);
}

} // namespace stagewright::config
