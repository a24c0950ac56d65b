// Files as they come from phones, cameras and broken downloads: what is told about them, and which pictures come out.
#include <QtTest/QtTest>

#include <thread>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/media/clip.h"
#include "core/media/demo.h"
#include "tests/unit/data/tensor_file.h"
#include "tests/unit/media/made_files.h"

using namespace stagewright;
using namespace stagewright::media;
namespace fs = std::filesystem;

namespace {

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end)
{
    std::vector<std::int64_t> all;
    for (std::int64_t i = begin; i < end; ++i)
        all.push_back(i);
    return all;
}

int openFiles() { return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator())); }

// Frames whose brightness says which they are: gray level 8 × number.
const char *kNumbered = "geq=lum='8*N':cb=128:cr=128";
int numberIn(const DecodedClip &clip, std::size_t i)
{
    const std::size_t size = static_cast<std::size_t>(clip.width) * static_cast<std::size_t>(clip.height) * 3;
    // Gray levels 16..235 of the file became 0..255.
    return static_cast<int>(std::lround(((clip.pixels[i * size + size / 2] * 219.0 / 255.0) + 16.0) / 8.0));
}

} // namespace

class ClipTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    fs::path file(const char *name) const { return fs::path(m_folder.path().toStdString()) / name; }
    QString text(const char *name) const { return QString::fromStdString(file(name).string()); }

