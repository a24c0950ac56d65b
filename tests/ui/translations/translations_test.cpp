// Every text of the window has its Chinese, with the same places for numbers; and the files of translations are those of the sources.
#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>
#include <set>

#include "ui/look/language.h"

using namespace stagewright;

namespace {

struct Message {
    QString context, source, type;
    QStringList translations;
};

QList<Message> messagesOf(const QString &file)
{
    QList<Message> messages;
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly))
        return messages;
    QXmlStreamReader xml(&in);
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == QLatin1String("name")) {
            context = xml.readElementText();
        } else if (xml.name() == QLatin1String("message")) {
            messages.append({context, {}, {}, {}});
        } else if (xml.name() == QLatin1String("source")) {
            messages.last().source = xml.readElementText();
        } else if (xml.name() == QLatin1String("translation")) {
            messages.last().type = xml.attributes().value(QLatin1String("type")).toString();
            // Plural forms lie in elements of their own.
            QString plain;
            while (!(xml.readNext() == QXmlStreamReader::EndElement && xml.name() == QLatin1String("translation")) && !xml.atEnd()) {
                if (xml.isStartElement() && xml.name() == QLatin1String("numerusform"))
                    messages.last().translations.append(xml.readElementText());
                else if (xml.isCharacters())
                    plain += xml.text();
            }
            if (messages.last().translations.isEmpty())
                messages.last().translations.append(plain);
        }
    }
    return messages;
}

QString fileOf(const QString &language) { return QStringLiteral(STAGEWRIGHT_SOURCE "/resources/translations/stagewright_%1.ts").arg(language); }

QStringList placesIn(const QString &text)
{
    static const QRegularExpression place(QStringLiteral("%[0-9n]"));
    QStringList found;
    for (auto match = place.globalMatch(text); match.hasNext();)
        found.append(match.next().captured());
    found.sort();
    found.removeDuplicates();
    return found;
}

} // namespace

class TranslationsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyTextIsTranslated_data() { languages(); }
    void everyTextIsTranslated();
    void filesHoldTheTextsOfTheSources_data() { languages(); }
    void filesHoldTheTextsOfTheSources();
    void chineseIsChinese();
    void pluralsAreWords();

private:
    void languages();
};

void TranslationsTest::languages()
{
    QTest::addColumn<QString>("language");
    QTest::addColumn<bool>("onlyPlurals");
    QTest::newRow("Chinese") << "zh_CN" << false;
    QTest::newRow("English") << "en" << true;
}

void TranslationsTest::everyTextIsTranslated()
{
    QFETCH(QString, language);
    const auto messages = messagesOf(fileOf(language));
    QVERIFY(!messages.isEmpty());
    QStringList faults;
    for (const Message &message : messages) {
        const QString name = message.context + QStringLiteral(": ") + message.source;
        if (!message.type.isEmpty())
            faults << name + QStringLiteral(" is ") + message.type;
        for (const QString &translation : message.translations) {
            if (translation.isEmpty())
                faults << name + QStringLiteral(" is empty");
            else if (placesIn(translation) != placesIn(message.source) && !(language == QLatin1String("en") && message.translations.indexOf(translation) == 0))
                faults << name + QStringLiteral(" has other places for numbers: ") + translation;
        }
    }
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
}

void TranslationsTest::filesHoldTheTextsOfTheSources()
{
    QFETCH(QString, language);
    QFETCH(bool, onlyPlurals);
    QTemporaryDir folder;
    const QString fresh = folder.path() + QStringLiteral("/fresh.ts");
    QStringList arguments{QStringLiteral("-silent"), QStringLiteral("-locations"), QStringLiteral("none"), QStringLiteral("ui"), QStringLiteral("app/studio"),
                          QStringLiteral("-I"), QStringLiteral("."), QStringLiteral("-ts"), fresh};
    if (onlyPlurals)
        arguments = QStringList{QStringLiteral("-pluralonly"), QStringLiteral("-target-language"), QStringLiteral("en")} + arguments;
    QProcess lupdate;
    lupdate.setWorkingDirectory(QStringLiteral(STAGEWRIGHT_SOURCE));
    lupdate.start(QStringLiteral(STAGEWRIGHT_LUPDATE), arguments);
    QVERIFY2(lupdate.waitForFinished(60000), qPrintable(lupdate.errorString()));
    QCOMPARE(lupdate.exitCode(), 0);

    std::set<std::pair<QString, QString>> ours, theirs;
    for (const Message &message : messagesOf(fileOf(language)))
        ours.insert({message.context, message.source});
    for (const Message &message : messagesOf(fresh))
        theirs.insert({message.context, message.source});
    QVERIFY(!theirs.empty());
    QStringList faults;
    for (const auto &[context, source] : theirs) {
        if (!ours.count({context, source}))
            faults << QStringLiteral("missing: %1: %2").arg(context, source);
    }
    for (const auto &[context, source] : ours) {
        if (!theirs.count({context, source}))
            faults << QStringLiteral("no longer used: %1: %2").arg(context, source);
    }
    QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n')) + QStringLiteral("\nrun: lupdate -no-obsolete -locations none ui app/studio -I . -ts ") + fileOf(language)));
}

void TranslationsTest::chineseIsChinese()
{
    look::language().set(look::LanguageId::Chinese);
    QCOMPARE(QCoreApplication::translate("stagewright::shell::TopBar", "Launch"), QStringLiteral("启动"));
    look::language().set(look::LanguageId::English);
    QCOMPARE(QCoreApplication::translate("stagewright::shell::TopBar", "Launch"), QStringLiteral("Launch"));
}

void TranslationsTest::pluralsAreWords()
{
    look::language().set(look::LanguageId::English);
    const auto problems = [](int count) { return QCoreApplication::translate("stagewright::shell::StatusBar", "%n problem(s)", nullptr, count); };
    QCOMPARE(problems(1), QStringLiteral("1 problem"));
    QCOMPARE(problems(3), QStringLiteral("3 problems"));
    look::language().set(look::LanguageId::Chinese);
    QCOMPARE(problems(3), QStringLiteral("3 个问题"));
    look::language().set(look::LanguageId::English);
}

QTEST_MAIN(TranslationsTest)
#include "translations_test.moc"
