// The Checkpoints page as a person uses it, with real mouse and key events: listing, the resume plan, and what can be done with a checkpoint.
#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <fcntl.h>
#include <fstream>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/host.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/leftovers.h"
#include "core/config/stage.h"
#include "core/runlog/config_files.h"
#include "core/runlog/lease.h"
#include "core/table/buckets.h"
#include "tests/ui/demo_place.h"
#include "tests/unit/ckptfile/small_checkpoint.h"
#include "ui/look/language.h"
#include "ui/look/words.h"
#include "ui/pages/checkpoints_page.h"
#include "ui/pages/export_dialog.h"
#include "ui/pages/places_panel.h"

using namespace stagewright;
using namespace Qt::StringLiterals;
using look::q;
using tests::SmallCheckpoint;
namespace fs = std::filesystem;

namespace {

constexpr int kDeadlineMs = 30000;
constexpr int kStateColumn = 3;

// Root may write everywhere; without this right it meets the same read-only folders as everybody else. For this thread and those it starts.
bool dropRightToOverride()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capget, &header, sets) != 0)
        return false;
    sets[0].effective &= ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
    return ::syscall(SYS_capset, &header, sets) == 0;
}

} // namespace

class CheckpointsPageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void emptyPlaceSaysWhatToDo();
    void everyStateHasItsBadge_data();
    void everyStateHasItsBadge();
    void planIsSaidInThreeColumns();
    void planComparesTheDataOfTheOpenStage_data();
    void planComparesTheDataOfTheOpenStage();
    void resumeAsksForWhatIsTicked();
    void weightsOfAnotherProgramAskForTheirRotaryOrder();
    void verifyReadsEveryByte_data();
    void verifyReadsEveryByte();
    void fastCheckReadsNoData();
    void allOfAFolderAreVerified();
    void readOnlyFolderIsBrowsedAndVerified();
    void unreadableFolderIsASentence();
    void thousandsAreListedWithoutAStall();
    void diskThatHangsStopsNothingElse();
    void olderCheckpointGoesToTheTrash();
    void newestWholeOneIsNeverDeleted();
    void oneThatARunBeganFromGoesOnlyWhenOneIsSure();
    void weightsAreExported();
    void exportAsksForTheOrderThatNoFileSays();
    void leftoversAreCleaned();
    void chineseIsSwitchedLive();

private:
    fs::path make(SmallCheckpoint what) { return tests::writeSmallCheckpoint(m_run, what); }
    void showRun();
    bool listed(int rows) const { return QTest::qWaitFor([&] { return !m_page->isListing() && m_page->model()->rowCount() == rows; }, kDeadlineMs); }
    void choose(const fs::path &checkpoint);
    bool planned() const { return QTest::qWaitFor([&] { return m_page->resume()->model()->rowCount() > 0; }, kDeadlineMs); }
    QStringList planRow(const QString &what) const;
    void pick(const QString &entry);
    bool shows(const QString &words) const;            // in a label that is seen
    bool outcomeHas(const QString &words) const { return QTest::qWaitFor([&] { return !m_page->actions()->isBusy() && m_page->actions()->outcome().contains(words); }, kDeadlineMs); }
    template <class Dialog> Dialog *dialog(const char *name) const;
    void press(QMessageBox *box, const QString &text);

    QTemporaryDir m_dir;
    fs::path m_outputs, m_run;
    std::string m_yaml, m_fingerprint;                 // of the demo stage with this test's outputs
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<session::RunSession> m_watched;
    std::unique_ptr<session::Preferences> m_preferences;
    std::unique_ptr<pages::CheckpointsPage> m_page;
    QString m_stageFile;
    int m_number = 0;
};

void CheckpointsPageTest::initTestCase()
{
    const QString wrong = tests::makeDemoPlace(m_dir, m_stageFile);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    qputenv("XDG_DATA_HOME", m_dir.path().toUtf8() + "/data");
    QVERIFY(QDir().mkpath(m_dir.path() + u"/data"_s));
    QVERIFY(::geteuid() != 0 || dropRightToOverride());
}

