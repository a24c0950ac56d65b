#include "core/ckptfile/resume_plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/model_shape.h"

namespace stagewright::ckptfile {

namespace {

const std::string kPositionVoid = "changed: the saved position in the data means nothing any more";
const std::string kNothing = "—", kFromNowOn = "the config's is used from now on";

std::string yesNo(bool value) { return value ? "yes" : "no"; }

// Compares one opened checkpoint with the stage that would go on from it.
class Planner
{
public:
    Planner(const Contents &contents, const config::Stage &stage, const config::Stage *saved, const ResumeSurroundings &surroundings)
        : m_contents(contents), m_stage(stage), m_saved(saved), m_around(surroundings)
    {
    }

    ResumePlan run()
    {
        m_plan.checkpoint = m_contents.folder;
        m_plan.problems = m_contents.problems;
        damage();
        weights();
        master();
        ema();
        if (!m_around.weightsOnly) {
            optimizer();
            learningRate();
            schedule();
            progress();
            data();
            randomStreams();
            scaler();
            continuation();
        } else {
            add("everything else", kNothing, "weights only", "optimizer, schedule, position and random streams start anew from step 0", Severity::Warning);
        }
        m_plan.possible = std::none_of(m_plan.items.begin(), m_plan.items.end(), [](const ResumeItem &item) { return item.severity == Severity::Error; });
        return std::move(m_plan);
    }

private:
    void add(std::string what, std::string inCheckpoint, std::string inConfig, std::string outcome, Severity severity = Severity::Hint)
    {
        m_plan.items.push_back({std::move(what), std::move(inCheckpoint), std::move(inConfig), std::move(outcome), severity});
    }

    void damage()
    {
        for (const Problem &problem : m_contents.problems) {
            if (problem.severity == Severity::Error)
                add("files", "damaged", kNothing, problem.message, Severity::Error);
        }
    }

    static std::string summary(const std::vector<StoredTensor> &tensors)
    {
        if (tensors.empty())
            return "none";
        std::int64_t bytes = 0;
        for (const StoredTensor &tensor : tensors)
            bytes += tensor.bytes();
        return std::to_string(tensors.size()) + " tensors, " + std::string(nameOf(tensors.front().dtype)) + ", " + formatBytes(static_cast<double>(bytes));
    }

    // Names and shapes against model.*; each difference is an item of its own.
    void weights()
    {
        const std::string dtype = m_stage.string("dtype");
        add("weights", summary(m_contents.weights), "dtype " + dtype, m_contents.weights.empty() ? "nothing to load" : "restored",
            m_contents.weights.empty() ? Severity::Error : Severity::Hint);
        const auto shape = modelShapeOf(m_contents.weights);
        if (!shape)
            return;
        compareShape("model.depth", shape->depth);
        compareShape("model.depth_single_blocks", shape->depthSingleBlocks);
        compareShape("model.hidden_size", shape->hiddenSize);
        compareShape("model.in_channels", shape->inChannels);
        compareShape("model.vec_in_dim", shape->vecInDim);
        compareShape("model.context_in_dim", shape->contextInDim);
        compareFlag("model.guidance_embed", shape->guidanceEmbed);
        compareFlag("model.cond_embed", shape->condEmbed);
        if (shape->depth + shape->depthSingleBlocks > 0)
            compareFlag("model.fused_qkv", shape->fusedQkv);
        const std::string saved = m_contents.own ? m_contents.own->dtype : std::string();
        if (!saved.empty() && saved != dtype) {
            add("dtype", saved, dtype, "weights are converted", Severity::Warning);
            departs("dtype");
        }
    }
    void compareShape(const char *path, std::int64_t inCheckpoint)
    {
        if (m_stage.isSet(path) && inCheckpoint > 0 && m_stage.integer(path) != inCheckpoint)
            add(path, std::to_string(inCheckpoint), std::to_string(m_stage.integer(path)), "the weights do not fit this model; set " + std::string(path) + " to " + std::to_string(inCheckpoint), Severity::Error);
    }
    void compareFlag(const char *path, bool inCheckpoint)
    {
        const config::Value &value = m_stage.at(path);
        if (value.type() == config::Type::Bool && value.boolean() != inCheckpoint)
            add(path, yesNo(inCheckpoint), yesNo(value.boolean()), "the weights do not fit this model; set " + std::string(path) + " to " + (inCheckpoint ? "True" : "False"), Severity::Error);
    }

