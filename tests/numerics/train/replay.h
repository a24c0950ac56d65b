// A recorded run of the original trainer (tests/golden/opensora/train), replayed through our engine from its recorded inputs and draws.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/config/stage.h"
#include "core/train/engine.h"
#include "tests/numerics/train/golden_tensors.h"

namespace stagewright::test {

struct RecordedRun {
    std::string name;
    nlohmann::json json;
    TensorMap tensors;                           // of this run, or of another one with the same batches, draws and losses
    std::string tensorsOf;                       // its name; empty: there are none
    bool isOwn() const { return tensorsOf == name; }
    bool failedUpstream() const { return !json["error"].is_null(); }
};

std::vector<RecordedRun> recordedRuns();         // every *.json of the folder that describes a run

// The run's config as a stage, with compat opensora and our encoders in the place of the recording's stand-ins, sized as the model.
config::Stage stageOf(const RecordedRun &run);

std::int64_t batchesPerEpoch(const RecordedRun &run);        // as its log says

// Where a run that resumes starts from: folder of a golden checkpoint of the named run and step, if there is one.
struct ResumeSource {
    std::string run;                             // "r1_bf16_sync"
    std::int64_t step = 0;
    std::optional<std::filesystem::path> folder;
};
std::optional<ResumeSource> resumeSource(const RecordedRun &run);

// What one step of the recording hands to the engine.
class RecordedStep final : public train::Encoding, public train::Draws
{
public:
    RecordedStep(const RecordedRun &run, std::size_t step, std::int64_t patch);

    train::Encoded encode(const data::Batch &batch, train::Draws &draws) override;
    const torch::Tensor &nullTokens() override { return m_nullTokens; }
    const torch::Tensor &nullPooled() override { return m_nullPooled; }

    void beginStep(std::int64_t, std::int64_t) override {}
    double conditionUniform(std::int64_t) override { return 0; }
    model::Generators autoencoderStreams() override { return {}; }
    torch::Tensor timeNormals() override { return take(); }
    torch::Tensor textUniforms(bool) override { return take(); }
    torch::Tensor noise(std::int64_t, std::int64_t) override { return take(); }

    std::int64_t batchSize() const;
    const torch::Tensor *find(const std::string &part) const;         // "inp.img"; null: not recorded

private:
    torch::Tensor take();                        // the next recorded draw
    torch::Tensor nullOf(const std::string &before, const std::string &after) const;
    const RecordedRun &m_run;
    std::string m_prefix;
    std::int64_t m_patch;
    std::vector<std::int64_t> m_shape;           // of the latents
    std::vector<torch::Tensor> m_draws;
    std::size_t m_next = 0;
    torch::Tensor m_nullTokens, m_nullPooled;
};

} // namespace stagewright::test
