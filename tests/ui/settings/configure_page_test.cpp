// The Configure page under real clicks and keys: from a stage file of the internet to one that is valid here, in both languages.
// STAGEWRIGHT_SCREENSHOTS names a folder for pictures of the steps.
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/files.h"
#include "core/config/validate.h"
#include "ui/look/language.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/pages/configure_page.h"
#include "ui/settings/compare_panel.h"
#include "ui/settings/help_panel.h"
#include "ui/settings/option_form.h"
#include "ui/settings/option_row.h"
#include "ui/settings/stage_text_editor.h"

using namespace stagewright;
using look::LanguageId;
using look::q;
using look::s;

namespace {

constexpr int kWaitMs = 20000;

const char *const kBase = R"(model = dict(
    type="flux", from_pretrained=None, in_channels=64, vec_in_dim=768, context_in_dim=4096, hidden_size=3072, mlp_ratio=4.0, num_heads=24,
    depth=19, depth_single_blocks=38, axes_dim=[16, 56, 56], theta=10_000, qkv_bias=True, guidance_embed=False, grad_ckpt_settings=(8, 100))
ae = dict(type="hunyuan_vae", from_pretrained="./ckpts/hunyuan_vae.safetensors")
is_causal_vae = True
t5 = dict(from_pretrained="google/t5-v1_1-xxl", max_length=512)
clip = dict(from_pretrained="openai/clip-vit-large-patch14", max_length=77)
bucket_config = {"256px": {1: (1.0, 50)}}
lr = 1e-5
optim = dict(cls="HybridAdam", lr=lr)
keep_n_latest = 20
ckpt_every = 100
)";

// Nine faults as people post them, and settings of a larger machine.
const char *const kInternet = R"(# shared on a forum: trains on 8 x H200
_base_ = ["image.py"]
dataset = dict(type="video_text", data_path="/mnt/team/clips.csv", num_worker=4)
kepp_n_latest = 3
learning_rate = 3e-4
grad_ckpt_setting = (8, 100)
bucket_config = {
    "_delete_": True,
    "256": {1: (1.0, 45), 33: (1.0, 12)},  # images and clips
}
plugin_config = dict(sp_size=4)
device = "cuda:7"
async_io = "yes"
)";

} // namespace

class ConfigurePageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void stageOfTheInternetBecomesValidByClicks_data();
    void stageOfTheInternetBecomesValidByClicks();
    void presetIsShownAsDifferencesAndTaken();
    void oneDifferenceIsTaken();
    void runsOfBeforeCanBeComparedAndOpened();
    void changeOnDiskIsTakenMergedOrAskedAbout();
    void typedNumberKeepsItsSpelling();
    void helpSaysOriginAndWhatBelongsTogether();
    void problemsStandInTheGutter();
    void changedOnlyShowsWhatChanged();

private:
    void open(const std::string &text, const char *name = "stage.py");
    bool settled() const { return QTest::qWaitFor([this] { return m_stage->isSettled(); }, kWaitMs); }
    void typeInto(const char *path, const char *text);
    void clickDifferences();
    void picture(const QString &name) const;
    QPushButton *button(const QString &text) const;
    QWidget *row(const char *path) const;

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<pages::ConfigurePage> m_page;
};

void ConfigurePageTest::initTestCase()
{
    look::theme().setMode(look::ThemeMode::Light);
    look::theme().apply();
}

void ConfigurePageTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    QVERIFY(QDir::setCurrent(m_dir->path()));
    qputenv("XDG_STATE_HOME", m_dir->path().toUtf8() + "/state");
    look::language().set(LanguageId::English);
    m_stage = std::make_unique<session::StageSession>();
    m_page = std::make_unique<pages::ConfigurePage>(m_stage.get());
    m_page->resize(1200, 760);
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get(), kWaitMs));
    m_page->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_page.get(), kWaitMs));
    QVERIFY(replaceFile("image.py", kBase).ok());
    QVERIFY(replaceFile("clips.csv", "path,text,num_frames,height,width,fps\na.mp4,a cat,33,256,256,24\n").ok());
}

void ConfigurePageTest::cleanup()
{
    m_page.reset();
    m_stage.reset();
    QDir::setCurrent(QDir::tempPath());
}

void ConfigurePageTest::open(const std::string &text, const char *name)
{
    const std::string file = m_dir->path().toStdString() + "/" + name;
    QVERIFY(replaceFile(file, text).ok());
    auto opened = m_stage->open(file);
    QVERIFY2(opened.ok(), opened ? "" : opened.error().message().c_str());
    QVERIFY(settled());
}

