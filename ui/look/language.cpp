#include "ui/look/language.h"

#include <QApplication>
#include <QEvent>
#include <QLibraryInfo>
#include <QLocale>
#include <QWidget>

namespace stagewright::look {
namespace {

using namespace Qt::StringLiterals;

class TextBinder : public QObject
{
public:
    TextBinder(QWidget *owner, std::function<void()> set) : QObject(owner), m_set(std::move(set))
    {
        connect(&language(), &Language::changed, this, [this] { m_set(); });
        m_set();
    }

private:
    std::function<void()> m_set;
};

} // namespace

Language &language()
{
    static Language *instance = [] {
        auto *made = new Language;
        made->install();
        return made;
    }();
    return *instance;
}

LanguageId Language::ofSystem() { return QLocale::system().language() == QLocale::Chinese ? LanguageId::Chinese : LanguageId::English; }

QString Language::code() const { return m_current == LanguageId::Chinese ? u"zh"_s : u"en"_s; }

void Language::set(LanguageId wanted)
{
    if (wanted == m_current)
        return;
    m_current = wanted;
    install();
    Q_EMIT changed();
}

// English has a file as well: for its plurals ("1 problem", "2 problems").
void Language::install()
{
    QCoreApplication::removeTranslator(&m_ours);
    QCoreApplication::removeTranslator(&m_qts);
    const bool chinese = m_current == LanguageId::Chinese;
    if (chinese && m_qts.load(u"qtbase_zh_CN"_s, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(&m_qts);
    if (m_ours.load(chinese ? u":/translations/stagewright_zh_CN.qm"_s : u":/translations/stagewright_en.qm"_s))
        QCoreApplication::installTranslator(&m_ours);
    QLocale::setDefault(chinese ? QLocale(QLocale::Chinese, QLocale::China) : QLocale(QLocale::English));
}

QString textOf(const config::Text &text)
{
    const auto chosen = language().current() == LanguageId::Chinese && !text.zh.empty() ? text.zh : text.en;
    return QString::fromUtf8(chosen.data(), qsizetype(chosen.size()));
}

void bindText(QWidget *owner, std::function<void()> set) { new TextBinder(owner, std::move(set)); }

} // namespace stagewright::look