// Every test has an outputs folder with one run of its own.
void CheckpointsPageTest::init()
{
    m_outputs = fs::path(m_dir.path().toStdString()) / ("outputs" + std::to_string(++m_number));
    m_run = m_outputs / "the run";
    fs::create_directories(m_run);
    m_stage = std::make_unique<session::StageSession>();
    m_watched = std::make_unique<session::RunSession>();
    m_preferences = std::make_unique<session::Preferences>();
    m_page = std::make_unique<pages::CheckpointsPage>(m_stage.get(), m_watched.get(), m_preferences.get());
    m_page->resize(1280, 800);
    QVERIFY(m_stage->open(m_stageFile.toStdString()).ok());
    QVERIFY(m_stage->setValue("outputs", "'" + m_outputs.string() + "'").ok());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
    const auto &stage = *m_stage->snapshot()->stage;
    m_yaml = config::toYaml(stage.values());
    const auto fingerprint = table::fingerprint(stage);
    QVERIFY(fingerprint.ok());
    m_fingerprint = *fingerprint;
}

void CheckpointsPageTest::cleanup()
{
    m_page.reset();
    m_watched.reset();
    m_preferences.reset();
    m_stage.reset();
}

void CheckpointsPageTest::showRun()
{
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get(), kDeadlineMs));
    m_page->activateWindow();
    m_page->showFolder(q(m_run));
}

// With the keys.
void CheckpointsPageTest::choose(const fs::path &checkpoint)
{
    QTableView *table = m_page->table();
    const int row = m_page->model()->indexOfKey(q(checkpoint));
    QVERIFY2(row >= 0, checkpoint.c_str());
    m_page->activateWindow();                          // a dialog may have been before it
    QVERIFY(QTest::qWaitForWindowActive(m_page.get(), kDeadlineMs));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Home, Qt::ControlModifier);
    while (table->currentIndex().row() < row)
        QTest::keyClick(table, Qt::Key_Down);
    QCOMPARE(m_page->chosen(), q(checkpoint));
}

QStringList CheckpointsPageTest::planRow(const QString &what) const
{
    const auto *model = m_page->resume()->model();
    const int row = model->indexOfKey(what);
    QStringList cells;
    for (int column = 0; row >= 0 && column < model->columnCount(); ++column)
        cells << model->row(row).cells[column].text;
    return cells;
}

bool CheckpointsPageTest::shows(const QString &words) const
{
    const auto labels = m_page->findChildren<QLabel *>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel *label) { return label->isVisible() && label->text().contains(words); });
}

