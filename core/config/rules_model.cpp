#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/config/bucket_table.h"
#include "core/config/rules.h"

namespace stagewright::config {

namespace {

class ModelRule
{
public:
    ModelRule(const Stage &stage, Findings &findings) : m_stage(stage), m_facts(stage), m_findings(findings) {}

    void check()
    {
        checkHeads();
        checkPatches();
        checkChannels();
        checkTextSizes();
        if (m_facts.integer("model.depth") == 0 && m_facts.integer("model.depth_single_blocks") == 0)
            m_findings.error("config.no-blocks", "model.depth", "model.depth and model.depth_single_blocks are both 0, so the model has no blocks");
        if (m_stage.isSet("guidance") && m_facts.boolean("model.guidance_embed") == false)
            m_findings.hint("config.unused-value", "guidance", "guidance has no effect while model.guidance_embed is off");
    }

private:
    void checkHeads()
    {
        const auto hidden = m_facts.integer("model.hidden_size"), heads = m_facts.integer("model.num_heads");
        if (!hidden || !heads)
            return;
        if (*hidden % *heads != 0) {
            const std::int64_t rounded = std::max<std::int64_t>(1, (*hidden + *heads / 2) / *heads) * *heads;
            m_findings.error("config.heads", "model.num_heads", "model.hidden_size " + std::to_string(*hidden) + " is no multiple of model.num_heads " + std::to_string(*heads))
                .fix = setTo(m_stage, "Set hidden_size to " + std::to_string(rounded), "model.hidden_size", Value(rounded));
            return;
        }
        checkAxes(*hidden / *heads);
    }

    void checkAxes(std::int64_t headSize)
    {
        const Value &axes = m_stage.at("model.axes_dim");
        if (!axes.isSequence())
            return;
        std::int64_t sum = 0;
        bool odd = false;
        for (const Value &axis : axes.items()) {
            if (axis.type() != Type::Int || !findOption("model.axes_dim")->allows(axis.number()))
                return;
            sum += axis.integer();
            odd = odd || axis.integer() % 2 != 0;
        }
        const std::string path = "model.axes_dim";
        std::string sentence;
        if (axes.items().size() != 3)
            sentence = path + " needs three numbers (time, height, width), but " + toPython(axes) + " has " + std::to_string(axes.items().size());
        else if (odd)
            sentence = path + " = " + toPython(axes) + ": rotary axes come in pairs, so each number must be even";
        else if (sum != headSize)
            sentence = path + " = " + toPython(axes) + " sums to " + std::to_string(sum) + ", but the head size (hidden_size / num_heads) is " + std::to_string(headSize);
        if (sentence.empty())
            return;
        Problem &problem = m_findings.error("config.rope-axes", path, sentence);
        if (headSize % 2 == 0 && headSize >= 6) {
            const Value better = axesFor(headSize, axes.type());
            problem.fix = setTo(m_stage, "Set to " + toPython(better), path, better);
        }
    }

    // In the proportions of Open-Sora's [16, 56, 56].
    static Value axesFor(std::int64_t headSize, Type type)
    {
        std::int64_t time = std::max<std::int64_t>(2, headSize / 16 * 2);
        while ((headSize - time) % 4 != 0)
            time += 2;
        const std::int64_t side = (headSize - time) / 2;
        const List axes{Value(time), Value(side), Value(side)};
        return type == Type::Tuple ? Value::tuple(axes) : Value::list(axes);
    }

    void checkPatches()
    {
        const auto packed = m_facts.integer("patch_size"), model = m_facts.integer("model.patch_size");
        if (!packed || !model || *packed == *model)
            return;
        const bool modelIsSet = m_stage.isSet("model.patch_size");
        const std::string path = modelIsSet && !m_stage.isSet("patch_size") ? "patch_size" : "model.patch_size";
        const std::int64_t value = path == "patch_size" ? *model : *packed;
        m_findings.error("config.patch-size", path, "patch_size is " + std::to_string(*packed) + " but model.patch_size is " + std::to_string(*model)
                + "; latents are packed with the one and read with the other")
            .fix = setTo(m_stage, "Set " + path + " to " + std::to_string(value), path, Value(value));
    }

    void checkChannels()
    {
        const Dict *ae = m_facts.dict("ae");
        const auto channels = m_facts.integer("model.in_channels"), latent = m_facts.integer("ae.latent_channels"), patch = m_facts.integer("model.patch_size");
        const auto type = m_facts.string("ae.type");
        if (!ae || !channels || !latent || !patch || !isKnownAutoencoder(type))
            return;
        const std::int64_t expected = *latent * *patch * *patch;
        if (*channels == expected)
            return;
        m_findings.error("config.in-channels", "model.in_channels", "model.in_channels is " + std::to_string(*channels) + ", but a token of " + *type + " holds "
                + std::to_string(*latent) + " latent channels × " + std::to_string(*patch) + " × " + std::to_string(*patch) + " = " + std::to_string(expected) + " values")
            .fix = setTo(m_stage, "Set in_channels to " + std::to_string(expected), "model.in_channels", Value(expected));
    }

