#include "ui/settings/help_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/config/related_options.h"
#include "ui/look/flow_layout.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/option_words.h"
#include "ui/settings/problem_card.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using look::q;

HelpPanel::HelpPanel(QWidget *parent) : QScrollArea(parent)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    look::setRole(this, "rightpanel");
    auto *body = new QWidget(this);
    look::setRole(body, "panel");
    body->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);     // as wide as the panel, whatever a long word would like
    auto *box = new QVBoxLayout(body);
    box->setContentsMargins(16, 14, 14, 16);
    box->setSpacing(4);
    m_title = look::label("strong", body, true);
    m_path = look::label("codemuted", body, true);
    m_path->setFont(look::Theme::codeFont(11));
    m_path->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_help = look::label("", body, true);
    m_trap = look::label("warning", body, true);
    m_effect = look::label("muted", body, true);
    m_comesFrom = look::sectionLabel(body);
    m_sources = new QWidget(body);
    m_relatedTitle = look::sectionLabel(body);
    m_related = new QWidget(body);
    m_problemsTitle = look::sectionLabel(body);
    m_noProblems = look::label("muted", body, true);
    m_problems = new QWidget(body);
    m_problemsBox = new QVBoxLayout(m_problems);
    m_problemsBox->setContentsMargins(0, 0, 0, 0);
    m_problemsBox->setSpacing(4);
    m_fixAll = look::linkButton(body);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_title, m_path, m_help, m_trap, m_effect, m_comesFrom, m_sources, m_relatedTitle, m_related, m_problemsTitle, m_noProblems, m_problems, m_fixAll}) {
        if (widget == m_help || widget == m_comesFrom || widget == m_relatedTitle || widget == m_problemsTitle)
            box->addSpacing(10);
        box->addWidget(widget);
    }
    box->addStretch();
    setWidget(body);
    connect(m_fixAll, &QPushButton::clicked, this, &HelpPanel::fixAllAsked);
    look::bindText(this, [this] {
        m_comesFrom->setText(tr("COMES FROM"));
        m_relatedTitle->setText(tr("BELONGS TOGETHER"));
        m_fixAll->setText(tr("Fix all that have one answer"));
        m_noProblems->setText(tr("Nothing is wrong with this stage."));
        refresh();
    });
}

void HelpPanel::show(const config::Option *option, const session::SnapshotPtr &snapshot)
{
    m_option = option;
    m_snapshot = snapshot;
    refresh();
}

void HelpPanel::refresh()
{
    const bool any = m_option != nullptr;
    for (QWidget *widget : std::initializer_list<QWidget *>{m_path, m_effect, m_comesFrom, m_sources})
        widget->setVisible(any && m_snapshot && m_snapshot->stage);
    m_title->setText(any ? labelOf(*m_option) : tr("Choose an option to read about it"));
    if (any) {
        m_path->setText(q(m_option->path) + u" · "_s + typeWord(*m_option));
        m_help->setText(look::textOf(m_option->help));
        const QString reason = look::textOf(m_option->reason);
        if (m_option->keyClass == config::KeyClass::NotApplicable && !reason.isEmpty())
            m_help->setText(m_help->text() + u"\n\n"_s + tr("Not used here: %1.").arg(reason));
        m_trap->setText(look::textOf(m_option->trap));
        m_effect->setText(effectWords(*m_option));
    }
    m_help->setVisible(any);
    m_trap->setVisible(any && !m_trap->text().isEmpty());
    showSources();
    showRelated();
    showProblems();
}

// The options that decide whether this one counts, those that it decides about, and those that rules look at together with it.
void HelpPanel::showRelated()
{
    delete m_related->layout();
    qDeleteAll(m_related->findChildren<QWidget *>(QString(), Qt::FindDirectChildrenOnly));
    auto *flow = new look::FlowLayout(m_related, 10, 2);
    const auto related = m_option ? config::relatedOptions(*m_option) : std::vector<const config::Option *>();
    for (const config::Option *other : related) {
        auto *link = look::linkButton(m_related);
        link->setText(q(other->path));
        link->setToolTip(labelOf(*other));
        connect(link, &QPushButton::clicked, this, [this, path = q(other->path)] { Q_EMIT optionAsked(path); });
        flow->addWidget(link);
    }
    m_related->setVisible(!related.empty());
    m_relatedTitle->setVisible(!related.empty());
}

static QString shortened(const QString &text)
{
    QString line = text.simplified();
    return line.size() > 34 ? line.left(32) + u'…' : line;
}

void HelpPanel::showSources()
{
    delete m_sources->layout();
    qDeleteAll(m_sources->findChildren<QWidget *>(QString(), Qt::FindDirectChildrenOnly));
    auto *grid = new QGridLayout(m_sources);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(14);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    if (!m_option || !m_snapshot || !m_snapshot->stage)
        return;
    int row = 0;
    for (const auto &source : m_snapshot->sourcesOf(*m_option)) {
        auto *place = new look::ElidedLabel(m_sources, Qt::ElideMiddle), *value = new look::ElidedLabel(m_sources);
        for (auto *label : {place, value}) {
            look::setRole(label, row == 0 ? "code" : "codemuted");
            label->setFont(look::Theme::codeFont(11.5));
        }
        place->setFullText(originWords(source));
        place->setToolTip(q(source.file));
        value->setFullText(source.text.empty() ? tr("not set") : shortened(q(source.text)));
        value->setToolTip(q(source.text));
        grid->addWidget(place, row, 0);
        grid->addWidget(value, row, 1);
        ++row;
    }
}

static bool sameProblems(const Problems &a, const Problems &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Problem &x, const Problem &y) {
        return x.code == y.code && x.path == y.path && x.message == y.message && x.line == y.line;
    });
}

void HelpPanel::showProblems()
{
    const Problems problems = m_snapshot ? m_snapshot->problems : Problems();
    m_problemsTitle->setText(problems.empty() ? tr("PROBLEMS") : tr("PROBLEMS (%1)").arg(problems.size()));
    m_noProblems->setVisible(problems.empty());
    int fixable = 0;
    for (const auto &problem : problems)
        fixable += problem.fix.has_value();
    m_fixAll->setVisible(fixable > 1);
    if (sameProblems(problems, m_shownProblems))
        return;
    m_shownProblems = problems;
    qDeleteAll(m_problems->findChildren<QWidget *>(QString(), Qt::FindDirectChildrenOnly));
    for (std::size_t i = 0; i < problems.size() && i < 40; ++i) {
        auto *card = new ProblemCard(problems[i], m_problems, true);
        connect(card, &ProblemCard::fixAsked, this, &HelpPanel::fixAsked);
        connect(card, &ProblemCard::activated, this, &HelpPanel::optionAsked);
        m_problemsBox->addWidget(card);
    }
    if (problems.size() > 40) {
        auto *more = look::label("muted", m_problems);
        more->setText(tr("and %1 more").arg(problems.size() - 40));
        m_problemsBox->addWidget(more);
    }
}

} // namespace stagewright::settings
