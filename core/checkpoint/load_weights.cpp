#include <algorithm>
#include <set>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/checkpoint/load.h"
#include "core/checkpoint/load_plan.h"
#include "core/checkpoint/tensor_type.h"
#include "core/ckptfile/finite.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/soundness.h"

namespace stagewright::checkpoint {

namespace fs = std::filesystem;
using namespace ckptfile;

namespace {

// The tensors of whatever the path is. A checkpoint folder keeps its weights in model/.
Result<std::vector<StoredTensor>> openWeights(const fs::path &path)
{
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return Error(ExitCode::Checkpoint, "checkpoint.missing-weights", path.string() + " does not exist; give a .safetensors or .pt file, a folder of shards with its index, or a checkpoint folder", path.string());
    if (fs::is_directory(path, ignored) && fs::is_directory(path / "model", ignored))
        return tensorsOf(path / "model");
    return tensorsOf(path);
}

// The wrapper that, left out, makes most names known; empty where names are fine as they are.
std::string commonWrapper(const std::vector<StoredTensor> &tensors, const TrainingState &target)
{
    const TensorMap plain(tensors);
    const auto matches = [&](const std::string &wrapper) {
        return std::count_if(target.parameters.begin(), target.parameters.end(), [&](const ParameterState &parameter) { return plain.find(wrapper + parameter.name) != nullptr; });
    };
    std::string best;
    auto most = matches("");
    for (const char *wrapper : {"model.", "state_dict.", "diffusion_model.", "model.diffusion_model.", "ema.", "_orig_mod."}) {
        if (const auto count = matches(wrapper); count > most) {
            most = count;
            best = wrapper;
        }
    }
    return best;
}

std::string listed(const std::vector<std::string> &names)
{
    std::string text;
    for (std::size_t at = 0; at < names.size() && at < 3; ++at)
        text += (at > 0 ? ", " : "") + names[at];
    return text + (names.size() > 3 ? " and " + std::to_string(names.size() - 3) + " more" : "");
}

void withoutWrapper(std::vector<StoredTensor> &tensors, const std::string &wrapper)
{
    for (StoredTensor &tensor : tensors) {
        std::string name(withoutPrefixes(tensor.name));
        if (!wrapper.empty() && name.starts_with(wrapper))
            tensor.name = name.substr(wrapper.size());
    }
}

// Whether the names' projections are fused; nothing where there are none.
template <class Named>
std::optional<bool> hasFused(const Named &tensors)
{
    for (const auto &tensor : tensors) {
        if (tensor.name.find("_attn.qkv.") != std::string::npos || tensor.name.find(".linear1.") != std::string::npos)
            return true;
        if (tensor.name.find("_attn.q_proj.") != std::string::npos || tensor.name.find(".v_mlp.") != std::string::npos)
            return false;
    }
    return std::nullopt;
}

void note(LoadReport &report, Severity severity, const char *code, const std::string &sentence)
{
    Problem problem;
    problem.severity = severity;
    problem.code = code;
    problem.message = report.folder.string() + ": " + sentence;
    problem.file = report.folder.string();
    report.notes.push_back(std::move(problem));
}

// The file's tensors as the model has them.
Status fitLayout(std::vector<StoredTensor> &tensors, const fs::path &path, const TrainingState &target, const WeightOptions &options, LoadReport &report)
{
    const auto fused = hasFused(tensors), wanted = hasFused(target.parameters);
    if (!fused || !wanted || !options.modelRope)
        return Done{};
    std::optional<RopeOrder> stored = options.fileRope;
    if (const auto config = readFile(path / kConfigFile); config && !stored)
        stored = ropeOrderOf(*config);
    if (!stored) {
        const std::string unsaid = "no file says in which rotary order its weights are, and in the wrong one training goes on with scrambled attention";
        if (!options.assumeModelRope)
            return Error(ExitCode::Usage, "config.rope-unsaid", path.string() + ": " + unsaid + "; set pretrained_rope to flux or opensora", path.string());
        note(report, Severity::Warning, "config.rope-unsaid", unsaid + "; they are taken to be in the model's (" + ropeOrderName(*options.modelRope)
                 + ") as the original does. Set pretrained_rope to flux or opensora to be sure");
    }
    const RopeOrder from = stored.value_or(*options.modelRope);
    if (from == *options.modelRope && *fused == *wanted)
        return Done{};
    auto changed = changeLayout(tensors, {from, *options.modelRope, wanted});
    if (!changed)
        return changed.error();
    tensors = std::move(*changed);
    note(report, Severity::Hint, "checkpoint.layout-changed", std::string("converted to the model's layout: ") + (from == *options.modelRope ? "" : "rotary order " + std::string(ropeOrderName(from)) + " to " + ropeOrderName(*options.modelRope))
             + (from != *options.modelRope && *fused != *wanted ? ", " : "") + (*fused == *wanted ? "" : *fused ? "fused projections cut" : "projections fused"));
    return Done{};
}

// The checkpoint of ours that the files lie in, if they do.
std::optional<std::pair<fs::path, Manifest>> checkpointAround(const fs::path &path)
{
    std::error_code failed;
    fs::path folder = fs::absolute(path, failed).lexically_normal();
    for (int levels = 0; levels < 3 && !folder.empty(); ++levels, folder = folder.parent_path()) {
        if (auto manifest = readManifest(folder))
            return std::pair(folder, std::move(*manifest));
    }
    return std::nullopt;
}

// Every byte of the files as it was written, where they tell, and no value among them that is not finite.
Status checkRead(const fs::path &path, const std::set<fs::path> &files, const std::vector<CopyStep> &steps)
{
    std::vector<const StoredTensor *> tensors;
    for (const CopyStep &step : steps) {
        if (tensors.empty() || tensors.back() != step.from)          // a weight and its master come from the same
            tensors.push_back(step.from);
    }
    if (auto around = checkpointAround(path)) {
        auto &[folder, manifest] = *around;
        std::erase_if(manifest.files, [&, root = folder](const ManifestFile &file) {
            return std::none_of(files.begin(), files.end(), [&](const fs::path &read) { std::error_code failed; return fs::equivalent(read, root / file.path, failed); });
        });
        const auto compared = compareHashes(folder, manifest, {}, kReaders);
        if (!compared)
            return compared.error();
        if (const InspectedFile *fault = firstFault(*compared))
            return Error(ExitCode::Checkpoint, "checkpoint.damaged-file", folder.string() + ": " + fault->sentence + "; choose other weights", (folder / fault->path).string());
    }
    for (const fs::path &file : files) {
        if (Status whole = isTorchArchive(file) ? checkArchive(file) : Status(Done{}); !whole)
            return whole;
    }
    const auto found = findNotFinite(tensors);
    if (!found)
        return found.error();
    return found->empty() ? Status(Done{}) : Status(notFinite(found->front()));
}

} // namespace

Result<LoadReport> loadWeights(const fs::path &path, TrainingState &target, const WeightOptions &options)
{
    auto tensors = openWeights(path);
    if (!tensors)
        return tensors.error();
    LoadReport report;
    report.folder = path;
    std::set<fs::path> files;
    for (const StoredTensor &tensor : *tensors)
        files.insert(tensor.file());
    const std::string wrapper = commonWrapper(*tensors, target);
    const bool hadPrefixes = TensorMap(*tensors).hadPrefixes();
    withoutWrapper(*tensors, wrapper);
    if (Status fitted = fitLayout(*tensors, path, target, options, report); !fitted)
        return fitted.error();
    const TensorMap stored(*tensors);
    std::vector<CopyStep> steps;
    std::int64_t matched = 0, wanted = 0;
    for (ParameterState &parameter : target.parameters) {
        wanted += parameter.weight.numel();
        const StoredTensor *from = stored.find(parameter.name);
        if (!from) {
            report.missing.push_back(parameter.name);
            continue;
        }
        if (!hasShape(*from, parameter.weight)) {
            report.mismatched.push_back(mismatchText(parameter.name, *from, parameter.weight));
            continue;
        }
        matched += parameter.weight.numel();
        steps.push_back({from, parameter.weight});
        if (parameter.master.defined())
            steps.push_back({from, parameter.master});
    }
    report.unexpected = stored.without(target.parameters);
    const auto refuse = [&](const char *code, const std::string &sentence) { return Error(ExitCode::Checkpoint, code, path.string() + ": " + sentence, path.string()); };
    const double share = wanted > 0 ? static_cast<double>(matched) / static_cast<double>(wanted) : 1;
    if (share < options.minimumMatch)
        return refuse("checkpoint.no-match", "only " + formatNumber(std::round(share * 1000) / 10) + " % of the model's numbers are in there"
                          + (report.missing.empty() ? "" : "; missing: " + listed(report.missing)) + (report.unexpected.empty() ? "" : "; the file has instead: " + listed(report.unexpected))
                          + (report.mismatched.empty() ? "" : "; other shapes: " + listed(report.mismatched)) + ". It is another model or another layout of names");
    if (!report.mismatched.empty() && !options.allowMismatch)
        return refuse("checkpoint.weights-differ", std::to_string(report.mismatched.size()) + " tensors have another shape: " + listed(report.mismatched) + "; change the model section, or allow them to be skipped");
    if (options.strict && !(report.missing.empty() && report.unexpected.empty() && report.mismatched.empty()))
        return refuse("checkpoint.not-strict", "strict_load is on and the names differ" + (report.missing.empty() ? "" : "; missing: " + listed(report.missing)) + (report.unexpected.empty() ? "" : "; unexpected: " + listed(report.unexpected)));
    if (Status sound = checkRead(path, files, steps); !sound)
        return sound.error();
    if (Status copied = copyAll(steps, {}); !copied)
        return copied.error();
    if (hadPrefixes || !wrapper.empty())
        note(report, Severity::Hint, "checkpoint.prefix", "names began with \"" + (hadPrefixes ? std::string("module.") : std::string()) + wrapper + "\", which was left out");
    if (!report.missing.empty())
        note(report, Severity::Warning, "checkpoint.missing", std::to_string(report.missing.size()) + " tensors of the model are not in there and keep their initial values: " + listed(report.missing));
    if (!report.unexpected.empty())
        note(report, Severity::Warning, "checkpoint.unexpected", std::to_string(report.unexpected.size()) + " tensors have no place in the model: " + listed(report.unexpected));
    if (!report.mismatched.empty())
        note(report, Severity::Warning, "checkpoint.mismatched", "skipped for their shape: " + listed(report.mismatched));
    report.parts.push_back({"weights", true, std::to_string(steps.size()) + " tensors loaded"});
    return report;
}

} // namespace stagewright::checkpoint