    static bool isKnownAutoencoder(const std::optional<std::string> &type)
    {
        const auto &choices = findOption("ae.type")->choices;
        return type && std::find(choices.begin(), choices.end(), *type) != choices.end();
    }

    void checkTextSizes()
    {
        checkTextSize("t5", "model.context_in_dim");
        checkTextSize("clip", "model.vec_in_dim");
    }

    void checkTextSize(const std::string &section, const std::string &input)
    {
        const auto wanted = m_facts.integer(input), given = m_facts.integer(section + ".hidden_size");
        if (!m_facts.dict(section) || !m_facts.is(section + ".type", "hashed") || !wanted || !given || *wanted == *given)
            return;
        m_findings.error("config.text-size", input, input + " is " + std::to_string(*wanted) + ", but " + section + " gives vectors of " + std::to_string(*given))
            .fix = setTo(m_stage, "Set " + section + ".hidden_size to " + std::to_string(*wanted), section + ".hidden_size", Value(*wanted));
    }

    const Stage &m_stage;
    Facts m_facts;
    Findings &m_findings;
};

const std::array<std::string_view, 8> kConditions{"t2v", "i2v_head", "i2v_tail", "i2v_loop", "v2v_head", "v2v_tail", "v2v_head_easy", "v2v_tail_easy"};

// The sum of the weights; nothing where one of them is not valid (and reported).
std::optional<double> checkWeights(const Dict &conditions, Findings &findings)
{
    double sum = 0;
    bool valid = true;
    const std::vector<std::string> known(kConditions.begin(), kConditions.end());
    for (const auto &[key, value] : conditions) {
        const std::string path = "condition_config." + key.text();
        if (std::find(known.begin(), known.end(), key.text()) == known.end()) {
            std::string sentence = "\"" + key.text() + "\" is no condition; there are " + joined(known, ", ");
            const auto near = nearestOf(key.text(), known);
            Problem &problem = findings.at(value, Severity::Error, "config.condition", path, sentence + (near ? ". Was " + *near + " meant?" : ""));
            if (near)
                problem.fix = Fix{"Rename to " + *near, {{path, toPython(value), std::nullopt}, {"condition_config." + *near, std::nullopt, toPython(value)}}};
            valid = false;
        } else if (!value.isNumber() || !(value.number() >= 0 && value.number() < 1e9)) {
            findings.at(value, Severity::Error, "config.condition", path, path + " must be a weight of at least 0, not " + toPython(value));
            valid = false;
        } else {
            sum += value.number();
        }
    }
    return valid ? std::optional(sum) : std::nullopt;
}

bool needsConditionInput(const Dict &conditions)
{
    return std::any_of(conditions.begin(), conditions.end(), [](const auto &entry) {
        return entry.first.text() != "t2v" && entry.second.isNumber() && entry.second.number() > 0;
    });
}

void checkContinuations(const Stage &stage, const Dict &conditions, Findings &findings)
{
    const auto rows = bucketRows(stage);
    if (!rows)
        return;
    int longest = 0;
    for (const BucketRow &row : *rows)
        longest = row.probability > 0 ? std::max(longest, row.frames) : longest;
    for (const auto &[key, value] : conditions) {
        const std::string name = key.text();
        const int given = name.ends_with("_easy") ? 65 : 33;           // frames that the original gives as the condition
        if (name.starts_with("v2v_") && value.isNumber() && value.number() > 0 && longest > 0 && longest <= given)
            findings.at(value, Severity::Warning, "config.condition-too-long", "condition_config." + name,
                name + " gives " + std::to_string(given) + " frames as the condition, but the longest bucket has " + std::to_string(longest) + ", so it is never drawn");
    }
}

} // namespace

void checkModel(const Stage &stage, Findings &findings)
{
    if (Facts(stage).dict("model"))
        ModelRule(stage, findings).check();
}

void checkConditions(const Stage &stage, Findings &findings)
{
    const Facts facts(stage);
    const Dict *conditions = facts.dict("condition_config");
    if (!conditions) {
        if (facts.isOn("model.cond_embed") && !stage.isSet("condition_config"))
            findings.error("config.condition-missing", "model.cond_embed", "model.cond_embed is on, so the model expects conditions, but condition_config is not set")
                .fix = setTo(stage, "Train text-to-video only", "condition_config", Value::dict([] {
                    Dict only;
                    only.set("t2v", 1);
                    return only;
                }()));
        return;
    }
    const auto sum = checkWeights(*conditions, findings);
    if (sum == 0.0)
        findings.error("config.condition", "condition_config", "the weights in condition_config sum to 0, so nothing can be drawn");
    if (needsConditionInput(*conditions) && facts.boolean("model.cond_embed") == false)
        findings.warning("config.condition-unused", "condition_config", "condition_config has no effect: the model takes no conditions while model.cond_embed is off")
            .fix = setTo(stage, "Switch model.cond_embed on", "model.cond_embed", Value(true));
    if (facts.isOn("cached_video"))
        findings.error("config.condition-cached", "condition_config", "condition_config needs the autoencoder, which cached_video leaves out; conditions cannot be encoded")
            .fix = setTo(stage, "Switch cached_video off", "cached_video", Value(false));
    checkContinuations(stage, *conditions, findings);
}

} // namespace stagewright::config
