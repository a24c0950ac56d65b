#include "ui/shell/status_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>

#include "core/base/host.h"
#include "ui/look/icons.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"

namespace stagewright::shell {

namespace {

constexpr int kHostEveryMs = 2000;

QToolButton *languageButton(const QString &text, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    look::setRole(button, "language");
    button->setText(text);
    button->setCheckable(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

} // namespace

StatusBar::StatusBar(session::StageSession *stage, session::Preferences *preferences, QWidget *parent)
    : QWidget(parent), m_stage(stage), m_preferences(preferences)
{
    look::setRole(this, "statusbar");
    setAttribute(Qt::WA_StyledBackground);
    setFixedHeight(26);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 1, 12, 0);
    layout->setSpacing(6);
    m_english = languageButton(QStringLiteral("English"), this);
    m_chinese = languageButton(QStringLiteral("中文"), this);
    m_theme = new QToolButton(this);
    look::setRole(m_theme, "language");
    m_theme->setFocusPolicy(Qt::StrongFocus);
    m_problems = look::linkButton(this);
    m_words = look::label("caption", this);
    m_host = look::label("caption", this);
    layout->addWidget(m_english);
    layout->addWidget(m_chinese);
    layout->addWidget(m_theme);
    layout->addSpacing(12);
    layout->addWidget(m_problems);
    layout->addWidget(m_words, 1);
    layout->addWidget(m_host);
    m_timer = new QTimer(this);
    m_timer->setInterval(kHostEveryMs);
    connect(m_timer, &QTimer::timeout, this, &StatusBar::refreshHost);
    m_timer->start();

    const auto choose = [this](look::LanguageId language, const QString &code) {
        look::language().set(language);
        m_preferences->set(QStringLiteral("language"), code);
    };
    connect(m_english, &QToolButton::clicked, this, [choose] { choose(look::LanguageId::English, QStringLiteral("en")); });
    connect(m_chinese, &QToolButton::clicked, this, [choose] { choose(look::LanguageId::Chinese, QStringLiteral("zh")); });
    connect(m_theme, &QToolButton::clicked, this, &StatusBar::toggleTheme);
    connect(m_problems, &QPushButton::clicked, this, &StatusBar::problemsAsked);
    connect(m_stage, &session::StageSession::snapshotChanged, this, &StatusBar::refresh);
    connect(&look::theme(), &look::Theme::changed, this, &StatusBar::refresh);
    look::bindText(this, [this] { refresh(); });
}

void StatusBar::toggleTheme()
{
    const bool dark = look::tokens().dark;
    look::theme().setMode(dark ? look::ThemeMode::Light : look::ThemeMode::Dark);
    m_preferences->set(QStringLiteral("theme"), dark ? QStringLiteral("light") : QStringLiteral("dark"));
}

void StatusBar::say(const QString &sentence)
{
    m_words->setText(sentence);
    m_words->setToolTip(sentence);
}

void StatusBar::refresh()
{
    const bool chinese = look::language().current() == look::LanguageId::Chinese;
    m_english->setChecked(!chinese);
    m_chinese->setChecked(chinese);
    m_theme->setIcon(look::icon(look::tokens().dark ? "sun" : "moon"));
    m_theme->setToolTip(look::tokens().dark ? tr("Light colours") : tr("Dark colours"));
    m_theme->setAccessibleName(m_theme->toolTip());
    int errors = 0, others = 0;
    if (const auto snapshot = m_stage->snapshot()) {
        for (const Problem &problem : snapshot->problems)
            ++(problem.severity == Severity::Error ? errors : others);
    }
    m_problems->setVisible(errors + others > 0);
    m_problems->setText(errors > 0 ? tr("%n problem(s)", nullptr, errors) : tr("%n hint(s)", nullptr, others));
    refreshHost();
}

void StatusBar::refreshHost()
{
    const double total = double(hostTotalBytes()), available = double(hostAvailableBytes());
    m_host->setText(tr("Host %1 of %2").arg(look::gib(total - available), look::bytes(total)));
}

} // namespace stagewright::shell