private Q_SLOTS:
    void decodesWhatTheOriginalDecoded_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<int>("tolerance");
        QTest::newRow("lossless") << QByteArray("rgb.mkv") << 0;
        QTest::newRow("h264") << QByteArray("h264.mp4") << 3;
    }
    void decodesWhatTheOriginalDecoded()
    {
        QFETCH(QByteArray, name);
        QFETCH(int, tolerance);
        const fs::path fixtures = fs::path(STAGEWRIGHT_FIXTURES) / "media";
        const auto expected = tests::readTensors(fixtures / "frames.safetensors").at(name.toStdString() + ".frames_u8");
        const std::int64_t frames = expected.shape[0], height = expected.shape[2], width = expected.shape[3];
        const auto clip = decode(fixtures / name.toStdString(), range(0, frames));
        QVERIFY2(clip, clip ? "" : clip.error().message().c_str());
        QCOMPARE(static_cast<std::int64_t>(clip->indices.size()), frames);
        QCOMPARE(static_cast<std::int64_t>(clip->height), height);
        QCOMPARE(static_cast<std::int64_t>(clip->width), width);
        int worst = 0;
        for (std::int64_t t = 0; t < frames; ++t) {
            for (std::int64_t i = 0; i < height * width; ++i) {
                for (std::int64_t c = 0; c < 3; ++c) {
                    const int ours = clip->pixels[static_cast<std::size_t>((t * height * width + i) * 3 + c)];
                    worst = std::max(worst, std::abs(ours - expected.pixels()[(t * 3 + c) * height * width + i]));
                }
            }
        }
        QVERIFY2(worst <= tolerance, std::to_string(worst).c_str());
        QCOMPARE(probe(fixtures / name.toStdString(), Count::Exactly)->frames, frames);
    }

    void tellsBadFilesApart_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("code");
        const QByteArray whole = [] {
            QFile clip(QStringLiteral(STAGEWRIGHT_FIXTURES "/media/h264.mp4"));
            return clip.open(QIODevice::ReadOnly) ? clip.readAll() : QByteArray();
        }();
        QVERIFY(!whole.isEmpty());
        QVERIFY(replaceFile(file("zero.mp4"), ""));
        QVERIFY(replaceFile(file("cut.mp4"), whole.left(2000).toStdString()));
        QVERIFY(replaceFile(file("words.mp4"), "this is not a film\nbut a poem\n"));
        QVERIFY(replaceFile(file("noise.png"), std::string(3000, '\x42')));
        fs::create_directory(file("folder.mp4"));
        QTest::newRow("missing") << QByteArray("nothing.mp4") << QByteArray("data.file-missing");
        QTest::newRow("folder") << QByteArray("folder.mp4") << QByteArray("data.file-folder");
        QTest::newRow("empty") << QByteArray("zero.mp4") << QByteArray("data.file-empty");
        QTest::newRow("cut off") << QByteArray("cut.mp4") << QByteArray("data.no-index");
        QTest::newRow("text") << QByteArray("words.mp4") << QByteArray("data.not-media");
        QTest::newRow("noise") << QByteArray("noise.png") << QByteArray("data.not-media");
        if (tests::haveFfmpegProgram()) {
            QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i sine -t 0.2 -c:a aac ") + text("sound.m4a")));
            QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i sine=d=0.2 -f lavfi -i color=red:s=32x32:d=0.04 -map 0 -map 1 -c:a libmp3lame -c:v png "
                                                 "-disposition:v attached_pic ") + text("cover.mp3")));
            QTest::newRow("sound only") << QByteArray("sound.m4a") << QByteArray("data.no-video");
            QTest::newRow("cover art") << QByteArray("cover.mp3") << QByteArray("data.no-video");
        }
    }
    void tellsBadFilesApart()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, code);
        const auto info = probe(file(name.constData()));
        QVERIFY(!info);
        QCOMPARE(QByteArray::fromStdString(info.error().problem.code), code);
        QCOMPARE(info.error().exit, ExitCode::Data);
        QVERIFY2(info.error().message().starts_with(file(name.constData()).string()), info.error().message().c_str());
        const auto clip = decode(file(name.constData()), range(0, 1));
        QVERIFY(!clip);
        QCOMPARE(QByteArray::fromStdString(clip.error().problem.code), code);
    }

    void trueCountWinsOverTheHeader()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i testsrc2=s=64x48:r=16 -frames:v 49 -c:v libx264 -bf 0 -g 5 -movflags +faststart ") + text("49.mp4")));
        const auto whole = readFile(file("49.mp4"));
        QVERIFY(whole);
        QVERIFY(replaceFile(file("half.mp4"), std::string_view(*whole).substr(0, whole->size() / 2)));
        const auto info = probe(file("half.mp4"));
        QVERIFY(info);
        QCOMPARE(info->headerFrames, 49);
        const auto clip = decode(file("half.mp4"), range(0, 49));
        QVERIFY(clip);
        QVERIFY(clip->report.reachedEnd);
        QVERIFY(clip->report.trueFrames > 5 && clip->report.trueFrames < 49);
        QCOMPARE(clip->report.handedOver, clip->report.trueFrames);
    }

    void countsFramesWithoutAHeader()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i testsrc2=s=64x48:r=16 -frames:v 23 -c:v mpeg4 -f matroska -live 1 ") + text("live.mkv")));
        const auto info = probe(file("live.mkv"), Count::IfNoClaim);
        QVERIFY(info);
        QCOMPARE(info->headerFrames, 0);
        QCOMPARE(info->frames, 23);
        QVERIFY(info->framesCounted);
    }

    void findsExactFramesAfterSeeking_data()
    {
        QTest::addColumn<QByteArray>("codec");
        QTest::newRow("h264 with B frames") << QByteArray("-c:v libx264 -bf 3 -g 12 -crf 1");
        QTest::newRow("mpeg4") << QByteArray("-c:v mpeg4 -bf 2 -g 12 -q:v 1");
    }
    void findsExactFramesAfterSeeking()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QFETCH(QByteArray, codec);
        for (const char *name : {"long.mp4", "long.mkv"}) {
            // Brightness tells the frame: twenty levels, again and again.
            QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i color=black:s=32x32:r=25 -frames:v 200 -vf geq=lum='16+10*mod(N\\,20)':cb=128:cr=128 ")
                                  + QString::fromUtf8(codec) + QLatin1Char(' ') + text(name)));
            const std::vector<std::int64_t> wanted{100, 101, 117, 117, 150, 199};
            const auto clip = decode(file(name), wanted);
            QVERIFY2(clip, clip ? "" : clip.error().message().c_str());
            QCOMPARE(clip->indices, wanted);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const double level = clip->pixels[i * 32 * 32 * 3 + 1500] * 219.0 / 255.0;
                QVERIFY2(std::abs(level / 10.0 - static_cast<double>(wanted[i] % 20)) < 0.5, std::to_string(level).c_str());
            }
            const auto beyond = decode(file(name), std::vector<std::int64_t>{150, 250});
            QVERIFY(beyond);
            QVERIFY(beyond->report.reachedEnd);
            QCOMPARE(beyond->report.trueFrames, 200);
        }
    }

    void picksByNumberAtVariableRate()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i color=black:s=32x32:r=10:d=1 -f lavfi -i color=black:s=32x32:r=30:d=0.6 -filter_complex "
                                             "[0][1]concat,%1 -vsync vfr -c:v libx264 -crf 1 ").arg(QLatin1String(kNumbered)) + text("vfr.mp4")));
        const auto info = probe(file("vfr.mp4"), Count::Exactly);
        QVERIFY(info);
        QVERIFY(info->variableRate);
        const auto clip = decode(file("vfr.mp4"), std::vector<std::int64_t>{3, 9, 12, 20});
        QVERIFY(clip);
        QCOMPARE(clip->indices.size(), std::size_t(4));
        QCOMPARE(numberIn(*clip, 0), 3);
        QCOMPARE(numberIn(*clip, 1), 9);
        QCOMPARE(numberIn(*clip, 2), 12);
        QCOMPARE(numberIn(*clip, 3), 20);
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i color=black:s=32x32:r=10:d=1 -c:v mpeg4 ") + text("cfr.mp4")));
        QVERIFY(!probe(file("cfr.mp4"), Count::Exactly)->variableRate);
    }

    void turnsPicturesAsTheyAreShown_data()
    {
        QTest::addColumn<int>("degrees");
        for (const int degrees : {0, 90, 180, 270})
            QTest::addRow("%d", degrees) << degrees;
    }
    void turnsPicturesAsTheyAreShown()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QFETCH(int, degrees);
        // A white mark in the upper left corner; this ffmpeg's option counts counter-clockwise, as its own player then shows the file.
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i color=black:s=64x32:r=5:d=0.4,drawbox=0:0:16:16:white:fill -c:v mpeg4 -q:v 1 ") + text("up.mp4")));
        QVERIFY(tests::ffmpeg(QStringLiteral("-i %1 -c copy -metadata:s:v rotate=%2 %3").arg(text("up.mp4")).arg((360 - degrees) % 360).arg(text("turned.mp4"))));
        const auto info = probe(file("turned.mp4"));
        QVERIFY(info);
        QCOMPARE(info->rotation, degrees);
        const bool turned = degrees % 180 != 0;
        QCOMPARE(info->width, turned ? 32 : 64);
        QCOMPARE(info->height, turned ? 64 : 32);
        const auto clip = decode(file("turned.mp4"), range(0, 1));
        QVERIFY(clip);
        QCOMPARE(clip->width, info->width);
        QCOMPARE(clip->height, info->height);
        const auto bright = [&](int y, int x) { return clip->pixels[static_cast<std::size_t>((y * clip->width + x) * 3)] > 128; };
        const int right = clip->width - 4, bottom = clip->height - 4;
        QCOMPARE(bright(4, 4), degrees == 0);
        QCOMPARE(bright(4, right), degrees == 90);
        QCOMPARE(bright(bottom, right), degrees == 180);
        QCOMPARE(bright(bottom, 4), degrees == 270);
    }

    void readsEveryKindOfPicture_data()
    {
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<QByteArray>("name");
        const auto row = [](const char *title, const char *arguments, const char *name) { QTest::newRow(title) << QByteArray(arguments) << QByteArray(name); };
        row("odd size", "color=0x204060:s=33x17:r=5:d=0.4 -c:v ffv1 -pix_fmt yuv420p", "odd.mkv");
        row("10 bit", "color=0x204060:s=32x18:r=5:d=0.4 -c:v ffv1 -pix_fmt yuv420p10le", "ten.mkv");
        row("alpha", "color=0x204060@0.5:s=32x18:r=5:d=0.4,format=rgba -c:v qtrle", "alpha.mov");
        row("PNG", "color=0x204060:s=31x19 -frames:v 1", "a.png");
        row("PNG with alpha", "color=0x204060@0.5:s=31x19,format=rgba -frames:v 1", "b.png");
        row("JPEG", "color=0x204060:s=31x19 -frames:v 1 -q:v 1", "c.jpg");
        row("WebP", "color=0x204060:s=31x19 -frames:v 1 -quality 100", "d.webp");
        row("percent in the name", "color=0x204060:s=31x19 -frames:v 1 -update 1", "e%03d.png");
    }
    void readsEveryKindOfPicture()
    {
        if (!tests::haveFfmpegProgram())
            QSKIP("the ffmpeg program is not installed");
        QFETCH(QByteArray, arguments);
        QFETCH(QByteArray, name);
        const bool percent = name.contains('%');
        QVERIFY(tests::ffmpeg(QStringLiteral("-f lavfi -i ") + QString::fromUtf8(arguments) + QLatin1Char(' ') + text(percent ? "plain.png" : name.constData())));
        if (percent)
            fs::rename(file("plain.png"), file(name.constData()));
        const auto info = probe(file(name.constData()));
        QVERIFY2(info, info ? "" : info.error().message().c_str());
        QCOMPARE(info->isImage, isImageFile(file(name.constData())));
        const auto clip = decode(file(name.constData()), range(0, 1));
        QVERIFY2(clip, clip ? "" : clip.error().message().c_str());
        QCOMPARE(clip->width, info->width);
        QCOMPARE(clip->height, info->height);
        QCOMPARE(clip->pixels.size(), static_cast<std::size_t>(clip->width * clip->height * 3));
        for (std::size_t i = 0; i < clip->pixels.size(); ++i) {
            const int expected = std::array{0x20, 0x40, 0x60}[i % 3];
            QVERIFY2(std::abs(static_cast<int>(clip->pixels[i]) - expected) <= 4, std::to_string(clip->pixels[i]).c_str());
        }
    }

    void givesUpAtTheDeadlineAndWhenStopped()
    {
        const fs::path clip = fs::path(STAGEWRIGHT_FIXTURES) / "media/h264.mp4";
        const auto late = probe(clip, Count::Exactly, Limits::within(std::chrono::milliseconds(-1)));
        QVERIFY(!late);
        QCOMPARE(late.error().problem.code, std::string("data.timeout"));
        std::atomic<bool> stop{true};
        Limits limits;
        limits.stop = &stop;
        const auto stopped = decode(clip, range(0, 3), limits);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().problem.code, std::string("data.stopped"));
    }

    void leavesNothingOpenAndMemoryFlat()
    {
        const fs::path good = fs::path(STAGEWRIGHT_FIXTURES) / "media/h264.mp4", bad = file("cut2.mp4");
        QVERIFY(replaceFile(bad, std::string_view(*readFile(good)).substr(0, 2000)));
        const auto once = [&](int i) { return i % 3 ? decode(good, range(2, 7)).ok() : !decode(bad, range(0, 2)).ok(); };
        for (int i = 0; i < 60; ++i)
            QVERIFY(once(i));
        const int filesBefore = openFiles();
        const std::int64_t bytesBefore = residentBytes();
        for (int i = 0; i < 600; ++i)
            QVERIFY(once(i));
        QCOMPARE(openFiles(), filesBefore);
#ifndef __SANITIZE_ADDRESS__
        QVERIFY2(residentBytes() - bytesBefore < (8 << 20), std::to_string(residentBytes() - bytesBefore).c_str());
#endif
    }

    void decodesInSeveralThreads()
    {
        const fs::path clip = fs::path(STAGEWRIGHT_FIXTURES) / "media/h264.mp4";
        const auto expected = decode(clip, range(0, 12));
        QVERIFY(expected);
        std::atomic<int> equal{0};
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&] {
                    for (int k = 0; k < 10; ++k) {
                        const auto again = decode(clip, range(0, 12));
                        equal += again && again->pixels == expected->pixels;
                    }
                });
            }
        }
        QCOMPARE(equal.load(), 40);
    }
};

QTEST_GUILESS_MAIN(ClipTest)
#include "clip_test.moc"
