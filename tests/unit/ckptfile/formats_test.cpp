// Safetensors, pickles and archives: what is accepted, what is refused with which words, and that mutated input is refused in bounded time.
#include <QtTest>

#include <chrono>
#include <cstring>
#include <fstream>
#include <random>

#include "core/base/files.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/output_file.h"
#include "core/ckptfile/pickle_reader.h"
#include "core/ckptfile/pickle_writer.h"
#include "core/ckptfile/python_text.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/states.h"
#include "core/ckptfile/stored_tensor.h"
#include "core/ckptfile/torch_archive.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
namespace fs = std::filesystem;

namespace {

std::string lengthField(std::uint64_t length)
{
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    return text;
}

std::string withHeader(const std::string &json, std::size_t dataBytes) { return lengthField(json.size()) + json + std::string(dataBytes, 'x'); }

void write(const fs::path &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string bytesOfText(const char *text, std::size_t size) { return std::string(text, size); }

} // namespace

class FormatsTest : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path path(const char *name) const { return fs::path(m_folder.path().toStdString()) / name; }

private Q_SLOTS:
    void refusesFaultySafetensors_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");          // all of them, '|' between
        const auto row = [](const char *name, const std::string &bytes, const char *words) { QTest::newRow(name) << QByteArray(bytes.data(), qsizetype(bytes.size())) << QString::fromUtf8(words); };
        const auto f32 = [](const char *name, const char *range, const char *shape = "[1]") {
            return "\"" + std::string(name) + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":" + range + "}";
        };
        row("empty file", "", "0 bytes|cut short");
        row("seven bytes", "1234567", "7 bytes|cut short");
        row("length only", lengthField(100), "100 bytes|whole file has 8");
        row("length 2^63", lengthField(1ull << 63) + "{}", "9223372036854775808|whole file has 10");
        row("header longer than file", lengthField(50) + "{}", "50|cut short");
        row("not a header", lengthField(4) + "abcd", "does not begin with {");
        row("broken JSON", withHeader("{\"a\":", 0), "not valid JSON");
        row("half of the data", withHeader("{" + f32("a", "[0,400]", "[100]") + "}", 200), "promises|cut short");
        row("data longer than the offsets", withHeader("{" + f32("a", "[0,4]") + "}", 9), "accounts for|longer file");
        row("duplicate name", withHeader("{" + f32("a", "[0,4]") + "," + f32("a", "[4,8]") + "}", 8), "duplicate tensor name|\"a\"");
        row("duplicate metadata", withHeader("{\"__metadata__\":{},\"__metadata__\":{}}", 0), "duplicate __metadata__");
        row("overlap", withHeader("{" + f32("a", "[0,4]") + "," + f32("b", "[2,6]") + "}", 6), "\"a\"|\"b\"|overlap");
        row("hole", withHeader("{" + f32("a", "[0,4]") + "," + f32("b", "[8,12]") + "}", 12), "hole of 4|\"a\"|\"b\"");
        row("hole at the start", withHeader("{" + f32("a", "[4,8]") + "}", 8), "hole of 4|\"a\"");
        row("size against shape", withHeader("{" + f32("a", "[0,8]", "[3]") + "}", 8), "needs 12 bytes, but has 8|\"a\"");
        row("end before begin", withHeader("{" + f32("a", "[4,0]") + "}", 4), "ends before");
        row("unknown type", withHeader("{\"a\":{\"dtype\":\"XYZ\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4), "XYZ|\"a\"");
        row("negative extent", withHeader("{" + f32("a", "[0,4]", "[-1]") + "}", 4), "negative|\"a\"");
        row("overflowing shape", withHeader("{" + f32("a", "[0,4]", "[4611686018427387904,4]") + "}", 4), "overflows|\"a\"");
        row("fraction", withHeader("{" + f32("a", "[0,4]", "[1.5]") + "}", 4), "1.5|\"a\"");
        row("missing key", withHeader("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4), "not all of");
        row("unknown key", withHeader("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":[]}}", 4), "unknown key");
        row("key twice", withHeader("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", 4), "twice");
        row("one offset", withHeader("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4]}}", 4), "1 numbers instead of 2");
    }
    void refusesFaultySafetensors()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        write(path("x.safetensors"), bytes.toStdString());
        const auto opened = SafetensorsFile::open(path("x.safetensors"));
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().exit, ExitCode::Checkpoint);
        const QString sentence = QString::fromStdString(opened.error().message());
        QVERIFY2(sentence.contains(QStringLiteral("x.safetensors")), qPrintable(sentence));
        for (const QString &word : words.split(QLatin1Char('|')))
            QVERIFY2(sentence.contains(word), qPrintable(sentence));
    }

