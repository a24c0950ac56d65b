// Work off the GUI thread: it tells how far it is, ends when it is asked to, and is let go of where it says nothing for too long.
#include <QSemaphore>
#include <QSignalSpy>
#include <QTest>

#include "ui/session/long_task.h"

using stagewright::session::LongTask;

static constexpr int kDeadlineMs = 20000, kPatientSeconds = 100;

class LongTaskTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void resultComesAfterItsProgress();
    void cancelledWorkEndsAndStillAnswers();
    void silentWorkIsGivenUp();
    void nextWorkDoesNotWaitForOneThatHangs();
};

void LongTaskTest::resultComesAfterItsProgress()
{
    LongTask task;
    QSignalSpy progressed(&task, &LongTask::progressed);
    QSemaphore seen;
    int result = 0;
    task.start(QStringLiteral("counting"), kPatientSeconds, [&](const LongTask::Teller &tell) {
        tell(0.5, QStringLiteral("half"));
        seen.acquire();
        return 7;
    }, [&](int made) { result = made; });
    QVERIFY(task.isBusy());
    QTRY_VERIFY_WITH_TIMEOUT(!progressed.isEmpty() && progressed.last()[0].toDouble() == 0.5, kDeadlineMs);
    QCOMPARE(progressed.last()[1].toString(), QStringLiteral("half"));
    QCOMPARE(result, 0);
    seen.release();
    QTRY_COMPARE_WITH_TIMEOUT(result, 7, kDeadlineMs);
    QVERIFY(!task.isBusy());
}

void LongTaskTest::cancelledWorkEndsAndStillAnswers()
{
    LongTask task;
    QString answer;
    task.start(QStringLiteral("for ever"), kPatientSeconds, [](const LongTask::Teller &tell) {
        while (tell(-1))
            QThread::yieldCurrentThread();
        return QStringLiteral("cancelled");
    }, [&](const QString &said) { answer = said; });
    task.cancel();
    QTRY_COMPARE_WITH_TIMEOUT(answer, QStringLiteral("cancelled"), kDeadlineMs);
    QVERIFY(!task.isBusy());
}

void LongTaskTest::silentWorkIsGivenUp()
{
    LongTask task;
    QSignalSpy gaveUp(&task, &LongTask::gaveUp);
    QSemaphore hang;
    bool answered = false;
    task.start(QStringLiteral("reading"), 0, [&](const LongTask::Teller &) { hang.acquire(); return true; }, [&](bool) { answered = true; });
    QTRY_COMPARE_WITH_TIMEOUT(gaveUp.size(), 1, kDeadlineMs);
    QVERIFY(gaveUp[0][0].toString().startsWith(QStringLiteral("reading: ")));
    QVERIFY(!task.isBusy());
    hang.release();
    int second = 0;
    task.start(QStringLiteral("again"), kPatientSeconds, [](const LongTask::Teller &) { return 2; }, [&](int made) { second = made; });
    QTRY_COMPARE_WITH_TIMEOUT(second, 2, kDeadlineMs);
    QVERIFY(!answered);
}

void LongTaskTest::nextWorkDoesNotWaitForOneThatHangs()
{
    LongTask task;
    QSemaphore hang;
    int second = 0;
    task.start(QStringLiteral("hanging"), kPatientSeconds, [&](const LongTask::Teller &) { hang.acquire(); return 1; }, [](int) {});
    task.start(QStringLiteral("next"), kPatientSeconds, [](const LongTask::Teller &) { return 2; }, [&](int made) { second = made; });
    QTRY_COMPARE_WITH_TIMEOUT(second, 2, kDeadlineMs);
    hang.release();
}

QTEST_GUILESS_MAIN(LongTaskTest)
#include "long_task_test.moc"
