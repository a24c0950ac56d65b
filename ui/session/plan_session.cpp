#include "ui/session/plan_session.h"

namespace stagewright::session {

const Problem *problemAgainstPlanning(const StageSnapshot &snapshot)
{
    for (const Problem &problem : snapshot.problems) {
        const bool matters = !snapshot.stage || problem.code.starts_with("config.") || problem.code.starts_with("memory.");
        if (problem.severity == Severity::Error && matters)
            return &problem;
    }
    return nullptr;
}

namespace {

constexpr int kLookMs = 250;                           // for deadlines and unsent words; answers wake the notifier

} // namespace

void PlanWorker::ask(qint64 ticket, std::shared_ptr<events::PlanRequest> request, StagePtr stage)
{
    if (!m_helper)
        m_helper = std::make_unique<client::PlanHelper>();
    if (stage)
        request->config = config::toYaml(stage->values());
    const auto id = m_helper->ask(std::move(*request));
    if (!id) {
        auto answer = std::make_shared<events::PlanAnswer>();
        answer->problem = id.error().problem;
        Q_EMIT answered(ticket, answer);
        return;
    }
    m_tickets[*id] = ticket;
    watch();
}

void PlanWorker::cancel(qint64 ticket)
{
    for (const auto &[id, ours] : m_tickets) {
        if (ours == ticket && m_helper)
            m_helper->cancel(id);
    }
}

void PlanWorker::stop()
{
    m_notifier.reset();
    if (m_timer)
        m_timer->stop();
    m_helper.reset();
    m_tickets.clear();
}

// The descriptor changes with every start of the helper.
void PlanWorker::watch()
{
    if (!m_timer) {
        m_timer = new QTimer(this);
        m_timer->setInterval(kLookMs);
        connect(m_timer, &QTimer::timeout, this, &PlanWorker::look);
    }
    m_helper->waiting() > 0 ? m_timer->start() : m_timer->stop();
    if (m_helper->pid() != m_pid) {
        m_pid = m_helper->pid();
        Q_EMIT helperChanged(m_pid);
    } else if (m_helper->descriptor() == m_descriptor && m_notifier) {
        return;
    }
    m_descriptor = m_helper->descriptor();
    m_notifier.reset();
    if (m_descriptor < 0)
        return;
    m_notifier = std::make_unique<QSocketNotifier>(m_descriptor, QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &PlanWorker::look, Qt::QueuedConnection);
}

void PlanWorker::look()
{
    if (!m_helper)
        return;
    for (auto &answer : m_helper->poll(std::chrono::milliseconds(0))) {
        const auto known = m_tickets.find(answer.id);
        if (known == m_tickets.end())
            continue;
        const qint64 ticket = known->second;
        m_tickets.erase(known);
        Q_EMIT answered(ticket, std::make_shared<const events::PlanAnswer>(std::move(answer)));
    }
    watch();
}

PlanSession::PlanSession(QObject *parent) : QObject(parent), m_worker(new PlanWorker)
{
    qRegisterMetaType<std::shared_ptr<events::PlanRequest>>();
    qRegisterMetaType<StagePtr>("stagewright::session::StagePtr");
    qRegisterMetaType<PlanAnswerPtr>("stagewright::session::PlanAnswerPtr");
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    connect(m_worker, &PlanWorker::helperChanged, this, [this](int pid) { m_pid = pid; });
    connect(m_worker, &PlanWorker::answered, this, [this](qint64 ticket, const PlanAnswerPtr &answer) {
        if (m_open.erase(ticket) == 0)
            return;
        Q_EMIT answered(ticket, answer);
        Q_EMIT waitingChanged(waiting());
    });
    m_thread.setObjectName(QStringLiteral("planning"));
    m_thread.start();
}

PlanSession::~PlanSession()
{
    QMetaObject::invokeMethod(m_worker, [worker = m_worker] { worker->stop(); }, Qt::QueuedConnection);
    m_thread.quit();
    m_thread.wait();
}

qint64 PlanSession::ask(events::PlanRequest request, StagePtr stage)
{
    const qint64 ticket = ++m_last;
    m_open.insert(ticket);
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, ticket, asked = std::make_shared<events::PlanRequest>(std::move(request)), stage = std::move(stage)] {
        worker->ask(ticket, asked, stage);
    }, Qt::QueuedConnection);
    Q_EMIT waitingChanged(waiting());
    return ticket;
}

void PlanSession::cancel(qint64 ticket)
{
    if (m_open.erase(ticket) == 0)
        return;
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, ticket] { worker->cancel(ticket); }, Qt::QueuedConnection);
    Q_EMIT waitingChanged(waiting());
}

} // namespace stagewright::session
