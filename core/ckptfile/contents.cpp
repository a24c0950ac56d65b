#include "core/ckptfile/contents.h"

#include <charconv>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/pickle_reader.h"
#include "core/ckptfile/writer_log.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

// Fills one Contents part by part; a part that fails leaves a problem and the others are still read.
class Opener
{
public:
    Contents contents;

    explicit Opener(fs::path folder) { contents.folder = std::move(folder); }

    void openAll()
    {
        openOwn();
        openCounters();
        if (!contents.manifest && !exists(kOwnFolder)) {
            for (Problem &problem : unfinishedSave(contents.folder))
                contents.problems.push_back(std::move(problem));
        }
        contents.isLora = exists(kLoraFolder);
        openWeights();
        if (!openTensors(kEmaFile, contents.ema))
            openFlatEma();
        openTensors(kMasterFile, contents.master);
        openOptimizer();
        openPickle(kSchedulerFile, "lr_scheduler", contents.scheduler, parseScheduler);
        openPickle(kSamplerFile, "sampler", contents.sampler, parseSampler);
        if (contents.isWhole())
            compareOptimizerWithWeights();
    }

private:
    bool exists(const fs::path &name) const
    {
        std::error_code ignored;
        return fs::exists(contents.folder / name, ignored);
    }
    void broken(const Error &error) { contents.problems.push_back(error.problem); }
    void absent(const std::string &sentence)
    {
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = "checkpoint.missing-part";
        problem.message = sentence;
        problem.file = contents.folder.string();
        contents.problems.push_back(std::move(problem));
    }
    std::optional<std::string> readSmall(std::string_view name)
    {
        auto text = readFile(contents.folder / name, 64 << 20);
        if (!text)
            broken(text.error());
        return text ? std::optional(std::move(*text)) : std::nullopt;
    }

    void openOwn()
    {
        if (exists(kManifestFile)) {
            auto manifest = readManifest(contents.folder);
            if (manifest)
                contents.manifest = std::move(*manifest);
            else
                broken(manifest.error());
        } else if (exists(kOwnFolder)) {
            broken(Error(ExitCode::Checkpoint, "checkpoint.missing-manifest", contents.folder.string() + ": stagewright/manifest.json is missing; the folder was copied only in part", contents.folder.string()));
        }
        if (exists(kStateFile)) {
            if (const auto text = readSmall(kStateFile)) {
                auto own = parseOwnState(*text, (contents.folder / kStateFile).string());
                if (own)
                    contents.own = std::move(*own);
                else
                    broken(own.error());
            }
        }
        if (exists(kExtraTensorsFile))
            openTensors(kExtraTensorsFile, contents.extras);
        if (exists(kConfigFile)) {
            if (auto text = readSmall(kConfigFile))
                contents.configYaml = std::move(*text);
        }
    }

    void openCounters()
    {
        if (!exists(kRunningStatesFile)) {
            absent("running_states.json is missing: epoch and step are unknown, so only weights can be loaded (model.from_pretrained)");
            return;
        }
        if (const auto text = readSmall(kRunningStatesFile)) {
            auto counters = parseRunningStates(*text, (contents.folder / kRunningStatesFile).string());
            if (counters)
                contents.counters = *counters;
            else
                broken(counters.error());
        }
    }

    // The original also takes model.safetensors or model.pt beside running_states.json.
    void openWeights()
    {
        const char *name = exists(kModelFolder) ? "model" : exists("model.safetensors") ? "model.safetensors" : exists("model.pt") ? "model.pt" : nullptr;
        if (!name && contents.isLora) {
            broken(Error(ExitCode::Checkpoint, "checkpoint.lora", contents.folder.string() + ": this is a LoRA checkpoint (lora/), which is recognised but cannot be loaded yet; "
                             "merge it into full weights with the program that wrote it", contents.folder.string()));
            return;
        }
        if (!name) {
            broken(Error(ExitCode::Checkpoint, "checkpoint.missing-weights", contents.folder.string() + ": there is no model/, so nothing can be loaded from here", contents.folder.string()));
            return;
        }
        auto tensors = tensorsOf(contents.folder / name);
        if (tensors)
            contents.weights = std::move(*tensors);
        else
            broken(tensors.error());
    }

    bool openTensors(std::string_view name, std::vector<StoredTensor> &into)
    {
        if (!exists(name))
            return false;
        auto tensors = tensorsOfFile(contents.folder / name);
        if (!tensors) {
            broken(tensors.error());
            return true;
        }
        std::set<std::string> seen;
        for (StoredTensor &tensor : *tensors) {
            tensor.name = std::string(withoutPrefixes(tensor.name));
            if (!seen.insert(tensor.name).second)
                broken(Error(ExitCode::Checkpoint, "checkpoint.duplicate-tensor", tensor.file().string() + ": tensor \"" + tensor.name + "\" is there twice, with and without \"module.\"", tensor.file().string()));
        }
        into = std::move(*tensors);
        return true;
    }

