// Checkpoint folders and files that the original wrote, against the descriptions beside them.
#include <QtTest>

#include <QCryptographicHash>

#include <set>

#include "core/base/files.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/pickle_reader.h"
#include "core/ckptfile/pickle_writer.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string sha256(const std::string &bytes)
{
    return QCryptographicHash::hash(QByteArrayView(bytes.data(), qsizetype(bytes.size())), QCryptographicHash::Sha256).toHex().toStdString();
}

std::string torchName(DType dtype)
{
    static const std::map<DType, std::string> names{{DType::F64, "torch.float64"}, {DType::F32, "torch.float32"}, {DType::F16, "torch.float16"}, {DType::BF16, "torch.bfloat16"},
        {DType::I64, "torch.int64"}, {DType::I32, "torch.int32"}, {DType::I16, "torch.int16"}, {DType::I8, "torch.int8"}, {DType::U8, "torch.uint8"}, {DType::Bool, "torch.bool"}};
    return names.at(dtype);
}

// Compares a value of a pickle with what the description says it is; returns the first difference.
std::string difference(const PickleValue &value, const Json &described, const TorchArchive *archive, const std::string &at)
{
    if (described.is_object() && described.contains("tensor")) {
        if (value.kind != PickleValue::Kind::Tensor)
            return at + ": no tensor";
        StoredTensor tensor(std::shared_ptr<const TorchArchive>(archive, [](auto *) {}), at, value.tensor);
        if (Json(tensor.shape) != described["tensor"])
            return at + ": shape";
        if (described.contains("dtype") && torchName(tensor.dtype) != described["dtype"].get<std::string>())
            return at + ": dtype " + torchName(tensor.dtype);
        auto bytes = tensor.readAll();
        if (!bytes)
            return bytes.error().message();
        return !described.contains("sha256") || sha256(*bytes) == described["sha256"].get<std::string>() ? "" : at + ": content";
    }
    if (described.is_object()) {
        if (value.kind != PickleValue::Kind::Dict)
            return at + ": no dict";
        for (const auto &[key, inner] : described.items()) {
            const PickleValue *found = value.find(key);
            for (std::size_t index = 0; !found && index + 1 < value.items.size(); index += 2) {
                if (value.items[index].kind == PickleValue::Kind::Int && std::to_string(value.items[index].integer) == key)
                    found = &value.items[index + 1];
            }
            if (!found)
                return at + "." + key + ": missing";
            if (std::string inside = difference(*found, inner, archive, at + "." + key); !inside.empty())
                return inside;
        }
        return {};
    }
    if (described.is_array()) {
        if (!value.isSequence() || value.items.size() != described.size())
            return at + ": no list of " + std::to_string(described.size());
        for (std::size_t index = 0; index < described.size(); ++index) {
            if (std::string inside = difference(value.items[index], described[index], archive, at + "[" + std::to_string(index) + "]"); !inside.empty())
                return inside;
        }
        return {};
    }
    if (described.is_boolean())
        return value.kind == PickleValue::Kind::Bool && (value.integer != 0) == described.get<bool>() ? "" : at + ": bool";
    if (described.is_number_integer())
        return value.kind == PickleValue::Kind::Int && value.integer == described.get<std::int64_t>() ? "" : at + ": int";
    if (described.is_number_float())
        return value.kind == PickleValue::Kind::Float && value.number == described.get<double>() ? "" : at + ": float";
    if (described.is_null())
        return value.kind == PickleValue::Kind::None ? "" : at + ": None";
    return value.kind == PickleValue::Kind::String && value.text == described.get<std::string>() ? "" : at + ": text";
}

// A safetensors file written by the asynchronous writer can be made again byte for byte from what was read.
std::string headerAgain(const SafetensorsFile &file)
{
    std::vector<TensorInfo> tensors = file.header().tensors;
    Metadata extra;
    for (const auto &entry : file.header().metadata) {
        if (entry.first != "format")
            extra.push_back(entry);
    }
    return safetensorsHeader(tensors, extra);
}

} // namespace

class GoldenTest : public QObject
{
    Q_OBJECT