    bool isFullPrecision() const
    {
        const std::string dtype = m_stage.string("dtype");
        return dtype == "fp32" || dtype == "float32";
    }

    void master()
    {
        const bool has = !m_contents.master.empty();
        const bool exactWeights = hasExactWeights(m_contents);
        if (isFullPrecision()) {
            add("master weights", summary(m_contents.master), "not needed in fp32", has ? "taken for the weights, since they are the more exact ones" : "nothing to do");
        } else if (m_stage.string("compat") == "opensora" && !m_stage.boolean("load_master_weights")) {
            add("master weights", summary(m_contents.master), "load_master_weights False", "rebuilt from the weights, as the stage says" + std::string(has ? "; the saved ones are ignored" : ""), has ? Severity::Warning : Severity::Hint);
            if (!exactWeights)
                departs("master weights");
        } else if (has) {
            add("master weights", summary(m_contents.master), "fp32", "restored");
        } else if (exactWeights) {
            add("master weights", "none", "fp32", "taken from the weights, which are fp32: nothing is lost");
        } else {
            add("master weights", "none", "fp32", "rebuilt from the " + (m_contents.weights.empty() ? std::string("") : std::string(nameOf(m_contents.weights.front().dtype)) + " ") + "weights; the bits below are lost", Severity::Warning);
            departs("master weights");
        }
    }

    void ema()
    {
        const bool wanted = m_stage.isSet("ema_decay");
        const std::string config = wanted ? "decay " + config::toPython(m_stage.at("ema_decay")) : "off";
        bool usable = !m_contents.ema.empty();
        for (const StoredTensor &piece : m_contents.ema) {
            const auto weight = std::find_if(m_contents.weights.begin(), m_contents.weights.end(), [&](const StoredTensor &tensor) { return withoutPrefixes(tensor.name) == piece.name; });
            usable = usable && (!m_contents.emaIsFlat || weight == m_contents.weights.end() || weight->elements() == piece.elements());
        }
        if (!wanted)
            add("EMA", summary(m_contents.ema), config, m_contents.ema.empty() ? "nothing to do" : "ignored and not saved any more", m_contents.ema.empty() ? Severity::Hint : Severity::Warning);
        else if (m_contents.ema.empty())
            add("EMA", "none", config, "starts anew from the weights; the training itself is not touched by it", Severity::Warning);
        else if (!usable)
            add("EMA", "one rank's piece of several (ema.pt)", config, "cannot be put together; starts anew from the master weights (ema_decay None: without one)", Severity::Warning);
        else
            add("EMA", summary(m_contents.ema), config, m_contents.emaIsFlat ? "restored; the flat pieces get their shapes back" : "restored");
    }

    void optimizer()
    {
        if (m_contents.optimizer.empty()) {
            add("optimizer", "none", m_stage.string("optim.cls"), "moments start at zero", Severity::Warning);
            departs("optimizer");
            return;
        }
        add("optimizer", std::to_string(m_contents.optimizer.size()) + " parameters, step " + std::to_string(m_contents.optimizer.begin()->second.step.value_or(0)), m_stage.string("optim.cls"), "restored");
        if (!m_contents.groups)
            return;
        const ParamGroup &group = m_contents.groups->group;
        const auto &betas = m_stage.at("optim.betas").items();
        const std::string inCheckpoint = "betas (" + formatNumber(group.betas[0]) + ", " + formatNumber(group.betas[1]) + "), weight decay " + formatNumber(group.weightDecay);
        const bool same = betas.size() == 2 && betas[0].number() == group.betas[0] && betas[1].number() == group.betas[1] && m_stage.number("optim.weight_decay") == group.weightDecay;
        if (same)
            return;
        const bool asOriginal = m_stage.string("compat") == "opensora";
        add("betas and weight decay", inCheckpoint, "betas " + config::toPython(m_stage.at("optim.betas")) + ", weight decay " + config::toPython(m_stage.at("optim.weight_decay")),
            asOriginal ? "the checkpoint's stay in force, as in the original (compat opensora); start from weights only to change them" : kFromNowOn, Severity::Warning);
        if (!asOriginal)
            departs("betas or weight decay");
    }

