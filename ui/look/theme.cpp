#include "ui/look/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>

#include "ui/look/style_sheet.h"

namespace stagewright::look {
namespace {

using namespace Qt::StringLiterals;

Tokens lightTokens()
{
    Tokens t;
    t.dark = false;
    t.ground = QColor(0xf4f5f7); t.panel = QColor(0xffffff); t.raised = QColor(0xeaeff5); t.field = QColor(0xffffff); t.border = QColor(0xd9dde2);
    t.text = QColor(0x1c1e21); t.muted = QColor(0x626a74); t.accent = QColor(0x0067b1); t.onAccent = QColor(0xffffff);
    t.error = QColor(0xc4261d); t.warning = QColor(0x946200); t.good = QColor(0x12804a); t.errorGround = QColor(0xf3d5d3);
    t.stripOff = QColor(0xd9dce1);
    return t;
}

Tokens darkTokens()
{
    Tokens t;
    t.dark = true;
    t.ground = QColor(0x1e2023); t.panel = QColor(0x26292d); t.raised = QColor(0x2f3338); t.field = QColor(0x1b1d20); t.border = QColor(0x3a3e44);
    t.text = QColor(0xe6e7e9); t.muted = QColor(0x9aa0a8); t.accent = QColor(0x4aa3df); t.onAccent = QColor(0xffffff);
    t.error = QColor(0xff6b5e); t.warning = QColor(0xf0b32e); t.good = QColor(0x3fb27f); t.errorGround = QColor(0x4a2b2d);
    t.stripOff = QColor(0x3c4046);
    return t;
}

QPalette paletteOf(const Tokens &t)
{
    QPalette p;
    p.setColor(QPalette::Window, t.ground);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.field);
    p.setColor(QPalette::AlternateBase, t.raised);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::Button, t.panel);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::BrightText, t.error);
    p.setColor(QPalette::Highlight, t.accent);
    p.setColor(QPalette::HighlightedText, t.onAccent);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::ToolTipBase, t.raised);
    p.setColor(QPalette::ToolTipText, t.text);
    p.setColor(QPalette::PlaceholderText, t.muted);
    p.setColor(QPalette::Light, t.raised);
    p.setColor(QPalette::Midlight, t.raised);
    p.setColor(QPalette::Mid, t.border);
    p.setColor(QPalette::Dark, t.border);
    p.setColor(QPalette::Shadow, t.dark ? QColor(0x101113) : QColor(0xb8bdc4));
    for (auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, t.muted);
    return p;
}

void loadFonts()
{
    static bool done = false;
    if (std::exchange(done, true))
        return;
    for (const auto *file : {":/fonts/Inter-Regular.otf", ":/fonts/Inter-SemiBold.otf", ":/fonts/JetBrainsMono-Regular.ttf"})
        QFontDatabase::addApplicationFont(QString::fromLatin1(file));
}

} // namespace

Theme &theme()
{
    static Theme *instance = new Theme;                // lives as long as the process: widgets may ask during shutdown
    return *instance;
}

Theme::Theme()
{
    m_tokens = m_scheme.isDark() ? darkTokens() : lightTokens();
    connect(&m_scheme, &SystemScheme::changed, this, [this] {
        if (m_mode == ThemeMode::System)
            refresh();
    });
}

void Theme::setMode(ThemeMode mode)
{
    m_mode = mode;
    refresh();
}

void Theme::refresh()
{
    const bool dark = m_mode == ThemeMode::Dark || (m_mode == ThemeMode::System && m_scheme.isDark());
    m_tokens = dark ? darkTokens() : lightTokens();
    apply();
}

void Theme::apply()
{
    loadFonts();
    if (QApplication::style()->objectName() != "fusion"_L1 && !qApp->styleSheet().size())
        QApplication::setStyle(QStyleFactory::create(u"Fusion"_s));
    QApplication::setFont(uiFont(13));
    QApplication::setPalette(paletteOf(m_tokens));
    qApp->setStyleSheet(styleSheetOf(m_tokens));
    Q_EMIT changed();
}

QFont Theme::uiFont(double pixels, int weight)
{
    QFont font;
    font.setFamilies({u"Inter"_s, u"Noto Sans CJK SC"_s, u"DejaVu Sans"_s});
    font.setPixelSize(int(pixels + 0.5));
    font.setWeight(QFont::Weight(weight));
    font.setHintingPreference(QFont::PreferNoHinting);
    return font;
}

QFont Theme::codeFont(double pixels)
{
    QFont font;
    font.setFamilies({u"JetBrains Mono"_s, u"Noto Sans Mono CJK SC"_s, u"DejaVu Sans Mono"_s});
    font.setPixelSize(int(pixels + 0.5));
    font.setStyleHint(QFont::Monospace);
    font.setFixedPitch(true);
    return font;
}

} // namespace stagewright::look
