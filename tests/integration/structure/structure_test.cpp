// The house stays as it was drawn: allowed edges between layers, includes that follow them, libraries that programs need.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

#include <map>
#include <set>

#include "core/base/text.h"

using Edges = std::map<std::string, std::set<std::string>>;

class StructureTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyEdgeIsAllowed();
    void includesFollowTheEdges();
    void programsNeedOnlyTheirLibraries_data();
    void programsNeedOnlyTheirLibraries();
    void topLevelIsAsAgreed();

private:
    Edges m_allowed, m_built;
    std::set<std::string> m_interfaces;            // headers
};

namespace {

QStringList linesOf(const char *path)
{
    QFile file(QString::fromUtf8(path));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
}

std::set<std::string> neededBy(const QString &binary)
{
    QProcess readelf;
    readelf.start(QStringLiteral("readelf"), {QStringLiteral("-d"), binary});
    if (!readelf.waitForFinished(20000) || readelf.exitCode() != 0)
        return {};
    std::set<std::string> needed;
    static const QRegularExpression pattern(QStringLiteral("NEEDED.*\\[(.+)\\]"));
    auto matches = pattern.globalMatch(QString::fromUtf8(readelf.readAllStandardOutput()));
    while (matches.hasNext())
        needed.insert(matches.next().captured(1).toStdString());
    return needed;
}

// Everything reachable, since a layer may also name what its own layers are made of.
std::set<std::string> reachable(const Edges &edges, const std::string &from)
{
    std::set<std::string> seen;
    std::vector<std::string> open{from};
    while (!open.empty()) {
        const std::string layer = open.back();
        open.pop_back();
        const auto found = edges.find(layer);
        if (found == edges.end())
            continue;
        for (const std::string &next : found->second) {
            if (seen.insert(next).second)
                open.push_back(next);
        }
    }
    return seen;
}

} // namespace

void StructureTest::initTestCase()
{
    for (const QString &line : linesOf(LAYERS_FILE)) {
        if (line.startsWith(QLatin1Char('#')))
            continue;
        const std::string name = line.section(QLatin1Char(':'), 0, 0).toStdString();
        if (name == "interfaces") {
            for (const QString &header : line.section(QLatin1Char(':'), 1).split(QLatin1Char(' '), Qt::SkipEmptyParts))
                m_interfaces.insert(header.toStdString());
            continue;
        }
        m_allowed[name];
        for (const QString &used : line.section(QLatin1Char(':'), 1).split(QLatin1Char(' '), Qt::SkipEmptyParts))
            m_allowed[name].insert(used.toStdString());
    }
    std::string current;
    for (const QString &line : linesOf(EDGES_FILE)) {
        QString rest = line;
        if (line.contains(QLatin1Char(':'))) {
            current = line.section(QLatin1Char(':'), 0, 0).toStdString();
            m_built[current];
            rest = line.section(QLatin1Char(':'), 1);
        }
        if (!rest.isEmpty())
            m_built[current].insert(rest.toStdString());
    }
    QVERIFY2(m_allowed.size() > 10, "layers.txt was not read");
    QVERIFY2(m_built.size() > 5, "the build told no edges");
}

void StructureTest::everyEdgeIsAllowed()
{
    QStringList forbidden;
    for (const auto &[layer, uses] : m_built) {
        const auto allowed = m_allowed.find(layer);
        if (allowed == m_allowed.end()) {
            forbidden << QStringLiteral("%1 is not in layers.txt").arg(QString::fromStdString(layer));
            continue;
        }
        for (const std::string &used : uses) {
            if (!allowed->second.count(used))
                forbidden << QStringLiteral("%1 -> %2").arg(QString::fromStdString(layer), QString::fromStdString(used));
        }
    }
    QVERIFY2(forbidden.isEmpty(), qPrintable(forbidden.join(QStringLiteral("; "))));
}

void StructureTest::includesFollowTheEdges()
{
    static const QRegularExpression pattern(QStringLiteral("^\\s*#\\s*include\\s+\"((?:core|ui)/([a-z]+)/[a-z_/]+\\.h)"), QRegularExpression::MultilineOption);
    QStringList forbidden;
    int files = 0;
    for (const char *top : {"core", "ui"}) {
        QDirIterator it(QStringLiteral(STAGEWRIGHT_SOURCE "/") + QString::fromUtf8(top), {QStringLiteral("*.h"), QStringLiteral("*.cpp")}, QDir::Files,
                        QDirIterator::Subdirectories);
        while (it.hasNext()) {
            const QString path = it.next();
            const std::string layer = QDir(QStringLiteral(STAGEWRIGHT_SOURCE)).relativeFilePath(path).section(QLatin1Char('/'), 1, 1).toStdString();
            if (!m_built.count(layer))
                continue;
            ++files;
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const std::set<std::string> usable = reachable(m_built, layer);
            auto matches = pattern.globalMatch(QString::fromUtf8(file.readAll()));
            while (matches.hasNext()) {
                const auto match = matches.next();
                const std::string used = match.captured(2).toStdString();
                if (m_interfaces.count(match.captured(1).toStdString()))
                    continue;
                if (used != layer && used != "torchpch" && !usable.count(used))
                    forbidden << QStringLiteral("%1 includes %2").arg(path, QString::fromStdString(used));
            }
        }
    }
    QVERIFY(files > 50);
    QVERIFY2(forbidden.isEmpty(), qPrintable(forbidden.join(QStringLiteral("; "))));
}

void StructureTest::programsNeedOnlyTheirLibraries_data()
{
    QTest::addColumn<QString>("binary");
    QTest::addColumn<QString>("forbidden");
    QTest::newRow("window") << "stagewright" << "torch|c10|cuda|nccl|cupti";
    QTest::newRow("commandLine") << "stagewright-cli" << "torch|c10|cuda|nccl|cupti|Qt";
    QTest::newRow("worker") << "stagewright-worker" << "Qt|torch_cuda|c10_cuda|nccl|cudart";
}

void StructureTest::programsNeedOnlyTheirLibraries()
{
    QFETCH(QString, binary);
    QFETCH(QString, forbidden);
    const QString path = QStringLiteral(STAGEWRIGHT_BIN "/") + binary;
    if (!QFile::exists(path))
        QSKIP("this build does not make the program");
    const auto needed = neededBy(path);
    QVERIFY2(needed.size() > 2, "readelf told no needed libraries");
    const QRegularExpression pattern(forbidden);
    for (const std::string &library : needed)
        QVERIFY2(!pattern.match(QString::fromStdString(library)).hasMatch(), library.c_str());
}

void StructureTest::topLevelIsAsAgreed()
{
    const QStringList agreed{QStringLiteral("CMakeLists.txt"), QStringLiteral("CMakePresets.json"), QStringLiteral("LICENSE"), QStringLiteral("README.md"),
                             QStringLiteral("app"), QStringLiteral("configs"), QStringLiteral("core"), QStringLiteral("packaging"),
                             QStringLiteral("resources"), QStringLiteral("tests"), QStringLiteral("ui")};
    // What a checkout may hold besides: the build folder, outputs and a user's own presets (all ignored by git).
    const QStringList ignored{QStringLiteral("build"), QStringLiteral("outputs"), QStringLiteral("CMakeUserPresets.json")};
    QStringList found = QDir(QStringLiteral(STAGEWRIGHT_SOURCE)).entryList(QDir::AllEntries | QDir::NoDotAndDotDot, QDir::Name);
    for (const QString &name : ignored)
        found.removeAll(name);
    found.sort();
    QCOMPARE(found, agreed);
}

QTEST_GUILESS_MAIN(StructureTest)
#include "structure_test.moc"
