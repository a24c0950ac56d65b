#include "ui/look/style_sheet.h"

#include "ui/look/theme.h"

namespace stagewright::look {

using namespace Qt::StringLiterals;

// Widgets say what they are by the dynamic property "role"; the sheet says how that looks.
static const char *const kSheet = R"(
QToolTip { background: %raised; color: %text; border: 1px solid %border; padding: 4px 6px; }
*[role="panel"] { background: %panel; }
*[role="ground"] { background: %ground; }
*[role="bar"] { background: %panel; border: none; border-bottom: 1px solid %border; }
*[role="statusbar"] { background: %panel; border: none; border-top: 1px solid %border; }
*[role="rail"] { background: %panel; border: none; border-right: 1px solid %border; }
*[role="leftpanel"] { background: %panel; border: none; border-right: 1px solid %border; }
*[role="rightpanel"] { background: %panel; border: none; border-left: 1px solid %border; }
QLabel[role="muted"] { color: %muted; }
QLabel[role="section"] { color: %muted; font-weight: 600; font-size: 12px; }
QLabel[role="title"] { font-weight: 600; font-size: 15px; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="error"] { color: %error; }
QLabel[role="warning"] { color: %warning; }
QLabel[role="good"] { color: %good; }
QLabel[role="figure"] { font-size: 18px; }
QLabel[role="caption"] { color: %muted; font-size: 11px; }
QLabel[role="code"], QLabel[role="codemuted"] { font-family: "JetBrains Mono", "Noto Sans Mono CJK SC", "DejaVu Sans Mono"; font-size: 12px; }
QLabel[role="codemuted"] { color: %muted; }
*[role="chip"] { border: 1px solid %border; border-radius: 10px; color: %muted; padding: 2px 9px; font-size: 12px; background: transparent; }
*[role="currentrow"] { background: %raised; }
*[role="card"] { background: %raised; border: none; border-left: 3px solid %muted; }
*[role="errorcard"] { background: %raised; border: none; border-left: 3px solid %error; }
*[role="warningcard"] { background: %raised; border: none; border-left: 3px solid %warning; }
*[role="hintcard"] { background: %raised; border: none; border-left: 3px solid %accent; }

QPushButton { background: transparent; color: %text; border: 1px solid %border; border-radius: 5px; padding: 5px 12px; min-height: 16px; }
QPushButton:hover { background: %raised; }
QPushButton:pressed { background: %border; }
QPushButton:focus { border: 1px solid %accent; }
QPushButton:disabled { color: %muted; border-color: %border; }
QPushButton:checked { background: %raised; border-color: %muted; }
QPushButton::menu-indicator { image: none; width: 0; }
QPushButton[role="primary"] { background: %accent; color: %onaccent; border: 1px solid %accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: %accenthover; }
QPushButton[role="primary"]:focus { border: 1px solid %text; }
QPushButton[role="primary"]:disabled { background: %raised; border-color: %border; color: %muted; }
QPushButton[role="link"] { border: none; background: transparent; color: %accent; padding: 1px 2px; text-align: left; min-height: 0; }
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border: 1px dotted %accent; padding: 0px 1px; }
QPushButton[role="search"] { background: %field; color: %muted; text-align: left; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px 5px; color: %text; }
QToolButton:hover { background: %raised; }
QToolButton:focus { border: 1px solid %accent; }
QToolButton:disabled { color: %muted; }
QToolButton[role="tab"] { border: none; border-radius: 0; padding: 6px 2px; margin: 0 8px 0 0; color: %muted; background: transparent; }
QToolButton[role="tab"]:checked { color: %text; font-weight: 600; }
QToolButton[role="tab"]:hover { color: %text; }
QToolButton[role="tab"]:focus { border-bottom: 2px solid %accent; }
QToolButton[role="rail"] { border: none; border-left: 3px solid transparent; border-radius: 0; padding: 8px 2px 7px 0px; color: %muted; font-size: 11px; background: transparent; }
QToolButton[role="rail"]:hover { color: %text; background: %raised; }
QToolButton[role="rail"]:checked { color: %text; background: %raised; border-left: 3px solid %accent; }
QToolButton[role="rail"]:focus { border-left: 3px solid %text; }
QToolButton[role="language"] { border: none; padding: 0 1px; color: %muted; font-size: 11px; }
QToolButton[role="language"]:checked { color: %text; font-weight: 600; }
QToolButton[role="language"]:focus { text-decoration: underline; }

