#include "core/cache/recipe.h"

#include <nlohmann/json.hpp>

#include "core/base/paths.h"
#include "core/ckptfile/hash.h"
#include "core/config/option.h"
#include "core/config/value_text.h"

namespace stagewright::cache {

namespace {

// Raised when the built-in encoders, the decoder or the transforms give other numbers than before.
constexpr int kMethod = 1;

std::string written(const nlohmann::json &json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

// Every option of the encoder that changes what it gives, as it holds, and its weights by their contents.
Result<std::string> encoderOf(const config::Stage &stage, const std::string &section, Contents &contents)
{
    auto options = nlohmann::json::object();
    const std::string weights = section + ".from_pretrained";
    for (const config::Option &option : config::allOptions()) {
        const bool counts = option.path.starts_with(section + ".") && option.keyClass == config::KeyClass::Read && option.changesResults && option.path != weights;
        if (counts)
            options[std::string(option.path)] = config::toPython(stage.at(option.path));
    }
    if (stage.isSet(weights)) {
        auto hash = contents.hashOfTree(expandUser(stage.string(weights)));
        if (!hash)
            return hash.error().during(weights);
        options["weights"] = std::move(*hash);
    }
    return written(options);
}

Key keyOf(Part part, nlohmann::json json)
{
    json["part"] = nameOf(part);
    json["method"] = kMethod;
    Key key{part, written(json), {}};
    ckptfile::Hasher hasher;
    hasher.add(key.text.data(), key.text.size());
    key.name = hasher.hex();
    return key;
}

} // namespace

const char *nameOf(Part part)
{
    switch (part) {
    case Part::Latents: return "latents";
    case Part::Tokens: return "tokens";
    case Part::Pooled: return "pooled";
    }
    return "";
}

Result<Recipe> Recipe::of(const config::Stage &stage, Contents &contents)
{
    Recipe recipe;
    for (const auto &[section, into] : {std::pair{"ae", &recipe.m_autoencoder}, std::pair{"t5", &recipe.m_tokens}, std::pair{"clip", &recipe.m_pooled}}) {
        auto encoder = encoderOf(stage, section, contents);
        if (!encoder)
            return encoder.error();
        *into = std::move(*encoder);
    }
    recipe.m_textType = stage.string("dtype");
    recipe.m_latentType = stage.string("compat") == "opensora" ? recipe.m_textType : "fp32";
    recipe.m_transform = stage.isSet("dataset.transform_name") ? stage.string("dataset.transform_name") : "None";
    recipe.m_interval = stage.isSet("dataset.rand_sample_interval") ? stage.integer("dataset.rand_sample_interval") : 0;
    return recipe;
}

Key Recipe::latents(const table::Table &table, const table::BucketRules &rules, std::int64_t row, const ClipShape &shape, const std::string &contents) const
{
    using table::NumberColumn;
    const auto rate = table::frameRateFor(rules, table.number(NumberColumn::Fps, row), table.number(NumberColumn::NumFrames, row), shape.frames);
    nlohmann::json json{{"contents", contents}, {"frames", shape.frames}, {"height", shape.height}, {"width", shape.width}, {"stride", rate ? rate->stride : 0},
                        {"stretch", rules.policy == table::DataPolicy::Keep}, {"image", table.isImage(row)}, {"transform", m_transform}, {"interval", m_interval},
                        {"encoder", m_autoencoder}, {"dtype", m_latentType}};
    if (const table::Cutout cutout = table.cutout(row); !cutout.isWhole())
        json["cutout"] = {cutout.firstFrame, cutout.firstFrame > 0 ? static_cast<std::int64_t>(table.number(NumberColumn::NumFrames, row)) : 0, cutout.left, cutout.top, cutout.width, cutout.height};
    return keyOf(Part::Latents, std::move(json));
}

Key Recipe::textKey(Part part, const std::string &encoder, const std::string &text) const
{
    return keyOf(part, {{"text", text}, {"encoder", encoder}, {"dtype", m_textType}});
}

Key Recipe::tokens(const std::string &text) const { return textKey(Part::Tokens, m_tokens, text); }
Key Recipe::pooled(const std::string &text) const { return textKey(Part::Pooled, m_pooled, text); }

} // namespace stagewright::cache
