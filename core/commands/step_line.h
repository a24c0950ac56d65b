// A run in the terminal: a progress bar where standard error is one, otherwise a line a step on standard output.
#pragma once

#include <cstdint>
#include <string>

#include "core/events/record.h"

namespace stagewright::commands {

class RunDisplay
{
public:
    enum class Style { Bar, Lines, Silent };
    explicit RunDisplay(Style style) : m_style(style) {}
    static Style styleForTerminal();               // Bar where standard error is a terminal
    ~RunDisplay();                                 // leaves the cursor on a line of its own

    void show(const events::Record &record);
    void say(const std::string &sentence);         // above the bar, to standard error
    // Redraws the bar at most ten times a second.
    void refresh(bool atOnce = false);

private:
    void showStep(const events::Record &record, const events::Step &step);
    void showSave(const events::Checkpoint &save);
    std::string bar() const;

    Style m_style;
    std::int64_t m_step = -1, m_maxSteps = 0;
    double m_loss = 0, m_stepSeconds = 0, m_lr = 0;
    std::int64_t m_peak = 0;
    std::string m_saving;                          // "write 12.1 of 31.4 GiB", empty while nothing is saved
    double m_lastDrawn = 0;
    bool m_drawn = false;
};

} // namespace stagewright::commands
