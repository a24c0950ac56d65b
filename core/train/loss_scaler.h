// The dynamic loss scale of float16 training, with ColossalAI's rule: an overflow that outlasts the hysteresis halves the scale, a run of
// good updates doubles it.
#pragma once

#include <cstdint>

#include "core/ckptfile/states.h"

namespace stagewright::train {

struct ScalerSettings {
    double initialScale = 65536;
    double minScale = 1;
    double maxScale = 4294967296.0;
    double growthFactor = 2;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 1000;
    std::int64_t hysteresis = 2;
};

class LossScaler
{
public:
    explicit LossScaler(ScalerSettings settings);
    double scale() const { return m_state.scale; }
    void update(bool overflowed);            // once an update, after the norm is known
    bool isAtMinimum() const { return m_state.scale <= m_settings.minScale; }
    const ckptfile::ScalerState &state() const { return m_state; }
    void restore(const ckptfile::ScalerState &state) { m_state = state; }

private:
    ScalerSettings m_settings;
    ckptfile::ScalerState m_state;           // hysteresis there counts overflows since the scale last grew
};

} // namespace stagewright::train
