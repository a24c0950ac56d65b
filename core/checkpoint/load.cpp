#include "core/checkpoint/load.h"

#include <algorithm>

#include "core/checkpoint/load_plan.h"
#include "core/checkpoint/tensor_type.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/soundness.h"
#include "core/ckptfile/verify.h"

namespace stagewright::checkpoint {

namespace fs = std::filesystem;
using namespace ckptfile;

const PartReport *LoadReport::part(std::string_view name) const
{
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartReport &report) { return report.part == name; });
    return found == parts.end() ? nullptr : &*found;
}

namespace {

Error refuse(const fs::path &folder, const char *code, const std::string &sentence)
{
    return Error(ExitCode::Checkpoint, code, folder.string() + ": " + sentence, folder.string());
}

// Collects everything that will change; apply() then changes it.
class Loader
{
public:
    Loader(const Contents &contents, TrainingState &target, const LoadOptions &options, LoadReport &report)
        : m_contents(contents), m_target(target), m_options(options), m_report(report)
    {
    }

    Status plan()
    {
        for (const Status &done : {planWeights(), planMaster(), planEma()}) {
            if (!done)
                return done;
        }
        if (m_options.weightsOnly)
            return Done{};
        if (Status done = planOptimizer(); !done)
            return done;
        planSmallStates();
        planStreams();
        return planGradients();
    }

    Status apply()
    {
        std::int64_t total = 0;
        for (const CopyStep &step : m_steps)
            total += step.from->bytes();
        for (auto &[tensor, slot] : m_newTensors)
            *slot = tensor;
        const auto progress = [&](std::int64_t done) { return !m_options.progress || m_options.progress(done, total); };
        if (Status copied = copyAll(m_steps, progress); !copied)
            return copied.error().during("the training state is changed in part and must not be used");
        for (const auto &[from, into] : m_derived) {
            const torch::NoGradGuard noGrad;
            into.detach().copy_(from.detach());
        }
        for (const auto &change : m_changes)
            change();
        return Done{};
    }

private:
    void note(Severity severity, const char *code, const std::string &sentence)
    {
        Problem problem;
        problem.severity = severity;
        problem.code = code;
        problem.message = sentence;
        problem.file = m_contents.folder.string();
        m_report.notes.push_back(std::move(problem));
    }
    void part(const char *name, bool restored, std::string sentence) { m_report.parts.push_back({name, restored, std::move(sentence)}); }

    // Every parameter's weight, by name. In fp32 training the masters of a half-precision run are the better source.
    Status planWeights()
    {
        const TensorMap weights(m_contents.weights), masters(m_contents.master);
        std::string dtypes;
        bool fromMasters = false;
        for (ParameterState &parameter : m_target.parameters) {
            const StoredTensor *stored = weights.find(parameter.name);
            if (!stored) {
                m_report.missing.push_back(parameter.name);
                continue;
            }
            const StoredTensor *better = masters.find(parameter.name);
            if (better && !parameter.master.defined() && hasShape(*better, parameter.weight) && better->dtype == fileType(parameter.weight.scalar_type()) && stored->dtype != better->dtype) {
                stored = better;
                fromMasters = true;
            }
            if (!hasShape(*stored, parameter.weight)) {
                m_report.mismatched.push_back(mismatchText(parameter.name, *stored, parameter.weight));
                continue;
            }
            if (const auto wanted = fileType(parameter.weight.scalar_type()); wanted != stored->dtype && dtypes.empty())
                dtypes = std::string(nameOf(stored->dtype)) + " in the checkpoint, " + (wanted ? std::string(nameOf(*wanted)) : std::string("another type")) + " here";
            m_steps.push_back({stored, parameter.weight});
        }
        m_report.unexpected = weights.without(m_target.parameters);
        if (!m_options.allowPartial && (!m_report.missing.empty() || !m_report.mismatched.empty()))
            return refuse(m_contents.folder, "checkpoint.weights-differ", weightsDiffer());
        if (weights.hadPrefixes())
            note(Severity::Hint, "checkpoint.prefix", "the names of the weights began with \"module.\", which was left out");
        if (!dtypes.empty() && !fromMasters)
            note(Severity::Warning, "checkpoint.dtype", "the weights are converted: " + dtypes);
        if (!m_report.unexpected.empty())
            note(Severity::Warning, "checkpoint.unexpected", std::to_string(m_report.unexpected.size()) + " tensors of the checkpoint have no place in this model, the first is " + m_report.unexpected.front());
        part("weights", true, std::to_string(m_target.parameters.size() - m_report.missing.size() - m_report.mismatched.size()) + " tensors restored" + (fromMasters ? " from the fp32 master weights" : ""));
        return Done{};
    }

