// Weights in the other layout, against the original's own conversion; and whether two checkpoints hold the same.
#include <QtTest>

#include <map>

#include <nlohmann/json.hpp>

#include "core/ckptfile/compare.h"
#include "core/ckptfile/export.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/relayout.h"
#include "small_checkpoint.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
using namespace stagewright::tests;
namespace fs = std::filesystem;

namespace {

// The tensors below a prefix, without it; sources of a conversion need not be in the model's order.
std::vector<StoredTensor> below(const std::vector<StoredTensor> &tensors, const std::string &prefix)
{
    std::vector<StoredTensor> found;
    for (StoredTensor tensor : tensors) {
        if (tensor.name.starts_with(prefix)) {
            tensor.name = tensor.name.substr(prefix.size());
            found.push_back(std::move(tensor));
        }
    }
    return found;
}

std::map<std::string, std::string> bytesOfAll(const std::vector<StoredTensor> &tensors)
{
    std::map<std::string, std::string> bytes;
    for (const StoredTensor &tensor : tensors)
        bytes[tensor.name + " " + shapeText(tensor.shape)] = *tensor.readAll();
    return bytes;
}

LayoutChange changeFrom(const nlohmann::json &source, const nlohmann::json &target)
{
    const auto order = [](const nlohmann::json &config) { return config.at("use_liger_rope").get<bool>() ? RopeOrder::Halves : RopeOrder::Neighbours; };
    return {order(source), order(target), target.at("fused_qkv").get<bool>()};
}

} // namespace

class RelayoutTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;

    std::vector<PartComparison> compared(const fs::path &a, const fs::path &b)
    {
        auto parts = compareCheckpoints(a, b);
        if (!parts)
            qFatal("%s", parts.error().message().c_str());
        return *parts;
    }
    static QStringList unequal(const std::vector<PartComparison> &parts)
    {
        QStringList names;
        for (const PartComparison &part : parts) {
            if (!part.equal)
                names << QString::fromStdString(part.part);
        }
        return names;
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
    }

    void convertsAsTheOriginalBothWays()
    {
        const auto files = support::goldenFiles("mmdit", "convert*.safetensors");
        QVERIFY(!files.empty());
        for (const fs::path &file : files) {
            const auto all = tensorsOf(file);
            QVERIFY(all.ok());
            nlohmann::json configs;
            const auto opened = SafetensorsFile::open(file);
            for (const auto &[key, text] : (*opened)->header().metadata)
                configs[key] = nlohmann::json::parse(text, nullptr, false);
            for (const auto &[from, to] : {std::pair("src", "dst"), std::pair("dst", "src")}) {
                const auto changed = changeLayout(below(*all, std::string(from) + "."), changeFrom(configs.at(from), configs.at(to)));
                QVERIFY2(changed.ok(), changed.ok() ? "" : changed.error().message().c_str());
                const auto got = bytesOfAll(*changed), wanted = bytesOfAll(below(*all, std::string(to) + "."));
                QCOMPARE(got.size(), wanted.size());
                for (const auto &[name, bytes] : wanted)
                    QVERIFY2(got.count(name) == 1 && got.at(name) == bytes, name.c_str());
            }
        }
    }

    // Parts of a converted tensor read at any place are parts of the whole.
    void readsAnyPartOfAConvertedTensor()
    {
        for (const fs::path &file : support::goldenFiles("mmdit", "convert*.safetensors")) {
            const auto changed = changeLayout(below(*tensorsOf(file), "src."), {RopeOrder::Neighbours, RopeOrder::Halves, false});
            QVERIFY(changed.ok());
            for (const StoredTensor &tensor : *changed) {
                const std::string whole = *tensor.readAll();
                for (const auto &[at, bytes] : {std::pair<std::int64_t, std::int64_t>(0, 1), {3, 7}, {tensor.bytes() / 2, tensor.bytes() / 3}, {tensor.bytes() - 1, 1}}) {
                    if (at + bytes > tensor.bytes())
                        continue;
                    std::string part(static_cast<std::size_t>(bytes), '\0');
                    QVERIFY(tensor.read(at, part.data(), bytes).ok());
                    QVERIFY2(part == whole.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes)), tensor.name.c_str());
                }
            }
        }
    }

    void refusesWhatHasNoLayout()
    {
        for (const fs::path &file : support::goldenFiles("mmdit", "convert*.safetensors")) {
            auto weights = below(*tensorsOf(file), "src.");
            std::erase_if(weights, [](const StoredTensor &tensor) { return tensor.name.ends_with("query_norm.scale"); });
            const auto headless = changeLayout(weights, {RopeOrder::Neighbours, RopeOrder::Halves, {}});
            QVERIFY(!headless.ok());
            QVERIFY2(headless.error().message().find("size of a head") != std::string::npos, headless.error().message().c_str());
            std::erase_if(weights, [](const StoredTensor &tensor) { return tensor.name == "img_in.weight"; });
            QVERIFY(!changeLayout(weights, {}).ok());
        }
    }

    void exportAsksForTheOrderThatNoFileSays()
    {
        const fs::path checkpoint = support::goldenFolder("ckpt") / "async";
        ExportOptions options;
        options.rope = RopeOrder::Neighbours;
        options.fused = true;
        const auto refused = exportWeights(checkpoint, m_run / "a.safetensors", options);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().exit, ExitCode::Usage);
        QVERIFY(!fs::exists(m_run / "a.safetensors"));
        options.storedRope = RopeOrder::Halves;
        const auto there = exportWeights(checkpoint, m_run / "a.safetensors", options);
        QVERIFY2(there.ok(), there.ok() ? "" : there.error().message().c_str());
        const auto back = changeLayout(*tensorsOf(m_run / "a.safetensors"), {RopeOrder::Neighbours, RopeOrder::Halves, false});
        const auto plain = exportWeights(checkpoint, m_run / "b.safetensors");
        QVERIFY(back.ok() && plain.ok());
        QVERIFY(bytesOfAll(*back) == bytesOfAll(*changeLayout(*tensorsOf(m_run / "b.safetensors"), {RopeOrder::Halves, RopeOrder::Halves, false})));
    }

    // The two goldens hold the same training; the synchronous one keeps its average as rank 0's flat pieces.
    void exportsAnAverageOfFlatPieces()
    {
        ExportOptions options;
        options.source = ExportSource::Ema;
        QVERIFY(exportWeights(support::goldenFolder("ckpt") / "async", m_run / "async.safetensors", options).ok());
        const auto flat = exportWeights(support::goldenFolder("ckpt") / "sync", m_run / "sync.safetensors", options);
        QVERIFY2(flat.ok(), flat.ok() ? "" : flat.error().message().c_str());
        const auto a = bytesOfAll(*tensorsOf(m_run / "async.safetensors")), b = bytesOfAll(*tensorsOf(m_run / "sync.safetensors"));
        QCOMPARE(a.size(), b.size());
        for (const auto &[name, bytes] : a)
            QVERIFY2(b.count(name) == 1, name.c_str());
    }

    void findsNoDifferenceInACopy()
    {
        SmallCheckpoint what;
        what.ema = true;
        const fs::path first = writeSmallCheckpoint(m_run / "a", what), second = writeSmallCheckpoint(m_run / "b", what);
        const auto parts = compared(first, second);
        QVERIFY(parts.size() >= 4);
        QCOMPARE(unequal(parts), QStringList());
    }

    void namesThePartThatDiffers()
    {
        SmallCheckpoint what;
        what.ema = true;
        const fs::path first = writeSmallCheckpoint(m_run / "a", what);
        const auto difference = [&](const char *folder, const SmallCheckpoint &other) { return compared(first, writeSmallCheckpoint(m_run / folder, other)); };
        SmallCheckpoint values = what;
        values.value = 2;
        const auto parts = difference("b", values);
        QVERIFY(unequal(parts).contains(QStringLiteral("weights")));
        QVERIFY(parts[0].distance > 0.5 && parts[0].sentence.find("differs") != std::string::npos);
        SmallCheckpoint withoutEma = what;
        withoutEma.ema = false;
        QCOMPARE(unequal(difference("c", withoutEma)), QStringList(QStringLiteral("EMA")));
        SmallCheckpoint later = what;
        later.step = 2;
        QVERIFY(unequal(difference("d", later)).contains(QStringLiteral("counters")));
        QVERIFY(!compareCheckpoints(first, m_run / "nothing").ok());
    }

    void canBeCancelled()
    {
        const fs::path first = writeSmallCheckpoint(m_run / "a", {});
        const auto cancelled = compareCheckpoints(first, first, [](std::int64_t) { return false; });
        QVERIFY(!cancelled.ok());
        QCOMPARE(cancelled.error().problem.code, std::string("checkpoint.cancelled"));
    }
};

QTEST_GUILESS_MAIN(RelayoutTest)
#include "relayout_test.moc"
