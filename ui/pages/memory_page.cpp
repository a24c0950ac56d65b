#include "ui/pages/memory_page.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/units.h"
#include "core/config/known_devices.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/sweep_panel.h"
#include "ui/settings/calm_combo_box.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

MemoryPage::MemoryPage(session::StageSession *stage, session::DeviceInfo *device, QWidget *parent) : QWidget(parent), m_stage(stage), m_deviceInfo(device)
{
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(18, 10, 18, 10);
    box->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(10);
    m_title = look::label("title", this);
    auto *tabs = new QButtonGroup(this);
    const auto tab = [&] {
        auto *button = new QToolButton(this);
        button->setCheckable(true);
        look::setRole(button, "tab");
        button->setFocusPolicy(Qt::StrongFocus);
        tabs->addButton(button);
        return button;
    };
    m_stageTab = tab();
    m_settingsTab = tab();
    m_stageTab->setChecked(true);
    m_deviceBox = new settings::CalmComboBox(this);
    m_deviceBox->setMinimumWidth(240);
    m_deviceBox->setMaxVisibleItems(24);
    head->addWidget(m_title);
    head->addSpacing(12);
    head->addWidget(m_stageTab);
    head->addWidget(m_settingsTab);
    head->addStretch(1);
    head->addWidget(m_deviceBox);
    box->addLayout(head);
    m_tabs = new QStackedWidget(this);
    m_planPanel = new PlanPanel(m_tabs);
    m_sweep = new SweepPanel(m_stage, &m_planner, m_tabs);
    m_tabs->addWidget(m_planPanel);
    m_tabs->addWidget(m_sweep);
    box->addWidget(m_tabs, 1);
    connect(m_stageTab, &QToolButton::clicked, this, [this] { showSettings(false); });
    connect(m_settingsTab, &QToolButton::clicked, this, [this] { showSettings(true); });
    connect(m_deviceBox, &QComboBox::activated, this, &MemoryPage::replan);
    connect(m_planPanel, &PlanPanel::exportAsked, this, &MemoryPage::exportPicture);
    connect(m_sweep, &SweepPanel::exportAsked, this, &MemoryPage::exportPicture);
    connect(m_sweep, &SweepPanel::said, this, &MemoryPage::said);
    connect(&m_planner, &session::PlanSession::answered, this, [this](qint64 ticket, const session::PlanAnswerPtr &answer) {
        if (ticket != m_ticket || ticket == 0)
            return;
        m_ticket = 0;
        takePlan(*answer);
    });
    m_timer.setSingleShot(true);
    m_timer.setInterval(kReplanMs);
    connect(&m_timer, &QTimer::timeout, this, &MemoryPage::replan);
    connect(m_stage, &session::StageSession::snapshotChanged, this, &MemoryPage::stageChanged);
    connect(m_deviceInfo, &session::DeviceInfo::changed, this, [this] { listDevices(); });
    look::bindText(this, [this] { retranslate(); });
}

MemoryPage::~MemoryPage() = default;

void MemoryPage::retranslate()
{
    m_title->setText(tr("Memory"));
    m_stageTab->setText(tr("This stage"));
    m_settingsTab->setText(tr("What each setting costs"));
    m_deviceBox->setAccessibleName(tr("Device to plan for"));
    m_deviceBox->setToolTip(tr("Plan for the device here, or for a GPU that is elsewhere"));
    listDevices();
    if (!m_stage->isOpen())
        m_planPanel->setNotice(tr("Open a stage to see what it will take: Ctrl+O, or the demo stage with Ctrl+K."), "muted");
    else if (m_ticket != 0)
        m_planPanel->setNotice(tr("Planning…"), "muted");
    else if (!m_planPanel->plan()) {
        m_plannedRevision = -1;                            // what stands in the way is said anew
        stageChanged();
    }
}

