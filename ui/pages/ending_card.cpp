#include "ui/pages/ending_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <filesystem>

#include "core/base/exit_code.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/settings/problem_card.h"

namespace stagewright::pages {

using namespace Qt::StringLiterals;
using look::q;

EndingCard::EndingCard(const session::RunSession *run, QWidget *parent) : QFrame(parent), m_run(run)
{
    look::setRole(this, "errorcard");
    m_box = new QVBoxLayout(this);
    m_box->setContentsMargins(14, 10, 14, 10);
    m_box->setSpacing(4);
    m_title = look::label("strong", this, true);
    m_words = look::label("", this, true);
    m_words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_where = look::label("muted", this, true);
    m_problems = new QWidget(this);
    (new QVBoxLayout(m_problems))->setContentsMargins(0, 2, 0, 2);
    auto *line = new QHBoxLayout;
    m_resume = new QPushButton(this);
    m_folder = look::linkButton(this);
    line->addWidget(m_resume);
    line->addWidget(m_folder);
    line->addStretch();
    for (QWidget *widget : std::initializer_list<QWidget *>{m_title, m_words, m_where, m_problems})
        m_box->addWidget(widget);
    m_box->addLayout(line);
    connect(m_resume, &QPushButton::clicked, this, [this] {
        if (const auto *save = m_run->facts().lastGoodSave())
            Q_EMIT resumeAsked(q(save->path));
    });
    connect(m_folder, &QPushButton::clicked, this, [this] { Q_EMIT folderAsked(m_run->folder()); });
    hide();
    look::bindText(this, [this] { refresh(); });
}

static QString titleOf(int exit)
{
    switch (ExitCode(exit)) {
    case ExitCode::Usage: return EndingCard::tr("The stage could not be trained");
    case ExitCode::Data: return EndingCard::tr("The data could not be used");
    case ExitCode::Checkpoint: return EndingCard::tr("The checkpoint could not be loaded");
    case ExitCode::OutOfMemory: return EndingCard::tr("Out of memory");
    case ExitCode::InputOutput: return EndingCard::tr("Reading or writing failed");
    case ExitCode::WorkerDied: return EndingCard::tr("The worker died");
    default: return EndingCard::tr("The run ended with an error");
    }
}

void EndingCard::refresh()
{
    const auto &facts = m_run->facts();
    const bool badly = facts.ending && facts.ending->exit != int(ExitCode::Done) && facts.ending->exit != int(ExitCode::Stopped);
    setVisible(badly);
    if (!badly)
        return;
    m_title->setText(titleOf(facts.ending->exit));
    m_words->setText(q(facts.ending->sentence));
    QStringList where;
    if (facts.step >= 0)
        where << tr("last step %1").arg(look::count(facts.step));
    if (facts.lastStep && !facts.lastStep->bucket.resolution.empty())
        where << tr("bucket %1 × %2 frames, batch %3").arg(q(facts.lastStep->bucket.resolution)).arg(facts.lastStep->bucket.frames).arg(facts.lastStep->bucket.batchSize);
    where << tr("exit code %1").arg(facts.ending->exit);
    m_where->setText(where.join(u" · "_s));
    const auto *save = facts.lastGoodSave();
    m_resume->setVisible(save);
    if (save)
        m_resume->setText(tr("Resume from %1").arg(q(std::filesystem::path(save->path).filename())));
    m_folder->setText(tr("Open the run's folder"));
    showProblems();
}

// What the run reported, in the worker's order: that is the order of what helps most. A report that only repeats the ending is left out.
void EndingCard::showProblems()
{
    std::vector<Problem> shown;
    for (const auto &problem : m_run->facts().problems)
        if (problem.fix || problem.message != m_run->facts().ending->sentence)
            shown.push_back(problem);
    QStringList texts;
    for (const auto &problem : shown)
        texts << q(problem.message) + (problem.fix ? q(problem.fix->title) : QString());
    if (texts == m_shownProblems)
        return;                                        // cards stay under the pointer
    m_shownProblems = texts;
    qDeleteAll(m_problems->findChildren<QWidget *>(QString(), Qt::FindDirectChildrenOnly));
    m_problems->setVisible(!shown.empty());
    for (const auto &problem : shown) {
        auto *card = new settings::ProblemCard(problem, m_problems);
        connect(card, &settings::ProblemCard::fixAsked, this, &EndingCard::fixAsked);
        m_problems->layout()->addWidget(card);
    }
}

} // namespace stagewright::pages
