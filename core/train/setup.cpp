#include "core/train/setup.h"

#include "core/base/paths.h"
#include "core/base/units.h"
#include "core/checkpoint/load.h"
#include "core/config/bucket_table.h"
#include "core/data/cached.h"
#include "core/memory/device_module.h"
#include "core/memory/ledger.h"

namespace stagewright::train {

namespace {

Result<model::Mmdit> buildModel(const TrainerParts &parts, const Settings &settings)
{
    const auto config = model::mmditConfig(parts.stage);
    if (!config)
        return config.error();
    if (config->patchSize != settings.patch) {
        const auto &value = parts.stage.at("patch_size");
        return Error(ExitCode::Usage, "config.patch-size", "patch_size is " + std::to_string(settings.patch) + " and model.patch_size " +
                     std::to_string(config->patchSize) + ": they must be equal", value.origin.fileName(), value.origin.line);
    }
    model::Mmdit mmdit(*config, torch::TensorOptions(settings.dtype).device(parts.device));
    mmdit->train();
    return mmdit;
}

// The sizes on both sides of each place where an encoder plugs in.
Status checkSizes(const config::Stage &stage, const model::MmditConfig &config, const model::Autoencoder *autoencoder, const model::TextEncoder *tokens,
                  const model::TextEncoder *pooled)
{
    const auto fits = [&](std::string_view path, std::int64_t expected, std::int64_t found, const std::string &what) -> Status {
        if (expected == found)
            return Done{};
        const auto &value = stage.at(path);
        return Error(ExitCode::Usage, "config.size-mismatch", std::string(path) + " is " + std::to_string(expected) + ", but " + what + ": set it to " +
                     std::to_string(found), value.origin.fileName(), value.origin.line);
    };
    if (autoencoder) {
        const auto packed = autoencoder->latentChannels() * config.patchSize * config.patchSize;
        if (auto status = fits("model.in_channels", config.inChannels, packed, "the autoencoder's " + std::to_string(autoencoder->latentChannels()) +
                               " channels in patches of " + std::to_string(config.patchSize) + "x" + std::to_string(config.patchSize) + " make " + std::to_string(packed)); !status)
            return status;
    }
    if (!tokens)
        return Done{};
    if (auto status = fits("model.context_in_dim", config.contextInDim, tokens->width(), "the token encoder (t5) gives vectors of " + std::to_string(tokens->width())); !status)
        return status;
    return fits("model.vec_in_dim", config.vecInDim, pooled->width(), "the pooled encoder (clip) gives vectors of " + std::to_string(pooled->width()));
}

Status loadPretrained(const TrainerParts &parts, Engine &engine, Reporter &reporter)
{
    if (!parts.stage.isSet("model.from_pretrained"))
        return Done{};
    const std::filesystem::path path = expandUser(parts.stage.string("model.from_pretrained"));
    if (parts.load) {
        reporter.note("warning", "model.from_pretrained is not read: the weights come from the checkpoint " + parts.load->string(), "run.two-weight-sources");
        return Done{};
    }
    checkpoint::WeightOptions options;
    options.strict = parts.stage.boolean("model.strict_load");
    options.modelRope = parts.stage.boolean("model.use_liger_rope") ? ckptfile::RopeOrder::Halves : ckptfile::RopeOrder::Neighbours;
    if (parts.stage.isSet("pretrained_rope"))
        options.fileRope = ckptfile::ropeOrderNamed(parts.stage.string("pretrained_rope"));
    options.assumeModelRope = parts.stage.string("compat") == "opensora";
    const auto report = checkpoint::loadWeights(path, engine.state(), options);
    if (!report)
        return report.error().during("loading model.from_pretrained");
    for (const auto &note : report->notes)
        reporter.problem(note);
    return Done{};
}

Status buildOffload(const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter)
{
    const auto depth = model::checkpointDepth(parts.stage);
    if (!depth)
        return depth.error();
    if (!depth->warning.empty())
        reporter.note("warning", depth->warning, "memory.checkpoint-depth");
    memory::StepMemory step;
    step.depth = depth->depth;
    if (settings.offloadElements > 0 && depth->depth == memory::CheckpointDepth{}) {
        reporter.note("warning", "grad_ckpt_buffer_size is set, but no block is checkpointed: no buffer is made", "memory.buffer-without-checkpointing");
    } else if (settings.offloadElements > 0) {
        const auto bytes = settings.offloadElements * std::int64_t(torch::elementSize(settings.dtype));
        auto backend = memory::makeOffloadBackend(parts.device, bytes);
        if (!backend)
            return backend.error();
        run.offload = std::make_unique<memory::ActivationOffload>(std::move(*backend), settings.offloadElements, settings.dtype, settings.overflow);
        step.offload = run.offload.get();
    }
    run.engine->setMemory(step);
    return Done{};
}

// Whether this run misses a part that a checkpoint does not have.
bool concerns(const std::string &part, const Settings &settings, const Engine &engine)
{
    if (part == "rng")
        return settings.compat == Compat::OpenSora;          // other streams need no state
    if (part == "scheduler")
        return engine.schedule().state().has_value();
    return part != "position" && part != "sampler";          // both follow from the counters
}

std::string nextRates(const Schedule &schedule)
{
    Schedule ahead = schedule;
    std::string text;
    for (int i = 0; i < 3; ++i) {
        text += (i ? ", " : "") + formatNumber(ahead.lr());
        ahead.advance();
    }
    return text;
}

} // namespace

Status applyMemoryLimit(torch::Device device, std::int64_t bytes)
{
    if (!device.is_cuda()) {
        memory::ledger().setBudget(bytes);
        return Done{};
    }
    const auto module = memory::loadDeviceModule();
    if (!module)
        return module.error();
    if ((*module)->setLimit(device.index() < 0 ? 0 : device.index(), bytes) != 0)
        return Error(ExitCode::Usage, "memory.limit", std::string("memory_limit cannot be set on ") + device.str() + ": " + (*module)->lastError());
    return Done{};
}

Result<RunParts> buildRun(const TrainerParts &parts, const Settings &settings, Reporter &reporter)
{
    memory::PhaseScope phase(Phase::Load);
    RunParts run;
    run.draws = settings.compat == Compat::OpenSora ? makeStreamDraws(settings.seed) : makeSampleDraws(settings.seed, parts.rank);
    torch::manual_seed(settings.seed);               // the model's first weights, equal on every rank

    auto mmdit = buildModel(parts, settings);
    if (!mmdit)
        return mmdit.error();
    run.engine = std::make_unique<Engine>(settings, *mmdit, parts.data.batchesPerEpoch());
    if (const auto loaded = loadPretrained(parts, *run.engine, reporter); !loaded)
        return loaded.error();
    reporter.milestone("diffusion");
    run.engine->makeAverage();
    reporter.milestone("EMA");

    memory::KindScope kind(MemoryKind::Encoder);
    const auto latentDtype = settings.compat == Compat::OpenSora ? settings.dtype : torch::kFloat32;
    const auto cached = config::cachedParts(parts.stage);
    Result<std::unique_ptr<model::Autoencoder>> autoencoder = std::unique_ptr<model::Autoencoder>();
    Result<std::unique_ptr<model::TextEncoder>> tokens = std::unique_ptr<model::TextEncoder>(), pooled = std::unique_ptr<model::TextEncoder>();
    if (!cached.video && !(autoencoder = model::makeAutoencoder(parts.stage, parts.device, latentDtype)))
        return autoencoder.error();
    reporter.milestone("autoencoder");
    if (!cached.text && !(tokens = model::makeTokenEncoder(parts.stage, parts.device, settings.dtype)))
        return tokens.error();
    reporter.milestone("t5");
    if (!cached.text && !(pooled = model::makePooledEncoder(parts.stage, parts.device, settings.dtype)))
        return pooled.error();
    reporter.milestone("clip");
    if (const auto sizes = checkSizes(parts.stage, (*mmdit)->config(), autoencoder->get(), tokens->get(), pooled->get()); !sizes)
        return sizes.error();
    if (const auto note = cached.video ? std::string() : (*autoencoder)->note(); !note.empty())
        reporter.note("info", note, "run.autoencoder");

    run.engine->makeMasters();
    reporter.milestone("optimizer");
    run.encoding = std::make_unique<StageEncoding>(settings, parts.device, std::move(*autoencoder), std::move(*tokens), std::move(*pooled));
    if (settings.dropout && cached.text) {
        const auto nulls = data::readNullEmbeddings(parts.stage);
        if (!nulls)
            return nulls.error();
        static_cast<StageEncoding &>(*run.encoding).setNulls(nulls->tokens, nulls->pooled);
    } else if (settings.dropout) {
        run.encoding->nullTokens();
        run.encoding->nullPooled();
    }
    if (const auto offload = buildOffload(parts, settings, run, reporter); !offload)
        return offload.error();
    auto &state = run.engine->state();
    state.run = parts.runIdentity;
    state.datasetFingerprint = parts.data.fingerprint();
    state.configYaml = config::toYaml(parts.stage.values());
    state.worldSize = parts.worldSize;
    reporter.milestone("boost");
    return run;
}

constexpr std::int64_t kLastEpoch = 1'000'000'000;       // beyond it a counter is damage, and sums with it overflow

Status seekTo(data::BatchSource &data, data::Position position, Reporter &reporter)
{
    if (position.epoch > kLastEpoch) {
        return Error(ExitCode::Data, "data.no-such-position", "epoch " + std::to_string(position.epoch) + " is no epoch that training reaches: the checkpoint's counters are damaged, or start_epoch is too large");
    }
    if (const auto begun = data.seek({position.epoch, 0}); !begun)
        return begun;
    const auto batches = data.batchesPerEpoch();
    if (position.index > batches) {
        reporter.note("warning", "the position of the checkpoint, batch " + std::to_string(position.index) + " of epoch " + std::to_string(position.epoch) + ", lies beyond the data, which has " +
                      std::to_string(batches) + " batches: the epoch is read from its beginning", "data.changed");
        return Done{};
    }
    if (position.index < 0)
        return data.seek(position);                  // which says what is wrong with it
    return position.index == batches ? data.seek({position.epoch + 1, 0}) : data.seek(position);
}

Status resumeRun(const std::filesystem::path &path, const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter)
{
    memory::PhaseScope phase(Phase::Load);
    memory::KindScope kind(MemoryKind::Optimizer);       // moments are allocated by the load
    auto &state = run.engine->state();
    const auto here = state.datasetFingerprint;
    checkpoint::LoadOptions options;
    options.emaFromMaster = true;
    options.verify = !parts.loadIsSound;
    const auto report = checkpoint::loadCheckpoint(path.string(), state, options);
    if (!report)
        return report.error().during("resuming from " + path.string());
    for (const auto &note : report->notes)
        reporter.problem(note);
    for (const auto &part : report->parts) {
        if (!part.restored && concerns(part.part, settings, *run.engine))
            reporter.note("warning", part.part + ": " + part.sentence, "checkpoint.not-restored");
    }
    std::vector<std::string> notes;
    run.engine->adoptState(notes);
    if (const auto streams = run.draws->restore(state.randomStreams); !streams)
        return streams;
    for (const auto &note : notes)
        reporter.note("warning", note, "checkpoint.setting-changed");

    const auto &counters = run.engine->counters();
    data::Position position{counters.epoch, counters.microStep};
    if (state.position)
        position = {state.position->epoch, state.position->index};
    const bool sameData = state.datasetFingerprint.empty() || state.datasetFingerprint == here;
    if (!sameData) {
        reporter.note("warning", "the data or its buckets are not those of the checkpoint: epoch " + std::to_string(position.epoch) + " is read from its beginning", "data.changed");
        position.index = 0;
    }
    if (settings.startEpoch)
        position.epoch = *settings.startEpoch;
    if (settings.startStep)
        position.index = *settings.startStep;
    state.datasetFingerprint = here;
    if (const auto sought = seekTo(parts.data, position, reporter); !sought)
        return sought.error().during("resuming from " + path.string());
    reporter.note("info", "resumed from " + report->folder.string() + " after update " + std::to_string(run.engine->updates()) + "; the next learning rates are " +
                  nextRates(run.engine->schedule()), "run.resumed");
    return Done{};
}

} // namespace stagewright::train
