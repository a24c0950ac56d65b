#include "core/checkpoint/save_plan.h"

#include <numeric>

#include "core/checkpoint/tensor_type.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/own_state.h"
#include "core/ckptfile/pickle_value.h"
#include "core/ckptfile/pickle_writer.h"
#include "core/ckptfile/python_text.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/torch_archive.h"

namespace stagewright::checkpoint {

using namespace ckptfile;

namespace {

// One tensor of a safetensors file to be: from Torch, or bytes as a U8 tensor.
struct Entry {
    std::string name;
    torch::Tensor tensor;
    std::string bytes;
};

class Planner
{
public:
    Planner(const TrainingState &state, double shardMebibytes) : m_state(state), m_shardMebibytes(shardMebibytes) {}

    Result<SavePlan> run()
    {
        if (Status valid = checkShapes(); !valid)
            return valid.error();
        for (const Status &done : {addModel(), addOptimizer(), addWhole(kMasterFile, "module.", &ParameterState::master), addWhole(kEmaFile, "", &ParameterState::ema), addExtras()}) {
            if (!done)
                return done.error();
        }
        addSmallFiles();
        for (const PlannedFile &file : m_plan.files) {
            m_plan.bytes += file.bytes;
            m_plan.tensors += file.tensors;
        }
        return std::move(m_plan);
    }

private:
    Status checkShapes() const
    {
        for (const ParameterState &parameter : m_state.parameters) {
            const auto refuse = [&](const std::string &what) { return Error(ExitCode::Other, "checkpoint.bad-state", "cannot save \"" + parameter.name + "\": " + what); };
            if (!parameter.weight.defined())
                return refuse("it has no weight");
            for (const torch::Tensor *other : {&parameter.master, &parameter.expAvg, &parameter.expAvgSq, &parameter.ema, &parameter.gradient}) {
                if (other->defined() && other->sizes() != parameter.weight.sizes())
                    return refuse("one of its states has another shape than the weight");
            }
            if (parameter.expAvg.defined() != parameter.expAvgSq.defined())
                return refuse("only one of its two moments exists");
        }
        return Done{};
    }

    Status addSafetensors(const std::string &path, std::vector<Entry> entries, const Metadata &metadata = {})
    {
        PlannedFile file;
        file.path = path;
        std::vector<TensorInfo> infos;
        for (const Entry &entry : entries) {
            TensorInfo info;
            info.name = entry.name;
            if (entry.tensor.defined()) {
                const auto type = fileType(entry.tensor.scalar_type());
                if (!type)
                    return Error(ExitCode::Other, "checkpoint.bad-state", "cannot save \"" + entry.name + "\": its type has no place in safetensors files");
                info.dtype = *type;
                info.shape.assign(entry.tensor.sizes().begin(), entry.tensor.sizes().end());
            } else {
                info.dtype = DType::U8;
                info.shape = {static_cast<std::int64_t>(entry.bytes.size())};
            }
            infos.push_back(std::move(info));
        }
        file.tensors = static_cast<std::int64_t>(infos.size());
        file.pieces.push_back({safetensorsHeader(infos, metadata), {}});
        for (Entry &entry : entries)
            file.pieces.push_back({std::move(entry.bytes), entry.tensor.defined() ? entry.tensor.detach().contiguous() : torch::Tensor()});
        add(std::move(file));
        return Done{};
    }
    void add(PlannedFile file)
    {
        for (const Piece &piece : file.pieces)
            file.bytes += piece.size();
        m_plan.files.push_back(std::move(file));
    }
    void addText(std::string_view path, std::string text)
    {
        PlannedFile file;
        file.path = path;
        file.pieces.push_back({std::move(text), {}});
        add(std::move(file));
    }

    Status addModel()
    {
        std::vector<std::int64_t> sizes;
        double total = 0;
        for (const ParameterState &parameter : m_state.parameters) {
            sizes.push_back(static_cast<std::int64_t>(parameter.weight.nbytes()));
            total += mebibytes(sizes.back());
        }
        const std::vector<std::size_t> shards = cutShards(sizes, m_shardMebibytes);
        std::vector<std::pair<std::string, std::string>> weightMap;
        std::vector<Entry> entries;
        for (std::size_t at = 0; at < shards.size(); ++at) {
            const std::string file = shardName("model", shards[at] + 1);
            weightMap.emplace_back(m_state.parameters[at].name, file);
            entries.push_back({m_state.parameters[at].name, m_state.parameters[at].weight, {}});
            if (at + 1 < shards.size() && shards[at + 1] == shards[at])
                continue;
            if (Status done = addSafetensors(std::string(kModelFolder) + "/" + file, std::exchange(entries, {})); !done)
                return done;
        }
        addText(std::string(kModelFolder) + "/" + std::string(kModelIndex), indexJson(weightMap, total));
        return Done{};
    }

