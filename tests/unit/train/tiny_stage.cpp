#include "tests/unit/train/tiny_stage.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/text.h"

namespace stagewright::test {

namespace {

constexpr const char *kText = R"(
dtype = "fp32"
device = "cpu"
seed = 11
dataset = dict(type="video_text", data_path="none.csv")
bucket_config = {"32px": {5: (1.0, 2)}}
model = dict(type="flux", from_pretrained=None, guidance_embed=False, cond_embed=False, fused_qkv=True, use_liger_rope=True, in_channels=48,
             vec_in_dim=8, context_in_dim=16, hidden_size=32, mlp_ratio=2.0, num_heads=2, depth=1, depth_single_blocks=1, axes_dim=[4, 6, 6],
             theta=10000, qkv_bias=True)
ae = dict(type="haar", latent_channels=12)
t5 = dict(type="hashed", hidden_size=16, max_length=8)
clip = dict(type="hashed", hidden_size=8, max_length=8)
optim = dict(cls="HybridAdam", lr=2e-3, eps=1e-8, weight_decay=0.01)
grad_clip = 1.0
grad_checkpoint = False
is_causal_vae = True
epochs = 100
)";

} // namespace

config::Stage tinyStage(const Changes &changes)
{
    auto stage = config::stageFromText(kText, "tiny.py");
    if (!stage) {
        std::fprintf(stderr, "%s\n", stage.error().message().c_str());
        std::abort();
    }
    for (const auto &[path, value] : changes) {
        auto *dict = &stage->values();
        const auto parts = split(path, '.');
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            if (!dict->find(parts[i]))
                dict->set(parts[i], config::Value::dict({}));
            dict = &dict->find(parts[i])->dict();
        }
        dict->set(parts.back(), value);
    }
    return *stage;
}

} // namespace stagewright::test