    std::string weightsDiffer() const
    {
        std::string sentence = "the weights do not fit this model: ";
        if (!m_report.mismatched.empty())
            sentence += std::to_string(m_report.mismatched.size()) + " have another shape (" + m_report.mismatched.front() + ")";
        if (!m_report.missing.empty())
            sentence += (m_report.mismatched.empty() ? "" : ", ") + std::to_string(m_report.missing.size()) + " are missing (" + m_report.missing.front() + ")";
        return sentence + "; compare the model section of the config with the one the checkpoint was made with";
    }

    Status planMaster()
    {
        const TensorMap masters(m_contents.master), weights(m_contents.weights);
        std::int64_t restored = 0, rebuilt = 0;
        for (ParameterState &parameter : m_target.parameters) {
            if (!parameter.master.defined())
                continue;
            const StoredTensor *stored = masters.find(parameter.name);
            const bool own = stored != nullptr;
            if (!stored)
                stored = weights.find(parameter.name);
            if (!stored || (!hasShape(*stored, parameter.master) && m_options.allowPartial))
                continue;                    // missing weights were judged above
            if (!hasShape(*stored, parameter.master))
                return refuse(m_contents.folder, "checkpoint.weights-differ", "the master weights do not fit this model: " + mismatchText(parameter.name, *stored, parameter.master));
            m_steps.push_back({stored, parameter.master});
            ++(own ? restored : rebuilt);
        }
        if (rebuilt > 0 && hasExactWeights(m_contents)) {
            part("master", true, std::to_string(restored) + " restored, " + std::to_string(rebuilt) + " taken from the weights, which are fp32");
        } else if (rebuilt > 0) {
            note(Severity::Warning, "checkpoint.missing-master", std::to_string(rebuilt) + " fp32 master weights are rebuilt from the " + std::string(nameOf(m_contents.weights.front().dtype))
                                                                     + " weights, since master.safetensors does not have them; their lower bits are lost");
            part("master", restored > 0, std::to_string(restored) + " restored, " + std::to_string(rebuilt) + " rebuilt from the weights");
        } else if (restored > 0) {
            part("master", true, std::to_string(restored) + " tensors restored");
        }
        return Done{};
    }

