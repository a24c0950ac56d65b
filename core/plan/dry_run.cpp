#include "core/plan/dry_run.h"

#include "core/base/text.h"
#include "core/memory/device.h"
#include "core/plan/meta_kernels.h"
#include "core/plan/stand_ins.h"
#include "core/train/engine.h"

namespace stagewright::plan {

namespace {

// Marks where blocks begin, forward and backward.
class Marker final : public memory::BlockObserver
{
public:
    void blockBegins(int block, memory::BlockPass pass) override
    {
        if (pass == memory::BlockPass::Forward)
            memory::ledger().mark(markOf(Place::Forward, block));
    }
    void blockEnds(int, memory::BlockPass) override {}
    bool wantsBackward() const override { return true; }
    void backwardBegins(int block) override { memory::ledger().mark(markOf(Place::Backward, block)); }
    void backwardEnded() override { memory::ledger().mark(markOf(Place::BackwardEnd)); }
};

// The block that a parameter's name says: "double_blocks.3.img_mod.lin.weight".
int blockOfName(const std::string &name, std::int64_t doubles)
{
    const auto number = [&](std::string_view prefix) { return std::stoi(name.substr(prefix.size())); };
    if (name.starts_with("double_blocks."))
        return number("double_blocks.");
    if (name.starts_with("single_blocks."))
        return static_cast<int>(doubles) + number("single_blocks.");
    return -1;
}

std::int64_t bytesOf(const torch::Tensor &tensor)
{
    return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

std::vector<ParameterBytes> parametersOf(const train::Engine &, const checkpoint::TrainingState &state, std::int64_t doubles)
{
    std::vector<ParameterBytes> all;
    for (const auto &parameter : state.parameters) {
        all.push_back({blockOfName(parameter.name, doubles), parameter.weight.numel(), bytesOf(parameter.weight), bytesOf(parameter.master),
                       bytesOf(parameter.expAvg) + bytesOf(parameter.expAvgSq), bytesOf(parameter.ema)});
    }
    return all;
}

} // namespace

DryRun dryRun(const Work &work, const ClipShape &shape)
{
    TORCH_CHECK(memory::attachLedger(torch::kMeta).ok(), "the meta device's allocator cannot be watched");
    ensureMetaKernels();
    memory::setMetaStandsFor(work.device);
    auto &ledger = memory::ledger();
    const auto outside = ledger.snapshot().byKind;       // of whatever else lives on meta in this process

    DryRun run;
    {
        memory::PhaseScope phase(Phase::Load);
        const torch::Device meta(torch::kMeta);
        model::Mmdit mmdit(work.model, torch::TensorOptions(work.settings.dtype).device(meta));
        mmdit->train();
        train::Engine engine(work.settings, mmdit, 1);
        engine.makeAverage();
        const auto encoding = standInEncoding(work, shape);
        engine.makeMasters();
        if (work.settings.dropout) {
            memory::KindScope kind(MemoryKind::Encoder);
            encoding->nullTokens();
            encoding->nullPooled();
        }
        const auto draws = standInDraws(work);
        std::unique_ptr<memory::ActivationOffload> offload;
        Marker marker;
        memory::StepMemory step;
        step.depth = work.depth;
        step.observer = &marker;
        if (work.bufferElements > 0) {
            auto backend = memory::makeOffloadBackend(meta, work.bufferElements * static_cast<std::int64_t>(torch::elementSize(work.settings.dtype)));
            TORCH_CHECK(backend.ok(), backend.ok() ? std::string() : backend.error().message());
            offload = std::make_unique<memory::ActivationOffload>(std::move(*backend), work.bufferElements, work.settings.dtype, memory::OverflowPolicy::Keep);
            step.offload = offload.get();
        }
        engine.setMemory(step);

        run.before = ledger.snapshot().byKind;
        for (std::size_t kind = 0; kind < run.before.size(); ++kind)
            run.before[kind] -= outside[kind];
        ledger.startJournal();
        for (std::int64_t micro = 0; micro < work.settings.accumulation; ++micro) {
            ledger.mark(markOf(Place::MicroStep));
            data::Batch batch;
            {
                memory::PhaseScope data(Phase::Data);
                batch = standInBatch(work, shape);
            }
            engine.microStep(batch, *encoding, *draws);
            if (micro + 1 == work.settings.accumulation) {
                // What the update works with is found out once a model (updateWorkspace()), not once a shape: here only what it leaves behind counts.
                memory::setMetaStandsFor(torch::kCPU);
                ledger.mark(markOf(Place::Update));
                engine.update();
            }
            engine.afterMicroStep();
            memory::setMetaStandsFor(work.device);
        }
        run.journal = ledger.takeJournal();
        run.parameters = parametersOf(engine, engine.state(), work.model.depth);
        if (offload) {
            const auto counters = offload->counters();
            run.bufferBytes = counters.highWaterBytes;
            run.offloadedBlocks = counters.offloadedBlocks / work.settings.accumulation;
            run.keptBlocks = counters.keptBlocks / work.settings.accumulation;
        }
    }
    return run;
}

} // namespace stagewright::plan
