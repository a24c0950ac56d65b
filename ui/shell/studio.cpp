#include "ui/shell/studio.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>

#include "core/base/exit_code.h"
#include "ui/look/language.h"
#include "ui/look/theme.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/memory_page.h"
#include "ui/shell/main_window.h"

namespace stagewright::shell {

namespace {

struct StudioOptions {
    QString stage, run, page, theme, language, screenshot;
    QSize size;
};

QSize sizeOf(const QString &text)
{
    const QStringList parts = text.split(QLatin1Char('x'));
    return parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
}

StudioOptions optionsOf(const QApplication &application)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Edit, launch and watch training stages."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("stage"), QStringLiteral("A .py or .yaml stage; the demo stage where none is given."));
    const auto add = [&](const char *name, const char *help) {
        parser.addOption({QString::fromLatin1(name), QString::fromLatin1(help), QStringLiteral("value")});
    };
    add("run", "Show this run folder.");
    add("page", "configure, data, memory, costs (of settings), run, checkpoints or compare.");
    add("theme", "light or dark.");
    add("language", "en or zh.");
    add("size", "WIDTHxHEIGHT of the window.");
    add("screenshot", "Write the window to this PNG file once its data are there, and exit.");
    parser.process(application);
    const auto value = [&](const char *name) { return parser.value(QString::fromLatin1(name)); };
    return {parser.positionalArguments().value(0), value("run"), value("page"), value("theme"), value("language"), value("screenshot"), sizeOf(value("size"))};
}

void applyLook(const StudioOptions &options, const session::Preferences &preferences)
{
    const QString theme = options.theme.isEmpty() ? preferences.value(QStringLiteral("theme")).toString() : options.theme;
    const QString language = options.language.isEmpty() ? preferences.value(QStringLiteral("language")).toString() : options.language;
    look::theme().setMode(theme == QLatin1String("dark") ? look::ThemeMode::Dark
                              : theme == QLatin1String("light") ? look::ThemeMode::Light : look::ThemeMode::System);
    look::language().set(language == QLatin1String("zh") ? look::LanguageId::Chinese
                             : language == QLatin1String("en") ? look::LanguageId::English : look::Language::ofSystem());
    look::theme().apply();
}

// Waits until the stage is read and the run's history is shown, then grabs the window. Gives up after the deadline with what is there.
void takeScreenshot(MainWindow *window, const QString &file)
{
    constexpr int kLookMs = 200, kMostLooks = 100, kSettleLooks = 6;
    auto *timer = new QTimer(window);
    QObject::connect(timer, &QTimer::timeout, window, [window, file, looks = 0, calm = 0]() mutable {
        const bool ready = window->stage()->isOpen() && window->stage()->isSettled() && !window->run()->isReplaying() && window->memoryPage()->planner()->waiting() == 0
            && !window->comparePage()->session()->isReading() && !window->dataPage()->isBusy();
        calm = ready ? calm + 1 : 0;
        if (calm < kSettleLooks && ++looks < kMostLooks)
            return;
        QCoreApplication::exit(window->grab().save(file) ? int(ExitCode::Done) : int(ExitCode::InputOutput));
    });
    timer->start(kLookMs);
}

} // namespace

int runStudio(int argc, char **argv)
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("Stagewright"));
    QApplication::setApplicationVersion(QStringLiteral(STAGEWRIGHT_VERSION));
    const StudioOptions options = optionsOf(application);
    applyLook(options, session::Preferences());
    MainWindow window;
    if (options.size.isValid())
        window.resize(options.size);
    if (options.page == QLatin1String("run"))
        window.showPage(PageId::Run);
    else if (options.page == QLatin1String("data"))
        window.showPage(PageId::Data);
    else if (options.page == QLatin1String("memory") || options.page == QLatin1String("costs"))
        window.showPage(PageId::Memory);
    else if (options.page == QLatin1String("checkpoints"))
        window.showPage(PageId::Checkpoints);
    else if (options.page == QLatin1String("compare"))
        window.showPage(PageId::Compare);
    window.memoryPage()->showSettings(options.page == QLatin1String("costs"));
    window.show();
    // The files are opened when the window stands: nothing that a disk does may keep it from appearing.
    QTimer::singleShot(0, &window, [&] {
        options.stage.isEmpty() ? window.openDemo() : window.openStage(options.stage);
        options.run.isEmpty() ? window.attachLastRun() : window.attachRun(options.run);
    });
    if (!options.screenshot.isEmpty())
        takeScreenshot(&window, options.screenshot);
    return application.exec();
}

} // namespace stagewright::shell
