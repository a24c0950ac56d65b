// Where the random numbers of a training step come from. Two sources with one face: the original's one running stream, and streams that
// follow from (seed, rank, micro-step, sample) alone, so that no rank repeats another's draws and a resume needs no state.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/model/autoencoder.h"

namespace stagewright::train {

// The calls of one micro-step come in this order: beginStep, conditionUniform (per sample), autoencoderStreams, timeNormals, textUniforms
// (token states, then pooled), noise. All tensors are float32 on the CPU. One thread.
class Draws
{
public:
    virtual ~Draws() = default;
    virtual void beginStep(std::int64_t globalMicroStep, std::int64_t batch) = 0;
    virtual double conditionUniform(std::int64_t sample) = 0;
    virtual model::Generators autoencoderStreams() = 0;
    virtual torch::Tensor timeNormals() = 0;                             // [B]
    virtual torch::Tensor textUniforms(bool pooled) = 0;                 // [B]
    virtual torch::Tensor noise(std::int64_t tokens, std::int64_t width) = 0;    // [B, tokens, width]

    // What a checkpoint must keep; empty where nothing. restore: error where bytes are not of save().
    virtual std::map<std::string, std::string> save() const { return {}; }
    virtual Status restore(const std::map<std::string, std::string> &) { return Done{}; }
};

std::unique_ptr<Draws> makeSampleDraws(std::uint64_t seed, int rank);

// torch.manual_seed(seed) on the default CPU generator and random.seed(seed), drawn from in the original's order. Model initialisation
// before the first step draws from the same generator, as the original's does.
std::unique_ptr<Draws> makeStreamDraws(std::uint64_t seed);

// The seed of one stream; equal inputs give equal streams on every machine.
std::uint64_t streamSeed(std::uint64_t seed, std::uint64_t rank, std::uint64_t microStep, std::uint64_t sample, std::uint64_t purpose);

} // namespace stagewright::train
