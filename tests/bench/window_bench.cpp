// How soon the window is there, how soon a record is drawn, and how long its thread is ever busy while a run streams. One JSON object, for
// tests/bench/run.
//   stagewright-window-bench STAGE SECONDS RECORDS_PER_SECOND
//   stagewright-window-bench data STAGE EDITS     types batch sizes on the Data page: from a keystroke to its counts
#include <time.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/host.h"
#include "core/runhost/run_host.h"
#include "ui/look/language.h"
#include "ui/look/theme.h"
#include "ui/pages/data_page.h"
#include "ui/pages/run_page.h"
#include "ui/plots/run_plot.h"
#include "ui/shell/main_window.h"

using namespace stagewright;

namespace {

[[noreturn]] void fail(const std::string &sentence)
{
    std::fprintf(stderr, "stagewright-window-bench: %s\n", sentence.c_str());
    std::exit(1);
}

// Seconds since the kernel started this process: its 22nd field in /proc, in ticks since boot.
double processAge()
{
    std::ifstream stat("/proc/self/stat"), uptime("/proc/uptime");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    double up = 0;
    uptime >> up;
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 3; i <= 22; ++i)
        fields >> field;
    return up - std::stod(field) / double(::sysconf(_SC_CLK_TCK));
}

// This thread's own work: on a machine that does other things too, the time for which it waited for a processor is not the window's.
double threadSeconds()
{
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return double(spent.tv_sec) + double(spent.tv_nsec) * 1e-9;
}

// For how long the event loop did not come round, and how much of that this thread worked.
class StallWatch : public QObject
{
public:
    StallWatch()
    {
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.setInterval(kEveryMs);
        connect(&m_timer, &QTimer::timeout, this, [this] { take(); });
        m_worked = threadSeconds();
        m_clock.start();
        m_timer.start();
    }
    std::vector<double> gaps() { m_timer.stop(); return m_gaps; }
    const std::vector<double> &busy() const { return m_busy; }

private:
    void take()
    {
        m_gaps.push_back(std::max(0.0, double(m_clock.nsecsElapsed()) / 1e6 - kEveryMs));
        const double worked = threadSeconds();
        m_busy.push_back((worked - std::exchange(m_worked, worked)) * 1000);
        m_clock.restart();
    }

    static constexpr int kEveryMs = 2;
    double m_worked = 0;
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::vector<double> m_gaps, m_busy;                // ms
};

double quantile(std::vector<double> values, double part)
{
    if (values.empty())
        fail("nothing was measured");
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, std::size_t(part * double(values.size())))];
}

std::unique_ptr<runhost::RunHost> startRun(const std::filesystem::path &folder)
{
    std::filesystem::create_directories(folder);
    runhost::RunHost::Options options;
    options.folder = folder;
    options.identity.id = runlog::newRunId();
    options.identity.name = folder.filename();
    options.handleSignals = false;
    auto host = runhost::RunHost::start(std::move(options));
    if (!host)
        fail(host.error().message());
    events::RunStarted started;
    started.device = "cpu";
    started.deviceTotalBytes = std::int64_t(24) << 30;
    started.maxSteps = 1'000'000;
    (*host)->report({0, -1, started});
    (*host)->report({0, -1, events::State{"training", {}, {}}});
    return std::move(*host);
}

// What a training step of a large model reports: a step, its buffer, and every tenth time its memory curve with two thousand points.
void reportStep(runhost::RunHost &host, int step, double seconds)
{
    events::Step update;
    update.loss = 1 + 0.1 * (step % 7);
    update.lr = 1e-4;
    update.gradNorm = 0.3;
    update.bucket = {"768px", 17 + step % 5 * 16, 768, 1360, 1};
    update.seconds = seconds;
    update.samples = 1;
    for (std::size_t kind = 0; kind < update.peakByKind.size(); ++kind)
        update.peakBytes += update.peakByKind[kind] = std::int64_t(2) << 30;
    for (auto &phase : update.phaseSeconds)
        phase = seconds / double(update.phaseSeconds.size());
    host.report({0, step, update});
    host.report({0, step, events::Buffer{std::int64_t(12) << 30, std::int64_t(11) << 30, 57, 0, 0.01, update.bucket}});
    if (step % 10 != 0)
        return;
    events::MemoryTrace trace;
    trace.bucket = update.bucket;
    trace.residentBytes = std::int64_t(30) << 30;
    for (int i = 0; i < 2000; ++i) {
        trace.at.push_back(seconds * i / 2000);
        trace.phase.push_back(i * int(kPhaseNames.size()) / 2000);
        trace.bytes.push_back(update.peakByKind);
        trace.bytes.back()[std::size_t(MemoryKind::Activation)] = std::int64_t(i) << 20;
    }
    host.report({0, step, std::move(trace)});
}

// Until the condition holds, the event loop running.
void waitFor(const std::function<bool()> &condition, double seconds)
{
    const double until = steadySeconds() + seconds;
    while (!condition()) {
        if (steadySeconds() > until)
            fail("the window did not come to it within " + std::to_string(int(seconds)) + " s");
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 20);
    }
}