    void openFlatEma()
    {
        openTensors(kFlatEmaFile, contents.ema);
        // A one-dimensional piece for a tensor of more dimensions shows in the other parts; here the flag alone is set when all are flat.
        contents.emaIsFlat = !contents.ema.empty();
        for (const StoredTensor &tensor : contents.ema)
            contents.emaIsFlat = contents.emaIsFlat && tensor.shape.size() == 1;
    }

    void openOptimizer()
    {
        if (!exists(kOptimizerFolder)) {
            absent("optimizer/ is missing: moments start at zero");
            return;
        }
        const fs::path folder = contents.folder / kOptimizerFolder;
        auto index = readShardIndex(folder);
        if (!index) {
            broken(index.error());
            return;
        }
        for (const std::string &shard : index->shards) {
            if (!exists(fs::path(kOptimizerFolder) / shard)) {
                broken(Error(ExitCode::Checkpoint, "checkpoint.missing-shard", (folder / shard).string() + " is missing, " + index->file.filename().string() + " names it; copy it here or choose another checkpoint", (folder / shard).string()));
                continue;
            }
            Status opened = shard.ends_with(".safetensors") ? openFlatShard(folder / shard) : openPickledShard(folder / shard);
            if (!opened)
                broken(opened.error());
        }
        if (contents.isWhole())
            checkOptimizerIndex(*index);
        openGroups(folder / (index->paramGroups.empty() ? std::string(kGroupFile) : index->paramGroups));
    }