    // Rows: folder, description of one file.
    static void addFiles(const char *onlyFormat)
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("description");
        int rows = 0;
        for (const fs::path &json : support::goldenFiles("ckpt", "*.json")) {
            const fs::path folder = json.parent_path() / json.stem();
            const Json described = support::readJson(json);
            if (!fs::is_directory(folder) || !described.contains("files"))
                continue;
            for (const Json &file : described["files"]) {
                if (file["format"] != onlyFormat)
                    continue;
                const std::string path = file["path"].get<std::string>();
                QTest::newRow((json.stem().string() + "/" + path).c_str()) << QString::fromStdString((folder / path).string()) << QString::fromStdString(file.dump());
                ++rows;
            }
        }
        QVERIFY2(rows > 0, "no golden checkpoint files were found");
    }

private Q_SLOTS:
    void readsSafetensors_data() { addFiles("safetensors"); }
    void readsSafetensors()
    {
        QFETCH(QString, path);
        QFETCH(QString, description);
        const Json described = Json::parse(description.toStdString());
        const auto opened = SafetensorsFile::open(path.toStdString());
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
        const SafetensorsFile &file = **opened;
        const std::string bytes = *readFile(path.toStdString());
        QCOMPARE(static_cast<std::int64_t>(bytes.size()), described["bytes"].get<std::int64_t>());
        QCOMPARE(file.header().dataBegin - 8, described["header_bytes"].get<std::int64_t>());
        QCOMPARE(file.header().tensors.size(), described["tensors"].get<std::size_t>());
        Json metadata = Json::object();
        for (const auto &[key, value] : file.header().metadata)
            metadata[key] = value;
        QVERIFY2(metadata == described["metadata"], metadata.dump().c_str());
        std::set<std::string> dtypes;
        for (const TensorInfo &tensor : file.header().tensors)
            dtypes.insert(std::string(nameOf(tensor.dtype)));
        QVERIFY(Json(dtypes) == described["dtypes"]);
        for (std::size_t at = 0; at < described["first_keys"].size(); ++at)
            QCOMPARE(file.header().tensors[at].name, described["first_keys"][at].get<std::string>());
        // json.dumps puts a space behind each colon: the asynchronous writer's mark.
        if (described["header_start"].get<std::string>().starts_with("{\"__metadata__\": "))
            QVERIFY2(headerAgain(file) == bytes.substr(0, static_cast<std::size_t>(file.header().dataBegin)), "the header made again differs");
        const Json values = described.value("non_tensor_values", Json::object());
        for (const auto &[name, value] : values.items()) {
            const auto tensors = file.header().tensors;
            const auto found = std::find_if(tensors.begin(), tensors.end(), [&, wanted = name](const TensorInfo &tensor) { return tensor.name == wanted; });
            QVERIFY(found != tensors.end());
            std::string pickle(static_cast<std::size_t>(found->bytes()), '\0');
            QVERIFY(file.read(static_cast<std::size_t>(found - tensors.begin()), 0, pickle.data(), found->bytes()).ok());
            QCOMPARE(QByteArray(pickle.data(), qsizetype(pickle.size())).toHex().toStdString(), value["bytes"].get<std::string>());
            const auto read = readPickle(pickle, name);
            QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
            if (read->kind == PickleValue::Kind::Int) {
                QCOMPARE(std::to_string(read->integer), value["value"].get<std::string>());
                QVERIFY(pickledInt4(read->integer) == pickle);
            }
        }
    }

    void readsTorchArchives_data() { addFiles("torch.save zip"); }
    void readsTorchArchives()
    {
        QFETCH(QString, path);
        QFETCH(QString, description);
        const Json described = Json::parse(description.toStdString());
        const auto opened = TorchArchive::open(path.toStdString());
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
        QVERIFY((*opened)->checkEverything().ok());
        const std::string found = difference((*opened)->root(), described["content"], opened->get(), "");
        QVERIFY2(found.empty(), found.c_str());
    }

    // Our writer's pickle of the same content is the original's, byte for byte: torch.save writes it with protocol 2.
    void writesTheSamePickles_data() { addFiles("torch.save zip"); }
    void writesTheSamePickles()
    {
        QFETCH(QString, path);
        const auto input = InputFile::open(path.toStdString());
        QVERIFY(input.ok());
        const auto zip = ZipReader::open(*input);
        QVERIFY(zip.ok());
        const std::string stem = fs::path(path.toStdString()).stem().string();
        const ZipEntry *entry = zip->find(stem + "/data.pkl");
        QVERIFY(entry);
        const std::string pickle = *zip->read(*entry);
        const auto value = readPickle(pickle, stem);
        QVERIFY(value.ok());
        if (pickle.find("_rebuild_tensor") != std::string::npos)
            QSKIP("holds tensors, which are never written as pickles");
        QCOMPARE(QByteArray::fromStdString(pickle2(*value)).toHex(), QByteArray::fromStdString(pickle).toHex());
    }

    void readsJsonFiles_data() { addFiles("json"); }
    void readsJsonFiles()
    {
        QFETCH(QString, path);
        QFETCH(QString, description);
        const fs::path file = path.toStdString();
        const std::string bytes = *readFile(file);
        if (file.filename() == kRunningStatesFile) {
            const auto counters = parseRunningStates(bytes, file.string());
            QVERIFY2(counters.ok(), counters.ok() ? "" : counters.error().message().c_str());
            QCOMPARE(runningStatesJson(*counters), bytes);
            return;
        }
        const auto index = readShardIndex(file.parent_path());
        QVERIFY2(index.ok(), index.ok() ? "" : index.error().message().c_str());
        QCOMPARE(index->file, file);
        const Json metadata = Json::parse(description.toStdString())["metadata"];
        QCOMPARE(index->totalMebibytes, metadata["total_size"].get<double>());
        QCOMPARE(index->paramGroups, metadata.value("param_groups", std::string()));
        QCOMPARE(indexJson(index->weightMap, index->totalMebibytes, index->paramGroups), bytes);
    }

    void opensWholeFolders_data()
    {
        QTest::addColumn<QString>("folder");
        int rows = 0;
        for (const fs::path &json : support::goldenFiles("ckpt", "*.json")) {
            const fs::path folder = json.parent_path() / json.stem();
            if (fs::exists(folder / kRunningStatesFile)) {
                QTest::newRow(json.stem().c_str()) << QString::fromStdString(folder.string());
                ++rows;
            }
        }
        QVERIFY2(rows > 0, "no golden checkpoint folders were found");
    }
    void opensWholeFolders()
    {
        QFETCH(QString, folder);
        const auto contents = openCheckpoint(folder.toStdString());
        QVERIFY2(contents.ok(), contents.ok() ? "" : contents.error().message().c_str());
        for (const Problem &problem : contents->problems)
            QVERIFY2(problem.severity != Severity::Error, problem.message.c_str());
        QVERIFY(!contents->weights.empty() && contents->counters && contents->sampler);
        // Weights come in the model's order, so each moment has the shape of the weight at its index.
        for (const auto &[index, entry] : contents->optimizer)
            QCOMPARE(shapeText(entry.expAvg->shape), shapeText(contents->weights.at(static_cast<std::size_t>(index)).shape));
        if (!contents->optimizer.empty())
            QCOMPARE(contents->groups->parameters, static_cast<std::int64_t>(contents->weights.size()));
        for (const StoredTensor &tensor : contents->master)
            QVERIFY2(!tensor.name.starts_with("module."), tensor.name.c_str());
        QCOMPARE(contents->emaIsFlat, fs::exists(fs::path(folder.toStdString()) / "ema.pt"));

        InspectOptions options;
        options.readEverything = true;
        options.remember = false;
        const auto inspection = inspect(folder.toStdString(), options);
        QVERIFY(inspection.ok());
        QCOMPARE(QLatin1StringView(kindName(inspection->kind)), QLatin1StringView("checkpoint"));
        QCOMPARE(QLatin1StringView(badgeName(inspection->badge)), QLatin1StringView("foreign"));
        QVERIFY(inspection->complete && inspection->verified && !inspection->ours);
        QCOMPARE(*inspection->step, contents->counters->updates);
    }

    // The async and the sync form of the same save hold the same numbers.
    void bothFormsHoldTheSame()
    {
        const fs::path root = support::goldenFolder("ckpt");
        if (!fs::is_directory(root / "async") || !fs::is_directory(root / "sync"))
            QSKIP("this set of golden data has no pair of forms");
        const auto async = openCheckpoint(root / "async"), sync = openCheckpoint(root / "sync");
        QVERIFY(async.ok() && sync.ok());
        if (async->counters != sync->counters || async->weights.size() != sync->weights.size())
            QSKIP("the two forms are of different runs");
        for (std::size_t at = 0; at < async->weights.size(); ++at) {
            QCOMPARE(async->weights[at].name, sync->weights[at].name);
            QCOMPARE(sha256(*async->weights[at].readAll()), sha256(*sync->weights[at].readAll()));
        }
        for (const auto &[index, entry] : async->optimizer) {
            const OptimizerEntry &other = sync->optimizer.at(index);
            QCOMPARE(entry.step, other.step);
            QCOMPARE(sha256(*entry.expAvg->readAll()), sha256(*other.expAvg->readAll()));
            QCOMPARE(sha256(*entry.expAvgSq->readAll()), sha256(*other.expAvgSq->readAll()));
        }
        for (std::size_t at = 0; at < async->ema.size(); ++at)
            QCOMPARE(sha256(*async->ema[at].readAll()), sha256(*sync->ema[at].readAll()));
    }

    void cutsShardsAsRecorded_data()
    {
        QTest::addColumn<QString>("params");
        QTest::addColumn<QString>("row");
        int rows = 0;
        for (const fs::path &json : support::goldenFiles("ckpt", "*.json")) {
            const Json described = support::readJson(json);
            if (!described.contains("rows") || !described.contains("params"))
                continue;
            for (const Json &row : described["rows"]) {
                QTest::newRow((json.stem().string() + " " + row["size_per_shard_model_mb"].dump() + (row["use_async"].get<bool>() ? " async" : " sync")).c_str())
                    << QString::fromStdString(described["params"].dump()) << QString::fromStdString(row.dump());
                ++rows;
            }
        }
        QVERIFY2(rows > 0, "no golden shard cuts were found");
    }
    void cutsShardsAsRecorded()
    {
        QFETCH(QString, params);
        QFETCH(QString, row);
        const Json parameters = Json::parse(params.toStdString()), described = Json::parse(row.toStdString());
        std::vector<std::int64_t> model, optimizer;
        for (const Json &parameter : parameters) {
            std::int64_t elements = 1;
            for (const Json &extent : parameter[1])
                elements *= extent.get<std::int64_t>();
            model.push_back(parameter[2].get<std::int64_t>());
            optimizer.push_back(elements * 8);
        }
        const auto modelShards = cutShards(model, described["size_per_shard_model_mb"].get<double>());
        std::map<std::string, std::vector<std::string>> byFile;
        std::vector<std::pair<std::string, std::string>> weightMap;
        double total = 0;
        for (std::size_t at = 0; at < modelShards.size(); ++at) {
            weightMap.emplace_back(parameters[at][0].get<std::string>(), shardName("model", modelShards[at] + 1));
            byFile[weightMap.back().second].push_back(weightMap.back().first);
            total += mebibytes(model[at]);
        }
        QVERIFY2(Json(byFile) == described["model_weight_map"], Json(byFile).dump().c_str());
        const auto optimizerShards = cutShards(optimizer, described["size_per_shard_optimizer_mb"].get<double>());
        std::map<std::string, std::vector<int>> states;
        std::vector<std::pair<std::string, std::string>> optimizerMap;
        double optimizerTotal = 0;
        const bool async = described["use_async"].get<bool>();
        for (std::size_t at = 0; at < optimizerShards.size(); ++at) {
            std::string name = shardName(async ? "optimizer" : "pytorch_optim", optimizerShards[at] + 1);
            if (!async)
                name.replace(name.size() - 12, 12, ".bin");
            states[name].push_back(static_cast<int>(at));
            optimizerMap.emplace_back(std::to_string(at), name);
            optimizerTotal += mebibytes(optimizer[at]);
        }
        QVERIFY2(Json(states) == described["optimizer_weight_map"], Json(states).dump().c_str());
        // The index files, by the recorded hash of their bytes.
        const Json &files = described["files"];
        QCOMPARE(sha256(indexJson(weightMap, total)), files["model/" + described["model_index_name"].get<std::string>()]["sha256"].get<std::string>());
        QCOMPARE(sha256(indexJson(optimizerMap, optimizerTotal, kGroupFile)), files["optimizer/" + described["optimizer_index_name"].get<std::string>()]["sha256"].get<std::string>());
    }
};

QTEST_GUILESS_MAIN(GoldenTest)
#include "golden_test.moc"
