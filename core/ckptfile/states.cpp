#include "core/ckptfile/states.h"

#include <nlohmann/json.hpp>

#include "core/ckptfile/pickle_value.h"

namespace stagewright::ckptfile {

namespace {

Error badState(const std::string &file, const std::string &what)
{
    return Error(ExitCode::Checkpoint, "checkpoint.bad-state", file + ": " + what, file);
}

// Reads fields of one dict of a pickle; the first fault is kept and every later field is skipped.
class Fields
{
public:
    Fields(const PickleValue &dict, std::string file) : m_dict(dict), m_file(std::move(file)) {}

    bool has(const char *key) const { return m_dict.find(key) != nullptr; }
    void integer(const char *key, std::int64_t &into)
    {
        const PickleValue *value = field(key);
        if (value && value->kind != PickleValue::Kind::Int)
            fail(key, "a whole number", *value);
        else if (value)
            into = value->integer;
    }
    void number(const char *key, double &into)
    {
        const PickleValue *value = field(key);
        if (value && !value->isNumber())
            fail(key, "a number", *value);
        else if (value)
            into = value->asNumber();
    }
    void boolean(const char *key, bool &into)
    {
        const PickleValue *value = field(key);
        if (value && value->kind != PickleValue::Kind::Bool && value->kind != PickleValue::Kind::Int)
            fail(key, "True or False", *value);
        else if (value)
            into = value->integer != 0;
    }
    // The one entry of a list with one number for the one parameter group.
    void single(const char *key, double &into)
    {
        const PickleValue *value = field(key);
        if (value && (!value->isSequence() || value->items.size() != 1 || !value->items[0].isNumber()))
            fail(key, "a list with one number", *value);
        else if (value)
            into = value->items[0].asNumber();
    }
    const PickleValue *field(const char *key)
    {
        const PickleValue *value = m_dict.find(key);
        if (!value && m_fault.empty())
            m_fault = std::string("\"") + key + "\" is missing";
        return value;
    }
    void fail(const char *key, const char *wanted, const PickleValue &got)
    {
        if (m_fault.empty())
            m_fault = std::string("\"") + key + "\" should be " + wanted + ", it is a " + kindName(got.kind);
    }
    bool ok() const { return m_fault.empty(); }
    Error error() const { return badState(m_file, m_fault + "; the file was not written by Open-Sora or Stagewright"); }

private:
    const PickleValue &m_dict;
    std::string m_file;
    std::string m_fault;
};

Result<Done> wantDict(const PickleValue &value, const std::string &file)
{
    if (value.kind != PickleValue::Kind::Dict)
        return badState(file, std::string("a dict is needed, it holds a ") + kindName(value.kind));
    return Done{};
}

PickleValue listOf(double value) { return PickleValue::list({PickleValue(value)}); }

} // namespace

std::string runningStatesJson(const Counters &counters)
{
    const std::string batch = counters.batchSize ? std::to_string(*counters.batchSize) : "null";
    return "{\n    \"epoch\": " + std::to_string(counters.epoch) + ",\n    \"step\": " + std::to_string(counters.microStep)
        + ",\n    \"global_step\": " + std::to_string(counters.globalMicroStep) + ",\n    \"batch_size\": " + batch
        + ",\n    \"actual_update_step\": " + std::to_string(counters.updates) + "\n}";
}

Result<Counters> parseRunningStates(const std::string &text, const std::string &file)
{
    if (text.empty())
        return badState(file, "the file is empty; the save was interrupted");
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return badState(file, json.is_discarded() ? "this is not valid JSON; the save was interrupted or the file was edited" : "a JSON object is needed");
    Counters counters;
    const auto read = [&](const char *key, std::int64_t &into) -> std::string {
        if (!json.contains(key))
            return std::string("\"") + key + "\" is missing";
        const auto &value = json.at(key);
        if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) || value.get<std::int64_t>() < 0)
            return std::string("\"") + key + "\" should be a whole number from 0 on, it is " + value.dump().substr(0, 40);
        into = value.get<std::int64_t>();
        return {};
    };
    for (const auto &[key, into] : {std::pair("epoch", &counters.epoch), std::pair("step", &counters.microStep),
                                    std::pair("global_step", &counters.globalMicroStep), std::pair("actual_update_step", &counters.updates)}) {
        if (std::string fault = read(key, *into); !fault.empty())
            return badState(file, fault + "; without it only the weights can be loaded");
    }
    if (const auto batch = json.find("batch_size"); batch != json.end() && batch->is_number_integer())
        counters.batchSize = batch->get<std::int64_t>();
    return counters;
}

