// The planner beside runs, as scripts see it: samples of the stage's table, a prediction in a run's events, fixes where memory runs out, and the score.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

constexpr int kDeadlineMs = 240000;

struct Answer {
    int exit = -1;
    QByteArray out, err;
    QJsonObject object() const { return QJsonDocument::fromJson(out).object(); }
    QList<QJsonObject> events(const char *kind) const
    {
        QList<QJsonObject> found;
        for (const QByteArray &line : out.split('\n')) {
            const auto event = QJsonDocument::fromJson(line).object();
            if (event[QStringLiteral("event")].toString() == QLatin1String(kind))
                found.append(event);
        }
        return found;
    }
};

// A fix as a script makes it: each edit an override.
QStringList overridesOf(const QJsonObject &problem)
{
    QStringList overrides;
    for (const auto &edit : problem[QStringLiteral("fix")].toObject()[QStringLiteral("edits")].toArray())
        overrides << QStringLiteral("--") + edit.toObject()[QStringLiteral("path")].toString() << edit.toObject()[QStringLiteral("to")].toString();
    return overrides;
}

} // namespace

class PlanCliTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void planCountsTheTablesSamples();
    void planSaysWhyItCountsNone();
    void outOfMemoryEndsWithFixesThatHelp();
    void runsArePredictedAndScored();
    void techniquesAreComparedWithNone();
    void techniquesAreMeasured();
    void sweepNeedsOneKindOfPoints_data();
    void sweepNeedsOneKindOfPoints();

private:
    Answer run(const QStringList &arguments) const
    {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_STATE_HOME"), m_folder.filePath(QStringLiteral("state")));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.path());
        process.start(QStringLiteral(STAGEWRIGHT_BIN "/stagewright-cli"), arguments);
        if (!process.waitForFinished(kDeadlineMs)) {
            process.kill();
            process.waitForFinished();
            return {};
        }
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }
    Answer train(const QStringList &arguments) const { return run(QStringList{QStringLiteral("train"), m_stage, QStringLiteral("--json")} + arguments); }

    QTemporaryDir m_folder;
    QString m_stage;
};

void PlanCliTest::initTestCase()
{
    const auto made = run({QStringLiteral("demo"), QStringLiteral("demo")});
    QVERIFY2(made.exit == 0, made.err.constData());
    m_stage = m_folder.filePath(QStringLiteral("demo/demo.yaml"));
}

void PlanCliTest::planCountsTheTablesSamples()
{
    const auto plan = run({QStringLiteral("plan"), m_stage, QStringLiteral("--json")}), buckets = run({QStringLiteral("buckets"), m_stage, QStringLiteral("--json")});
    QVERIFY2(plan.exit == 0, plan.err.constData());
    const auto sumOf = [](const Answer &answer, const QString &field) {
        int sum = 0;
        for (const auto &bucket : answer.object()[QStringLiteral("buckets")].toArray())
            sum += bucket.toObject()[field].toInt(-1000);
        return sum;
    };
    QVERIFY(sumOf(buckets, QStringLiteral("samples")) > 0);
    for (const char *field : {"samples", "batches"})
        QCOMPARE(sumOf(plan, QLatin1String(field)), sumOf(buckets, QLatin1String(field)));
    QVERIFY(!plan.object().contains(QStringLiteral("samples_absent")));
    QCOMPARE(plan.object()[QStringLiteral("score")].toObject()[QStringLiteral("runs")].toInt(-1), 0);
}

void PlanCliTest::planSaysWhyItCountsNone()
{
    const auto plan = run({QStringLiteral("plan"), m_stage, QStringLiteral("--json"), QStringLiteral("--dataset.data-path"), QStringLiteral("nowhere.csv")});
    QVERIFY2(plan.exit == 0, plan.err.constData());
    QVERIFY(plan.object()[QStringLiteral("buckets")].toArray().first().toObject()[QStringLiteral("samples")].isNull());
    QVERIFY2(plan.object()[QStringLiteral("samples_absent")].toString().contains(QStringLiteral("nowhere.csv")), plan.out.constData());
}

void PlanCliTest::outOfMemoryEndsWithFixesThatHelp()
{
    const QStringList limit{QStringLiteral("--memory-limit"), QStringLiteral("0.06"), QStringLiteral("--max-train-steps"), QStringLiteral("6")};
    const auto failed = train(limit);
    QCOMPARE(failed.exit, 5);
    QList<QJsonObject> fixes;
    for (const auto &problem : failed.events("problem")) {
        if (problem[QStringLiteral("code")] == QStringLiteral("memory.remedy"))
            fixes << problem;
    }
    QVERIFY2(!fixes.isEmpty() && fixes.size() <= 3, failed.out.constData());
    QCOMPARE(failed.events("state").last()[QStringLiteral("exit")].toInt(), 5);
    const double before = failed.events("summary").first()[QStringLiteral("predicted_peak_bytes")].toDouble();
    for (const auto &fix : fixes) {
        const auto plan = run(QStringList{QStringLiteral("plan"), m_stage, QStringLiteral("--json")} + overridesOf(fix)).object();
        QVERIFY2(plan[QStringLiteral("peak_bytes")].toDouble() < before, qPrintable(fix[QStringLiteral("message")].toString()));
    }
    QVERIFY(fixes.first()[QStringLiteral("message")].toString().contains(QStringLiteral("every bucket fits")));
    const auto mended = train(limit + overridesOf(fixes.first()));
    QVERIFY2(mended.exit == 0, (mended.out.right(2000) + mended.err.right(1000)).constData());
}