void ConfigurePageTest::picture(const QString &name) const
{
    if (!qEnvironmentVariableIsSet("STAGEWRIGHT_SCREENSHOTS"))
        return;
    for (int round = 0; round < 5; ++round) {              // layouts come to rest
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        QCoreApplication::processEvents();
    }
    QVERIFY(m_page->grab().save(qEnvironmentVariable("STAGEWRIGHT_SCREENSHOTS") + QLatin1Char('/') + name + QStringLiteral(".png")));
}

QPushButton *ConfigurePageTest::button(const QString &text) const
{
    for (auto *candidate : m_page->findChildren<QPushButton *>())
        if (candidate->isVisible() && (candidate->text() == text || candidate->toolTip() == text))
            return candidate;
    return nullptr;
}

QWidget *ConfigurePageTest::row(const char *path) const { return m_page->form()->row(QString::fromLatin1(path)); }

void ConfigurePageTest::typeInto(const char *path, const char *text)
{
    m_page->showOption(QString::fromLatin1(path));
    auto *field = row(path)->findChild<QLineEdit *>();
    QVERIFY2(field, path);
    QTRY_VERIFY_WITH_TIMEOUT(field->isVisible(), kWaitMs);
    QTest::mouseClick(field, Qt::LeftButton);
    field->selectAll();
    QTest::keyClicks(field, QString::fromUtf8(text));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(settled());
}

void ConfigurePageTest::clickDifferences()
{
    for (auto *tab : m_page->findChildren<QToolButton *>())
        if (tab->text() == QStringLiteral("Differences"))
            QTest::mouseClick(tab, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_page->comparePanel()->isVisible(), kWaitMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_page->comparePanel()->choice()->count() > 1, kWaitMs);
}

void ConfigurePageTest::stageOfTheInternetBecomesValidByClicks_data()
{
    QTest::addColumn<bool>("chinese");
    QTest::addRow("en") << false;
    QTest::addRow("zh") << true;
}

void ConfigurePageTest::stageOfTheInternetBecomesValidByClicks()
{
    QFETCH(bool, chinese);
    look::language().set(chinese ? LanguageId::Chinese : LanguageId::English);
    const QString tag = chinese ? QStringLiteral("zh") : QStringLiteral("en");
    open(kInternet);
    QVERIFY(!m_stage->snapshot()->canLaunch());
    picture(QStringLiteral("internet-1-opened-") + tag);

    // What has one answer is mended by one click.
    auto *help = m_page->findChild<settings::HelpPanel *>();
    auto *all = button(chinese ? QStringLiteral("修复所有只有一种解法的问题") : QStringLiteral("Fix all that have one answer"));
    QVERIFY2(all, "the button that mends all");
    help->ensureWidgetVisible(all);
    QTest::mouseClick(all, Qt::LeftButton);
    QVERIFY(settled());
    picture(QStringLiteral("internet-2-mended-") + tag);
    QVERIFY2(m_stage->text().find("# images and clips") != std::string::npos, m_stage->text().c_str());
    QVERIFY2(m_stage->text().find("lr=3e-4") != std::string::npos, m_stage->text().c_str());

    // The table is somewhere else on this machine: its problem's link leads to the field.
    QPushButton *place = nullptr;
    QVERIFY2(QTest::qWaitFor([&] { return (place = button(QStringLiteral("dataset.data_path"))); }, kWaitMs), "the link to dataset.data_path");
    help->ensureWidgetVisible(place);
    QTest::mouseClick(place, Qt::LeftButton);
    auto *field = row("dataset.data_path")->findChild<QLineEdit *>();
    QTRY_VERIFY_WITH_TIMEOUT(field->hasFocus(), kWaitMs);
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, QStringLiteral("clips.csv"));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(settled());
    std::string left;
    for (const auto &problem : m_stage->snapshot()->problems)
        left += problem.severity == Severity::Error ? problem.message + "\n" : "";
    QVERIFY2(m_stage->snapshot()->canLaunch(), left.c_str());
    picture(QStringLiteral("internet-3-valid-") + tag);

    // And it is what a fresh look at the saved file says.
    QSignalSpy saved(m_stage.get(), &session::StageSession::saved);
    m_stage->save();
    QVERIFY(saved.wait(kWaitMs));
    const auto stage = config::loadStage(m_stage->file());
    QVERIFY(stage.ok());
    QVERIFY(!hasErrors(config::validate(*stage, config::surroundingsOfThisMachine(*stage))));
    // Everything can be taken back.
    while (m_stage->undoStack()->canUndo())
        m_stage->undoStack()->undo();
    QCOMPARE(m_stage->text(), std::string(kInternet));
}

