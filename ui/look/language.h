// English and Simplified Chinese, switched while the window is open.
#pragma once

#include <QObject>
#include <QTranslator>
#include <functional>

#include "core/config/option.h"

class QWidget;

namespace stagewright::look {

enum class LanguageId { English, Chinese };

// GUI thread only. Installing a translator makes Qt send LanguageChange to every window; bindText() below answers it.
class Language : public QObject
{
    Q_OBJECT
public:
    LanguageId current() const { return m_current; }
    void set(LanguageId language);
    static LanguageId ofSystem();
    QString code() const;                              // "en", "zh"

Q_SIGNALS:
    void changed();

private:
    friend Language &language();
    void install();
    LanguageId m_current = LanguageId::English;
    QTranslator m_ours, m_qts;
};

Language &language();
QString textOf(const config::Text &text);              // in the current language; English where there is no Chinese

// Runs `set` now and again whenever the language changes, as long as owner lives. Texts of a widget are set in such a function.
void bindText(QWidget *owner, std::function<void()> set);

} // namespace stagewright::look