void MemoryPage::listDevices()
{
    const QString chosen = device();
    const QSignalBlocker blocker(m_deviceBox);
    m_deviceBox->clear();
    m_deviceBox->addItem(tr("The device here: %1").arg(m_deviceInfo->device().name), QString());
    for (const config::KnownDevice &known : config::knownDevices())
        m_deviceBox->addItem(u"%1 · %2 GiB"_s.arg(q(std::string(known.name))).arg(known.totalGiB, 0, 'f', 1), q(std::string(known.name)));
    m_deviceBox->setCurrentIndex(std::max(0, m_deviceBox->findData(chosen)));
}

QString MemoryPage::device() const { return m_deviceBox->currentData().toString(); }

void MemoryPage::showSettings(bool settings)
{
    (settings ? m_settingsTab : m_stageTab)->setChecked(true);
    m_tabs->setCurrentIndex(settings ? 1 : 0);
    m_sweep->setShown(settings && isVisible());
}

void MemoryPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_sweep->setShown(m_tabs->currentIndex() == 1);
    stageChanged();
}

void MemoryPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_sweep->setShown(false);
}

// Nothing is planned while nobody looks. An older question is of no use once the stage has changed.
void MemoryPage::stageChanged()
{
    const auto snapshot = m_stage->snapshot();
    if (!isVisible() || !snapshot || (snapshot->revision == m_plannedRevision && !snapshot->provisional))
        return;
    if (!m_planPanel->plan() && m_ticket == 0)
        return replan();
    m_timer.start();
}

void MemoryPage::replan()
{
    const auto snapshot = m_stage->snapshot();
    if (!snapshot || !m_stage->isSettled())
        return;                                        // the next snapshot is on its way
    m_planner.cancel(std::exchange(m_ticket, 0));
    m_plannedRevision = snapshot->revision;
    if (const Problem *problem = session::problemAgainstPlanning(*snapshot)) {
        m_planPanel->setNotice(tr("This stage cannot be planned yet. %1").arg(look::problemSentence(*problem)), "error");
        m_sweep->setStage(nullptr);
        return;
    }
    m_planned = snapshot->stage;
    m_plannedDevice = device();
    events::PlanRequest request;
    request.ask = "plan";
    request.fitDevice = look::s(m_plannedDevice);
    m_ticket = m_planner.ask(std::move(request), m_planned);
    m_planPanel->setNotice(tr("Planning…"), "muted");
}

void MemoryPage::takePlan(const events::PlanAnswer &answer)
{
    if (answer.problem || !answer.plan || answer.plan->buckets.empty()) {
        m_planPanel->setNotice(answer.problem ? look::problemSentence(*answer.problem) : tr("The planner's answer holds no bucket."), "error");
        m_plannedRevision = -1;                        // asked again when the page is shown again
        return;
    }
    std::int64_t limit = answer.plan->capacityBytes;
    if (const auto &own = m_planned->at("memory_limit"); own.isNumber() && own.number() > 0)
        limit = std::min(limit, std::int64_t(own.number() * kGiB));
    m_planPanel->setPlan(*answer.plan, limit);
    m_sweep->setDevice(m_plannedDevice, m_plannedDevice.isEmpty(), limit - answer.plan->contextBytes);
    m_sweep->setStage(m_planned);
    m_sweep->setBuckets(*answer.plan);
    for (const Problem &note : answer.notes)
        Q_EMIT said(look::problemSentence(note));
}

void MemoryPage::exportPicture()
{
    auto *dialog = new QFileDialog(this, tr("Export the picture, or its table"), QString(), tr("Pictures and tables (*.png *.svg *.pdf *.csv)"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"png"_s);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        const QString wrong = m_tabs->currentIndex() == 0 ? m_planPanel->exportTo(file) : m_sweep->exportTo(file);
        Q_EMIT said(wrong.isEmpty() ? tr("Written: %1").arg(file) : wrong);
    });
    dialog->open();
}

} // namespace stagewright::pages
