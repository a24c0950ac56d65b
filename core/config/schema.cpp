#include "core/config/schema.h"

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/option.h"
#include "core/config/option_value.h"
#include "core/config/value.h"

namespace stagewright::config {

namespace {

using nlohmann::json;

json numberType(const Option &option, const char *type)
{
    json schema{{"type", type}};
    if (option.hardMin)
        schema["minimum"] = *option.hardMin;
    if (option.hardMax)
        schema["maximum"] = *option.hardMax;
    return schema;
}

json bucketTableSchema()
{
    const json probability{{"anyOf", json::array({json{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
                                         json{{"type", "array"}, {"items", json{{"type", "number"}, {"minimum", 0}, {"maximum", 1}}}, {"minItems", 2}, {"maxItems", 2}}})}};
    const json batch{{"type", json::array({"integer", "null"})}, {"minimum", 1}};
    const json row{{"type", "array"}, {"prefixItems", json::array({probability, batch})}, {"items", false}, {"minItems", 2}};
    const json frames{{"type", "object"}, {"patternProperties", json{{"^[0-9]+$", row}}}, {"additionalProperties", false}};
    return json{{"type", "object"}, {"patternProperties", json{{"^[0-9]+px?(_max|_ar[0-9.]+:[0-9.]+)?$", frames}}}, {"additionalProperties", false}};
}

json typeSchema(const Option &option)
{
    switch (option.type) {
    case OptionType::Bool: return json{{"type", "boolean"}};
    case OptionType::Int: return numberType(option, "integer");
    case OptionType::Float: return numberType(option, "number");
    case OptionType::String:
    case OptionType::Path: return json{{"type", "string"}};
    case OptionType::Choice: {
        json names = json::array();
        for (std::string_view choice : option.choices)
            names.push_back(std::string(choice));
        return json{{"type", "string"}, {"enum", std::move(names)}};
    }
    case OptionType::IntList: return json{{"type", "array"}, {"items", numberType(option, "integer")}};
    case OptionType::FloatList: return json{{"type", "array"}, {"items", numberType(option, "number")}};
    case OptionType::IntPair: return json{{"type", "array"}, {"items", numberType(option, "integer")}, {"maxItems", 2}};
    case OptionType::BucketTable: return bucketTableSchema();
    case OptionType::WeightTable: return json{{"type", "object"}, {"additionalProperties", numberType(option, "number")}};
    case OptionType::Dict: return json{{"type", "object"}, {"properties", json::object()}, {"patternProperties", json{{"^_", true}}}, {"additionalProperties", false}};
    case OptionType::Any: return json::object();
    }
    return json::object();
}

const char *tierName(Tier tier)
{
    return tier == Tier::Basic ? "basic" : tier == Tier::Advanced ? "advanced" : "debug";
}

const char *className(KeyClass keyClass)
{
    return keyClass == KeyClass::Read ? "read" : keyClass == KeyClass::Helper ? "helper" : "not-applicable";
}

const char *unitName(Unit unit)
{
    switch (unit) {
    case Unit::None: return "";
    case Unit::Elements: return "elements";
    case Unit::Bytes: return "bytes";
    case Unit::GiB: return "GiB";
    case Unit::Steps: return "steps";
    case Unit::MicroSteps: return "micro-steps";
    case Unit::Seconds: return "seconds";
    case Unit::Frames: return "frames";
    case Unit::FramesPerSecond: return "frames/s";
    case Unit::Pixels: return "pixels";
    case Unit::Probability: return "probability";
    case Unit::MebiElements: return "Mi elements";
    }
    return "";
}

json optionSchema(const Option &option)
{
    json schema = typeSchema(option);
    if (option.nullable && schema.contains("type") && schema["type"].is_string())
        schema["type"] = json::array({schema["type"], "null"});
    if (option.nullable && schema.contains("enum"))
        schema["enum"].push_back(nullptr);
    schema["title"] = std::string(option.label.en);
    schema["description"] = std::string(option.help.en);
    if (option.type != OptionType::Dict && !option.required && (!option.fallback.isNone() || option.nullable))
        schema["default"] = toJson(option.fallback);
    json ours{{"path", std::string(option.path)}, {"group", std::string(option.group)}, {"tier", tierName(option.tier)}, {"class", className(option.keyClass)},
        {"title_zh", std::string(option.label.zh)}, {"description_zh", std::string(option.help.zh)}, {"changes_results", option.changesResults}};
    if (option.unit != Unit::None)
        ours["unit"] = unitName(option.unit);
    schema["x-stagewright"] = std::move(ours);
    return schema;
}

} // namespace

json stageSchema()
{
    json root{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Stagewright training stage"}, {"type", "object"},
        {"properties", json::object()}, {"patternProperties", json{{"^_", true}, {"^x$", true}}}, {"additionalProperties", false}, {"required", json::array()}};
    for (const Option &option : allOptions()) {
        const auto parts = split(option.path, '.');
        json *section = &root;
        for (std::size_t i = 0; i + 1 < parts.size(); ++i)
            section = &(*section)["properties"][parts[i]];
        (*section)["properties"][parts.back()] = optionSchema(option);
        if (option.required)
            (*section)["required"].push_back(parts.back());
    }
    return root;
}

std::string typeWords(const Option &option)
{
    std::string words = expectedWords(option);
    if (option.nullable)
        words += " or None";
    if (*unitName(option.unit))
        words += " (" + std::string(unitName(option.unit)) + ")";
    const auto number = [](double value) { return formatNumber(value); };
    if (option.hardMin && option.hardMax)
        words += ", " + number(*option.hardMin) + " to " + number(*option.hardMax);
    else if (option.hardMin)
        words += ", at least " + number(*option.hardMin);
    return words;
}

} // namespace stagewright::config
