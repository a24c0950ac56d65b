#include "core/config/option.h"

#include <algorithm>
#include <unordered_map>

#include "core/config/option_list.h"

namespace stagewright::config {

namespace {

using Index = std::unordered_map<std::string_view, const Option *>;

Index indexByPath()
{
    Index index;
    for (const Option &option : allOptions())
        index.emplace(option.path, &option);
    return index;
}

} // namespace

const std::vector<Option> &allOptions()
{
    static const std::vector<Option> options = [] {
        std::vector<Option> all;
        for (const auto &part : {modelOptions(), memoryOptions(), bucketOptions(), optimizationOptions(), savingOptions(), dataOptions(), autoencoderOptions(),
                 textEncoderOptions(), accelerationOptions(), hybridPluginOptions(), loggingOptions(), runOptions(), otherProgramOptions()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    return options;
}

const Option *findOption(std::string_view path)
{
    static const Index index = indexByPath();
    const auto at = index.find(path);
    return at == index.end() ? nullptr : at->second;
}

const Option *findByAlias(std::string_view path)
{
    const auto dot = path.rfind('.');
    const std::string_view section = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot + 1);
    const std::string_view name = path.substr(section.size());
    for (const Option &option : allOptions()) {
        const bool sameSection = option.path.starts_with(section) && option.path.find('.', section.size()) == std::string_view::npos;
        if (sameSection && std::find(option.aliases.begin(), option.aliases.end(), name) != option.aliases.end())
            return &option;
    }
    return nullptr;
}

bool isUsersOwn(std::string_view path)
{
    if (path == "x" || path.starts_with("x."))
        return true;
    return path.starts_with('_') || path.find("._") != std::string_view::npos;
}

const std::vector<std::pair<std::string_view, Text>> &optionGroups()
{
    static const std::vector<std::pair<std::string_view, Text>> groups = {
        {"model", {"Model", "模型"}},
        {"memory", {"Memory", "内存"}},
        {"buckets", {"Buckets", "分桶"}},
        {"optimization", {"Optimization", "优化"}},
        {"saving", {"Saving", "保存"}},
        {"data", {"Data", "数据"}},
        {"encoders", {"Encoders", "编码器"}},
        {"acceleration", {"Acceleration", "加速"}},
        {"logging", {"Logging", "日志"}},
        {"run", {"Run", "运行"}},
    };
    return groups;
}

} // namespace stagewright::config
