// The bytes of TensorBoard's event files, checked by a reader that shares nothing with the writer but the format's description.
#include <QtTest>

#include <cstring>

#include "core/base/files.h"
#include "core/runlog/tensorboard.h"

using namespace stagewright;
using namespace stagewright::runlog;
namespace fs = std::filesystem;

namespace {

template <class T>
T at(const std::string &bytes, std::size_t offset)
{
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

struct Field {
    int number;
    std::uint64_t integer = 0;
    std::string bytes;
};

// One level of a protobuf message.
std::vector<Field> parsed(const std::string &message)
{
    std::vector<Field> fields;
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (int shift = 0; at < message.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(message[at++]);
            value |= std::uint64_t(byte & 0x7F) << shift;
            if (byte < 0x80)
                break;
        }
        return value;
    };
    while (at < message.size()) {
        const std::uint64_t tag = varint();
        Field field{int(tag >> 3), 0, {}};
        switch (tag & 7) {
        case 0: field.integer = varint(); break;
        case 1: field.bytes = message.substr(at, 8); at += 8; break;
        case 2: { const auto size = varint(); field.bytes = message.substr(at, size); at += size; break; }
        case 5: field.bytes = message.substr(at, 4); at += 4; break;
        default: return {};
        }
        fields.push_back(field);
    }
    return fields;
}

// The messages of a file, every checksum verified; empty where one is wrong.
std::vector<std::string> framesOf(const std::string &file)
{
    std::vector<std::string> frames;
    for (std::size_t offset = 0; offset < file.size();) {
        if (offset + 12 > file.size())
            return {};
        const auto size = at<std::uint64_t>(file, offset);
        if (at<std::uint32_t>(file, offset + 8) != maskedCrc32c(file.substr(offset, 8)) || offset + 16 + size > file.size())
            return {};
        const std::string body = file.substr(offset + 12, size);
        if (at<std::uint32_t>(file, offset + 12 + size) != maskedCrc32c(body))
            return {};
        frames.push_back(body);
        offset += 16 + size;
    }
    return frames;
}

} // namespace

class TestTensorBoard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void checksumsAreTheStandards();
    void scalarsStandWhereTensorBoardLooksForThem();
    void aFolderThatCannotBeMadeIsSaid();
};

void TestTensorBoard::checksumsAreTheStandards()
{
    QCOMPARE(crc32c("123456789"), 0xE3069283U);                       // the check value of CRC-32C
    QCOMPARE(crc32c(std::string(32, '\0')), 0x8A9136AAU);             // RFC 3720, B.4
    QCOMPARE(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
    QCOMPARE(crc32c({}), 0U);
}

void TestTensorBoard::scalarsStandWhereTensorBoardLooksForThem()
{
    QTemporaryDir folder;
    auto writer = TensorBoardWriter::open(folder.path().toStdString() + "/tensorboard");
    QVERIFY(writer.ok());
    QVERIFY((*writer)->file().filename().string().rfind("events.out.tfevents.", 0) == 0);
    events::Step step;
    step.loss = 0.25;
    step.lr = 5e-5;
    step.gradNorm = 2;
    QVERIFY((*writer)->add({1733130805.5, 300, step}).ok());
    QVERIFY((*writer)->add({1, -1, events::Note{}}).ok());            // not a step: nothing
    QVERIFY((*writer)->flush().ok());
    const auto frames = framesOf(*readFile((*writer)->file()));
    QCOMPARE(frames.size(), std::size_t(2));

    const auto first = parsed(frames[0]);
    QCOMPARE(first[1].number, 3);
    QCOMPARE(first[1].bytes, std::string("brain.Event:2"));

    const auto event = parsed(frames[1]);
    QCOMPARE(event.size(), std::size_t(3));
    QCOMPARE(at<double>(event[0].bytes, 0), 1733130805.5);            // wall_time
    QCOMPARE(event[1].number, 2);
    QCOMPARE(event[1].integer, std::uint64_t(300));                   // step
    QCOMPARE(event[2].number, 5);                                     // summary
    std::map<std::string, float> scalars;
    for (const Field &value : parsed(event[2].bytes)) {
        const auto parts = parsed(value.bytes);
        QCOMPARE(parts[0].number, 1);
        QCOMPARE(parts[1].number, 2);
        scalars[parts[0].bytes] = at<float>(parts[1].bytes, 0);
    }
    QCOMPARE(scalars["loss"], 0.25F);
    QCOMPARE(scalars["lr"], 5e-5F);
    QCOMPARE(scalars["grad_norm"], 2.0F);
    QVERIFY(scalars.count("time/step_seconds"));
}

void TestTensorBoard::aFolderThatCannotBeMadeIsSaid()
{
    const auto writer = TensorBoardWriter::open("/proc/nothing/here");
    QVERIFY(!writer.ok());
    QCOMPARE(writer.error().exit, ExitCode::InputOutput);
}

QTEST_GUILESS_MAIN(TestTensorBoard)
#include "test_tensorboard.moc"
