#include "core/train/loss_scaler.h"

#include <algorithm>

namespace stagewright::train {

LossScaler::LossScaler(ScalerSettings settings) : m_settings(settings)
{
    m_state.scale = settings.initialScale;
    m_state.goodSteps = 0;
    m_state.hysteresis = 0;
}

void LossScaler::update(bool overflowed)
{
    if (overflowed) {
        m_state.goodSteps = 0;
        if (++m_state.hysteresis >= m_settings.hysteresis)
            m_state.scale = std::max(m_state.scale * m_settings.backoffFactor, m_settings.minScale);
        return;
    }
    if (++m_state.goodSteps < m_settings.growthInterval)
        return;
    m_state.goodSteps = 0;
    m_state.hysteresis = 0;
    m_state.scale = std::min(m_state.scale * m_settings.growthFactor, m_settings.maxScale);
}

} // namespace stagewright::train
