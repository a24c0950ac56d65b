#include "ui/shell/top_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

#include "core/base/exit_code.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"

namespace stagewright::shell {

using look::q;

TopBar::TopBar(session::StageSession *stage, session::RunSession *run, session::DeviceInfo *device, QWidget *parent)
    : QWidget(parent), m_stage(stage), m_run(run), m_device(device)
{
    look::setRole(this, "bar");
    setAttribute(Qt::WA_StyledBackground);
    setFixedHeight(44);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 4, 12, 5);
    layout->setSpacing(8);
    m_open = new QPushButton(this);
    look::setRole(m_open, "link");
    m_dirty = look::label("muted", this);
    m_bases = new look::Chip(this);
    m_bases->setObjectName(QStringLiteral("bases"));
    m_deviceChip = new look::Chip(this);
    m_state = new look::Chip(this);
    m_safe = new look::Chip(this);
    m_search = new QPushButton(this);
    look::setRole(m_search, "search");
    m_launch = new QPushButton(this);
    m_launch->setObjectName(QStringLiteral("launch"));
    look::setRole(m_launch, "primary");
    m_stop = new QPushButton(this);
    m_stop->setObjectName(QStringLiteral("stop"));
    for (QWidget *part : std::initializer_list<QWidget *>{m_open, m_dirty, m_bases})
        layout->addWidget(part);
    layout->addStretch();
    for (QWidget *part : std::initializer_list<QWidget *>{m_deviceChip, m_state, m_safe, m_search, m_launch, m_stop})
        layout->addWidget(part);
    createStopMenu();

    connect(m_open, &QPushButton::clicked, this, &TopBar::openAsked);
    connect(m_search, &QPushButton::clicked, this, &TopBar::searchAsked);
    connect(m_launch, &QPushButton::clicked, this, &TopBar::launchAsked);
    connect(m_stage, &session::StageSession::opened, this, &TopBar::refresh);
    connect(m_stage, &session::StageSession::dirtyChanged, this, &TopBar::refresh);
    connect(m_stage, &session::StageSession::snapshotChanged, this, &TopBar::refresh);
    connect(m_device, &session::DeviceInfo::changed, this, &TopBar::refresh);
    connect(m_run, &session::RunSession::phaseChanged, this, &TopBar::refreshRun);
    connect(m_run, &session::RunSession::factsChanged, this, &TopBar::refreshRun);
    connect(m_run, &session::RunSession::cleared, this, &TopBar::refreshRun);
    connect(&look::theme(), &look::Theme::changed, this, &TopBar::refreshRun);
    look::bindText(this, [this] { refresh(); });
}

void TopBar::createStopMenu()
{
    m_stopMenu = new QMenu(this);
    struct Kind { session::StopKind kind; const char *name; };
    for (const Kind &kind : {Kind{session::StopKind::AfterStepWithSave, "stopAndSave"}, Kind{session::StopKind::AfterStep, "stopAfterStep"},
                             Kind{session::StopKind::AtOnce, "stopAtOnce"}}) {
        QAction *action = m_stopMenu->addAction(QString());
        action->setObjectName(q(kind.name));
        connect(action, &QAction::triggered, this, [this, stop = kind.kind] { m_run->stop(stop); });
    }
    m_stop->setMenu(m_stopMenu);
}

void TopBar::refresh()
{
    const QString name = m_stage->isOpen() ? q(m_stage->file().filename()) : tr("No stage");
    m_open->setText(name);
    m_open->setToolTip(m_stage->isOpen() ? tr("%1\nOpen another stage (Ctrl+O)").arg(q(m_stage->file())) : tr("Open a stage (Ctrl+O)"));
    m_dirty->setText(m_stage->isDirty() ? tr("— edited") : QString());
    QStringList bases;
    if (const auto snapshot = m_stage->snapshot(); snapshot && snapshot->stage) {
        const auto &chain = snapshot->stage->baseChain();
        for (std::size_t i = 1; i < chain.size(); ++i)
            bases << q(chain[i].stem());
    }
    m_bases->show({}, bases.isEmpty() ? QString() : tr("base: %1").arg(bases.join(QStringLiteral(" ‹ "))));
    const auto &device = m_device->device();
    m_deviceChip->show({}, tr("%1 · %2").arg(device.name, look::bytes(double(device.totalBytes))));
    m_search->setText(tr("Find anything   Ctrl K"));
    m_launch->setText(tr("Launch"));
    m_launch->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return));     // setText() drops it
    m_launch->setToolTip(tr("Train this stage (Ctrl+Return)"));
    m_stop->setText(tr("Stop"));
    const QStringList words{tr("Stop after this step, with a save"), tr("Stop after this step"), tr("Stop at once")};
    for (int i = 0; i < words.size(); ++i)
        m_stopMenu->actions().at(i)->setText(words.at(i));
    refreshRun();
}

void TopBar::refreshRun()
{
    const auto &t = look::tokens();
    const auto phase = m_run->phase();
    const auto &facts = m_run->facts();
    const auto exit = facts.ending ? std::optional(facts.ending->exit) : std::nullopt;
    const bool badly = exit && *exit != int(ExitCode::Done) && *exit != int(ExitCode::Stopped);
    QString state = exit ? session::wordOfEnding(*exit) : session::wordOf(phase);
    if (m_run->isActive() && facts.step >= 0) {
        state += tr(" · step %1").arg(look::count(facts.step));
        if (facts.started && facts.started->maxSteps > 0)
            state += tr(" of %1").arg(look::count(facts.started->maxSteps));
    }
    m_state->show(m_run->isActive() ? (m_run->isSilent() ? t.warning : t.good) : badly ? t.error : t.muted, state);
    const bool safe = m_run->isSafeToStop();
    m_safe->show(safe ? t.good : t.warning, safe ? tr("Safe to stop") : tr("Saving, wait"));
    m_safe->setVisible(m_run->isActive());
    m_launch->setVisible(!m_run->isActive());
    m_stop->setVisible(m_run->isActive());
}

} // namespace stagewright::shell
