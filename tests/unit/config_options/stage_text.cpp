#include "tests/unit/config_options/stage_text.h"

#include <cstdio>
#include <cstdlib>

#include "core/base/text.h"
#include "core/config/text_document.h"

namespace stagewright::config::test {

const char *const kSmallStage = R"(
dataset = dict(type="video_text", transform_name="resize_crop", fps_max=24, data_path="clips/table.csv")
bucket_config = {"64px": {1: (1.0, 4), 5: (1.0, 2), 9: (0.5, 2)}}
model = dict(
    type="flux", guidance_embed=False, fused_qkv=False, use_liger_rope=True,
    in_channels=192, vec_in_dim=32, context_in_dim=64, hidden_size=64, mlp_ratio=4.0, num_heads=4,
    depth=2, depth_single_blocks=4, axes_dim=[4, 6, 6], theta=10000, qkv_bias=True,
)
ae = dict(type="haar", latent_channels=48)
is_causal_vae = True
t5 = dict(type="hashed", max_length=16, hidden_size=64)
clip = dict(type="hashed", hidden_size=32)
optim = dict(cls="HybridAdam", lr=1e-3)
dtype = "fp32"
)";

Stage stageOf(const std::string &text, const std::vector<std::string> &tokens)
{
    const auto arguments = parseOverrides(tokens);
    auto stage = stageFromText(text, {}, arguments ? arguments->overrides : std::vector<Override>());
    if (!arguments || !stage) {
        std::fprintf(stderr, "%s\n", (arguments ? stage.error() : arguments.error()).message().c_str());
        std::abort();
    }
    return *stage;
}

Stage changed(const std::string &lines)
{
    std::string appended;
    std::vector<std::pair<std::string, std::string>> inside;
    for (const std::string &line : split(lines, '\n')) {
        const auto equals = line.find(" = ");
        const std::string path = line.substr(0, equals);
        if (path.find('.') == std::string::npos)
            appended += line + "\n";
        else
            inside.emplace_back(path, line.substr(equals + 3));
    }
    Stage stage = smallStage(appended);
    for (const auto &[path, text] : inside) {
        auto value = parseLiteral(text);
        const auto dot = path.find('.');
        Value *section = stage.values().find(path.substr(0, dot));
        if (!section)
            section = &stage.values().set(path.substr(0, dot), Value::dict({}));
        if (!value || !section->isDict()) {
            std::fprintf(stderr, "the test's line \"%s = %s\" cannot be applied\n", path.c_str(), text.c_str());
            std::abort();
        }
        value->origin = section->origin;
        section->dict().set(path.substr(dot + 1), *value);
    }
    return stage;
}

const Problem *find(const Problems &problems, std::string_view code, std::string_view path)
{
    for (const Problem &problem : problems) {
        if (problem.code == code && (path.empty() || problem.path == path))
            return &problem;
    }
    return nullptr;
}

std::string listed(const Problems &problems)
{
    std::string text;
    for (const Problem &problem : problems)
        text += std::string(severityName(problem.severity)) + " " + problem.code + " " + problem.path + ": " + problem.message + "\n";
    return text.empty() ? "(no problems)" : text;
}

Stage fixed(const Stage &stage, const Fix &fix)
{
    Stage copy = stage;
    copy.m_problems.clear();
    for (const Edit &edit : fix.edits) {
        Dict *dict = &copy.values();
        const auto parts = split(edit.path, '.');
        std::vector<DictKey> keys(parts.begin(), parts.end());
        if (parts.front() == "bucket_config" && keys.size() == 3)
            keys[2] = DictKey(static_cast<std::int64_t>(std::atoll(parts[2].c_str())));
        for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
            Value *child = dict->find(keys[i]);
            if (!child || !child->isDict())
                child = &dict->set(keys[i], Value::dict({}));
            dict = &child->dict();
        }
        if (!edit.to) {
            if (!dict->remove(keys.back()))
                dict->remove(DictKey(static_cast<std::int64_t>(std::atoll(parts.back().c_str()))));
            continue;
        }
        const auto value = parseLiteral(*edit.to);
        if (!value) {
            std::fprintf(stderr, "a fix writes \"%s\", which is no literal\n", edit.to->c_str());
            std::abort();
        }
        dict->set(keys.back(), *value);
    }
    return copy;
}

} // namespace stagewright::config::test
