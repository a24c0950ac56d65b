#include "ui/pages/run_figures.h"

#include "ui/look/flow_layout.h"
#include "ui/look/kind_colors.h"
#include "ui/look/language.h"
#include "ui/look/words.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;

RunFigures::RunFigures(const session::RunSession *run, QWidget *parent) : QWidget(parent), m_run(run)
{
    auto *flow = new look::FlowLayout(this, 24, 6);
    for (auto **figure : {&m_step, &m_loss, &m_time, &m_rate, &m_peak, &m_predicted, &m_wait, &m_remaining}) {
        *figure = new look::Figure(this);
        flow->addWidget(*figure);
    }
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    look::bindText(this, [this] {
        m_step->setCaption(tr("Step"));
        m_loss->setCaption(tr("Loss"));
        m_time->setCaption(tr("Step time"));
        m_rate->setCaption(tr("Clips/s"));
        m_peak->setCaption(tr("Peak"));
        m_predicted->setCaption(tr("Predicted peak"));
        m_wait->setCaption(tr("Waiting for data"));
        m_remaining->setCaption(tr("Remaining"));
        refresh();
    });
}

void RunFigures::refresh()
{
    const auto &facts = m_run->facts();
    const auto none = u"—"_s;
    const bool any = facts.lastStep.has_value();
    const std::int64_t target = facts.started ? facts.started->maxSteps : 0;
    m_step->setValue(any ? look::count(facts.step) : none, target > 0 ? tr("of %1").arg(look::count(target)) : QString());
    m_loss->setValue(any ? look::figure(facts.lastStep->loss) : none, facts.skippedSteps > 0 ? tr("%1 skipped").arg(facts.skippedSteps) : QString());
    const auto dominant = facts.dominantPhase();
    m_time->setValue(any ? look::duration(facts.secondsPerStep()) : none,
                     dominant ? tr("%1 %2 %").arg(look::wordOf(dominant->first)).arg(int(dominant->second * 100 + 0.5)) : QString());
    m_rate->setValue(any ? look::figure(facts.samplesPerSecond(), 3) : none);
    m_peak->setValue(facts.peakBytes > 0 ? look::bytes(double(facts.peakBytes)) : none, facts.peakStep >= 0 ? tr("in step %1").arg(look::count(facts.peakStep)) : QString());
    const auto &prediction = facts.buckets.prediction();
    m_predicted->setVisible(prediction.has_value());
    if (prediction)
        m_predicted->setValue(look::bytes(double(prediction->peakBytes)), tr("± %1 %").arg(prediction->errorBand * 100, 0, 'f', 0));
    m_wait->setValue(any ? tr("%1 %").arg(facts.dataWaitShare() * 100, 0, 'f', 1) : none);
    const auto remaining = m_run->isActive() ? facts.remainingSeconds() : std::nullopt;
    const double band = remaining && target > facts.step ? double(target - facts.step) * facts.secondsPerStepSpread() * 2 : 0;
    m_remaining->setValue(remaining ? look::duration(*remaining) : none, band >= 1 ? u"± "_s + look::duration(band) : QString());
}

} // namespace stagewright::pages
