// Image and video conditions of Open-Sora 2.0: which latent frames a sample is given, and the tensor that tells the model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/config/value.h"
#include "core/model/autoencoder.h"

namespace stagewright::train {

enum class Condition { T2v, I2vHead, I2vTail, I2vLoop, V2vHead, V2vTail, V2vHeadEasy, V2vTailEasy };

struct WeightedCondition {
    Condition condition = Condition::T2v;
    double weight = 0;
};
using ConditionTable = std::vector<WeightedCondition>;      // in the order of the stage's condition_config

std::string_view nameOf(Condition condition);                // "i2v_head"
std::optional<Condition> conditionByName(std::string_view name);
// Error (Usage): an unknown name, a weight that is no number or negative, nothing with a weight above 0.
Result<ConditionTable> conditionTable(const config::Dict &conditionConfig);

// What remains for a clip of T' latent frames: video conditions need more frames than they give away (32 or 64 pixel frames and, with a
// causal autoencoder, one more latent frame). A filtered copy; may be empty.
ConditionTable conditionsForLength(const ConditionTable &table, std::int64_t latentFrames, std::int64_t timeRatio, bool causal);

// The option that a uniform in [0,1) picks: the first whose cumulative weight is above uniform*total, as Python's random.choices.
Condition chooseCondition(const ConditionTable &table, double uniform);

struct Conditioned {
    torch::Tensor x0;                    // [B,C,T',H',W'], the autoencoder's dtype
    torch::Tensor cond;                  // [B,1+C,T',H',W']: mask (1 where given), then mask * condition latents
    torch::Tensor masks;                 // [B,T',H',W'], a view of cond
    std::vector<Condition> chosen;       // per sample; empty for single images
};

enum class EncodeOrder { Batch, PerSample };     // PerSample: as the original, which matters where the autoencoder draws from one stream

// Encodes a batch of videos [B,3,T,H,W] and what each sample is given. Single images are given nothing. Frames that are given as images
// are encoded alone, so that nothing of the clip leaks into them; a causal autoencoder's video conditions (33 or 65 frames) too.
// choose(b) is asked once a sample, in order.
Conditioned encodeConditioned(model::Autoencoder &autoencoder, const torch::Tensor &video, const std::function<Condition(std::int64_t)> &choose,
                              bool causal, EncodeOrder order, const model::Generators &generators = {});

} // namespace stagewright::train