    Status planEma()
    {
        const bool wanted = std::any_of(m_target.parameters.begin(), m_target.parameters.end(), [](const ParameterState &parameter) { return parameter.ema.defined(); });
        if (!wanted) {
            if (!m_contents.ema.empty() && !m_options.weightsOnly)
                note(Severity::Warning, "checkpoint.ema-dropped", "the checkpoint has an EMA, this run keeps none: it is left behind");
            return Done{};
        }
        const TensorMap averages(m_contents.ema);
        std::vector<CopyStep> steps;
        std::string fault = m_contents.ema.empty() ? "there is no ema.safetensors or ema.pt" : "";
        for (ParameterState &parameter : m_target.parameters) {
            if (!parameter.ema.defined() || !fault.empty())
                continue;
            const StoredTensor *stored = averages.find(parameter.name);
            // A flat piece is whole, and gets its shape back, where the world size was 1.
            const bool fits = stored && (hasShape(*stored, parameter.ema) || (m_contents.emaIsFlat && stored->elements() == parameter.ema.numel()));
            if (fits)
                steps.push_back({stored, parameter.ema});
            else if (stored && m_contents.emaIsFlat)
                fault = "ema.pt holds one rank's piece of several (" + mismatchText(parameter.name, *stored, parameter.ema) + ")";
            else
                fault = stored ? mismatchText(parameter.name, *stored, parameter.ema) : "it lacks " + parameter.name;
        }
        if (fault.empty()) {
            m_steps.insert(m_steps.end(), steps.begin(), steps.end());
            part("ema", true, std::to_string(steps.size()) + " tensors restored" + (m_contents.emaIsFlat ? " from flat pieces" : ""));
            return Done{};
        }
        if (!m_options.emaFromMaster && !m_options.weightsOnly)
            return refuse(m_contents.folder, "checkpoint.ema-unusable", "its EMA cannot be restored: " + fault + "; choose to start the EMA from the master weights, or switch it off (ema_decay None)");
        for (ParameterState &parameter : m_target.parameters) {
            if (parameter.ema.defined())
                m_derived.emplace_back(parameter.master.defined() ? parameter.master : parameter.weight, parameter.ema);
        }
        part("ema", false, "starts anew from the weights: " + fault);
        return Done{};
    }

    Status planOptimizer()
    {
        if (m_contents.optimizer.empty() || !m_contents.groups) {
            part("optimizer", false, "the checkpoint has none: moments start at zero");
            note(Severity::Warning, "checkpoint.missing-optimizer", "there is no optimizer state: moments start at zero");
            return Done{};
        }
        if (m_contents.groups->groups != 1)
            return refuse(m_contents.folder, "checkpoint.optimizer-differs", "the optimizer has " + std::to_string(m_contents.groups->groups) + " parameter groups, one is expected");
        std::vector<ParameterState *> trainable;
        for (ParameterState &parameter : m_target.parameters) {
            if (parameter.trainable)
                trainable.push_back(&parameter);
        }
        if (m_contents.groups->parameters != static_cast<std::int64_t>(trainable.size()))
            return refuse(m_contents.folder, "checkpoint.optimizer-differs", "the optimizer was made for " + std::to_string(m_contents.groups->parameters) + " parameters, this model trains "
                              + std::to_string(trainable.size()) + "; load weights only, or train the same parameters");
        std::int64_t restored = 0;
        for (std::size_t index = 0; index < trainable.size(); ++index) {
            const auto entry = m_contents.optimizer.find(static_cast<std::int64_t>(index));
            if (entry == m_contents.optimizer.end()) {
                forgetMoments(*trainable[index]);
                continue;
            }
            if (Status done = planMoments(*trainable[index], entry->second); !done)
                return done;
            ++restored;
        }
        m_changes.push_back([this] { m_target.group = m_contents.groups->group; });
        part("optimizer", true, std::to_string(restored) + " of " + std::to_string(trainable.size()) + " parameters restored" + (restored < static_cast<std::int64_t>(trainable.size()) ? ", the others start at zero" : ""));
        return Done{};
    }
    Status planMoments(ParameterState &parameter, const OptimizerEntry &entry)
    {
        for (const auto &[stored, slot] : {std::pair(&entry.expAvg, &parameter.expAvg), std::pair(&entry.expAvgSq, &parameter.expAvgSq)}) {
            if (!hasShape(**stored, parameter.weight))
                return refuse(m_contents.folder, "checkpoint.optimizer-differs", "the optimizer belongs to another model: " + mismatchText(parameter.name, **stored, parameter.weight));
            torch::Tensor into = *slot;
            if (!into.defined()) {
                into = torch::empty(parameter.weight.sizes(), parameter.weight.options().dtype(torch::kFloat).requires_grad(false));
                m_newTensors.emplace_back(into, slot);
            }
            m_steps.push_back({&**stored, into});
        }
        m_changes.push_back([&parameter, updates = *entry.step] { parameter.updates = updates; });
        return Done{};
    }
    void forgetMoments(ParameterState &parameter)
    {
        m_changes.push_back([&parameter] {
            parameter.expAvg = parameter.expAvgSq = torch::Tensor();
            parameter.updates = 0;
        });
    }

