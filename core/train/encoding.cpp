#include "core/train/encoding.h"

namespace stagewright::train {

StageEncoding::StageEncoding(const Settings &settings, torch::Device device, std::unique_ptr<model::Autoencoder> autoencoder,
                             std::unique_ptr<model::TextEncoder> tokens, std::unique_ptr<model::TextEncoder> pooled)
    : m_settings(settings), m_device(device), m_conditions(settings.conditions), m_autoencoder(std::move(autoencoder)), m_tokens(std::move(tokens)), m_pooled(std::move(pooled))
{
}

Encoded StageEncoding::encode(const data::Batch &batch, Draws &draws)
{
    torch::NoGradGuard noGrad;
    Encoded encoded;
    if (batch.latents.defined())
        encoded.latents = batch.latents.to(m_device, m_settings.compat == Compat::OpenSora ? m_settings.dtype : torch::kFloat32);
    else
        encodeVideo(batch, draws, encoded);
    encoded.tokens = batch.tokens.defined() ? batch.tokens.to(m_device, m_settings.dtype) : m_tokens->encode(batch.texts);
    encoded.pooled = batch.pooled.defined() ? batch.pooled.to(m_device, m_settings.dtype) : m_pooled->encode(batch.texts);
    return encoded;
}

void StageEncoding::setNulls(const torch::Tensor &tokens, const torch::Tensor &pooled)
{
    m_nullTokens = tokens.to(m_device, m_settings.dtype);
    m_nullPooled = pooled.to(m_device, m_settings.dtype);
}

void StageEncoding::encodeVideo(const data::Batch &batch, Draws &draws, Encoded &encoded)
{
    const bool original = m_settings.compat == Compat::OpenSora;
    const bool inBackground = m_device.is_cuda() && batch.video.is_pinned();
    const auto video = batch.video.to(m_device, original ? m_settings.dtype : torch::kFloat32, inBackground);
    if (m_conditions.empty()) {
        encoded.latents = m_autoencoder->encode(video, draws.autoencoderStreams());
        return;
    }
    const auto frames = m_autoencoder->geometry().frames(video.size(2));
    const auto table = conditionsForLength(m_conditions, frames, m_autoencoder->geometry().time, m_settings.causal);
    if (original && frames > 1 && !table.empty())
        m_conditions = table;
    double weights = 0;
    for (const auto &entry : table)
        weights += entry.weight;
    encoded.nothingToChoose = frames > 1 && weights <= 0;
    const auto choose = [&](std::int64_t sample) { return weights > 0 ? chooseCondition(table, draws.conditionUniform(sample)) : Condition::T2v; };
    const auto conditioned = encodeConditioned(*m_autoencoder, video, choose, m_settings.causal, original ? EncodeOrder::PerSample : EncodeOrder::Batch,
                                               draws.autoencoderStreams());
    encoded.latents = conditioned.x0;
    encoded.cond = conditioned.cond;
    encoded.masks = conditioned.masks;
}

} // namespace stagewright::train