    void learningRate()
    {
        const double wanted = m_stage.number("optim.lr");
        const std::string inCheckpoint = m_contents.groups ? formatNumber(m_contents.groups->group.initialLr.value_or(m_contents.groups->group.lr)) : kNothing;
        const bool changed = m_contents.groups && m_contents.groups->group.initialLr.value_or(m_contents.groups->group.lr) != wanted;
        add("learning rate", inCheckpoint, formatNumber(wanted), changed ? kFromNowOn : "as it was", changed ? Severity::Warning : Severity::Hint);
        if (changed)
            departs("learning rate");
        if (m_contents.groups && m_contents.groups->group.eps != m_stage.number("optim.eps")) {
            add("eps", formatNumber(m_contents.groups->group.eps), config::toPython(m_stage.at("optim.eps")), kFromNowOn, Severity::Warning);
            departs("eps");
        }
    }

    static std::string describe(const SchedulerState &state)
    {
        return (state.kind == SchedulerState::Kind::Cosine ? "cosine over " + std::to_string(state.cosineSteps) + ", warm-up " : std::string("warm-up "))
            + std::to_string(state.warmupSteps) + ", at " + std::to_string(state.lastEpoch);
    }
    void schedule()
    {
        const bool cosine = m_stage.boolean("use_cosine_scheduler"), warmup = m_stage.isSet("warmup_steps");
        const std::string config = cosine ? "cosine" : warmup ? "warm-up " + config::toPython(m_stage.at("warmup_steps")) : "constant";
        const std::string inCheckpoint = m_contents.scheduler ? describe(*m_contents.scheduler) : "constant";
        if (m_stage.boolean("update_warmup_steps")) {
            add("schedule", inCheckpoint, config, "moved to where the step count says it is (update_warmup_steps)");
            return;
        }
        const bool savedCosine = m_contents.scheduler && m_contents.scheduler->kind == SchedulerState::Kind::Cosine;
        if (!m_contents.scheduler && (cosine || warmup))
            add("schedule", inCheckpoint, config, "starts at the step count", Severity::Warning);
        else if (m_contents.scheduler && savedCosine != cosine)
            add("schedule", inCheckpoint, config, "another kind: the config's is followed from the step count on", Severity::Warning);
        else
            add("schedule", inCheckpoint, config, "goes on where it was");
    }

    void progress()
    {
        if (!m_contents.counters) {
            add("progress", "unknown", kNothing, "running_states.json is missing or unreadable; load the weights alone (model.from_pretrained), or choose another checkpoint", Severity::Error);
            return;
        }
        const Counters &counters = *m_contents.counters;
        const std::int64_t limit = m_stage.integer("max_train_steps"), epochs = m_stage.integer("epochs");
        const std::string inCheckpoint = "step " + std::to_string(counters.updates) + ", epoch " + std::to_string(counters.epoch);
        const std::string config = (limit > 0 ? "up to step " + std::to_string(limit) + ", " : std::string()) + "epochs " + std::to_string(epochs);
        if ((limit > 0 && counters.updates >= limit) || counters.epoch >= epochs)
            add("progress", inCheckpoint, config, "nothing is left to do; raise max_train_steps or epochs", Severity::Warning);
        else
            add("progress", inCheckpoint, config, "goes on with step " + std::to_string(counters.updates + 1));
    }