    void readsEveryKnownType()
    {
        for (const char *name : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL", "F8_E4M3", "F8_E5M2"}) {
            const DType dtype = *dtypeOf(name);
            std::vector<TensorInfo> tensors{{"a", dtype, {3}}, {"scalar", dtype, {}}, {"none", dtype, {0, 4}}};
            const std::string header = safetensorsHeader(tensors);
            QCOMPARE(header.size() % 8, 0u);
            std::string data;
            for (std::int64_t byte = 0; byte < 4 * bytesOf(dtype); ++byte)
                data += static_cast<char>(byte * 37 + 1);
            write(path("t.safetensors"), header + data);
            const auto opened = SafetensorsFile::open(path("t.safetensors"));
            QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
            std::string read(static_cast<std::size_t>(3 * bytesOf(dtype)), '\0');
            QVERIFY((*opened)->read(0, 0, read.data(), static_cast<std::int64_t>(read.size())).ok());
            QCOMPARE(read, data.substr(0, read.size()));
        }
    }

    void writesNumbersAndTextsAsPythonDoes_data()
    {
        QTest::addColumn<double>("number");
        QTest::addColumn<QString>("text");
        QTest::newRow("integer") << 4.0 << QStringLiteral("4.0");
        QTest::newRow("zero") << 0.0 << QStringLiteral("0.0");
        QTest::newRow("small") << 1e-06 << QStringLiteral("1e-06");
        QTest::newRow("border") << 0.0001 << QStringLiteral("0.0001");
        QTest::newRow("below the border") << 0.00001 << QStringLiteral("1e-05");
        QTest::newRow("total") << 22680.623168945312 << QStringLiteral("22680.623168945312");
        QTest::newRow("large") << 1e16 << QStringLiteral("1e+16");
        QTest::newRow("just fixed") << 1e15 << QStringLiteral("1000000000000000.0");
        QTest::newRow("tenth") << 0.1 << QStringLiteral("0.1");
        QTest::newRow("negative") << -2.5 << QStringLiteral("-2.5");
    }
    void writesNumbersAndTextsAsPythonDoes()
    {
        QFETCH(double, number);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(pythonFloat(number)), text);
    }
    void escapesAsPythonDoes()
    {
        QCOMPARE(pythonJsonString("a\"\\\n\t\x01\x7f"), std::string("\"a\\\"\\\\\\n\\t\\u0001\x7f\""));
        QCOMPARE(pythonJsonString("\xc3\xa9\xe5\x90\x8d\xf0\x9f\x98\x80"), std::string("\"\\u00e9\\u540d\\ud83d\\ude00\""));
    }

    // What Python's pickle.dumps(value, 4) gives.
    void picklesIntegers_data()
    {
        QTest::addColumn<qint64>("number");
        QTest::addColumn<QByteArray>("hex");
        QTest::newRow("0") << qint64(0) << QByteArray("80044b002e");
        QTest::newRow("255") << qint64(255) << QByteArray("80044bff2e");
        QTest::newRow("256") << qint64(256) << QByteArray("80049504000000000000004d00012e");
        QTest::newRow("65535") << qint64(65535) << QByteArray("80049504000000000000004dffff2e");
        QTest::newRow("65536") << qint64(65536) << QByteArray("80049506000000000000004a000001002e");
        QTest::newRow("2^31-1") << qint64(2147483647) << QByteArray("80049506000000000000004affffff7f2e");
        QTest::newRow("2^31") << qint64(2147483648) << QByteArray("80049508000000000000008a0500000080002e");
        QTest::newRow("2^40") << qint64(1099511627776) << QByteArray("80049509000000000000008a060000000000012e");
        QTest::newRow("-1") << qint64(-1) << QByteArray("80049506000000000000004affffffff2e");
        QTest::newRow("-200") << qint64(-200) << QByteArray("80049506000000000000004a38ffffff2e");
    }
    void picklesIntegers()
    {
        QFETCH(qint64, number);
        QFETCH(QByteArray, hex);
        const std::string bytes = pickledInt4(number);
        QCOMPARE(QByteArray(bytes.data(), qsizetype(bytes.size())).toHex(), hex);
        const auto value = readPickle(bytes, "x");
        QVERIFY(value.ok());
        QCOMPARE(value->kind, PickleValue::Kind::Int);
        QCOMPARE(value->integer, std::int64_t(number));
    }

    void refusesPicklesThatWantToRunSomething_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");
        QTest::newRow("os.system") << QByteArray("\x80\x02" "cposix\nsystem\nX\x04\x00\x00\x00" "true\x85R.", 29) << QStringLiteral("posix.system|nothing of it was run");
        QTest::newRow("builtins.eval, protocol 4") << QByteArray("\x80\x04\x8c\x08" "builtins\x8c\x04" "eval\x93.", 20) << QStringLiteral("builtins.eval");
        QTest::newRow("torch.load") << QByteArray("\x80\x02" "ctorch.serialization\nload\n.") << QStringLiteral("torch.serialization.load");
        QTest::newRow("INST") << QByteArray("(ios\nsystem\n.") << QStringLiteral("0x69");
        QTest::newRow("OBJ") << QByteArray("(o.") << QStringLiteral("0x6f");
        QTest::newRow("NEWOBJ") << QByteArray("))\x81.") << QStringLiteral("0x81");
        QTest::newRow("EXT1") << QByteArray("\x82\x01.") << QStringLiteral("0x82");
        QTest::newRow("call of a value") << QByteArray("]).R.") << QStringLiteral("stack");
        QTest::newRow("call of a list") << QByteArray("])R.") << QStringLiteral("not a function");
        QTest::newRow("ends early") << QByteArray("\x80\x02}q", 4) << QStringLiteral("too early");
        QTest::newRow("nothing") << QByteArray() << QStringLiteral("too early");
        QTest::newRow("unknown memo") << QByteArray("h\x05.") << QStringLiteral("does not exist");
        QTest::newRow("too long an int") << QByteArray("\x8a\x09\x01\x02\x03\x04\x05\x06\x07\x08\x09.", 12) << QStringLiteral("more than 64 bits");
        QTest::newRow("list in itself") << QByteArray("]q\x00h\x00" "a.", 7) << QStringLiteral("circle");
        QTest::newRow("dict without value") << QByteArray("}(K\x01u.") << QStringLiteral("no value");
    }
    void refusesPicklesThatWantToRunSomething()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        const auto value = readPickle(bytes.toStdString(), "file.bin");
        QVERIFY(!value.ok());
        const QString sentence = QString::fromStdString(value.error().message());
        QVERIFY(sentence.startsWith(QStringLiteral("file.bin")));
        for (const QString &word : words.split(QLatin1Char('|')))
            QVERIFY2(sentence.contains(word), qPrintable(sentence));
    }

    // Ten lists, each holding the one before ten times: 10^10 values if it were copied out.
    void refusesAPickleThatExpandsBeyondMeasure()
    {
        std::string bytes = "]q";
        bytes += '\0';
        for (char level = 1; level <= 10; ++level) {
            bytes += "](";
            for (int times = 0; times < 10; ++times) {
                bytes += 'h';
                bytes += static_cast<char>(level - 1);
            }
            bytes += "eq";
            bytes += level;
        }
        const auto before = std::chrono::steady_clock::now();
        const auto value = readPickle(bytes + ".", "x");
        QVERIFY(!value.ok());
        QVERIFY2(value.error().message().find("stack does not hold") != std::string::npos || value.error().message().find("more than") != std::string::npos, value.error().message().c_str());
        QVERIFY(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
    }

    void writesWhatItReads()
    {
        ParamGroup group;
        group.lr = 2e-3;
        group.betas = {0.9, 0.95};
        group.eps = 1e-15;
        group.weightDecay = 0.01;
        group.initialLr = 1e-3;
        const std::string archive = torchArchive(paramGroups(group, 1500), "pytorch_optim_group");
        write(path("g.bin"), archive);
        const auto opened = TorchArchive::open(path("g.bin"));
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
        const auto parsed = parseParamGroups((*opened)->root(), "g.bin");
        QVERIFY(parsed.ok());
        QCOMPARE(parsed->group, group);
        QCOMPARE(parsed->parameters, 1500);
        QVERIFY((*opened)->checkEverything().ok());
    }
    void keepsBothKindsOfSchedule()
    {
        SchedulerState linear;
        linear.initialLr = 1e-6;
        linear.warmupSteps = 3;
        linear.baseLr = linear.lastLr = 2e-3;
        linear.lastEpoch = 4;
        SchedulerState cosine;
        cosine.kind = SchedulerState::Kind::Cosine;
        cosine.warmupSteps = 2;
        cosine.baseLr = 1e-3;
        cosine.lastLr = 5e-4;
        cosine.lastEpoch = 7;
        cosine.cosineSteps = 20;
        for (const SchedulerState &state : {linear, cosine}) {
            const auto parsed = parseScheduler(schedulerDict(state), "lr_scheduler");
            QVERIFY(parsed.ok());
            QCOMPARE(*parsed, state);
        }
    }

    void refusesFaultyArchives_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("words");
        const std::string good = torchArchive(samplerDict({1, 2, 3}), "sampler");
        const auto row = [](const char *name, const std::string &bytes, const char *words) { QTest::newRow(name) << QByteArray(bytes.data(), qsizetype(bytes.size())) << QString::fromUtf8(words); };
        row("empty", "", "0 bytes|cut short");
        row("cut in half", good.substr(0, good.size() / 2), "no end record|cut short");
        row("last byte missing", good.substr(0, good.size() - 1), "cut short");
        row("text", "this is no archive at all, just text", "not a torch.save archive");
        std::string flipped = good;
        flipped[flipped.find("seed")] = 'S';
        row("one bit wrong", flipped, "checksum");
        std::string packed = good;
        packed[packed.rfind("PK\x01\x02") + 10] = 8;
        row("compressed", packed, "compressed");
        row("before torch 1.6", bytesOfText("\x80\x02\x8a\x0a" "l\xfc\x9c" "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", 22), "before version 1.6");
        std::string cpp = good;
        for (std::size_t at = cpp.find("/version"); at != std::string::npos; at = cpp.find("/version", at + 1))
            cpp.replace(at, 8, "/code/aa");
        row("made by C++", cpp, "C++ LibTorch");
        std::string big = good;
        const std::size_t little = big.find("little", big.find("byteorder"));
        big.replace(little, 6, "big   ");
        row("big-endian", big, "checksum");          // the entry's checksum speaks first
    }
    void refusesFaultyArchives()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, words);
        write(path("a.bin"), bytes.toStdString());
        const auto opened = TorchArchive::open(path("a.bin"));
        QVERIFY(!opened.ok());
        const QString sentence = QString::fromStdString(opened.error().message());
        for (const QString &word : words.split(QLatin1Char('|')))
            QVERIFY2(sentence.contains(word), qPrintable(sentence));
    }

    // A state file in every form that people bring.
    void refusesFaultyRunningStates_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("words");
        QTest::newRow("zero bytes") << QString() << QStringLiteral("empty");
        QTest::newRow("not JSON") << QStringLiteral("{\"epoch\":") << QStringLiteral("not valid JSON");
        QTest::newRow("a list") << QStringLiteral("[1]") << QStringLiteral("object");
        QTest::newRow("nothing in it") << QStringLiteral("{}") << QStringLiteral("\"epoch\" is missing");
        QTest::newRow("text") << QStringLiteral("{\"epoch\":0,\"step\":\"x\"}") << QStringLiteral("\"step\" should be a whole number");
        QTest::newRow("null") << QStringLiteral("{\"epoch\":0,\"step\":0,\"global_step\":null}") << QStringLiteral("\"global_step\" should be");
        QTest::newRow("negative") << QStringLiteral("{\"epoch\":-1}") << QStringLiteral("from 0 on");
        QTest::newRow("fraction") << QStringLiteral("{\"epoch\":0.5}") << QStringLiteral("whole number");
        QTest::newRow("too large") << QStringLiteral("{\"epoch\":18446744073709551615}") << QStringLiteral("whole number");
    }
    void refusesFaultyRunningStates()
    {
        QFETCH(QString, text);
        QFETCH(QString, words);
        const auto parsed = parseRunningStates(text.toStdString(), "running_states.json");
        QVERIFY(!parsed.ok());
        QCOMPARE(parsed.error().exit, ExitCode::Checkpoint);
        QVERIFY2(QString::fromStdString(parsed.error().message()).contains(words), parsed.error().message().c_str());
    }

    void readsRunningStatesItWrote()
    {
        Counters counters;
        counters.epoch = 3;
        counters.microStep = 17;
        counters.globalMicroStep = 317;
        counters.updates = 158;
        const auto parsed = parseRunningStates(runningStatesJson(counters), "x");
        QVERIFY(parsed.ok());
        QCOMPARE(*parsed, counters);
    }

    // Bytes changed, cut, doubled: every outcome is a value or a sentence, quickly.
    void survivesMutatedInput_data()
    {
        QTest::addColumn<bool>("pickle");
        QTest::newRow("safetensors") << false;
        QTest::newRow("archives") << true;
    }
    void survivesMutatedInput()
    {
        QFETCH(bool, pickle);
        std::vector<TensorInfo> tensors{{"one", DType::F32, {4, 2}}, {"two.weight", DType::BF16, {7}}, {"three", DType::U8, {5}}};
        const std::string good = pickle ? torchArchive(paramGroups({}, 40), "g") : safetensorsHeader(tensors) + std::string(51, 'd');
        const std::string goodPickle = pickle2(paramGroups({}, 40));
        std::mt19937_64 random(7);
        const auto before = std::chrono::steady_clock::now();
        int accepted = 0;
        for (int round = 0; round < 2500; ++round) {
            std::string bytes = pickle && round % 2 == 0 ? goodPickle : good;
            for (std::uint64_t changes = random() % 4 + 1; changes > 0 && !bytes.empty(); --changes) {
                const std::size_t at = random() % bytes.size();
                switch (random() % 4) {
                case 0: bytes[at] = static_cast<char>(random()); break;
                case 1: bytes.erase(at, random() % 8 + 1); break;
                case 2: bytes.insert(at, bytes.substr(at, random() % 16)); break;
                default: bytes.resize(at); break;
                }
            }
            if (pickle && round % 2 == 0) {
                accepted += readPickle(bytes, "x").ok();
                continue;
            }
            write(path("fuzz"), bytes);
            accepted += pickle ? TorchArchive::open(path("fuzz")).ok() : SafetensorsFile::open(path("fuzz")).ok();
        }
        QVERIFY(accepted < 2500);
        QVERIFY(std::chrono::steady_clock::now() - before < std::chrono::seconds(60));
    }

    void cutsShardsAsTheOriginal()
    {
        // A tensor above the limit gets its own shard; a cut comes only when the shard is not empty.
        const std::int64_t mib = 1 << 20;
        QCOMPARE(cutShards({5 * mib, mib, 3 * mib, mib, mib}, 4), (std::vector<std::size_t>{0, 1, 1, 2, 2}));
        QCOMPARE(cutShards({}, 4), std::vector<std::size_t>());
        QCOMPARE(shardName("model", 1), std::string("model-00001.safetensors"));
    }
    void knowsCheckpointNamesExactly()
    {
        for (const char *bad : {"epoch0-global_step50_keepme", "epochbest-global_step1", "xepoch0-global_step1", "epoch-1-global_step1", "epoch0-global_step", "epoch0-global_step-5", "epoch0-global_step1 ", ".tmp-epoch0-global_step1.1-2-3", "epoch0-global_step99999999999999999999"})
            QVERIFY2(!parseCheckpointFolderName(bad), bad);
        const auto name = parseCheckpointFolderName("epoch12-global_step3400");
        QVERIFY(name && name->epoch == 12 && name->step == 3400);
    }

    // A file system that moves at most 4096 bytes a call and is interrupted every third time; 1000 bytes a call end direct writing.
    void writesEverythingOverShortWrites()
    {
        class Stubborn : public FileSystem
        {
        public:
            ssize_t writeAt(int file, const void *data, std::size_t bytes, off_t offset) override
            {
                if (++m_calls % 3 == 0) {
                    errno = EINTR;
                    return -1;
                }
                return FileSystem::writeAt(file, data, std::min<std::size_t>(bytes, m_calls % 2 ? 4096 : 1000), offset);
            }
            int m_calls = 0;
        } files;
        const std::int64_t size = 300'001;
        char *block = static_cast<char *>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(alignedUp(size))));
        for (std::int64_t at = 0; at < alignedUp(size); ++at)
            block[at] = static_cast<char>(at * 31 + at / 1000);
        auto output = OutputFile::create(files, path("short"), true);
        QVERIFY2(output.ok(), output.ok() ? "" : output.error().message().c_str());
        QVERIFY((*output)->write(0, block, alignedUp(size)).ok());
        QVERIFY((*output)->finish(size).ok());
        const auto read = readFile(path("short"));
        QVERIFY(read.ok());
        QVERIFY(*read == std::string(block, static_cast<std::size_t>(size)));
        std::free(block);
    }
};

QTEST_GUILESS_MAIN(FormatsTest)
#include "formats_test.moc"