nlohmann::json editData(const QString &stage, int edits)
{
    shell::MainWindow window;
    window.show();
    window.openStage(stage);
    auto *page = window.dataPage();
    const double begun = steadySeconds();
    window.showPage(shell::PageId::Data);
    waitFor([&] { return page->session()->answer() != nullptr; }, 120);
    const double first = steadySeconds() - begun;
    page->grid()->setCurrentIndex(page->grid()->model()->index(0, 0));
    waitFor([&] { return page->session()->rows() && !page->session()->isFindingRows(); }, 120);
    StallWatch stalls;
    std::vector<double> milliseconds;
    for (int edit = 0; edit < edits; ++edit) {
        bool answered = false;
        const auto heard = QObject::connect(page->session(), &session::DataSession::answered, page, [&] { answered = true; });
        QElapsedTimer clock;
        clock.start();
        page->batchField()->selectAll();
        for (const Qt::Key key : {Qt::Key(Qt::Key_3 + edit % 7)}) {
            QKeyEvent press(QEvent::KeyPress, key, Qt::NoModifier, QString(QChar(key)));
            QCoreApplication::sendEvent(page->batchField(), &press);
        }
        waitFor([&] { return answered; }, 60);
        milliseconds.push_back(double(clock.nsecsElapsed()) / 1e6);
        QObject::disconnect(heard);
    }
    waitFor([&] { return page->session()->answer()->otherPolicy && !page->session()->isFindingRows(); }, 60);
    const auto gaps = stalls.gaps();
    return {{"rows", page->session()->answer()->shown.rows}, {"first_counts_seconds", first}, {"edit_to_counts_ms", {{"median", quantile(milliseconds, 0.5)}, {"worst", quantile(milliseconds, 1)}}},
            {"longest_stall_ms", quantile(gaps, 1)}, {"longest_busy_ms", quantile(stalls.busy(), 1)}};
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4)
        fail("usage: stagewright-window-bench STAGE SECONDS RECORDS_PER_SECOND | data STAGE EDITS");
    const bool isData = std::string_view(argv[1]) == "data";
    const double wantedSeconds = std::atof(argv[2]);
    const int perSecond = std::atoi(argv[3]);
    QTemporaryDir folder;
    qputenv("XDG_STATE_HOME", (folder.path() + QStringLiteral("/state")).toUtf8());
    QApplication application(argc, argv);
    look::theme().apply();
    if (isData) {
        std::printf("%s\n", editData(QString::fromLocal8Bit(argv[2]), std::atoi(argv[3])).dump().c_str());
        return 0;
    }
    shell::MainWindow window;
    window.show();
    QEventLoop loop;
    QTimer::singleShot(0, &window, [&] { window.openStage(QString::fromLocal8Bit(argv[1])); QTimer::singleShot(0, &loop, &QEventLoop::quit); });
    loop.exec();
    if (!window.stage()->isOpen())
        fail("the stage was not opened");
    const double start = processAge();

    auto host = startRun(std::filesystem::path(folder.path().toStdString()) / "run");
    window.attachRun(QString::fromStdString(host->folder().string()));
    window.showPage(shell::PageId::Run);
    auto *plot = window.runPage()->plot();
    std::vector<double> delays;
    double drawn = 0;
    QObject::connect(plot, &plots::RunPlot::plotted, &window, [&](double newest) {
        if (newest > std::exchange(drawn, std::max(drawn, newest)))
            delays.push_back((wallSeconds() - newest) * 1000);
    });
    std::atomic<bool> over = false;
    std::thread training([&] {
        for (int step = 1; !over; ++step) {
            reportStep(*host, step, 1.0 / perSecond);
            std::this_thread::sleep_for(std::chrono::duration<double>(1.0 / perSecond));
        }
    });
    StallWatch stalls;
    // A person who looks around: the pointer moves all the time, another page every half second.
    QTimer pointer, pages;
    int turn = 0;
    QObject::connect(&pointer, &QTimer::timeout, &window, [&] {
        QWidget *canvas = plot->canvas();
        const QPointF at(100 + turn * 7 % 600, 100);
        QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(canvas, &move);
        ++turn;
    });
    int page = 0;
    QObject::connect(&pages, &QTimer::timeout, &window, [&] {
        const shell::PageId order[] = {shell::PageId::Run, shell::PageId::Run, shell::PageId::Checkpoints, shell::PageId::Configure};
        window.showPage(order[++page % 4]);
    });
    pointer.start(16);
    pages.start(500);
    QTimer::singleShot(int(wantedSeconds * 1000), &loop, &QEventLoop::quit);
    loop.exec();
    pointer.stop();
    pages.stop();
    const auto gaps = stalls.gaps();
    over = true;
    training.join();
    const auto steps = window.run()->facts().step;
    events::Summary summary;
    summary.steps = steps;
    host->finish(summary, {});
    const nlohmann::json out = {{"start_seconds", start}, {"event_to_screen_ms", {{"median", quantile(delays, 0.5)}, {"p99", quantile(delays, 0.99)}}},
                                {"longest_stall_ms", quantile(gaps, 1)}, {"longest_busy_ms", quantile(stalls.busy(), 1)}, {"p99_stall_ms", quantile(gaps, 0.99)}, {"steps_per_second", double(steps) / wantedSeconds},
                                {"draws", delays.size()}};
    std::printf("%s\n", out.dump().c_str());
    return 0;
}