    // Whether a value of the saved config is another one now; unknown where the checkpoint has no config.
    bool differs(const char *path) const { return m_saved && !(m_saved->at(path) == m_stage.at(path)); }

    void data()
    {
        const std::string saved = m_contents.own ? m_contents.own->datasetFingerprint : std::string();
        // The fingerprint stands for the rows, their buckets and the seed of their order. Where both are known, it alone decides.
        const bool known = m_around.datasetFingerprint && !saved.empty();
        bool same = !known || saved == *m_around.datasetFingerprint;
        if (!same)
            add("dataset fingerprint", shortened(saved), shortened(*m_around.datasetFingerprint), kPositionVoid, Severity::Warning);
        const auto compare = [&](const char *what, const char *path) {
            if (!differs(path))
                return;
            add(what, shortened(config::toPython(m_saved->at(path))), shortened(config::toPython(m_stage.at(path))), known && same ? "changed, but the data and its order are the same" : kPositionVoid, Severity::Warning);
            same = same && known;
        };
        compare("dataset", "dataset.data_path");
        compare("bucket table", "bucket_config");
        compare("seed", "seed");
        if (differs("accumulation_steps")) {
            add("accumulation", config::toPython(m_saved->at("accumulation_steps")), config::toPython(m_stage.at("accumulation_steps")), "the config's is used from now on; the position in the data is counted in batches and stays", Severity::Warning);
            departs("accumulation");
        }
        const int world = m_contents.manifest ? m_contents.manifest->worldSize : m_around.worldSize;
        if (world != m_around.worldSize) {
            same = false;
            add("number of GPUs", std::to_string(world), std::to_string(m_around.worldSize), "weights and optimizer are re-cut; the position in the data is counted anew", Severity::Warning);
        } else {
            add("number of GPUs", m_contents.manifest ? std::to_string(world) : kNothing, std::to_string(m_around.worldSize), "as it was");
        }
        position(same);
    }
    static std::string shortened(const std::string &text) { return text.size() <= 60 ? text : text.substr(0, 57) + "…"; }

    void position(bool same)
    {
        std::string inCheckpoint = kNothing;
        if (m_contents.own && m_contents.own->position)
            inCheckpoint = "epoch " + std::to_string(m_contents.own->position->epoch) + ", batch " + std::to_string(m_contents.own->position->index);
        else if (m_contents.counters)
            inCheckpoint = "epoch " + std::to_string(m_contents.counters->epoch) + ", batch " + std::to_string(m_contents.counters->microStep);
        const bool forced = m_stage.isSet("start_step") || m_stage.isSet("start_epoch");
        const std::string config = m_around.ignoreDataPosition ? "from the start" : forced ? "start_epoch " + config::toPython(m_stage.at("start_epoch")) + ", start_step " + config::toPython(m_stage.at("start_step")) : kNothing;
        m_plan.dataPositionUsable = same && m_contents.counters.has_value();
        if (m_around.ignoreDataPosition)
            add("data position", inCheckpoint, config, "the data starts from its beginning");
        else if (forced)
            add("data position", inCheckpoint, config, "the config's is used; the checkpoint's is ignored", Severity::Warning);
        else if (!same)
            add("data position", inCheckpoint, config, "not usable: this epoch is read from its beginning; --start-step 0 --start-epoch 0 begins with the first epoch", Severity::Warning);
        else
            add("data position", inCheckpoint, config, "restored");
        if (m_around.ignoreDataPosition || forced || !same)
            departs("data position");
    }

