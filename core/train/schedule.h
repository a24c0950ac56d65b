// The learning rate as a closed form of the schedule's index, and the original's scheduler with its habits at a resume.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ckptfile/states.h"

namespace stagewright::train {

// The index counts what the schedule advances by: optimizer updates, or micro-steps where the run imitates the original.
struct ScheduleSettings {
    double lr = 0;                                   // optim.lr
    std::optional<std::int64_t> warmupSteps;         // none without cosine: constant
    bool cosine = false;
    double initialLr = 1e-6;                         // where the linear warm-up starts
    std::int64_t totalSteps = 0;                     // cosine: where it reaches 0, warm-up included
};

// Linear: initialLr + (i+1)/(W+1)*(lr-initialLr) for i < W, then lr. Cosine: lr*(i+1)/W for i < W, then lr/2*(1+cos(pi*(i-W)/(total-W))).
double learningRate(const ScheduleSettings &settings, std::int64_t index);

// Follows the closed form from index 0 on, or as the original does after a resume.
class Schedule
{
public:
    explicit Schedule(ScheduleSettings settings) : m_settings(settings) {}

    double lr() const;                               // of the index where it stands
    void advance();                                  // scheduler.step()
    std::int64_t index() const { return m_index; }
    const ScheduleSettings &settings() const { return m_settings; }

    // Right: the closed form of this stage's settings at `index`.
    void resumeAt(std::int64_t index);

    // As Open-Sora resumes. Its own state is loaded (not with jump), then the learning rate is set to optim.lr, for the linear kind its base
    // too; the first step afterwards uses optim.lr as it is. With jump (update_warmup_steps) the scheduler is moved to `index` instead, and
    // a cosine that is moved past its warm-up keeps optim.lr and begins its decay from the start.
    void resumeAsOriginal(const std::optional<ckptfile::SchedulerState> &saved, std::optional<double> initialLr, bool jump, std::int64_t index);

    std::optional<ckptfile::SchedulerState> state() const;      // none where the learning rate is constant

private:
    bool isConstant() const { return !m_settings.cosine && !m_settings.warmupSteps; }
    ScheduleSettings m_settings;
    std::int64_t m_index = 0;
    std::int64_t m_cosineOffset = 0;                 // added to the index past the warm-up
    std::optional<double> m_held;                    // stands in for the closed form until the next advance
};

} // namespace stagewright::train
