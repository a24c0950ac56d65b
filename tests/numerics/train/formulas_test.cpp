// The objective's formulas against tensors made by Open-Sora's own functions (tests/golden/opensora/stepmath).
#include <QTest>

#include <fstream>
#include <set>

#include "core/train/conditions.h"
#include "core/train/draws.h"
#include "core/train/objective.h"
#include "core/train/packing.h"
#include "core/train/python_random.h"
#include "tests/numerics/train/golden_tensors.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::train;
using test::TensorMap;

namespace {

struct Golden {
    nlohmann::ordered_json json;                 // weights of conditions are drawn from in their order
    TensorMap tensors;
};

Golden golden(const std::string &name)
{
    const auto folder = support::goldenFolder("stepmath");
    std::ifstream file(folder / (name + ".json"));
    Golden result{nlohmann::ordered_json::parse(file), {}};
    if (result.json.contains("file"))
        result.tensors = test::readTensors(folder / result.json["file"]["file"].get<std::string>());
    return result;
}

// Names that start with `prefix` and end with `suffix`, without the suffix.
std::vector<std::string> stems(const TensorMap &tensors, const std::string &prefix, const std::string &suffix)
{
    std::vector<std::string> found;
    for (const auto &[name, tensor] : tensors) {
        if (name.starts_with(prefix) && name.ends_with(suffix))
            found.push_back(name.substr(0, name.size() - suffix.size()));
    }
    return found;
}

// a*x + b through the first two values.
torch::Tensor affineFit(const torch::Tensor &x, const torch::Tensor &like)
{
    const double x0 = x[0].item<double>(), x1 = x[1].item<double>(), y0 = like[0].item<double>(), y1 = like[1].item<double>();
    const double a = (y1 - y0) / (x1 - x0);
    return x * a + (y0 - a * x0);
}

// Open-Sora's stand-in of these cases: means over 8x8 cells and groups of frames, then a mix of the colours.
class MeanAutoencoder final : public model::Autoencoder
{
public:
    explicit MeanAutoencoder(bool causal) : m_causal(causal) {}
    std::string name() const override { return "mean"; }
    std::int64_t latentChannels() const override { return 2; }
    model::LatentGeometry geometry() const override { return {4, 8}; }
    torch::Tensor encode(const torch::Tensor &video, const model::Generators &) override
    {
        calls.push_back(video.sizes().vec());
        auto cells = torch::avg_pool3d(video, {1, 8, 8}, {1, 8, 8});
        std::vector<torch::Tensor> frames;
        std::int64_t next = 0;
        if (m_causal || cells.size(2) == 1) {
            frames.push_back(cells.narrow(2, 0, 1));
            next = 1;
        }
        for (; next < cells.size(2); next += 4)                     // a last group may be shorter
            frames.push_back(cells.slice(2, next, next + 4).mean(2, true));
        cells = torch::cat(frames, 2);
        const auto mix = torch::arange(1, 7, torch::kFloat32).reshape({2, 3}) / 3 - 1;
        return torch::einsum("oc,bcthw->bothw", {mix, cells});
    }
    std::vector<std::vector<std::int64_t>> calls;

private:
    bool m_causal;
};

} // namespace

class FormulasTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void timeShiftEqualsTheOriginal();
    void noiseAndTargetsEqualTheOriginal();
    void textDropoutEqualsTheOriginal();
    void packingEqualsTheOriginalAndHasAnInverse();
    void lossWithoutReferencesEqualsTheOriginal();
    void conditionsEqualTheOriginal();
    void randomStreamsEqualTheOriginal();
};

void FormulasTest::timeShiftEqualsTheOriginal()
{
    const auto cases = golden("targets");
    QVERIFY(!cases.json["shift"].empty());
    for (const auto &row : cases.json["shift"]) {
        const auto latent = row["latent"].get<std::vector<std::int64_t>>();
        const double alpha = timeShiftAlpha(latent[0], latent[1], latent[2]);
        QVERIFY2(std::abs(alpha - row["alpha"].get<double>()) < 1e-12, row.dump().c_str());
        const std::string key = row["key"];
        QVERIFY2(test::largestError(timeShift(alpha, cases.tensors.at(key + ".t")), cases.tensors.at(key + ".shifted")) < 1e-6, key.c_str());
    }
}

