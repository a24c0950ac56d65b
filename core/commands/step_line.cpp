#include "core/commands/step_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/host.h"
#include "core/base/units.h"

namespace stagewright::commands {

namespace {

constexpr double kRedrawSeconds = 0.1;

int terminalWidth()
{
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string printed(const char *format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string bucketText(const events::Bucket &bucket)
{
    return bucket.resolution + "×" + std::to_string(bucket.frames) + " b" + std::to_string(bucket.batchSize);
}

} // namespace

RunDisplay::Style RunDisplay::styleForTerminal()
{
    return ::isatty(STDERR_FILENO) ? Style::Bar : Style::Lines;
}

RunDisplay::~RunDisplay()
{
    if (m_drawn)
        std::fprintf(stderr, "\n");
}

void RunDisplay::show(const events::Record &record)
{
    if (m_style == Style::Silent)
        return;
    if (const auto *started = std::get_if<events::RunStarted>(&record.payload)) {
        m_maxSteps = started->maxSteps;
        m_step = started->firstStep;
        say("run " + started->run + " on " + started->deviceName + ": " + started->deviceReason + "; " + formatCount(started->parameters) + " parameters");
    } else if (const auto *step = std::get_if<events::Step>(&record.payload)) {
        showStep(record, *step);
    } else if (const auto *save = std::get_if<events::Checkpoint>(&record.payload)) {
        showSave(*save);
    } else if (const auto *note = std::get_if<events::Note>(&record.payload)) {
        say(note->level + ": " + note->sentence);
    } else if (const auto *problem = std::get_if<events::ProblemRecord>(&record.payload)) {
        say(oneLine(problem->problem));
    } else if (const auto *bad = std::get_if<events::BadSample>(&record.payload)) {
        say("row " + std::to_string(bad->row) + ", " + bad->path + ": " + bad->reason
            + (bad->replacedBy >= 0 ? "; row " + std::to_string(bad->replacedBy) + " is used instead" : ""));
    }
    refresh();
}

void RunDisplay::showStep(const events::Record &record, const events::Step &step)
{
    m_step = record.step;
    m_loss = step.loss;
    m_lr = step.lr;
    m_peak = std::max(m_peak, step.peakBytes);
    m_stepSeconds = m_stepSeconds > 0 ? m_stepSeconds + (step.seconds - m_stepSeconds) / 10 : step.seconds;
    if (m_style != Style::Lines)
        return;
    std::printf("step %lld%s  loss %s  lr %s  grad norm %s  %s  %s  peak %s%s\n", static_cast<long long>(record.step),
                m_maxSteps > 0 ? ("/" + std::to_string(m_maxSteps)).c_str() : "", printed("%.4f", step.loss).c_str(), printed("%.3g", step.lr).c_str(),
                printed("%.3g", step.gradNorm).c_str(), bucketText(step.bucket).c_str(), formatDuration(step.seconds).c_str(),
                formatBytes(static_cast<double>(step.peakBytes)).c_str(), step.skipped ? "  skipped: not finite" : "");
    std::fflush(stdout);
}

void RunDisplay::showSave(const events::Checkpoint &save)
{
    if (save.phase == "done" || save.phase == "failed") {
        m_saving.clear();
        say(save.phase == "failed" ? "saving " + save.path + " failed: " + save.sentence
                                   : "saved " + save.path + ": " + formatBytes(static_cast<double>(save.totalBytes)) + " in " + formatDuration(save.seconds)
                    + ", step blocked " + formatDuration(save.blockedSeconds));
        return;
    }
    m_saving = "saving: " + save.phase + " " + formatBytes(static_cast<double>(save.bytes)) + " of " + formatBytes(static_cast<double>(save.totalBytes));
}

void RunDisplay::say(const std::string &sentence)
{
    if (m_style == Style::Silent || sentence.empty())
        return;
    if (m_drawn)
        std::fprintf(stderr, "\r\033[K");
    m_drawn = false;
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", sentence.c_str());
    refresh(true);
}

std::string RunDisplay::bar() const
{
    std::string text = "step " + formatCount(m_step);
    if (m_maxSteps > 0)
        text += " of " + formatCount(m_maxSteps);
    text += "  loss " + printed("%.4f", m_loss) + "  " + formatDuration(m_stepSeconds) + "/step  peak " + formatBytes(static_cast<double>(m_peak));
    if (m_maxSteps > m_step && m_stepSeconds > 0)
        text += "  remaining " + formatDuration(static_cast<double>(m_maxSteps - m_step) * m_stepSeconds);
    if (!m_saving.empty())
        text += "  " + m_saving;
    const int room = terminalWidth() - static_cast<int>(text.size()) - 4;
    if (m_maxSteps > 0 && room >= 10) {
        const int filled = static_cast<int>(static_cast<double>(room) * static_cast<double>(std::clamp<std::int64_t>(m_step, 0, m_maxSteps)) / static_cast<double>(m_maxSteps));
        text = "[" + std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(room - filled), '.') + "] " + text;
    }
    return text.substr(0, static_cast<std::size_t>(terminalWidth() - 1));
}

void RunDisplay::refresh(bool atOnce)
{
    if (m_style != Style::Bar || m_step < 0)
        return;
    const double now = steadySeconds();
    if (!atOnce && now - m_lastDrawn < kRedrawSeconds)
        return;
    m_lastDrawn = now;
    std::fprintf(stderr, "\r%s\033[K", bar().c_str());
    m_drawn = true;
}

} // namespace stagewright::commands
