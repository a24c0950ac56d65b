#include "ui/settings/problem_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/look/flow_layout.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/problem_words.h"
#include "ui/look/words.h"
#include "ui/models/problem_rows.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;

static constexpr int kMostLinkWidth = 216;             // what the help panel has room for at its narrowest

ProblemCard::ProblemCard(const Problem &problem, QWidget *parent, bool compact) : QFrame(parent), m_problem(problem)
{
    const char *tone = problem.severity == Severity::Error ? "error" : problem.severity == Severity::Warning ? "warning" : "muted";
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(compact ? 0 : 12, compact ? 2 : 7, compact ? 0 : 10, compact ? 2 : 7);
    box->setSpacing(3);
    auto *line = new QHBoxLayout;
    line->setSpacing(6);
    if (compact) {
        auto *mark = look::label(tone, this);
        mark->setText(problem.severity == Severity::Error ? u"●"_s : problem.severity == Severity::Warning ? u"▲"_s : u"○"_s);
        line->addWidget(mark, 0, Qt::AlignTop);
    } else {
        look::setRole(this, problem.severity == Severity::Error ? "errorcard" : problem.severity == Severity::Warning ? "warningcard" : "hintcard");
    }
    auto *words = look::label(compact ? "" : tone, this, true);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    words->setMinimumWidth(60);
    line->addWidget(words, 1);
    box->addLayout(line);
    look::bindText(this, [this, words] {
        words->setText(look::problemSentence(m_problem));
        setAccessibleName(words->text());
    });

    auto *links = new look::FlowLayout(nullptr, 10, 2);
    links->setContentsMargins(compact ? 14 : 0, 0, 0, 0);
    if (problem.fix) {
        auto *fix = compact ? look::linkButton(this) : new QPushButton(this);
        fix->setObjectName(u"fix"_s);
        fix->setAutoDefault(false);
        fix->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
        look::bindText(fix, [this, fix, compact] {
            const QString title = look::fixTitle(*m_problem.fix);
            fix->setText(compact ? fix->fontMetrics().elidedText(title, Qt::ElideMiddle, kMostLinkWidth) : title);
            fix->setToolTip(title);
            fix->setAccessibleName(title);
        });
        connect(fix, &QPushButton::clicked, this, [this] { Q_EMIT fixAsked(*m_problem.fix); });
        links->addWidget(fix);
    }
    if (compact && !problem.path.empty()) {
        auto *place = look::linkButton(this);
        const QString where = models::placeOf(problem);
        place->setText(where.isEmpty() ? look::q(problem.path) : where);
        place->setToolTip(look::q(problem.path));
        connect(place, &QPushButton::clicked, this, [this] { Q_EMIT activated(look::q(m_problem.path)); });
        links->addWidget(place);
    }
    if (links->count() > 0)
        box->addLayout(links);
    else
        delete links;
}

} // namespace stagewright::settings
