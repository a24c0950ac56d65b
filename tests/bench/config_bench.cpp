// From a keystroke to a validated stage as the window does it, and how long a deep chain of bases takes to open. Prints one JSON object.
// Usage: stagewright-config-bench FOLDER BUCKET_ROWS ROUNDS
#include <QCoreApplication>
#include <QElapsedTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/config/validate.h"
#include "ui/session/stage_session.h"

using namespace stagewright;

namespace {

constexpr int kWaitMs = 20000;
constexpr int kChain = 6;
constexpr int kPauseMs = 250;          // between two keystrokes

[[noreturn]] void fail(const std::string &why)
{
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

std::string tableOf(int rows)
{
    std::string table = "bucket_config = {\n";
    for (int side = 64, made = 0; made < rows; side += 16) {
        table += "    \"" + std::to_string(side) + "px\": {\n";
        for (int k = 0; k < 250 && made < rows; ++k, ++made)
            table += "        " + std::to_string(4 * k + 1) + ": (0.5, 2),\n";
        table += "    },\n";
    }
    return table + "}\n";
}

std::string stageText(int rows)
{
    return "lr = 1e-4\noptim = dict(cls='HybridAdam', lr=lr)\nmodel = dict(type='flux', depth=2, depth_single_blocks=4, hidden_size=64, num_heads=4, axes_dim=[4, 6, 6],\n"
           "    in_channels=64, vec_in_dim=768, context_in_dim=4096, mlp_ratio=4.0, theta=10000, qkv_bias=True, guidance_embed=False, grad_ckpt_settings=(8, 100))\n"
           "ae = dict(type='haar', latent_channels=16)\nis_causal_vae = True\nt5 = dict(type='hashed')\nclip = dict(type='hashed')\ndataset = dict(type='video_text')\n"
        + tableOf(rows);
}

// Milliseconds from an edit to its validated snapshot, through the event loop.
double keystroke(session::StageSession &stage, const std::string &path, const std::string &value)
{
    QElapsedTimer clock;
    clock.start();
    if (auto set = stage.setValue(path, value); !set)
        fail(set.error().message());
    const auto wait = [&](auto done) {
        while (!done()) {
            QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
            if (clock.elapsed() > kWaitMs)
                fail("no snapshot came");
        }
    };
    wait([&] { return stage.isValidated(); });
    const double milliseconds = double(clock.nsecsElapsed()) / 1e6;
    wait([&] { return stage.isSettled(); });
    // The next key comes when a person presses it: what is done meanwhile is done.
    QElapsedTimer pause;
    pause.start();
    while (pause.elapsed() < kPauseMs)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    return milliseconds;
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    if (argc != 4)
        fail("usage: stagewright-config-bench FOLDER BUCKET_ROWS ROUNDS");
    const std::filesystem::path folder = argv[1];
    const int rows = std::atoi(argv[2]), rounds = std::max(1, std::atoi(argv[3]));
    std::filesystem::create_directories(folder);
    qputenv("XDG_STATE_HOME", (folder / "state").c_str());

    nlohmann::json keystrokes;
    for (const std::string &name : {std::string("large.py"), std::string("large.yaml")}) {
        const auto parsed = config::stageFromText(stageText(rows), folder / "large.py");
        if (!parsed)
            fail(parsed.error().message());
        if (auto written = replaceFile(folder / name, name == "large.py" ? stageText(rows) : config::toYaml(parsed->values())); !written)
            fail(written.error().message());
        session::StageSession stage;
        if (auto opened = stage.open(folder / name); !opened)
            fail(opened.error().message());
        std::vector<double> option, bucket;
        for (int i = 0; i < rounds; ++i) {
            option.push_back(keystroke(stage, "optim.lr", i % 2 ? "1e-4" : "3e-4"));
            bucket.push_back(keystroke(stage, "bucket_config.64px.5", i % 2 ? "(0.5, 2)" : "(0.5, 3)"));
        }
        const std::string format = name == "large.py" ? "python" : "yaml";
        keystrokes["keystroke_option_" + format + "_ms"] = median(option);
        keystrokes["keystroke_bucket_" + format + "_ms"] = median(bucket);
    }

    for (int depth = 0; depth < kChain; ++depth) {
        std::string text = depth == 0 ? stageText(33) : "_base_ = 'link" + std::to_string(depth - 1) + ".py'\nlr = " + std::to_string(depth) + "e-5\noptim = dict(lr=lr)\n";
        if (auto written = replaceFile(folder / ("link" + std::to_string(depth) + ".py"), text); !written)
            fail(written.error().message());
    }
    std::vector<double> chain, window;
    const auto leaf = folder / ("link" + std::to_string(kChain - 1) + ".py");
    for (int i = 0; i < rounds; ++i) {
        double start = steadySeconds();
        const auto loaded = config::loadStage(leaf);
        if (!loaded || hasErrors(config::validate(*loaded)) || loaded->baseChain().size() != kChain || loaded->number("optim.lr") != 5e-5)
            fail(loaded ? "the chain was not read as it is" : loaded.error().message());
        chain.push_back((steadySeconds() - start) * 1e3);
        start = steadySeconds();
        if (!session::takeSnapshot(readFile(leaf).value(), leaf, 1)->stage)
            fail("the chain cannot be read");
        window.push_back((steadySeconds() - start) * 1e3);
    }
    nlohmann::json out = {{"bucket_rows", rows}, {"rounds", rounds}, {"chain_files", kChain}, {"open_chain_ms", median(chain)}, {"open_chain_window_ms", median(window)}};
    out.update(keystrokes);
    std::printf("%s\n", out.dump().c_str());
    return 0;
}
