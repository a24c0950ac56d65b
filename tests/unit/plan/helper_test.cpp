// The planning helper as windows and command lines know it: the real worker, asked, cancelled, killed in the middle of an answer, given nonsense.
#include <QTest>

#include <signal.h>
#include <unistd.h>

#include "core/base/host.h"
#include "core/client/plan_helper.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;

namespace {

constexpr double kDeadline = 60;

client::PlanHelper::Options options(double answerSeconds = kDeadline) { return {.worker = STAGEWRIGHT_BIN "/stagewright-worker", .answerSeconds = answerSeconds}; }

events::PlanRequest request(const char *ask)
{
    events::PlanRequest request;
    request.ask = ask;
    request.config = config::toYaml(tinyStage().values());
    request.fitDevice = "H100";
    return request;
}

// Minutes of work: no answer comes before it is stopped.
events::PlanRequest longRequest()
{
    auto ask = request("sweep");
    events::PlanVary depths{"model.depth", {}}, singles{"model.depth_single_blocks", {}};
    for (int i = 1; i <= 140; ++i) {
        depths.values.push_back(std::to_string(i));
        singles.values.push_back(std::to_string(i));
    }
    ask.vary = {depths, singles};
    return ask;
}

std::optional<events::PlanAnswer> answerOf(client::PlanHelper &helper, std::int64_t id)
{
    for (const double until = steadySeconds() + kDeadline; steadySeconds() < until;) {
        for (auto &answer : helper.poll(std::chrono::milliseconds(50))) {
            if (answer.id == id)
                return answer;
        }
    }
    return std::nullopt;
}

QString codeOf(const std::optional<events::PlanAnswer> &answer) { return answer && answer->problem ? QString::fromStdString(answer->problem->code) : QString(); }

} // namespace

class HelperTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void answersAndStaysWarm();
    void startsAnewAfterItWasKilledInMidAnswer();
    void endsWhatIsCancelled();
    void givesUpWhatIsLate();
    void saysWhatIsWrongWithAQuestion_data();
    void saysWhatIsWrongWithAQuestion();
};

void HelperTest::answersAndStaysWarm()
{
    client::PlanHelper helper(options());
    const auto first = helper.answerTo(request("plan"));
    QVERIFY2(first.ok(), first ? "" : first.error().message().c_str());
    QVERIFY(first->plan && first->plan->peakBytes > 0 && first->plan->peakReservedBytes >= first->plan->peakBytes);
    QVERIFY(first->score);
    const int pid = helper.pid();
    const auto second = helper.answerTo(request("plan"));
    QVERIFY(second.ok());
    QCOMPARE(second->plan->peakBytes, first->plan->peakBytes);
    QCOMPARE(helper.pid(), pid);
}

void HelperTest::startsAnewAfterItWasKilledInMidAnswer()
{
    client::PlanHelper helper(options());
    QVERIFY(helper.answerTo(request("plan")).ok());            // it runs
    const auto lost = helper.ask(longRequest()), alsoLost = helper.ask(request("plan"));
    QVERIFY(lost.ok() && alsoLost.ok());
    const int killed = helper.pid();
    QCOMPARE(::kill(killed, SIGKILL), 0);
    std::map<std::int64_t, std::string> said;
    for (const double until = steadySeconds() + kDeadline; said.size() < 2 && steadySeconds() < until;) {
        for (const auto &answer : helper.poll(std::chrono::milliseconds(50)))
            said[answer.id] = answer.problem ? answer.problem->code + ": " + answer.problem->message : "an answer";
    }
    for (const auto id : {*lost, *alsoLost})
        QVERIFY2(said[id].starts_with("memory.planner-lost: ") && said[id].find("SIGKILL") != std::string::npos, said[id].c_str());
    QCOMPARE(helper.waiting(), std::size_t(0));
    const auto again = helper.answerTo(request("plan"));
    QVERIFY2(again.ok(), again ? "" : again.error().message().c_str());
    QVERIFY(helper.pid() != killed);
}

void HelperTest::endsWhatIsCancelled()
{
    client::PlanHelper helper(options());
    const auto id = helper.ask(longRequest());
    QVERIFY(id.ok());
    helper.cancel(*id);
    QCOMPARE(codeOf(answerOf(helper, *id)), QStringLiteral("memory.plan-cancelled"));
    QVERIFY(helper.answerTo(request("plan")).ok());
}

void HelperTest::givesUpWhatIsLate()
{
    client::PlanHelper helper(options(0.5));
    const auto id = helper.ask(longRequest());
    QVERIFY(id.ok());
    const auto answer = answerOf(helper, *id);
    QCOMPARE(codeOf(answer), QStringLiteral("memory.planner-lost"));
    QVERIFY(QString::fromStdString(answer->problem->message).contains(QStringLiteral("did not answer within")));
}

void HelperTest::saysWhatIsWrongWithAQuestion_data()
{
    QTest::addColumn<QString>("ask");
    QTest::addColumn<QString>("device");
    QTest::addColumn<QString>("bucket");
    QTest::addColumn<QString>("code");
    QTest::newRow("unknown question") << "guess" << "H100" << "" << "run.bad-message";
    QTest::newRow("unknown device") << "plan" << "H1000" << "" << "";
    QTest::newRow("no such bucket") << "plan" << "H100" << "999px/5" << "config.no-bucket";
    QTest::newRow("a sweep of nothing but no values") << "fit" << "H100" << "" << "run.command-line";
}

void HelperTest::saysWhatIsWrongWithAQuestion()
{
    QFETCH(QString, ask);
    QFETCH(QString, device);
    QFETCH(QString, bucket);
    QFETCH(QString, code);
    static client::PlanHelper helper(options());
    auto question = request("");
    question.ask = ask.toStdString();
    question.fitDevice = device.toStdString();
    question.bucket = bucket.toStdString();
    const auto answer = helper.answerTo(question);
    QVERIFY(!answer.ok());
    QVERIFY(!answer.error().message().empty());
    QVERIFY(code.isEmpty() || QString::fromStdString(answer.error().problem.code) == code);
    QVERIFY2(helper.answerTo(request("plan")).ok(), "and goes on");
}

QTEST_GUILESS_MAIN(HelperTest)
#include "helper_test.moc"
