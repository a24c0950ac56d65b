#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/config/option.h"
#include "core/config/problem_codes.h"
#include "core/config/schema.h"
#include "core/config/value.h"

namespace stagewright::config {

namespace {

class Page
{
public:
    explicit Page(Language language) : m_chinese(language == Language::Chinese) {}

    std::string write()
    {
        m_text = m_chinese ? "# 训练阶段配置参考\n\n本页由选项声明自动生成。\n" : "# Reference of stage options\n\nThis page is made from the options' declarations.\n";
        for (const auto &[id, title] : optionGroups()) {
            m_text += "\n## " + std::string(in(title)) + "\n";
            for (const Option &option : allOptions()) {
                if (option.group == id)
                    add(option);
            }
        }
        addCodes();
        return std::move(m_text);
    }

private:
    std::string_view in(const Text &text) const { return m_chinese ? text.zh : text.en; }
    std::string word(const char *english, const char *chinese) const { return m_chinese ? chinese : english; }

    void add(const Option &option)
    {
        m_text += "\n### `" + std::string(option.path) + "`\n\n**" + std::string(in(option.label)) + "** — " + std::string(in(option.help)) + "\n\n";
        line(word("Takes", "取值"), typeWords(option));
        if (option.required)
            line(word("Default", "默认值"), word("none, required", "无，必需"));
        else if (option.type != OptionType::Dict)
            line(word("Default", "默认值"), "`" + toPython(option.fallback) + "`");
        for (const VariantDefault &variant : option.variants)
            line(word("Default with ", "默认值：当 ") + std::string(variant.path) + " = " + std::string(variant.value), "`" + toPython(variant.fallback) + "`");
        if (!option.onlyWith.path.empty())
            line(word("Only with", "仅用于"), std::string(option.onlyWith.path) + " = " + joined({option.onlyWith.values.begin(), option.onlyWith.values.end()}, ", "));
        line(word("Takes effect", "生效时机"), effectWords(option.effect));
        if (!option.changesResults)
            line(word("Changes results", "是否影响结果"), word("no", "否"));
        if (option.keyClass == KeyClass::NotApplicable)
            line(word("Without effect here", "在此不起作用"), std::string(in(option.reason)));
        if (!option.writesThroughTo.empty())
            line(word("On the command line also sets", "在命令行上同时设置"), "`" + std::string(option.writesThroughTo) + "`");
        if (!option.aliases.empty())
            line(word("Often misspelt", "常见误写"), joined({option.aliases.begin(), option.aliases.end()}, ", "));
        if (!in(option.trap).empty())
            line(word("Trap", "陷阱"), std::string(in(option.trap)));
    }

    std::string effectWords(Effect effect) const
    {
        switch (effect) {
        case Effect::Live: return word("at once", "立即");
        case Effect::NextStep: return word("at the next step", "下一步");
        case Effect::NextEpoch: return word("at the next epoch", "下一轮");
        case Effect::NewRun: return word("in a new run", "新的运行");
        }
        return {};
    }

    void line(const std::string &name, const std::string &text) { m_text += "- " + name + ": " + text + "\n"; }

    void addCodes()
    {
        m_text += word("\n## Problem codes\n\n", "\n## 问题代码\n\n");
        for (const ProblemCode &code : problemCodes())
            m_text += "- `" + std::string(code.code) + "`: " + std::string(in(code.meaning)) + "\n";
    }

    bool m_chinese;
    std::string m_text;
};

} // namespace

std::string referencePage(Language language)
{
    return Page(language).write();
}

} // namespace stagewright::config
