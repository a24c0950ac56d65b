#include "core/train/schedule.h"

#include <cmath>
#include <numbers>

namespace stagewright::train {

double learningRate(const ScheduleSettings &settings, std::int64_t index)
{
    const auto warmup = settings.warmupSteps.value_or(0);
    if (!settings.cosine) {
        if (index >= warmup)
            return settings.lr;
        return settings.initialLr + double(index + 1) / double(warmup + 1) * (settings.lr - settings.initialLr);
    }
    if (index < warmup)
        return double(index + 1) / double(warmup) * settings.lr;
    const auto length = settings.totalSteps - warmup;
    if (length <= 0)
        return settings.lr;
    return settings.lr * (1 + std::cos(std::numbers::pi * double(index - warmup) / double(length))) / 2;
}

double Schedule::lr() const
{
    if (m_held)
        return *m_held;
    if (isConstant())
        return m_settings.lr;
    const bool decaying = m_settings.cosine && m_index >= m_settings.warmupSteps.value_or(0);
    return learningRate(m_settings, m_index + (decaying ? m_cosineOffset : 0));
}

void Schedule::advance()
{
    ++m_index;
    m_held.reset();
}

void Schedule::resumeAt(std::int64_t index)
{
    m_index = index;
    m_cosineOffset = 0;
    m_held.reset();
}

void Schedule::resumeAsOriginal(const std::optional<ckptfile::SchedulerState> &saved, std::optional<double> initialLr, bool jump, std::int64_t index)
{
    const double configured = m_settings.lr;
    if (isConstant())
        return;
    if (initialLr)
        m_settings.initialLr = *initialLr;
    if (jump) {
        m_index = index;
        const auto warmup = m_settings.warmupSteps.value_or(0);
        if (m_settings.cosine && warmup > 0 && index >= warmup)
            m_cosineOffset = warmup - index;
        m_held.reset();
        return;
    }
    if (saved) {
        m_index = saved->lastEpoch;
        m_settings.warmupSteps = saved->warmupSteps;
        if (saved->kind == ckptfile::SchedulerState::Kind::Cosine) {
            m_settings.lr = saved->baseLr;
            m_settings.totalSteps = saved->cosineSteps + saved->warmupSteps;
        } else if (!initialLr) {
            m_settings.initialLr = saved->initialLr;
        }
    }
    m_held = configured;
}

std::optional<ckptfile::SchedulerState> Schedule::state() const
{
    if (isConstant())
        return {};
    ckptfile::SchedulerState state;
    state.kind = m_settings.cosine ? ckptfile::SchedulerState::Kind::Cosine : ckptfile::SchedulerState::Kind::Linear;
    state.initialLr = m_settings.initialLr;
    state.warmupSteps = m_settings.warmupSteps.value_or(0);
    state.baseLr = m_settings.lr;
    state.lastEpoch = m_index;
    state.lastLr = lr();
    state.cosineSteps = m_settings.cosine ? m_settings.totalSteps - state.warmupSteps : 0;
    return state;
}

} // namespace stagewright::train
