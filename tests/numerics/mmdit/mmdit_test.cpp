// The MMDiT against what Open-Sora's own model computed: forward, loss, every gradient, names, initialisation, layouts. Driven by the
// files in the golden folder.
#include <QCryptographicHash>
#include <QTest>

#include "core/model/convert_rope.h"
#include "core/model/rope.h"
#include "tests/numerics/mmdit/golden_tensors.h"
#include "tests/support/golden.h"

using namespace stagewright;
using golden::relativeL2;
using golden::TensorFile;
using torch::Tensor;

namespace {

constexpr double kFp32 = 1e-5;             // relative L2 per tensor
// Angles of times and guidance reach 5000, and processors round their frequencies, an exp in float32, to neighbouring numbers: the original itself differs by that from
// one processor to another. How far a tensor moves when times and guidance move by their last bit is allowed beside kFp32, up to this.
constexpr double kMostOfLastBits = 5e-5;

struct Case {
    TensorFile file;
    model::MmditConfig config;
    torch::Dtype dtype;
};

std::optional<Case> caseOf(const std::filesystem::path &path)
{
    Case found{golden::readTensors(path), {}, torch::kFloat32};
    const auto text = found.file.metadata.find("case");
    if (text == found.file.metadata.end())
        return std::nullopt;               // another kind of file (convert, timestep_rope)
    const auto json = nlohmann::json::parse(text->second);
    found.config = golden::configOf(json.at("cfg"));
    found.dtype = golden::dtypeOf(json.at("dtype"));
    return found;
}

void moveByLastBit(const Tensor &values)
{
    const torch::NoGradGuard noGrad;
    if (values.defined())
        values.copy_(torch::nextafter(values, torch::full_like(values, 1e9)));
}

// Gradients of a backward pass: "grad.NAME" for parameters, "gin.NAME" for inputs; and the loss and output. moved: with times and guidance the next numbers.
std::map<std::string, Tensor> run(const Case &c, bool moved = false)
{
    model::Mmdit mmdit = golden::modelOf(c.config, c.dtype, c.file);
    const model::MmditInput input = golden::inputOf(c.file);
    if (moved) {
        moveByLastBit(input.timesteps);
        moveByLastBit(input.guidance);
    }
    const Tensor out = mmdit->forward(input);
    const Tensor loss = golden::lossOf(out, c.file);
    loss.backward();
    std::map<std::string, Tensor> result{{"out", out}, {"loss", loss}};
    for (const auto &parameter : mmdit->named_parameters())
        result["grad." + parameter.key()] = parameter.value().grad();
    for (const auto &[name, tensor] : golden::named(input)) {
        if (tensor.defined() && tensor.requires_grad())
            result["gin." + name] = tensor.grad();
    }
    return result;
}

bool starts(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

// Relative L2 over all gradients together.
double together(const std::map<std::string, Tensor> &got, const TensorFile &file, const std::string &referencePrefix)
{
    double difference = 0, size = 0;
    for (const auto &[name, value] : got) {
        if (!starts(name, "grad."))
            continue;
        const Tensor reference = file.at(referencePrefix + name).to(torch::kFloat64);
        difference += (value.to(torch::kFloat64) - reference).square().sum().item<double>();
        size += reference.square().sum().item<double>();
    }
    return std::sqrt(difference / size);
}

} // namespace

class MmditTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { torch::set_num_threads(1); }

    void forwardAndEveryGradientEqualTheOriginal_data()
    {
        QTest::addColumn<QString>("path");
        int cases = 0;
        for (const auto &path : support::goldenFiles("mmdit", "*.safetensors")) {
            if (caseOf(path)) {
                QTest::newRow(path.stem().c_str()) << QString::fromStdString(path.string());
                ++cases;
            }
        }
        QVERIFY2(cases > 0, "the golden folder has no case");
    }

    void forwardAndEveryGradientEqualTheOriginal()
    {
        QFETCH(QString, path);
        const Case c = *caseOf(path.toStdString());
        const std::map<std::string, Tensor> got = run(c);
        if (c.dtype == torch::kFloat32)
            compareFp32(c, got, run(c, true));
        else
            compareHalf(c, got);
    }