    static std::optional<std::int64_t> indexOf(std::string_view text)
    {
        std::int64_t value = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0)
            return std::nullopt;
        return value;
    }

    static Error badOptimizer(const fs::path &file, const std::string &what)
    {
        return Error(ExitCode::Checkpoint, "checkpoint.bad-optimizer", file.string() + ": " + what, file.string());
    }

    // Keys state.<index>.step, .exp_avg, .exp_avg_sq; `step` is a pickled int in a byte tensor, or a numeric tensor.
    Status openFlatShard(const fs::path &file)
    {
        auto tensors = tensorsOfFile(file);
        if (!tensors)
            return tensors.error();
        for (StoredTensor &tensor : *tensors) {
            const std::string_view key = tensor.name;
            const std::size_t dot = key.rfind('.');
            const auto index = key.starts_with("state.") && dot > 6 ? indexOf(key.substr(6, dot - 6)) : std::nullopt;
            if (!index)
                return badOptimizer(file, "the entry \"" + tensor.name + "\" is not of the form state.NUMBER.NAME");
            const std::string field(key.substr(dot + 1));
            OptimizerEntry &entry = contents.optimizer[*index];
            if (field == "exp_avg")
                entry.expAvg = std::move(tensor);
            else if (field == "exp_avg_sq")
                entry.expAvgSq = std::move(tensor);
            else if (field == "step") {
                auto step = stepOf(tensor);
                if (!step)
                    return step.error();
                entry.step = *step;
            }
        }
        return Done{};
    }

    static Result<std::int64_t> stepOf(const StoredTensor &tensor)
    {
        if (tensor.bytes() > 4096)
            return badOptimizer(tensor.file(), "\"" + tensor.name + "\" has " + std::to_string(tensor.bytes()) + " bytes, one number is expected");
        auto bytes = tensor.readAll();
        if (!bytes)
            return bytes.error();
        if (tensor.dtype == DType::U8 && bytes->size() > 1) {
            auto value = readPickle(*bytes, tensor.file().string() + " (" + tensor.name + ")");
            if (!value)
                return value.error();
            if (value->isNumber())
                return static_cast<std::int64_t>(value->asNumber());
        } else if (tensor.elements() == 1) {
            const auto as = [&]<class Number>(Number number) { std::memcpy(&number, bytes->data(), sizeof number); return static_cast<std::int64_t>(number); };
            switch (tensor.dtype) {
            case DType::F32: return as(float());
            case DType::F64: return as(double());
            case DType::I64: return as(std::int64_t());
            case DType::I32: return as(std::int32_t());
            case DType::U8: return as(std::uint8_t());
            default: break;
            }
        }
        return badOptimizer(tensor.file(), "\"" + tensor.name + "\" is not a number of steps");
    }

    // A dict {index: {"step": int, "exp_avg": tensor, "exp_avg_sq": tensor}}.
    Status openPickledShard(const fs::path &file)
    {
        auto archive = TorchArchive::open(file);
        if (!archive)
            return archive.error();
        const PickleValue &root = (*archive)->root();
        if (root.kind != PickleValue::Kind::Dict)
            return badOptimizer(file, "a dict of parameter states is needed");
        for (std::size_t at = 0; at + 1 < root.items.size(); at += 2) {
            const PickleValue &key = root.items[at], &state = root.items[at + 1];
            if (key.kind != PickleValue::Kind::Int || key.integer < 0 || state.kind != PickleValue::Kind::Dict)
                return badOptimizer(file, "it is not a dict from parameter numbers to states");
            OptimizerEntry &entry = contents.optimizer[key.integer];
            const std::string prefix = "state." + std::to_string(key.integer) + ".";
            if (const PickleValue *step = state.find("step"); step && step->isNumber())
                entry.step = static_cast<std::int64_t>(step->asNumber());
            if (const PickleValue *moment = state.find("exp_avg"); moment && moment->kind == PickleValue::Kind::Tensor)
                entry.expAvg.emplace(*archive, prefix + "exp_avg", moment->tensor);
            if (const PickleValue *moment = state.find("exp_avg_sq"); moment && moment->kind == PickleValue::Kind::Tensor)
                entry.expAvgSq.emplace(*archive, prefix + "exp_avg_sq", moment->tensor);
        }
        return Done{};
    }

    void checkOptimizerIndex(const ShardIndex &index)
    {
        std::set<std::int64_t> named;
        for (const auto &[name, shard] : index.weightMap) {
            const auto number = indexOf(name);
            if (!number || contents.optimizer.count(*number) == 0) {
                broken(badOptimizer(index.file, "the state of parameter \"" + name + "\" should be in " + shard + " and is not there"));
                return;
            }
            named.insert(*number);
        }
        for (const auto &[number, entry] : contents.optimizer) {
            if (named.count(number) == 0) {
                broken(badOptimizer(index.file, "a shard holds the state of parameter " + std::to_string(number) + ", which the index does not name; shards of two saves are mixed"));
                return;
            }
            if (!entry.expAvg || !entry.expAvgSq || !entry.step) {
                broken(badOptimizer(index.file, "the state of parameter " + std::to_string(number) + " lacks one of step, exp_avg, exp_avg_sq"));
                return;
            }
        }
    }

    // Weights stand in the order of the index, which is the model's own; with nothing frozen it is also the optimizer's.
    void compareOptimizerWithWeights()
    {
        if (contents.optimizer.empty() || contents.optimizer.size() < contents.weights.size())
            return;
        const fs::path folder = contents.folder / kOptimizerFolder;
        if (contents.optimizer.size() > contents.weights.size()) {
            broken(badOptimizer(folder, "it has the states of " + std::to_string(contents.optimizer.size()) + " parameters, the model has " + std::to_string(contents.weights.size())
                                            + "; the optimizer belongs to another model"));
            return;
        }
        for (const auto &[number, entry] : contents.optimizer) {
            if (number >= static_cast<std::int64_t>(contents.weights.size()) || entry.expAvg->shape != contents.weights[static_cast<std::size_t>(number)].shape) {
                broken(badOptimizer(folder, "the state of parameter " + std::to_string(number) + " has the shape " + shapeText(entry.expAvg->shape)
                                                + ", which is not that of the model's parameter; the optimizer belongs to another model"));
                return;
            }
        }
    }

    void openGroups(const fs::path &file)
    {
        std::error_code ignored;
        if (!fs::exists(file, ignored)) {
            broken(Error(ExitCode::Checkpoint, "checkpoint.missing-file", file.string() + " is missing; without it the optimizer's settings are unknown", file.string()));
            return;
        }
        openPickleFile(file, contents.groups, parseParamGroups);
    }

    template <class State, class Parse>
    void openPickle(std::string_view name, const char *what, std::optional<State> &into, Parse parse)
    {
        if (exists(name))
            openPickleFile(contents.folder / name, into, parse);
        else
            absent(std::string(what) + " is missing");
    }
    template <class State, class Parse>
    void openPickleFile(const fs::path &file, std::optional<State> &into, Parse parse)
    {
        auto archive = TorchArchive::open(file);
        if (!archive) {
            broken(archive.error());
            return;
        }
        auto state = parse((*archive)->root(), file.string());
        if (state)
            into = std::move(*state);
        else
            broken(state.error());
    }
};

} // namespace

bool hasExactWeights(const Contents &contents) { return !contents.weights.empty() && contents.weights.front().dtype == DType::F32; }

std::vector<const StoredTensor *> valuesOf(const Contents &contents)
{
    std::vector<const StoredTensor *> values;
    for (const auto *part : {&contents.weights, &contents.ema, &contents.master}) {
        for (const StoredTensor &tensor : *part)
            values.push_back(&tensor);
    }
    for (const auto &[number, entry] : contents.optimizer) {
        for (const auto *moment : {&entry.expAvg, &entry.expAvgSq}) {
            if (*moment)
                values.push_back(&**moment);
        }
    }
    return values;
}

Result<Contents> openCheckpoint(const fs::path &folder)
{
    std::error_code failed;
    if (!fs::is_directory(folder, failed))
        return Error(ExitCode::Checkpoint, "checkpoint.not-a-folder", folder.string() + (failed || !fs::exists(folder, failed) ? " does not exist" : " is not a folder")
                         + "; give the folder of a checkpoint, like outputs/RUN/epoch0-global_step100", folder.string());
    Opener opener(folder);
    opener.openAll();
    return std::move(opener.contents);
}

} // namespace stagewright::ckptfile