    void planSmallStates()
    {
        part("scheduler", m_contents.scheduler.has_value(), m_contents.scheduler ? "restored" : "the checkpoint has none");
        part("sampler", m_contents.sampler.has_value(), m_contents.sampler ? "restored" : "the checkpoint has none");
        part("counters", m_contents.counters.has_value(), m_contents.counters ? "step " + std::to_string(m_contents.counters->updates) + ", epoch " + std::to_string(m_contents.counters->epoch) : "the checkpoint has none");
        const bool position = m_contents.own && m_contents.own->position;
        part("position", position, position ? "restored" : "taken from the counters: the checkpoint does not say more");
        m_changes.push_back([this] {
            m_target.scheduler = m_contents.scheduler;
            if (m_contents.sampler)
                m_target.sampler = *m_contents.sampler;
            if (m_contents.counters)
                m_target.counters = *m_contents.counters;
            if (!m_contents.own) {
                // The original fetches batch `step` of the epoch next.
                m_target.position = m_contents.counters ? std::optional(DataPosition{m_contents.counters->epoch, m_contents.counters->microStep}) : std::nullopt;
                m_target.datasetFingerprint.clear();
                m_target.collectedMicroSteps = 0;
                return;
            }
            m_target.position = m_contents.own->position;
            m_target.datasetFingerprint = m_contents.own->datasetFingerprint;
            m_target.counters.skippedUpdates = m_contents.own->skippedUpdates;
            m_target.collectedMicroSteps = m_contents.own->collectedMicroSteps;
            if (m_contents.own->scaler)
                m_target.scaler = m_contents.own->scaler;
        });
        if (m_target.scaler)
            part("scaler", m_contents.own && m_contents.own->scaler, m_contents.own && m_contents.own->scaler ? "restored" : "starts at its initial value");
        if (m_contents.own && m_contents.own->worldSize != m_target.worldSize)
            note(Severity::Warning, "checkpoint.world-size", "the checkpoint was made by " + std::to_string(m_contents.own->worldSize) + " processes, there are " + std::to_string(m_target.worldSize) + " now: the position in the data means something else");
        if (m_contents.own && !m_target.datasetFingerprint.empty() && !m_contents.own->datasetFingerprint.empty() && m_contents.own->datasetFingerprint != m_target.datasetFingerprint)
            note(Severity::Warning, "checkpoint.dataset", "the dataset or its buckets changed since the checkpoint: the position in the data means nothing any more");
    }

    void planStreams()
    {
        std::int64_t count = 0;
        for (const StoredTensor &tensor : m_contents.extras)
            count += tensor.name.starts_with(kRandomPrefix);
        part("rng", count > 0, count > 0 ? std::to_string(count) + " streams restored" : "the checkpoint has none: they follow from the seed");
    }