    void randomStreams()
    {
        const auto streams = std::count_if(m_contents.extras.begin(), m_contents.extras.end(), [](const StoredTensor &tensor) { return tensor.name.starts_with(kRandomPrefix); });
        const std::string config = "seed " + config::toPython(m_stage.at("seed"));
        const bool perSample = m_stage.string("compat") == "none";
        if (perSample)
            add("random streams", streams > 0 ? std::to_string(streams) : "none needed", config, differs("seed") ? "each draw follows from the new seed" : "each draw follows from the seed and the place in the data");
        else
            add("random streams", streams > 0 ? std::to_string(streams) : "none", config, streams > 0 ? "restored" : "start anew from the seed", streams > 0 ? Severity::Hint : Severity::Warning);
        if (perSample ? differs("seed") : streams == 0)
            departs("random streams");
        const auto gradients = std::count_if(m_contents.extras.begin(), m_contents.extras.end(), [](const StoredTensor &tensor) { return tensor.name.starts_with(kGradientPrefix); });
        if (gradients > 0)
            add("accumulated gradients", std::to_string(gradients), kNothing, "restored");
    }

    void scaler()
    {
        const std::string dtype = m_stage.string("dtype");
        if (dtype != "fp16" && dtype != "float16" && dtype != "half")
            return;
        const bool has = m_contents.own && m_contents.own->scaler;
        add("loss scale", has ? formatNumber(m_contents.own->scaler->scale) : "none", "fp16", has ? "restored" : "starts at its initial value", has ? Severity::Hint : Severity::Warning);
        if (!has)
            departs("loss scale");
    }

    // What makes the resumed run another one than the run that was saved.
    void departs(const std::string &what)
    {
        if (std::find(m_departures.begin(), m_departures.end(), what) == m_departures.end())
            m_departures.push_back(what);
    }
    void continuation()
    {
        if (m_departures.empty() && m_contents.own && m_saved)
            add("continuation", kNothing, kNothing, "bit for bit the run that was saved (on the CPU); rehearse proves it");
        else if (m_departures.empty())
            add("continuation", kNothing, kNothing, "not bit for bit: another program wrote this checkpoint, and not all that it did is in there", Severity::Warning);
        else
            add("continuation", kNothing, kNothing, "not bit for bit: it parts by " + joined(m_departures, ", "), Severity::Warning);
    }

    const Contents &m_contents;
    const config::Stage &m_stage;
    const config::Stage *m_saved;
    const ResumeSurroundings &m_around;
    ResumePlan m_plan;
    std::vector<std::string> m_departures;
};

} // namespace

Result<ResumePlan> resumePlan(const std::string &checkpoint, const config::Stage *stage, const ResumeSurroundings &surroundings)
{
    // One that is named itself is explained even where it is not whole; a pattern or a run folder needs a whole one.
    const auto newest = newestOrNamed(checkpoint);
    if (!newest)
        return newest.error();
    const std::filesystem::path folder = newest->path;
    auto contents = openCheckpoint(folder);
    if (!contents)
        return contents.error();
    std::optional<config::Stage> saved;
    if (!contents->configYaml.empty()) {
        auto read = config::stageFromYaml(contents->configYaml, folder / "stagewright/config.yaml");
        if (!read)
            return read.error().during("reading the checkpoint's own config");
        saved = std::move(*read);
    }
    if (!stage && !saved)
        return Error(ExitCode::Usage, "checkpoint.no-config", folder.string() + " holds no config (it was not written by Stagewright); name the stage that should go on from it", folder.string());
    ResumePlan plan = Planner(*contents, stage ? *stage : *saved, saved ? &*saved : nullptr, surroundings).run();
    for (const std::string &sentence : newest->rejected) {
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = "checkpoint.incomplete";
        problem.message = sentence;
        plan.problems.push_back(std::move(problem));
    }
    return plan;
}

nlohmann::json toJson(const ResumePlan &plan)
{
    nlohmann::json json{{"checkpoint", plan.checkpoint.string()}, {"possible", plan.possible}, {"items", nlohmann::json::array()}, {"problems", stagewright::toJson(plan.problems)}};
    for (const ResumeItem &item : plan.items)
        json["items"].push_back({{"what", item.what}, {"in_checkpoint", item.inCheckpoint}, {"in_config", item.inConfig}, {"outcome", item.outcome}});
    return json;
}

} // namespace stagewright::ckptfile