// From the menu under "More", with the mouse. The menu runs its own event loop, or none, by where it is opened.
void CheckpointsPageTest::pick(const QString &entry)
{
    QMenu *menu = m_page->moreButton()->menu();
    bool picked = false;
    QTimer::singleShot(0, menu, [&] {
        for (QAction *action : menu->actions()) {
            if (action->text() == entry && action->isEnabled()) {
                QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
                picked = true;
            }
        }
        if (!picked)
            menu->close();
    });
    QTest::mouseClick(m_page->moreButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(picked, kDeadlineMs);
}

template <class Dialog>
Dialog *CheckpointsPageTest::dialog(const char *name) const
{
    Dialog *found = nullptr;
    (void)QTest::qWaitFor([&] {
        found = m_page->findChild<Dialog *>(QString::fromLatin1(name));
        return found && found->isVisible();
    }, kDeadlineMs);
    return found;
}

void CheckpointsPageTest::press(QMessageBox *box, const QString &text)
{
    for (QAbstractButton *button : box->buttons()) {
        if (button->text() == text) {
            QVERIFY2(button->isEnabled(), qPrintable(text));
            QTest::mouseClick(button, Qt::LeftButton);
            return;
        }
    }
    QFAIL(qPrintable(text));
}

void CheckpointsPageTest::emptyPlaceSaysWhatToDo()
{
    showRun();
    QVERIFY(listed(0));
    QVERIFY(!m_page->table()->isVisible());
    QVERIFY(!m_page->verifyButton()->isVisible());
    QVERIFY(!m_page->resume()->resumeButton()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(shows(u"No checkpoint here yet."_s), kDeadlineMs);
}

void CheckpointsPageTest::everyStateHasItsBadge_data()
{
    QTest::addColumn<QString>("state");
    QTest::addColumn<QString>("words");
    QTest::addColumn<bool>("possible");
    QTest::newRow("verified") << u"verified"_s << u"✓ verified"_s << true;
    QTest::newRow("complete") << u"complete"_s << u"○ "_s << true;
    QTest::newRow("foreign") << u"foreign"_s << u"◇ from another program"_s << true;
    QTest::newRow("truncated") << u"truncated"_s << u"✕ truncated"_s << false;
    QTest::newRow("incomplete") << u"incomplete"_s << u"✕ incomplete"_s << false;
    QTest::newRow("damaged") << u"damaged"_s << u"✕ "_s << false;
}

void CheckpointsPageTest::everyStateHasItsBadge()
{
    QFETCH(QString, state);
    QFETCH(QString, words);
    QFETCH(bool, possible);
    SmallCheckpoint what;
    what.ours = state != u"foreign";
    what.verified = state == u"verified";
    const fs::path made = make(what);
    const fs::path shard = made / "model/model-00001.safetensors";
    if (state == u"truncated")
        tests::cut(shard, 100);
    else if (state == u"incomplete")
        fs::remove(shard);
    else if (state == u"damaged")
        std::ofstream(made / ckptfile::kManifestFile) << "{";
    showRun();
    QVERIFY(listed(1));
    const QString badge = m_page->model()->row(0).cells[kStateColumn].text;
    QVERIFY2(badge.startsWith(words), qPrintable(badge));
    QTRY_VERIFY_WITH_TIMEOUT(!m_page->resume()->words().isEmpty(), kDeadlineMs);
    if (!possible)
        QVERIFY(!m_page->resume()->resumeButton()->isEnabled());
}

void CheckpointsPageTest::planIsSaidInThreeColumns()
{
    make({.step = 5, .configYaml = m_yaml, .fingerprint = m_fingerprint});
    QVERIFY(m_stage->setValue("optim.lr", "0.5").ok());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
    showRun();
    QVERIFY(listed(1));
    QVERIFY(planned());
    const QStringList rate = planRow(u"learning rate"_s);
    QCOMPARE(rate.size(), 4);
    QCOMPARE(rate[0], u"Learning rate"_s);
    QVERIFY2(rate[1].contains(u"0.001"), qPrintable(rate[1]));
    QVERIFY2(rate[2].contains(u"0.5"), qPrintable(rate[2]));
    QVERIFY2(rate[3].contains(u"config's"), qPrintable(rate[3]));
    // Its tone is the warning's, and nothing is cut off: the row is as high as its words need.
    const int row = m_page->resume()->model()->indexOfKey(u"learning rate"_s);
    QCOMPARE(m_page->resume()->model()->row(row).cells[3].tone, models::Tone::Warning);
    for (const QString &what : {u"weights"_s, u"optimizer"_s, u"schedule"_s, u"progress"_s, u"data position"_s, u"number of GPUs"_s})
        QVERIFY2(!planRow(what).isEmpty(), qPrintable(what));
}

void CheckpointsPageTest::planComparesTheDataOfTheOpenStage_data()
{
    QTest::addColumn<QString>("fingerprint");
    QTest::addColumn<bool>("differs");
    QTest::newRow("same data") << QString() << false;
    QTest::newRow("other rows") << u"00000000000000000000000000000000"_s << true;
}

void CheckpointsPageTest::planComparesTheDataOfTheOpenStage()
{
    QFETCH(QString, fingerprint);
    QFETCH(bool, differs);
    make({.configYaml = m_yaml, .fingerprint = fingerprint.isEmpty() ? m_fingerprint : fingerprint.toStdString()});
    showRun();
    QVERIFY(listed(1));
    QVERIFY(planned());
    const QStringList row = planRow(u"dataset fingerprint"_s);
    QCOMPARE(!row.isEmpty() && row[3].contains(u"changed"), differs);
}

void CheckpointsPageTest::resumeAsksForWhatIsTicked()
{
    SmallCheckpoint what;
    what.ours = false;                                 // takes the open stage as it is
    make(what);
    showRun();
    QVERIFY(listed(1));
    QVERIFY(planned());
    QSignalSpy asked(m_page.get(), &pages::CheckpointsPage::resumeAsked);
    if (!m_page->resume()->resumeButton()->isEnabled()) {
        // The demo's model is another one: the plan says so and the button stays off, also for a key.
        QTest::keyClick(m_page->resume()->resumeButton(), Qt::Key_Space);
        QCOMPARE(asked.size(), 0);
    }
    QTest::mouseClick(m_page->resume()->positionBox(), Qt::LeftButton, {}, QPoint(8, m_page->resume()->positionBox()->height() / 2));
    QVERIFY(m_page->resume()->positionBox()->isChecked());
    QVERIFY(planned());
}

void CheckpointsPageTest::weightsOfAnotherProgramAskForTheirRotaryOrder()
{
    SmallCheckpoint what;
    what.ours = false;
    const fs::path made = make(what);
    showRun();
    QVERIFY(listed(1));
    QTRY_VERIFY_WITH_TIMEOUT(m_page->resume()->weightsButton()->isEnabled(), kDeadlineMs);
    QSignalSpy asked(m_page.get(), &pages::CheckpointsPage::resumeAsked);
    QTest::mouseClick(m_page->resume()->weightsButton(), Qt::LeftButton);
    auto *box = dialog<QMessageBox>("ropeQuestion");
    QVERIFY(box);
    QCOMPARE(asked.size(), 0);
    press(box, u"Open-Sora"_s);
    QCOMPARE(asked.size(), 1);
    QCOMPARE(asked[0][0].toString(), q(made));
    QCOMPARE(asked[0][1].value<pages::ResumeKind>(), pages::ResumeKind::WeightsOnly);
    QCOMPARE(asked[0][2].toString(), u"opensora"_s);
}

void CheckpointsPageTest::verifyReadsEveryByte_data()
{
    QTest::addColumn<bool>("damaged");
    QTest::newRow("whole") << false;
    QTest::newRow("one bit flipped") << true;
}

void CheckpointsPageTest::verifyReadsEveryByte()
{
    QFETCH(bool, damaged);
    const fs::path made = make({.verified = false});
    if (damaged)
        tests::flipByte(made / "master.safetensors", static_cast<std::int64_t>(fs::file_size(made / "master.safetensors")) - 2);
    showRun();
    QVERIFY(listed(1));
    QVERIFY(!m_page->model()->row(0).cells[kStateColumn].text.contains(u"✓"));
    QTest::mouseClick(m_page->verifyButton(), Qt::LeftButton);
    QVERIFY2(outcomeHas(damaged ? u"not everything agrees"_s : u"every byte was read and agrees"_s), qPrintable(m_page->actions()->outcome()));
    if (damaged) {
        const auto *files = qobject_cast<const models::KeyedTableModel *>(m_page->files()->model());
        QCOMPARE(files->row(files->indexOfKey(u"master.safetensors"_s)).cells[2].tone, models::Tone::Error);
    } else {
        QTRY_VERIFY_WITH_TIMEOUT(m_page->model()->row(0).cells[kStateColumn].text.startsWith(u"✓ verified"), kDeadlineMs);
    }
}

// A flipped bit in the data is not what it looks for; a file that ends early is.
void CheckpointsPageTest::fastCheckReadsNoData()
{
    const fs::path made = make({.verified = false});
    tests::flipByte(made / "master.safetensors", static_cast<std::int64_t>(fs::file_size(made / "master.safetensors")) - 2);
    showRun();
    QVERIFY(listed(1));
    pick(u"Check names, sizes and headers"_s);
    QVERIFY2(outcomeHas(u"the bytes were not read"_s), qPrintable(m_page->actions()->outcome()));
    tests::cut(made / "master.safetensors", 40);
    pick(u"Check names, sizes and headers"_s);
    QVERIFY2(outcomeHas(u"not everything agrees"_s), qPrintable(m_page->actions()->outcome()));
}

void CheckpointsPageTest::allOfAFolderAreVerified()
{
    for (int step = 1; step <= 3; ++step)
        make({.step = step, .verified = false});
    tests::cut(m_run / "epoch0-global_step2/master.safetensors", 40);
    showRun();
    QVERIFY(listed(3));
    pick(u"Verify all in this folder"_s);
    QVERIFY2(outcomeHas(u"2 checkpoints agree; these do not: epoch0-global_step2"_s), qPrintable(m_page->actions()->outcome()));
}

void CheckpointsPageTest::readOnlyFolderIsBrowsedAndVerified()
{
    const fs::path made = make({.step = 1, .verified = false}), newer = make({.step = 2});
    const auto setMode = [&](fs::perms mode) {
        for (const fs::path &folder : {made / "stagewright", made, newer / "stagewright", newer, m_run})
            fs::permissions(folder, mode);
    };
    setMode(fs::perms::owner_read | fs::perms::owner_exec);
    showRun();
    const bool isListed = listed(2);
    if (isListed) {
        choose(made);
        QTest::mouseClick(m_page->verifyButton(), Qt::LeftButton);
        QVERIFY2(outcomeHas(u"every byte was read and agrees"_s), qPrintable(m_page->actions()->outcome()));
        // Nothing can be moved out of it, and it is said.
        m_page->table()->setFocus();
        QTest::keyClick(m_page->table(), Qt::Key_Delete);
        auto *box = dialog<QMessageBox>("trashQuestion");
        QVERIFY(box);
        press(box, u"Move to the trash"_s);
        QVERIFY2(outcomeHas(u"Nothing was deleted"_s), qPrintable(m_page->actions()->outcome()));
        QVERIFY(fs::exists(made / ckptfile::kManifestFile));
    }
    setMode(fs::perms::owner_all);
    QVERIFY(isListed);
}

void CheckpointsPageTest::unreadableFolderIsASentence()
{
    m_page->show();
    m_page->showFolder(q(m_outputs / "never made"));
    QTRY_VERIFY_WITH_TIMEOUT(!m_page->isListing() && shows(u"list the checkpoints of"_s), kDeadlineMs);
}

// The window goes on drawing: its event loop never stands still for as long as the listing takes a person's patience.
void CheckpointsPageTest::thousandsAreListedWithoutAStall()
{
    static constexpr int kMany = 3000, kStallMs = 1500;
    make({.step = kMany + 1});
    for (int step = 1; step <= kMany; ++step)
        fs::create_directories(m_run / ckptfile::checkpointFolderName(0, step));
    qint64 longest = 0;
    QElapsedTimer clock;
    clock.start();
    QTimer ticker;
    connect(&ticker, &QTimer::timeout, this, [&] { longest = std::max(longest, clock.restart()); });
    ticker.start(5);
    showRun();
    clock.restart();
    longest = 0;
    QVERIFY(listed(kMany + 1));
    QTest::qWait(0);
    QVERIFY2(longest < kStallMs, qPrintable(u"%1 ms"_s.arg(longest)));
    QCOMPARE(m_page->chosen(), q(m_run / ckptfile::checkpointFolderName(0, kMany + 1)));
    QTest::keyClick(m_page->table(), Qt::Key_End, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(m_page->chosen(), q(m_run / ckptfile::checkpointFolderName(0, 1)), kDeadlineMs);
}

// A pipe that nobody writes to keeps its reader waiting as a dead network disk does.
void CheckpointsPageTest::diskThatHangsStopsNothingElse()
{
    const fs::path other = m_outputs / "other";
    fs::create_directories(other);
    tests::writeSmallCheckpoint(other, {.step = 7});
    const fs::path hanging = make({.step = 1});
    fs::remove(hanging / ckptfile::kManifestFile);
    QCOMPARE(::mkfifo((hanging / ckptfile::kManifestFile).c_str(), 0600), 0);
    showRun();
    QTest::qWait(50);
    m_page->showFolder(q(other));
    QTRY_COMPARE_WITH_TIMEOUT(m_page->chosen(), q(other / "epoch0-global_step7"), kDeadlineMs);
    QVERIFY(planned());
    // Lets every reader go, so that its thread ends.
    const int writer = ::open((hanging / ckptfile::kManifestFile).c_str(), O_WRONLY | O_NONBLOCK);
    if (writer >= 0)
        ::close(writer);
}

void CheckpointsPageTest::olderCheckpointGoesToTheTrash()
{
    const fs::path older = make({.step = 1}), newest = make({.step = 2});
    showRun();
    QVERIFY(listed(2));
    choose(older);
    QTest::keyClick(m_page->table(), Qt::Key_Delete);
    auto *box = dialog<QMessageBox>("trashQuestion");
    QVERIFY(box);
    QVERIFY(!box->checkBox());
    QTest::keyClick(box, Qt::Key_Return);              // the default keeps it
    QTRY_VERIFY_WITH_TIMEOUT(!m_page->findChild<QMessageBox *>(u"trashQuestion"_s), kDeadlineMs);
    QVERIFY(fs::exists(older));
    pick(u"Move to the trash…"_s);
    box = dialog<QMessageBox>("trashQuestion");
    QVERIFY(box);
    press(box, u"Move to the trash"_s);
    QVERIFY2(outcomeHas(u"epoch0-global_step1 is in the trash"_s), qPrintable(m_page->actions()->outcome()));
    QVERIFY(listed(1));
    QVERIFY(!fs::exists(older));
    QVERIFY(fs::exists(newest));
}

void CheckpointsPageTest::newestWholeOneIsNeverDeleted()
{
    const fs::path whole = make({.step = 1}), broken = make({.step = 2});
    tests::cut(broken / "master.safetensors", 40);
    showRun();
    QVERIFY(listed(2));
    // The broken one is newer, but it is the other that a resume would take.
    choose(whole);
    QTest::keyClick(m_page->table(), Qt::Key_Delete);
    QVERIFY2(outcomeHas(u"only whole checkpoint"_s), qPrintable(m_page->actions()->outcome()));
    QVERIFY(fs::exists(whole));
    choose(broken);
    QTest::keyClick(m_page->table(), Qt::Key_Delete);
    auto *box = dialog<QMessageBox>("trashQuestion");
    QVERIFY(box);
    press(box, u"Move to the trash"_s);
    QVERIFY(outcomeHas(u"is in the trash"_s));
    QVERIFY(!fs::exists(broken));
    make({.step = 3});
    m_page->refresh();
    QVERIFY(listed(2));
    choose(m_run / "epoch0-global_step3");
    QTest::keyClick(m_page->table(), Qt::Key_Delete);
    QVERIFY2(outcomeHas(u"newest whole checkpoint"_s), qPrintable(m_page->actions()->outcome()));
    QVERIFY(fs::exists(m_run / "epoch0-global_step3"));
}

void CheckpointsPageTest::oneThatARunBeganFromGoesOnlyWhenOneIsSure()
{
    const fs::path used = make({.step = 1});
    make({.step = 2});
    const fs::path child = m_outputs / "child";
    fs::create_directories(child);
    runlog::RunIdentity identity;
    identity.id = runlog::newRunId();
    identity.name = "child";
    identity.loadedFrom = used.string();
    QVERIFY(runlog::writeIdentity(child, identity).ok());
    runlog::Lease lease;
    lease.process = runlog::thisProcess();
    lease.runId = identity.id;
    lease.heartbeat = lease.trainingSign = wallSeconds();
    lease.state = "training";
    QVERIFY(runlog::writeLease(child, lease).ok());
    showRun();
    QVERIFY(listed(2));
    choose(used);
    QTest::keyClick(m_page->table(), Qt::Key_Delete);
    auto *box = dialog<QMessageBox>("trashQuestion");
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(u"child"), qPrintable(box->informativeText()));
    QVERIFY(box->checkBox());
    press(box, u"Keep"_s);
    QVERIFY(fs::exists(used));
}

void CheckpointsPageTest::weightsAreExported()
{
    const fs::path made = make({.configYaml = m_yaml, .ema = true});
    showRun();
    QVERIFY(listed(1));
    pick(u"Export weights…"_s);
    auto *dialogue = dialog<pages::ExportDialog>("exportDialog");
    QVERIFY(dialogue);
    const fs::path out = m_outputs / "weights.safetensors";
    dialogue->path()->setFocus();
    dialogue->path()->selectAll();
    QTest::keyClick(dialogue->path(), Qt::Key_Delete);
    QVERIFY(!dialogue->exportButton()->isEnabled());
    QTest::keyClicks(dialogue->path(), q(out));
    QVERIFY(dialogue->exportButton()->isEnabled());
    QTest::mouseClick(dialogue->exportButton(), Qt::LeftButton);
    QVERIFY2(outcomeHas(u"Written: "_s), qPrintable(m_page->actions()->outcome()));
    QVERIFY(fs::file_size(out) > 0);
    // Nothing is overwritten, and it is said.
    const auto before = fs::last_write_time(out);
    pick(u"Export weights…"_s);
    dialogue = dialog<pages::ExportDialog>("exportDialog");
    QVERIFY(dialogue);
    dialogue->path()->setFocus();
    dialogue->path()->selectAll();
    QTest::keyClicks(dialogue->path(), q(out));
    QTest::keyClick(dialogue->path(), Qt::Key_Return);
    QVERIFY2(outcomeHas(u"weights.safetensors"_s) && !m_page->actions()->outcome().startsWith(u"Written"), qPrintable(m_page->actions()->outcome()));
    QVERIFY(fs::last_write_time(out) == before);
}

void CheckpointsPageTest::exportAsksForTheOrderThatNoFileSays()
{
    SmallCheckpoint what;
    what.ours = false;
    make(what);
    showRun();
    QVERIFY(listed(1));
    pick(u"Export weights…"_s);
    auto *dialogue = dialog<pages::ExportDialog>("exportDialog");
    QVERIFY(dialogue);
    const auto combos = dialogue->findChildren<QComboBox *>();
    QCOMPARE(combos.size(), 3);
    QVERIFY(!combos[2]->isVisible());
    combos[1]->setFocus();
    QTest::keyClick(combos[1], Qt::Key_Down);
    QVERIFY(combos[2]->isVisible());
    QVERIFY(!dialogue->exportButton()->isEnabled());
    combos[2]->setFocus();
    QTest::keyClick(combos[2], Qt::Key_Down);
    QVERIFY(dialogue->exportButton()->isEnabled());
    QCOMPARE(*dialogue->choice().options.rope, ckptfile::RopeOrder::Neighbours);
    QCOMPARE(*dialogue->choice().options.storedRope, ckptfile::RopeOrder::Neighbours);
    QTest::keyClick(dialogue, Qt::Key_Escape);
}

void CheckpointsPageTest::leftoversAreCleaned()
{
    const fs::path whole = make({.step = 1});
    const fs::path dead = m_run / ".tmp-epoch0-global_step2.999999-1-1", alive = m_run / ckptfile::temporaryName("epoch0-global_step3");
    for (const fs::path &folder : {dead, alive}) {
        fs::create_directories(folder);
        std::ofstream(folder / "model.safetensors") << "unfinished";
    }
    showRun();
    QVERIFY(listed(1));
    pick(u"Clean leftovers of this folder…"_s);
    auto *box = dialog<QMessageBox>("cleanQuestion");
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(q(dead.filename())), qPrintable(box->informativeText()));
    press(box, u"Clean"_s);
    QVERIFY2(outcomeHas(u"Cleaned"_s), qPrintable(m_page->actions()->outcome()));
    QVERIFY(!fs::exists(dead));
    QVERIFY(fs::exists(alive));                        // this process writes it, and lives
    QVERIFY(fs::exists(whole));
    fs::remove_all(alive);
    pick(u"Clean leftovers of this folder…"_s);
    QVERIFY2(outcomeHas(u"Nothing is left over"_s), qPrintable(m_page->actions()->outcome()));
}

void CheckpointsPageTest::chineseIsSwitchedLive()
{
    make({.configYaml = m_yaml});
    showRun();
    QVERIFY(listed(1));
    look::language().set(look::LanguageId::Chinese);
    QTRY_VERIFY_WITH_TIMEOUT(m_page->verifyButton()->text() != u"Verify", kDeadlineMs);
    QVERIFY(m_page->moreButton()->text() != u"More");
    QVERIFY(m_page->resume()->rehearseButton()->text() != u"Rehearse");
    look::language().set(look::LanguageId::English);
    QTRY_COMPARE_WITH_TIMEOUT(m_page->verifyButton()->text(), u"Verify"_s, kDeadlineMs);
}

QTEST_MAIN(CheckpointsPageTest)
#include "checkpoints_page_test.moc"