    // Streams are small: read now, so that nothing can fail later. Gradients of a window that is not complete.
    Status planGradients()
    {
        std::map<std::string, std::string> streams;
        std::int64_t gradients = 0;
        for (const StoredTensor &tensor : m_contents.extras) {
            if (tensor.name.starts_with(kRandomPrefix)) {
                auto bytes = tensor.readAll();
                if (!bytes)
                    return bytes.error();
                streams[tensor.name.substr(kRandomPrefix.size())] = std::move(*bytes);
            } else if (tensor.name.starts_with(kGradientPrefix)) {
                if (Status done = planGradient(tensor); !done)
                    return done;
                ++gradients;
            }
        }
        if (!streams.empty())
            m_changes.push_back([this, streams = std::move(streams)] { m_target.randomStreams = streams; });
        if (gradients > 0)
            part("gradients", true, std::to_string(gradients) + " accumulated gradients restored");
        return Done{};
    }
    Status planGradient(const StoredTensor &tensor)
    {
        const std::string name = tensor.name.substr(kGradientPrefix.size());
        const auto parameter = std::find_if(m_target.parameters.begin(), m_target.parameters.end(), [&](const ParameterState &candidate) { return candidate.name == name; });
        if (parameter == m_target.parameters.end())
            return Done{};
        if (!hasShape(tensor, parameter->weight))
            return refuse(m_contents.folder, "checkpoint.weights-differ", "an accumulated gradient does not fit this model: " + mismatchText(name, tensor, parameter->weight));
        torch::Tensor into = torch::empty(parameter->weight.sizes(), parameter->weight.options().dtype(torchType(tensor.dtype)).requires_grad(false));
        m_newTensors.emplace_back(into, &parameter->gradient);
        m_steps.push_back({&tensor, into});
        return Done{};
    }

    const Contents &m_contents;
    TrainingState &m_target;
    const LoadOptions &m_options;
    LoadReport &m_report;
    std::vector<CopyStep> m_steps;
    std::vector<std::pair<torch::Tensor, torch::Tensor *>> m_newTensors;         // tensor, where it goes
    std::vector<std::pair<torch::Tensor, torch::Tensor>> m_derived;              // from (after the steps), into
    std::vector<std::function<void()>> m_changes;
};

Status compareSizesOnly(const Contents &contents)
{
    if (!contents.manifest)
        return Done{};
    const auto files = compareSizes(contents.folder, *contents.manifest);
    if (const InspectedFile *fault = firstFault(files))
        return refuse(contents.folder, "checkpoint.damaged-file", fault->sentence + "; choose an older checkpoint");
    return Done{};
}

// A damaged part ends the load; with weights only, just damage to what is read counts.
Status refuseDamage(const Contents &contents, const LoadOptions &options)
{
    for (const Problem &problem : contents.problems) {
        if (problem.severity == Severity::Error && !(options.weightsOnly && problem.code == "checkpoint.bad-state"))
            return Error(ExitCode::Checkpoint, problem.code, problem.message, problem.file);
    }
    if (!contents.counters && !options.weightsOnly)
        return refuse(contents.folder, "checkpoint.missing-states", "running_states.json is missing, so step and epoch are unknown; load the weights alone (model.from_pretrained), or choose another checkpoint");
    return Done{};
}

} // namespace

Result<LoadReport> loadCheckpoint(const std::string &path, TrainingState &target, const LoadOptions &options)
{
    LoadReport report;
    const auto progress = [&](std::int64_t done, std::int64_t total, const std::string &) { return !options.progress || options.progress(done, total); };
    // One that is named itself is gone into: it is said what is wrong with it, or its weights are taken. Of several the newest sound one is.
    const bool isRead = options.verify && !namesCheckpoint(path);
    const auto newest = isRead ? newestSound(path, progress) : newestOrNamed(path);
    if (!newest)
        return newest.error();
    report.folder = newest->path;
    report.rejected = newest->rejected;
    auto contents = openCheckpoint(report.folder);
    if (!contents)
        return contents.error();
    report.ours = contents->manifest.has_value();
    if (Status whole = refuseDamage(*contents, options); !whole)
        return whole.error();
    if (Status sound = isRead ? Status(Done{}) : options.verify ? checkSound(*contents, progress) : compareSizesOnly(*contents); !sound)
        return sound.error();
    Loader loader(*contents, target, options, report);
    if (Status planned = loader.plan(); !planned)
        return planned.error();
    if (Status applied = loader.apply(); !applied)
        return applied.error();
    return report;
}

} // namespace stagewright::checkpoint