void ConfigurePageTest::presetIsShownAsDifferencesAndTaken()
{
    open(kInternet);
    QVERIFY(m_stage->applyAllFixes() > 0);
    QVERIFY(settled());
    clickDifferences();
    auto *panel = m_page->comparePanel();
    int at = -1;
    for (int i = 0; i < panel->choice()->count(); ++i)
        if (panel->choice()->itemText(i) == QStringLiteral("Preset: 24 GB card"))
            at = i;
    QVERIFY(at >= 0);
    QSignalSpy compared(panel, &settings::ComparePanel::compared);
    panel->choice()->setFocus();
    panel->choice()->setCurrentIndex(at);
    Q_EMIT panel->choice()->activated(at);
    QTRY_VERIFY_WITH_TIMEOUT(panel->shown().with.id == "vram-24", kWaitMs);
    QVERIFY(panel->table()->model()->rowCount() > 3);
    picture(QStringLiteral("differences-preset"));
    const int steps = m_stage->undoStack()->count();
    QTest::mouseClick(panel->takeAllButton(), Qt::LeftButton);
    QVERIFY(settled());
    QCOMPARE(m_stage->undoStack()->count(), steps + 1);
    QTRY_COMPARE_WITH_TIMEOUT(panel->table()->model()->rowCount(), 0, kWaitMs);
    QVERIFY(m_stage->snapshot()->stage->boolean("plugin_config.cpu_offload"));
    QVERIFY(!panel->takeAllButton()->isEnabled());
}

void ConfigurePageTest::oneDifferenceIsTaken()
{
    open(kBase, "image2.py");
    QVERIFY(m_stage->setValue("keep_n_latest", "3").ok());
    QVERIFY(m_stage->setValue("ckpt_every", "50").ok());
    QVERIFY(settled());
    clickDifferences();
    auto *panel = m_page->comparePanel();
    QTRY_COMPARE_WITH_TIMEOUT(panel->table()->model()->rowCount(), 2, kWaitMs);
    QVERIFY(!panel->takeButton()->isEnabled());
    for (int i = 0; i < 2; ++i)
        if (panel->table()->model()->index(i, 0).data().toString() == QStringLiteral("ckpt_every"))
            QTest::mouseClick(panel->table()->viewport(), Qt::LeftButton, Qt::NoModifier, panel->table()->visualRect(panel->table()->model()->index(i, 0)).center());
    QVERIFY(panel->takeButton()->isEnabled());
    QTest::mouseClick(panel->takeButton(), Qt::LeftButton);
    QVERIFY(settled());
    QTRY_COMPARE_WITH_TIMEOUT(panel->table()->model()->rowCount(), 1, kWaitMs);
    QVERIFY(m_stage->text().find("ckpt_every = 100") != std::string::npos);
    QVERIFY(m_stage->text().find("keep_n_latest = 3") != std::string::npos);
}

void ConfigurePageTest::runsOfBeforeCanBeComparedAndOpened()
{
    QVERIFY(QDir().mkpath(QStringLiteral("outputs/first_run")));
    const auto old = config::stageFromText(kBase, m_dir->path().toStdString() + "/image.py", {{"seed", "7", config::OriginKind::Override}});
    QVERIFY(old.ok());
    QVERIFY(replaceFile("outputs/first_run/config.yaml", config::toYaml(old->values())).ok());
    QVERIFY(replaceFile("outputs/first_run/run.json", R"({"id": "a", "name": "first_run", "started": 1700000000.0, "version": 1})").ok());
    open(kBase, "now.py");
    m_page->setRecentRuns({m_dir->path().toStdString() + "/outputs/first_run"});
    clickDifferences();
    auto *panel = m_page->comparePanel();
    int at = -1;
    for (int i = 0; i < panel->choice()->count(); ++i)
        if (panel->choice()->itemText(i).startsWith(QStringLiteral("Run: first_run")))
            at = i;
    QVERIFY(at >= 0);
    panel->choice()->setCurrentIndex(at);
    Q_EMIT panel->choice()->activated(at);
    QTRY_VERIFY_WITH_TIMEOUT(panel->shown().with.kind == session::Counterpart::Kind::Run, kWaitMs);
    QCOMPARE(panel->table()->model()->rowCount(), 1);
    QCOMPARE(panel->table()->model()->index(0, 0).data().toString(), QStringLiteral("seed"));
    QCOMPARE(panel->table()->model()->index(0, 2).data().toString(), QStringLiteral("7"));
    picture(QStringLiteral("differences-run"));
    QSignalSpy asked(m_page.get(), &pages::ConfigurePage::openAsked);
    QTest::mouseClick(panel->openButton(), Qt::LeftButton);
    QCOMPARE(asked.count(), 1);
    const QString copy = asked.first().first().toString();
    QCOMPARE(QFileInfo(copy).fileName(), QStringLiteral("first_run.yaml"));
    QCOMPARE(readFile(s(copy)).value(), readFile("outputs/first_run/config.yaml").value());
}