    // Keys state.<index>.step (a pickled int as bytes), .exp_avg, .exp_avg_sq; the index counts trainable parameters.
    Status addOptimizer()
    {
        std::vector<const ParameterState *> trainable;
        for (const ParameterState &parameter : m_state.parameters) {
            if (parameter.trainable)
                trainable.push_back(&parameter);
        }
        std::vector<std::int64_t> indices, sizes;
        double total = 0;
        for (std::size_t at = 0; at < trainable.size(); ++at) {
            if (!trainable[at]->expAvg.defined())
                continue;                    // nothing was learned about it yet
            indices.push_back(static_cast<std::int64_t>(at));
            sizes.push_back(static_cast<std::int64_t>(trainable[at]->expAvg.nbytes() + trainable[at]->expAvgSq.nbytes()));
            total += mebibytes(sizes.back());
        }
        const std::vector<std::size_t> shards = cutShards(sizes, m_shardMebibytes);
        std::vector<std::pair<std::string, std::string>> weightMap;
        std::vector<Entry> entries;
        std::string notTensors;
        for (std::size_t at = 0; at < shards.size(); ++at) {
            const std::string file = shardName("optimizer", shards[at] + 1), number = std::to_string(indices[at]), prefix = "state." + number + ".";
            const ParameterState &parameter = *trainable[static_cast<std::size_t>(indices[at])];
            weightMap.emplace_back(number, file);
            notTensors += (notTensors.empty() ? "[" : ", ") + pythonJsonString(prefix + "step");
            entries.push_back({prefix + "step", {}, pickledInt4(parameter.updates)});
            entries.push_back({prefix + "exp_avg", parameter.expAvg, {}});
            entries.push_back({prefix + "exp_avg_sq", parameter.expAvgSq, {}});
            if (at + 1 < shards.size() && shards[at + 1] == shards[at])
                continue;
            const Metadata metadata{{"non_tensor_keys", std::exchange(notTensors, {}) + "]"}};
            if (Status done = addSafetensors(std::string(kOptimizerFolder) + "/" + file, std::exchange(entries, {}), metadata); !done)
                return done;
        }
        addText(std::string(kOptimizerFolder) + "/" + std::string(kOptimizerIndex), indexJson(weightMap, total, kGroupFile));
        addText(std::string(kOptimizerFolder) + "/" + std::string(kGroupFile),
                torchArchive(paramGroups(m_state.group, static_cast<std::int64_t>(trainable.size())), "pytorch_optim_group"));
        return Done{};
    }

    // master.safetensors and ema.safetensors: one file, whatever its size, as the original writes them.
    Status addWhole(std::string_view path, const std::string &prefix, torch::Tensor ParameterState::*member)
    {
        std::vector<Entry> entries;
        for (const ParameterState &parameter : m_state.parameters) {
            if ((parameter.*member).defined())
                entries.push_back({prefix + parameter.name, parameter.*member, {}});
        }
        return entries.empty() ? Status(Done{}) : addSafetensors(std::string(path), std::move(entries));
    }

    Status addExtras()
    {
        std::vector<Entry> entries;
        for (const auto &[name, bytes] : m_state.randomStreams)
            entries.push_back({std::string(kRandomPrefix) + name, {}, bytes});
        for (const ParameterState &parameter : m_state.parameters) {
            if (parameter.gradient.defined())
                entries.push_back({std::string(kGradientPrefix) + parameter.name, parameter.gradient.detach().clone(at::MemoryFormat::Contiguous), {}});
        }
        return entries.empty() ? Status(Done{}) : addSafetensors(std::string(kExtraTensorsFile), std::move(entries));
    }

    void addSmallFiles()
    {
        if (m_state.scheduler)
            addText(kSchedulerFile, torchArchive(schedulerDict(*m_state.scheduler), std::string(kSchedulerFile)));
        addText(kSamplerFile, torchArchive(samplerDict(m_state.sampler), std::string(kSamplerFile)));
        OwnState own;
        own.run = m_state.run;
        own.dtype = m_state.dtype;
        own.worldSize = m_state.worldSize;
        own.datasetFingerprint = m_state.datasetFingerprint;
        own.skippedUpdates = m_state.counters.skippedUpdates;
        own.collectedMicroSteps = m_state.collectedMicroSteps;
        own.position = m_state.position;
        own.scaler = m_state.scaler;
        addText(kStateFile, toJsonText(own));
        if (!m_state.configYaml.empty())
            addText(kConfigFile, m_state.configYaml);
        addText(kRunningStatesFile, runningStatesJson(m_state.counters));
    }

    const TrainingState &m_state;
    const double m_shardMebibytes;
    SavePlan m_plan;
};

} // namespace

Result<SavePlan> planSave(const TrainingState &state, double shardMebibytes)
{
    return Planner(state, shardMebibytes).run();
}

} // namespace stagewright::checkpoint