    void namesAndOrderOfParametersEqualTheOriginal()
    {
        int models = 0;
        for (const auto &path : support::goldenFiles("mmdit", "cases*.json")) {
            const auto cases = support::readJson(path);
            for (const auto &entry : cases.at("files")) {
                const model::MmditConfig config = golden::configOf(entry.at("case").at("cfg"));
                const model::Mmdit mmdit(config, torch::TensorOptions(torch::kMeta));
                std::vector<std::string> names;
                std::int64_t count = 0;
                for (const auto &parameter : mmdit->named_parameters()) {
                    names.push_back(parameter.key());
                    count += parameter.value().numel();
                }
                QCOMPARE(names, entry.at("param_order").get<std::vector<std::string>>());
                QCOMPARE(count, entry.at("parameters").get<std::int64_t>());
                QCOMPARE(model::parameterCount(config), count);
                ++models;
            }
        }
        QVERIFY(models > 0);
    }

    void defaultInitialisationDrawsTheOriginalsNumbers()
    {
        const auto files = support::goldenFiles("mmdit", "init_stream*.json");
        QVERIFY(!files.empty());
        for (const auto &path : files) {
            const auto golden = support::readJson(path);
            torch::manual_seed(golden.at("seed").get<std::uint64_t>());
            const model::Mmdit mmdit(golden::configOf(golden.at("cfg")));
            const auto parameters = mmdit->named_parameters();
            QCOMPARE(parameters.size(), golden.at("params").size());
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                const auto &expected = golden.at("params")[i];
                const Tensor value = parameters[i].value();
                QCOMPARE(parameters[i].key(), expected.at("name").get<std::string>());
                QCOMPARE(value.sizes().vec(), expected.at("shape").get<std::vector<std::int64_t>>());
                const QByteArray bytes(static_cast<const char *>(value.const_data_ptr()), static_cast<qsizetype>(value.nbytes()));
                const std::string hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
                QVERIFY2(hash == expected.at("sha256").get<std::string>(), parameters[i].key().c_str());
            }
            for (const double expected : golden.at("next_three_uniforms"))
                QCOMPARE(torch::rand({1}).item<float>(), static_cast<float>(expected));
        }
    }

    void layoutsConvertBitForBitAndComputeTheSame()
    {
        const auto files = support::goldenFiles("mmdit", "convert*.safetensors");
        QVERIFY(!files.empty());
        for (const auto &path : files) {
            const TensorFile file = golden::readTensors(path);
            const auto config = [&](const char *which) { return golden::configOf(nlohmann::json::parse(file.metadata.at(which))); };
            const model::MmditConfig source = config("src"), target = config("dst");
            convertOneWay(file, "src.", source, "dst.", target);
            convertOneWay(file, "dst.", target, "src.", source);
            for (const auto &[prefix, cfg] : {std::pair{std::string("src"), source}, std::pair{std::string("dst"), target}}) {
                model::Mmdit mmdit = golden::modelOf(cfg, torch::kFloat32, file, prefix + ".");
                torch::NoGradGuard unrecorded;
                QVERIFY(relativeL2(mmdit->forward(golden::inputOf(file)), file.at("out_" + prefix)) <= kFp32);
            }
        }
    }

    // Tolerances: tests/golden/opensora/mmdit/timestep_rope.json.
    void timestepEmbeddingComputesInFp32()
    {
        const TensorFile file = golden::readTensors(support::goldenFolder("mmdit") / "timestep_rope.safetensors");
        for (const char *dtype : {"float32", "bfloat16"}) {
            const std::string prefix = std::string("te.") + dtype + ".";
            const Tensor u = file.at(prefix + "u"), expected = file.at(prefix + "fp32_inside");
            const Tensor got = model::timestepEmbedding(u, expected.size(1));
            QCOMPARE(got.scalar_type(), u.scalar_type());
            const Tensor difference = (got.to(torch::kFloat64) - expected.to(torch::kFloat64)).abs();
            const Tensor frequency = torch::exp(-std::log(10000.0) * torch::arange(0, expected.size(1) / 2, torch::kFloat64) / (expected.size(1) / 2));
            const Tensor angle = (1000 * u.to(torch::kFloat64)).unsqueeze(1) * frequency.repeat({2});
            const Tensor allowed = 1e-6 * angle.abs().clamp_min(1) + (u.scalar_type() == torch::kBFloat16 ? 1.0 / 256 : 0.0);
            QVERIFY2((difference <= allowed).all().item<bool>(), dtype);
        }
    }

    void ropeTablesEqualTheOriginal()
    {
        const TensorFile file = golden::readTensors(support::goldenFolder("mmdit") / "timestep_rope.safetensors");
        model::MmditConfig config;
        config.axesDim = nlohmann::json::parse(file.metadata.at("axes_dim")).get<std::vector<std::int64_t>>();
        config.theta = std::stod(file.metadata.at("theta"));
        const Tensor ids = file.at("rope.ids");
        config.useLigerRope = true;
        const model::RopeTable liger = model::ropeTable(config, ids);
        QVERIFY((liger.cos.repeat({1, 1, 2}) - file.at("rope.liger_cos")).abs().max().item<double>() <= 2e-5);
        QVERIFY((liger.sin.repeat({1, 1, 2}) - file.at("rope.liger_sin")).abs().max().item<double>() <= 2e-5);
        const model::RopeTable ligerHalf = model::ropeTable(config, ids.to(torch::kBFloat16));
        QVERIFY((ligerHalf.cos.repeat({1, 1, 2}) - file.at("rope.liger_cos_from_bf16_ids")).abs().max().item<double>() <= 2e-5);
        config.useLigerRope = false;
        for (const auto &[name, given] : {std::pair{"rope.standard", ids}, std::pair{"rope.standard_from_bf16_ids", ids.to(torch::kBFloat16)}}) {
            const model::RopeTable standard = model::ropeTable(config, given);
            const Tensor matrices = file.at(name).select(1, 0);        // [B, L, D/2, 2, 2]
            QVERIFY((standard.cos - matrices.select(3, 0).select(3, 0)).abs().max().item<double>() <= 1e-6);
            QVERIFY((standard.sin - matrices.select(3, 1).select(3, 0)).abs().max().item<double>() <= 1e-6);
        }
    }