void ConfigurePageTest::changeOnDiskIsTakenMergedOrAskedAbout()
{
    const std::string text = "# mine\nseed = 1\nepochs = 3\n\nlog_every = 5\n";
    open(text);
    const std::string file = m_stage->file();
    QVERIFY(replaceFile(file, "# mine\nseed = 1\nepochs = 4\n\nlog_every = 5\n").ok());
    QTRY_VERIFY_WITH_TIMEOUT(m_page->notice()->isVisible(), kWaitMs);
    QVERIFY(m_stage->text().find("epochs = 4") != std::string::npos);
    QTest::mouseClick(button(QStringLiteral("Close")), Qt::LeftButton);
    QVERIFY(!m_page->notice()->isVisible());

    typeInto("log_every", "9");
    QVERIFY(replaceFile(file, "# mine\nseed = 2\nepochs = 4\n\nlog_every = 5\n").ok());
    QTRY_VERIFY_WITH_TIMEOUT(m_page->notice()->isVisible(), kWaitMs);
    QVERIFY(m_stage->text().find("seed = 2") != std::string::npos && m_stage->text().find("log_every = 9") != std::string::npos);
    QTest::mouseClick(button(QStringLiteral("Close")), Qt::LeftButton);

    QVERIFY(replaceFile(file, "# mine\nseed = 2\nepochs = 4\n\nlog_every = 7\n").ok());
    QTRY_VERIFY_WITH_TIMEOUT(button(QStringLiteral("Keep mine")), kWaitMs);
    picture(QStringLiteral("asked-about-disk"));
    QTest::mouseClick(button(QStringLiteral("Take its text (undo brings yours back)")), Qt::LeftButton);
    QVERIFY(m_stage->text().find("log_every = 7") != std::string::npos);
    QVERIFY(!m_page->notice()->isVisible());
    m_stage->undoStack()->undo();
    QVERIFY(m_stage->text().find("log_every = 9") != std::string::npos);
}

void ConfigurePageTest::typedNumberKeepsItsSpelling()
{
    open(kBase);
    typeInto("optim.lr", "3e-4");
    QVERIFY2(m_stage->text().find("lr=3e-4)") != std::string::npos, m_stage->text().c_str());
    typeInto("grad_ckpt_buffer_size", "25 * 1024**3");
    QVERIFY2(m_stage->text().find("grad_ckpt_buffer_size = 25 * 1024**3") != std::string::npos, m_stage->text().c_str());
    QCOMPARE(row("optim.lr")->findChild<QLineEdit *>()->text(), QStringLiteral("3e-4"));
}

void ConfigurePageTest::helpSaysOriginAndWhatBelongsTogether()
{
    open("_base_ = 'image.py'\nkeep_n_latest = 3\n");
    m_page->showOption(QStringLiteral("keep_n_latest"));
    QVERIFY(settled());
    auto *help = m_page->findChild<settings::HelpPanel *>();
    QStringList words;
    QVERIFY(QTest::qWaitFor([&] {
        words.clear();
        for (auto *label : help->findChildren<QLabel *>())
            if (label->isVisible())
                words << label->text();
        return words.contains(QStringLiteral("stage.py:2"));
    }, kWaitMs));
    QVERIFY2(words.contains(QStringLiteral("image.py:11")), qPrintable(words.join(QLatin1Char('|'))));
    QVERIFY(words.contains(QStringLiteral("default")));
    auto *link = button(QStringLiteral("ckpt_every"));
    QVERIFY(link);
    QTest::mouseClick(link, Qt::LeftButton);
    QCOMPARE(std::string(m_page->form()->current()->path), std::string("ckpt_every"));
    // Nothing in the panel is wider than the panel.
    QCOMPARE(help->widget()->width(), help->viewport()->width());
    picture(QStringLiteral("help"));
}

void ConfigurePageTest::problemsStandInTheGutter()
{
    open("_base_ = 'image.py'\nkepp_n_latest = 3\n");
    m_page->showText(true);
    QVERIFY(m_page->textEditor()->problemTextAt(2).contains(QStringLiteral("keep_n_latest")));
    QVERIFY(m_page->textEditor()->problemTextAt(1).isEmpty());
    picture(QStringLiteral("text"));
}

void ConfigurePageTest::changedOnlyShowsWhatChanged()
{
    open("seed = 3\nepochs = 1000\n");
    m_page->form()->setFilter({{}, true, false});
    QVERIFY(row("seed")->isVisible());
    QVERIFY(!row("epochs")->isVisible());                  // written out, but the default
    QVERIFY(!row("log_every")->isVisible());
}

QTEST_MAIN(ConfigurePageTest)
#include "configure_page_test.moc"
