// The look of the window in one place: the colours by role, light or dark, following the system unless a person chose.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>

#include "ui/look/system_scheme.h"

namespace stagewright::look {

// Colours by what they say, not by what they are. All pairs text/ground reach a contrast of 4.5:1.
struct Tokens {
    bool dark = false;
    QColor ground, panel, raised, field, border;       // main area, side panels, selected rows and cards, inputs, hairlines
    QColor text, muted, accent, onAccent;
    QColor error, warning, good, errorGround;
    QColor stripOff;                                   // unpainted cells of strips and bars
};

enum class ThemeMode { System, Light, Dark };

// GUI thread only. One instance, made by the first call of theme(); applies palette, style sheet and fonts to the application.
class Theme : public QObject
{
    Q_OBJECT
public:
    Theme();

    const Tokens &tokens() const { return m_tokens; }
    ThemeMode mode() const { return m_mode; }
    void setMode(ThemeMode mode);
    void apply();                                      // again: after fonts or the language changed

    static QFont uiFont(double pixels, int weight = QFont::Normal);
    static QFont codeFont(double pixels = 12);

Q_SIGNALS:
    void changed();                                    // tokens() are new; palette change events were sent already

private:
    void refresh();

    Tokens m_tokens;
    ThemeMode m_mode = ThemeMode::System;
    SystemScheme m_scheme;
};

Theme &theme();
inline const Tokens &tokens() { return theme().tokens(); }

} // namespace stagewright::look
