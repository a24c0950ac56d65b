#include "core/model/text_encoder.h"

#include "core/model/hashed_text.h"

namespace stagewright::model {

namespace {

Result<std::unique_ptr<TextEncoder>> make(const config::Stage &stage, const std::string &section, HashedText::Output output,
                                          torch::Device device, torch::Dtype dtype)
{
    const config::Value &type = stage.at(section + ".type");
    const std::string name = type.type() == config::Type::String ? type.string() : config::toPython(type);
    const auto refuse = [&](std::string code, std::string message) {
        return Error(ExitCode::Usage, std::move(code), std::move(message), type.origin.fileName(), type.origin.line);
    };
    if (name == "hashed")
        return std::unique_ptr<TextEncoder>(std::make_unique<HashedText>(output, stage.integer(section + ".hidden_size"), stage.integer(section + ".max_length"), device, dtype));
    if (name == "text_embedder") {
        return refuse("run.not-built-yet", section + ".type '" + name + "' cannot be trained with yet: this version encodes text with " + section +
                      ".type 'hashed' only; check, show, plan and buckets accept the stage");
    }
    return refuse("config.choice", "there is no text encoder '" + name + "'; " + section + ".type is hashed or text_embedder");
}

} // namespace

const torch::Tensor &TextEncoder::nullEmbedding()
{
    if (!m_null.defined())
        m_null = encode({std::string()});
    return m_null;
}

std::int64_t alignmentPadding(std::int64_t imageTokens, std::int64_t textTokens, std::int64_t ranks)
{
    const auto over = (imageTokens + textTokens) % ranks;
    return over ? ranks - over : 0;
}

Result<std::unique_ptr<TextEncoder>> makeTokenEncoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype)
{
    return make(stage, "t5", HashedText::Output::Tokens, device, dtype);
}

Result<std::unique_ptr<TextEncoder>> makePooledEncoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype)
{
    return make(stage, "clip", HashedText::Output::Pooled, device, dtype);
}

} // namespace stagewright::model