void PlanCliTest::runsArePredictedAndScored()
{
    const auto trained = train({QStringLiteral("--max-train-steps"), QStringLiteral("30"), QStringLiteral("--bucket_config"), QStringLiteral("{'128px_ar1:1': {17: (1.0, 2)}}"),
                                QStringLiteral("--num-workers"), QStringLiteral("0")});
    QVERIFY2(trained.exit == 0, trained.err.constData());
    QCOMPARE(trained.events("prediction").size(), 1);
    const double predicted = trained.events("prediction").first()[QStringLiteral("peak_bytes")].toDouble();
    const auto summary = trained.events("summary").first();
    QCOMPARE(summary[QStringLiteral("predicted_peak_bytes")].toDouble(), predicted);
    const double deviation = std::abs(predicted / summary[QStringLiteral("peak_bytes")].toDouble() - 1);
    QVERIFY2(deviation < 0.04, qPrintable(QString::number(deviation)));
    const auto score = run({QStringLiteral("plan"), m_stage, QStringLiteral("--json")}).object()[QStringLiteral("score")].toObject();
    QVERIFY(score[QStringLiteral("runs")].toInt() >= 1);
    for (const char *field : {"median", "worst", "under_estimates", "false_alarms"})
        QVERIFY2(score.contains(QLatin1String(field)), field);
}

// All combinations: of checkpointing (none, half, all), offload where there is any, bf16 and half the batch.
void PlanCliTest::techniquesAreComparedWithNone()
{
    const auto swept = run({QStringLiteral("sweep"), m_stage, QStringLiteral("--techniques"), QStringLiteral("--json"), QStringLiteral("--bucket"), QStringLiteral("128px/17")});
    QVERIFY2(swept.exit == 0, swept.err.constData());
    QCOMPARE(swept.object()[QStringLiteral("bucket")].toString(), QStringLiteral("128px/17"));
    const auto points = swept.object()[QStringLiteral("points")].toArray();
    QCOMPARE(points.size(), 20);
    QMap<QString, QJsonObject> predicted;
    for (const auto &point : points)
        predicted[point.toObject()[QStringLiteral("technique")].toString()] = point.toObject()[QStringLiteral("predicted")].toObject();
    QCOMPARE(predicted.size(), 20);
    QCOMPARE(points.first().toObject()[QStringLiteral("technique")].toString(), QStringLiteral("nothing"));
    QCOMPARE(predicted[QStringLiteral("nothing")][QStringLiteral("saved_bytes")].toDouble(), 0.0);
    // More of each takes less memory; recomputing takes time.
    const auto saved = [&](const char *name) { return predicted[QLatin1String(name)][QStringLiteral("saved_bytes")].toDouble(); };
    QVERIFY(saved("half of the blocks checkpointed") > 0);
    QVERIFY(saved("all blocks checkpointed") > saved("half of the blocks checkpointed"));
    QVERIFY(saved("all blocks checkpointed, their inputs in host memory") >= saved("all blocks checkpointed"));
    QVERIFY(saved("bf16") > 0);
    QVERIFY(saved("half the batch") > 0);
    QVERIFY(saved("all blocks checkpointed, their inputs in host memory, bf16, half the batch") > saved("all blocks checkpointed, their inputs in host memory"));
    QVERIFY(predicted[QStringLiteral("all blocks checkpointed")][QStringLiteral("time_lost")].toDouble() > 0);
}

void PlanCliTest::techniquesAreMeasured()
{
    const auto swept = run({QStringLiteral("sweep"), m_stage, QStringLiteral("--techniques"), QStringLiteral("--measure"), QStringLiteral("--updates"), QStringLiteral("2"), QStringLiteral("--json"),
                            QStringLiteral("--bucket_config"), QStringLiteral("{'128px': {5: (1.0, 1)}}"), QStringLiteral("--num-workers"), QStringLiteral("0")});
    QVERIFY2(swept.exit == 0, (swept.out.right(1000) + swept.err).constData());
    QCOMPARE(swept.events("point").size(), 10);            // a batch of one has no half
    const auto points = swept.events("summary").first()[QStringLiteral("points")].toArray();
    QCOMPARE(points.size(), 10);
    for (const auto &point : points) {
        const auto measured = point.toObject()[QStringLiteral("measured")].toObject(), predicted = point.toObject()[QStringLiteral("predicted")].toObject();
        QVERIFY2(measured[QStringLiteral("updates")].toInt() >= 2, qPrintable(measured[QStringLiteral("sentence")].toString()));
        const double deviation = predicted[QStringLiteral("peak_bytes")].toDouble() / measured[QStringLiteral("peak_bytes")].toDouble() - 1;
        QVERIFY2(std::abs(deviation) < 0.06, qPrintable(point.toObject()[QStringLiteral("technique")].toString() + QStringLiteral(": %1").arg(deviation)));
    }
}

void PlanCliTest::sweepNeedsOneKindOfPoints_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("none") << QStringList{};
    QTest::newRow("both") << QStringList{QStringLiteral("--techniques"), QStringLiteral("--vary"), QStringLiteral("dtype=fp32,bf16")};
    QTest::newRow("no such bucket") << QStringList{QStringLiteral("--techniques"), QStringLiteral("--bucket"), QStringLiteral("999px/3")};
}

void PlanCliTest::sweepNeedsOneKindOfPoints()
{
    QFETCH(QStringList, arguments);
    const auto swept = run(QStringList{QStringLiteral("sweep"), m_stage, QStringLiteral("--json")} + arguments);
    QCOMPARE(swept.exit, 2);
    const auto message = swept.object()[QStringLiteral("problems")].toArray().first().toObject()[QStringLiteral("message")].toString();
    QVERIFY2(message.contains(QLatin1Char(' ')), swept.out.constData());
}

QTEST_GUILESS_MAIN(PlanCliTest)
#include "plan_cli_test.moc"