QLineEdit, QPlainTextEdit[role="field"], QComboBox { background: %field; color: %text; border: 1px solid %border; border-radius: 4px; padding: 3px 7px; min-height: 18px; selection-background-color: %accent; selection-color: %onaccent; }
QLineEdit:focus, QComboBox:focus, QPlainTextEdit[role="field"]:focus { border: 1px solid %accent; }
QLineEdit[state="error"], QComboBox[state="error"] { border: 1px solid %error; }
QLineEdit[state="warning"], QComboBox[state="warning"] { border: 1px solid %warning; }
QLineEdit:disabled, QComboBox:disabled { color: %muted; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/down.svg); width: 0px; height: 0px; }
QComboBox QAbstractItemView { background: %panel; color: %text; border: 1px solid %border; selection-background-color: %raised; selection-color: %text; outline: none; padding: 2px; }
QCheckBox { spacing: 6px; }
QCheckBox:focus { color: %accent; }
QMenu { background: %panel; color: %text; border: 1px solid %border; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: %raised; }
QMenu::item:disabled { color: %muted; }
QMenu::separator { height: 1px; background: %border; margin: 4px 6px; }

QAbstractItemView { background: transparent; border: none; outline: none; color: %text; selection-background-color: %raised; selection-color: %text; }
QAbstractItemView::item:selected { background: %raised; }
QTableView, QTreeView, QListView { gridline-color: %border; }
QListView::indicator { width: 13px; height: 13px; border: 1px solid %muted; border-radius: 3px; background: %field; }
QListView::indicator:checked { background: %accent; border: 1px solid %accent; image: url(:/icons/checked.svg); }
QTableView::item { padding: 0 8px; border-bottom: 1px solid %border; }
QTableView::item:selected { border-bottom: 1px solid %border; }
QTableView:focus, QListView:focus, QTreeView:focus { border: none; }
QAbstractItemView::item:focus:selected { background: %focusrow; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { background: transparent; color: %muted; border: none; border-bottom: 1px solid %border; padding: 3px 8px; font-size: 11px; font-weight: 400; }
QScrollArea, QScrollArea > QWidget > QWidget[role="scrollbody"] { background: transparent; border: none; }
QSplitter::handle { background: %border; }
QSplitter::handle:hover { background: %accent; }
QFrame[role="hairline"] { background: %border; border: none; max-height: 1px; min-height: 1px; }
QPlainTextEdit[role="code"] { background: %ground; color: %text; border: none; selection-background-color: %selection; selection-color: %text; }

QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: %border; border-radius: 4px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: %muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { background: %stripoff; border: none; border-radius: 2px; max-height: 8px; min-height: 8px; }
QProgressBar::chunk { background: %accent; border-radius: 2px; }
QDialog { background: %ground; }
)";

QString styleSheetOf(const Tokens &t)
{
    QString sheet = QString::fromUtf8(kSheet);
    const auto mix = [](const QColor &a, const QColor &b, double part) {
        return QColor::fromRgbF(float(a.redF() * (1 - part) + b.redF() * part), float(a.greenF() * (1 - part) + b.greenF() * part),
                                float(a.blueF() * (1 - part) + b.blueF() * part));
    };
    // Longer names first: %raised must not be eaten by a name that is its beginning.
    const std::pair<QLatin1StringView, QColor> names[] = {
        {"%accenthover"_L1, mix(t.accent, t.text, 0.15)}, {"%focusrow"_L1, mix(t.raised, t.accent, 0.16)}, {"%selection"_L1, mix(t.ground, t.accent, 0.35)},
        {"%stripoff"_L1, t.stripOff}, {"%onaccent"_L1, t.onAccent}, {"%warning"_L1, t.warning}, {"%ground"_L1, t.ground}, {"%raised"_L1, t.raised},
        {"%border"_L1, t.border}, {"%accent"_L1, t.accent}, {"%panel"_L1, t.panel}, {"%field"_L1, t.field}, {"%muted"_L1, t.muted},
        {"%error"_L1, t.error}, {"%text"_L1, t.text}, {"%good"_L1, t.good}};
    for (const auto &[name, color] : names)
        sheet.replace(name, color.name());
    return sheet;
}

} // namespace stagewright::look