// The order of the keys is that in which Python's objects got their attributes.
PickleValue schedulerDict(const SchedulerState &state)
{
    PickleValue dict = PickleValue::dict();
    const auto base = [](PickleValue &into, double baseLr, std::int64_t lastEpoch, double lastLr) {
        into.add("base_lrs", listOf(baseLr));
        into.add("last_epoch", lastEpoch);
        into.add("_step_count", lastEpoch + 1);
        into.add("_is_initial", false);
        into.add("_get_lr_called_within_step", false);
        into.add("_last_lr", listOf(lastLr));
    };
    if (state.kind == SchedulerState::Kind::Linear) {
        dict.add("initial_lr", state.initialLr);
        dict.add("warmup_steps", state.warmupSteps);
        base(dict, state.baseLr, state.lastEpoch, state.lastLr);
        return dict;
    }
    dict.add("warmup_epochs", state.warmupSteps);
    dict.add("finished", state.lastEpoch >= state.warmupSteps);
    base(dict, state.baseLr, state.lastEpoch, state.lastLr);
    PickleValue after = PickleValue::dict();
    after.add("T_max", state.cosineSteps);
    after.add("eta_min", state.etaMin);
    base(after, state.baseLr, std::max<std::int64_t>(0, state.lastEpoch - state.warmupSteps), state.lastLr);
    dict.add("after_scheduler_type", "CosineAnnealingLR");
    dict.add("after_scheduler_dict", std::move(after));
    return dict;
}

Result<SchedulerState> parseScheduler(const PickleValue &value, const std::string &file)
{
    if (auto dict = wantDict(value, file); !dict)
        return dict.error();
    SchedulerState state;
    Fields fields(value, file);
    fields.single("base_lrs", state.baseLr);
    fields.integer("last_epoch", state.lastEpoch);
    fields.single("_last_lr", state.lastLr);
    if (!fields.has("after_scheduler_dict")) {
        fields.number("initial_lr", state.initialLr);
        fields.integer("warmup_steps", state.warmupSteps);
        return fields.ok() ? Result<SchedulerState>(state) : fields.error();
    }
    state.kind = SchedulerState::Kind::Cosine;
    fields.integer("warmup_epochs", state.warmupSteps);
    const PickleValue *after = fields.field("after_scheduler_dict");
    if (!fields.ok())
        return fields.error();
    if (auto dict = wantDict(*after, file); !dict)
        return dict.error();
    Fields inner(*after, file);
    inner.integer("T_max", state.cosineSteps);
    inner.number("eta_min", state.etaMin);
    return inner.ok() ? Result<SchedulerState>(state) : inner.error();
}

PickleValue samplerDict(const SamplerState &state)
{
    PickleValue dict = PickleValue::dict();
    dict.add("seed", state.seed);
    dict.add("epoch", state.epoch);
    dict.add("last_micro_batch_access_index", state.accessIndex);
    return dict;
}

Result<SamplerState> parseSampler(const PickleValue &value, const std::string &file)
{
    if (auto dict = wantDict(value, file); !dict)
        return dict.error();
    SamplerState state;
    Fields fields(value, file);
    fields.integer("seed", state.seed);
    fields.integer("epoch", state.epoch);
    fields.integer("last_micro_batch_access_index", state.accessIndex);
    return fields.ok() ? Result<SamplerState>(state) : fields.error();
}

PickleValue paramGroups(const ParamGroup &group, std::int64_t parameters)
{
    PickleValue dict = PickleValue::dict();
    dict.add("lr", group.lr);
    dict.add("betas", PickleValue::tuple({PickleValue(group.betas[0]), PickleValue(group.betas[1])}));
    dict.add("eps", group.eps);
    dict.add("weight_decay", group.weightDecay);
    dict.add("bias_correction", group.biasCorrection);
    if (group.initialLr)
        dict.add("initial_lr", *group.initialLr);
    std::vector<PickleValue> indices;
    for (std::int64_t index = 0; index < parameters; ++index)
        indices.emplace_back(index);
    dict.add("params", PickleValue::list(std::move(indices)));
    return PickleValue::list({std::move(dict)});
}

Result<ParsedGroups> parseParamGroups(const PickleValue &value, const std::string &file)
{
    if (!value.isSequence() || value.items.empty() || value.items[0].kind != PickleValue::Kind::Dict)
        return badState(file, "a list of parameter groups is needed");
    ParsedGroups parsed;
    parsed.groups = static_cast<std::int64_t>(value.items.size());
    const PickleValue &dict = value.items[0];
    Fields fields(dict, file);
    fields.number("lr", parsed.group.lr);
    fields.number("eps", parsed.group.eps);
    fields.number("weight_decay", parsed.group.weightDecay);
    if (fields.has("bias_correction"))
        fields.boolean("bias_correction", parsed.group.biasCorrection);
    if (const PickleValue *initial = dict.find("initial_lr"); initial && initial->isNumber())
        parsed.group.initialLr = initial->asNumber();
    const PickleValue *betas = fields.field("betas");
    const PickleValue *params = fields.field("params");
    if (!fields.ok())
        return fields.error();
    if (!betas->isSequence() || betas->items.size() != 2 || !betas->items[0].isNumber() || !betas->items[1].isNumber())
        return badState(file, "\"betas\" should be a pair of numbers");
    parsed.group.betas = {betas->items[0].asNumber(), betas->items[1].asNumber()};
    if (!params->isSequence())
        return badState(file, "\"params\" should be a list of indices");
    parsed.parameters = static_cast<std::int64_t>(params->items.size());
    return parsed;
}

} // namespace stagewright::ckptfile
