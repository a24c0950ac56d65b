#include "tests/numerics/train/replay.h"

#include <cstdio>
#include <cstdlib>
#include <regex>

#include "core/train/packing.h"
#include "tests/support/golden.h"

namespace stagewright::test {

namespace {

bool sameStart(const nlohmann::json &a, const nlohmann::json &b)
{
    if (a["steps"].empty() || a["steps"].size() != b["steps"].size())
        return false;
    for (std::size_t i = 0; i < a["steps"].size(); ++i) {
        const auto &left = a["steps"][i], &right = b["steps"][i];
        if (left["rows"] != right["rows"] || left["draws"] != right["draws"])
            return false;
        const double loss = left["loss"], other = right["loss"];
        if (std::abs(loss - other) > 1e-5 * std::abs(loss))
            return false;
    }
    return true;
}

} // namespace

std::vector<RecordedRun> recordedRuns()
{
    std::vector<RecordedRun> runs;
    for (const auto &file : support::goldenFiles("train", "*.json")) {
        RecordedRun run{file.stem().string(), support::readJson(file), {}, {}};
        if (!run.json.contains("steps") || !run.json.contains("config"))
            continue;                                // verified.json and the like
        if (run.json.contains("file") && run.json["file"].is_object()) {
            run.tensors = readTensors(file.parent_path() / run.json["file"]["file"].get<std::string>());
            run.tensorsOf = run.name;
        }
        runs.push_back(std::move(run));
    }
    for (auto &run : runs) {
        for (const auto &other : runs) {
            if (run.tensorsOf.empty() && other.isOwn() && sameStart(run.json, other.json)) {
                run.tensors = other.tensors;
                run.tensorsOf = other.name;
            }
        }
    }
    return runs;
}

config::Stage stageOf(const RecordedRun &run)
{
    const auto loaded = config::stageFromText(run.json["config"].get<std::string>(), run.name + ".py");
    if (!loaded) {
        std::fprintf(stderr, "%s: %s\n", run.name.c_str(), loaded.error().message().c_str());
        std::abort();
    }
    auto stage = *loaded;
    auto &values = stage.values();
    const auto patch = stage.integer("model.patch_size");
    config::Dict ae, t5, clip;
    ae.set("type", "haar");
    ae.set("latent_channels", stage.integer("model.in_channels") / (patch * patch));
    t5.set("type", "hashed");
    t5.set("max_length", std::int64_t(4));
    t5.set("hidden_size", stage.integer("model.context_in_dim"));
    clip.set("type", "hashed");
    clip.set("max_length", std::int64_t(4));
    clip.set("hidden_size", stage.integer("model.vec_in_dim"));
    values.set("ae", config::Value::dict(ae));
    values.set("t5", config::Value::dict(t5));
    values.set("clip", config::Value::dict(clip));
    values.set("compat", "opensora");
    return stage;
}

std::int64_t batchesPerEpoch(const RecordedRun &run)
{
    static const std::regex pattern("#training batch: ([0-9]+)");
    for (const auto &line : run.json["log"]) {
        std::smatch match;
        const auto text = line.get<std::string>();
        if (std::regex_search(text, match, pattern))
            return std::stoll(match[1]);
    }
    std::fprintf(stderr, "%s: its log does not say how many batches an epoch has\n", run.name.c_str());
    std::abort();
}

std::optional<ResumeSource> resumeSource(const RecordedRun &run)
{
    static const std::regex pattern("load = \"[^\"]*/([^/\"]+)/epoch[0-9]+-global_step([0-9]+)\"");
    std::smatch match;
    const auto text = run.json["config"].get<std::string>();
    if (!std::regex_search(text, match, pattern))
        return {};
    ResumeSource source{match[1], std::stoll(match[2]), {}};
    const auto wanted = "train/" + source.run + ".json, after " + std::to_string(source.step) + " updates";
    for (const auto &file : support::goldenFiles("ckpt", "*.json")) {
        const auto json = support::readJson(file);
        if (json.is_object() && json.value("source_run", std::string()) == wanted)
            source.folder = file.parent_path() / file.stem();
    }
    return source;
}

RecordedStep::RecordedStep(const RecordedRun &run, std::size_t step, std::int64_t patch)
    : m_run(run), m_prefix("step" + std::to_string(step) + "."), m_patch(patch)
{
    const auto &recorded = run.json["steps"][step];
    m_shape = recorded["unpacked_shapes"].back().get<std::vector<std::int64_t>>();       // conditions first, latents last
    for (std::size_t i = 0; i < recorded["draws"].size(); ++i)
        m_draws.push_back(run.tensors.at(m_prefix + "draw" + std::to_string(i) + "." + recorded["draws"][i][0].get<std::string>()));
    m_nullTokens = nullOf("txt_before_drop", "inp.txt");
    m_nullPooled = nullOf("vec_before_drop", "inp.y_vec");
}

const torch::Tensor *RecordedStep::find(const std::string &part) const
{
    const auto found = m_run.tensors.find(m_prefix + part);
    return found == m_run.tensors.end() ? nullptr : &found->second;
}

std::int64_t RecordedStep::batchSize() const
{
    return m_shape[0];
}

torch::Tensor RecordedStep::take()
{
    TORCH_CHECK(m_next < m_draws.size(), "the engine draws more often than the recording");
    return m_draws[m_next++];
}

// The row that drop-out put in the place of another, where it did.
torch::Tensor RecordedStep::nullOf(const std::string &before, const std::string &after) const
{
    const auto *full = find(before), *dropped = find(after);
    if (!dropped)
        return {};
    for (std::int64_t b = 0; full && b < full->size(0); ++b) {
        if (!torch::equal((*full)[b], (*dropped)[b]))
            return dropped->narrow(0, b, 1);
    }
    return torch::zeros_like(dropped->narrow(0, 0, 1));
}

train::Encoded RecordedStep::encode(const data::Batch &, train::Draws &)
{
    train::Encoded encoded;
    const auto *tokens = find("txt_before_drop"), *pooled = find("vec_before_drop"), *cond = find("inp.cond");
    encoded.latents = train::unpackLatents(*find("x0"), m_patch, m_shape[2], m_shape[3], m_shape[4]);
    encoded.tokens = tokens ? *tokens : *find("inp.txt");
    encoded.pooled = pooled ? *pooled : *find("inp.y_vec");
    if (cond)
        encoded.cond = train::unpackLatents(*cond, m_patch, m_shape[2], m_shape[3], m_shape[4]);
    return encoded;
}

} // namespace stagewright::test