void FormulasTest::noiseAndTargetsEqualTheOriginal()
{
    const auto cases = golden("targets");
    const auto found = stems(cases.tensors, "target.", ".x_t");
    QVERIFY(!found.empty());
    for (const auto &key : found) {
        const auto tensor = [&](const char *part) { return cases.tensors.at(key + "." + part); };
        const double sigmaMin = std::stod(key.substr(key.find(".sm") + 3));
        const auto xt = noisyInput(tensor("x0"), tensor("x1"), tensor("t"), sigmaMin);
        const auto v = velocityTarget(tensor("x0"), tensor("x1"), sigmaMin);
        if (tensor("x_t").scalar_type() == torch::kBFloat16) {
            QVERIFY2(torch::equal(xt, tensor("x_t")) && torch::equal(v, tensor("v")), key.c_str());
        } else {
            QVERIFY2(test::relativeL2(xt, tensor("x_t")) < 1e-6 && test::relativeL2(v, tensor("v")) < 1e-6, key.c_str());
        }
        QVERIFY2(test::relativeL2(velocityLoss(tensor("pred"), tensor("v")), tensor("loss")) < 1e-6, key.c_str());
    }
}

void FormulasTest::textDropoutEqualsTheOriginal()
{
    const auto cases = golden("targets");
    const auto found = stems(cases.tensors, "dropout.", ".out");
    QVERIFY(!found.empty());
    for (const auto &key : found) {
        const auto from = key.find(".p") + 2;                        // "dropout.p0.316228.2d": the last part is the number of dimensions
        const double probability = std::stod(key.substr(from, key.rfind('.') - from));
        const auto out = dropText(cases.tensors.at(key + ".txt"), cases.tensors.at(key + ".null"), cases.tensors.at(key + ".u"), probability);
        QVERIFY2(torch::equal(out, cases.tensors.at(key + ".out")), key.c_str());
    }
}

void FormulasTest::packingEqualsTheOriginalAndHasAnInverse()
{
    const auto cases = golden("targets");
    const auto found = stems(cases.tensors, "pack.", ".tokens");
    QVERIFY(!found.empty());
    for (const auto &key : found) {
        const auto patch = std::stoll(key.substr(key.find(".p") + 2));
        const auto x = cases.tensors.at(key + ".x"), tokens = cases.tensors.at(key + ".tokens");
        QVERIFY2(torch::equal(packLatents(x, patch), tokens), key.c_str());
        QVERIFY2(torch::equal(unpackLatents(tokens, patch, x.size(2), x.size(3), x.size(4)), x), key.c_str());
    }
    const auto ids = cases.tensors.at("prepare_ids.img_ids");
    const auto last = ids.reshape({-1, 3}).amax(0).to(torch::kInt64);
    const auto at = [&](int axis) { return last[axis].item<std::int64_t>() + 1; };
    QVERIFY(torch::equal(imageIds(ids.size(0), at(0), 2 * at(1), 2 * at(2), 2, torch::kFloat32), ids));
}

void FormulasTest::lossWithoutReferencesEqualsTheOriginal()
{
    const auto cases = golden("targets");
    const auto pred = cases.tensors.at("maskloss.pred"), v = cases.tensors.at("maskloss.v"), masks = cases.tensors.at("maskloss.masks");
    QVERIFY(test::relativeL2(velocityLossWithoutReferences(pred, v, masks, 2), cases.tensors.at("maskloss.loss")) < 1e-6);
    QVERIFY(test::relativeL2(velocityLoss(pred, v), cases.tensors.at("maskloss.loss_no_mask")) < 1e-6);
    for (std::int64_t b = 0; b < pred.size(0); ++b) {
        const auto loss = velocityLossWithoutReferences(pred.narrow(0, b, 1), v.narrow(0, b, 1), masks.narrow(0, b, 1), 2);
        QVERIFY(test::relativeL2(loss, cases.tensors.at("maskloss.loss_sample" + std::to_string(b))) < 1e-6);
    }
}