private:
    void compareFp32(const Case &c, const std::map<std::string, Tensor> &got, const std::map<std::string, Tensor> &moved)
    {
        double worst = 0;
        for (const auto &[name, reference] : c.file.tensors) {
            if (name != "out" && name != "loss" && !starts(name, "grad.") && !starts(name, "gin."))
                continue;
            const auto value = got.find(name);
            QVERIFY2(value != got.end() && value->second.defined(), ("no " + name).c_str());
            const double error = relativeL2(value->second, reference);
            worst = std::max(worst, error);
            QVERIFY2(error <= kFp32 + std::min(kMostOfLastBits, relativeL2(moved.at(name), value->second)), qPrintable(QStringLiteral("%1: relative L2 %2").arg(QString::fromStdString(name)).arg(error)));
        }
        qInfo("worst relative L2 %.3g", worst);
    }

    void compareHalf(const Case &c, const std::map<std::string, Tensor> &got)
    {
        for (const auto &[name, reference] : c.file.tensors) {
            if (starts(name, "grad.") || starts(name, "gin."))
                QVERIFY2(got.count(name) && got.at(name).defined() && got.at(name).isfinite().all().item<bool>(), name.c_str());
        }
        // Against the same weights in fp32: at most half again as far off as the original's own run in this precision.
        std::map<std::string, Tensor> original;
        for (const auto &[name, tensor] : c.file.tensors) {
            if (starts(name, "grad."))
                original[name] = tensor;
        }
        const double out = relativeL2(got.at("out"), c.file.at("f32ref.out")), outAllowed = relativeL2(c.file.at("out"), c.file.at("f32ref.out")) * 1.5;
        const double gradients = together(got, c.file, "f32ref."), gradientsAllowed = together(original, c.file, "f32ref.") * 1.5;
        const double loss = relativeL2(got.at("loss"), c.file.at("loss"));
        qInfo("out %.4g (allowed %.4g), gradients %.4g (%.4g), loss %.3g", out, outAllowed, gradients, gradientsAllowed, loss);
        QVERIFY(out <= outAllowed);
        QVERIFY(gradients <= gradientsAllowed);
        QVERIFY(loss <= 5e-3);
    }

    void convertOneWay(const TensorFile &file, const std::string &from, const model::MmditConfig &fromConfig, const std::string &to, const model::MmditConfig &toConfig)
    {
        model::NamedTensors parameters;
        for (const auto &[name, tensor] : file.tensors) {
            if (starts(name, from.c_str()))
                parameters.emplace_back(name.substr(from.size()), tensor);
        }
        const auto converted = model::convertLayout(parameters, fromConfig, toConfig);
        QVERIFY2(converted.ok(), converted ? "" : converted.error().message().c_str());
        for (const auto &[name, tensor] : *converted)
            QVERIFY2(torch::equal(tensor, file.at(to + name)), name.c_str());
        const auto incomplete = model::convertLayout({parameters.begin() + 1, parameters.end()}, fromConfig, toConfig);
        QVERIFY(!incomplete.ok());
        QVERIFY(incomplete.error().message().find(parameters.front().first) != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(MmditTest)
#include "mmdit_test.moc"
