#include "ui/settings/option_row.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <filesystem>

#include "ui/look/icons.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/settings/editor_factory.h"
#include "ui/settings/option_words.h"
#include "ui/settings/problem_card.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;

static constexpr int kLabelWidth = 200;

OptionRow::OptionRow(const config::Option &option, QWidget *parent) : QFrame(parent), m_option(option), m_editor(makeEditor(option, this))
{
    auto *line = new QHBoxLayout(this);
    line->setContentsMargins(16, 7, 10, 7);
    line->setSpacing(12);
    auto *names = new QVBoxLayout;
    names->setSpacing(0);
    m_label = look::label("", this, true);
    auto *path = new look::ElidedLabel(this, Qt::ElideMiddle);
    look::setRole(path, "codemuted");
    path->setFont(look::Theme::codeFont(11));
    path->setFullText(look::q(option.path));
    m_path = path;
    names->addWidget(m_label);
    names->addWidget(path);
    names->addStretch();
    auto *namesBox = new QWidget(this);
    namesBox->setLayout(names);
    names->setContentsMargins(0, 2, 0, 0);
    namesBox->setFixedWidth(kLabelWidth);
    line->addWidget(namesBox);
    m_right = new QVBoxLayout;
    m_right->setSpacing(6);
    m_right->addWidget(m_editor);
    line->addLayout(m_right, 1);
    m_reset = new QToolButton(this);
    m_reset->setIcon(look::icon("reset", look::tokens().muted));
    m_reset->setIconSize({14, 14});
    m_reset->setFixedSize(24, 24);
    line->addWidget(m_reset, 0, Qt::AlignTop);
    look::bindText(m_label, [this] {
        m_label->setText(labelOf(m_option));
        m_reset->setToolTip(tr("Take this setting out of the file: the base file's value or the default counts again"));
        m_reset->setAccessibleName(tr("Reset %1").arg(labelOf(m_option)));
    });
    connect(m_reset, &QToolButton::clicked, this, [this] { Q_EMIT removed(look::q(m_option.path)); });
    connect(m_editor, &OptionEditor::edited, this, &OptionRow::edited);
    connect(m_editor, &OptionEditor::removed, this, &OptionRow::removed);
    watchFocus(m_editor);
}

void OptionRow::watchFocus(QWidget *widget)
{
    for (auto *child : widget->findChildren<QWidget *>())
        if (child->focusPolicy() != Qt::NoFocus)
            child->installEventFilter(this);
    m_reset->installEventFilter(this);
}

bool OptionRow::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusIn)
        Q_EMIT focused();
    return QFrame::eventFilter(watched, event);
}

void OptionRow::mousePressEvent(QMouseEvent *) { Q_EMIT focused(); }

void OptionRow::setCurrent(bool current) { look::setRole(this, current ? "currentrow" : ""); }

void OptionRow::show(const session::SnapshotPtr &snapshot, const std::string &stageFile)
{
    m_editor->show(snapshot);
    const auto *value = snapshot->valueOf(m_option.path);
    const bool here = value && value->origin.fileName() == stageFile;
    auto policy = m_reset->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(policy);
    m_reset->setVisible(here);
    showProblems(snapshot->problemsOf(m_option.path));
}

// Cards are made anew only where the problems changed, so that a fix button under the pointer stays.
void OptionRow::showProblems(const std::vector<const Problem *> &problems)
{
    QStringList texts;
    for (const auto *problem : problems)
        texts << look::q(problem->message);
    if (texts == m_cardTexts)
        return;
    m_cardTexts = texts;
    for (auto *card : m_cards)
        card->deleteLater();
    m_cards.clear();
    for (const auto *problem : problems) {
        auto *card = new ProblemCard(*problem, this);
        connect(card, &ProblemCard::fixAsked, this, &OptionRow::fixAsked);
        m_right->addWidget(card);
        m_cards.append(card);
    }
}

} // namespace stagewright::settings