void FormulasTest::conditionsEqualTheOriginal()
{
    const auto cases = golden("conditions");
    QVERIFY(!cases.json["cases"].empty());
    int compared = 0;
    for (const auto &row : cases.json["cases"]) {
        const std::string where = row.dump();
        if (row.value("pad", false))
            continue;                                    // a switch of the original's function that its trainer never sets
        config::Dict weights;
        for (const auto &[name, weight] : row["condition_config"].items())
            weights.set(name, weight.get<double>());
        const auto table = conditionTable(weights);
        const bool unknown = row.contains("error") && row["error"].get<std::string>().starts_with("AssertionError");
        QVERIFY2(table.ok() != unknown, where.c_str());
        if (unknown)
            continue;
        const bool causal = row["causal"];
        MeanAutoencoder autoencoder(causal);
        const auto frames = autoencoder.geometry().frames(row["T"]);
        const auto fitting = frames > 1 ? conditionsForLength(*table, frames, 4, causal) : *table;
        std::set<std::string> left, expected;
        for (const auto &entry : fitting)
            left.insert(std::string(nameOf(entry.condition)));
        for (const auto &[name, weight] : row["config_after"].items())
            expected.insert(name);
        QVERIFY2(left == expected, where.c_str());
        if (row.contains("error"))                       // the original fails where nothing is left; here such a clip gets no condition
            continue;

        PythonRandom random(row["python_seed"].get<std::uint64_t>());
        for (const auto &uniform : row["python_uniforms"])
            QCOMPARE(random.uniform(), uniform.get<double>());
        const auto prefix = "c" + std::to_string(row["case"].get<int>());
        const auto video = cases.tensors.at(prefix + ".video_cells").repeat_interleave(8, 3).repeat_interleave(8, 4);
        const auto choose = [&](std::int64_t sample) { return chooseCondition(fitting, row["python_uniforms"][std::size_t(sample)].get<double>()); };
        const auto result = encodeConditioned(autoencoder, video, choose, causal, EncodeOrder::PerSample);
        for (std::size_t b = 0; b < result.chosen.size(); ++b)
            QCOMPARE(std::string(nameOf(result.chosen[b])), row["chosen"][b].get<std::string>());
        QVERIFY2(autoencoder.calls == row["encode_calls"].get<std::vector<std::vector<std::int64_t>>>(), where.c_str());
        if (!cases.tensors.contains(prefix + ".x0"))
            continue;
        QVERIFY2(test::largestError(result.x0, cases.tensors.at(prefix + ".x0")) < 1e-5, where.c_str());
        QVERIFY2(test::largestError(result.cond, cases.tensors.at(prefix + ".cond")) < 1e-5, where.c_str());
        MeanAutoencoder again(causal);
        const auto inOne = encodeConditioned(again, video, choose, causal, EncodeOrder::Batch);
        QVERIFY2(test::largestError(inOne.cond, result.cond) < 1e-6 && test::largestError(inOne.x0, result.x0) < 1e-6, where.c_str());
        ++compared;
    }
    QVERIFY(compared > 0);
}

void FormulasTest::randomStreamsEqualTheOriginal()
{
    const auto cases = golden("rng_stream");
    QVERIFY(!cases.tensors.empty());
    const auto draws = makeStreamDraws(cases.json["seed"].get<std::uint64_t>());
    for (const auto &[name, expected] : cases.tensors) {           // names begin with their number, so this is the order of the draws
        const std::string kind = name.substr(name.find('.') + 1, name.rfind('_') - name.find('.') - 1);
        const auto shape = expected.sizes();
        torch::Tensor made;
        double tolerance = 0;
        if (kind == "randn" && expected.dim() == 1) {
            draws->beginStep(0, shape[0]);
            made = draws->timeNormals();
            tolerance = 1e-6;
        } else if (kind == "rand") {
            draws->beginStep(0, shape[0]);
            made = draws->textUniforms(false);
        } else if (kind == "randn_like" && expected.dim() == 3) {
            draws->beginStep(0, shape[0]);
            made = draws->noise(shape[1], shape[2]);
            tolerance = 1e-6;
        } else if (kind == "randn" || kind == "randn_double") {
            made = torch::randn(shape, expected.options());
            tolerance = 1e-6;
        } else if (kind == "rand_double") {
            made = torch::rand(shape, expected.options());
        } else if (kind == "randperm") {
            made = torch::randperm(shape[0]);
        } else if (kind == "uniform") {
            made = affineFit(torch::empty(shape).uniform_(), expected);   // the range is not recorded
            tolerance = 1e-5;
        } else if (kind == "normal_bf16") {
            made = torch::empty(shape, torch::kBFloat16).normal_();
            tolerance = 1e-2;
        } else if (kind == "sigmoid_randn") {
            made = torch::sigmoid(torch::randn(shape));
            tolerance = 1e-6;
        } else if (kind == "randint") {
            torch::randint(1 << 20, shape);                         // its range is not recorded; only its place in the stream matters
            continue;
        } else {
            QFAIL(("a draw that this test does not know: " + name).c_str());
        }
        QVERIFY2(test::largestError(made, expected) <= tolerance, name.c_str());
    }
}

QTEST_GUILESS_MAIN(FormulasTest)
#include "formulas_test.moc"
