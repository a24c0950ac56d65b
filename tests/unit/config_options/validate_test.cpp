#include <QtTest>

#include <cmath>
#include <fstream>
#include <set>

#include "core/config/activation_need.h"
#include "core/config/model_size.h"
#include "core/config/problem_codes.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

class ValidateTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSmallStageHasNoProblem();
    void findsWhatIsWrong_data();
    void findsWhatIsWrong();
    void acceptsWhatIsRight_data();
    void acceptsWhatIsRight();
    void fixesRemoveTheProblem_data();
    void fixesRemoveTheProblem();
    void looksForMisplacedKeysAtEveryLevel_data();
    void looksForMisplacedKeysAtEveryLevel();
    void namesFileAndLine();
    void acceptsAnyValueTree();
    void ordersErrorsFirst();
    void aSwitchThatAnotherLayerTurnedOffIsAWarning();
    void theMachineIsLookedAtOnlyWhereItIsKnown();
    void pathsAreLookedForWhenAsked();
    void countsParametersAsTheModel();
    void survivesAnyNumberAnywhere();
    void saysWhichBlocksAreCheckpointed_data();
    void saysWhichBlocksAreCheckpointed();
    void everyCodeIsListed();
};

void ValidateTest::theSmallStageHasNoProblem()
{
    const Problems problems = validate(smallStage());
    QVERIFY2(problems.empty(), listed(problems).c_str());
}

void ValidateTest::findsWhatIsWrong_data()
{
    QTest::addColumn<QString>("more");
    QTest::addColumn<QString>("severity");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("says");
    const auto row = [](const char *name, const char *more, const char *severity, const char *code, const char *path, const char *says) {
        QTest::addRow("%s", name) << more << severity << code << path << says;
    };
    // Keys
    row("misspelt", "kepp_n_latest = 3", "error", "config.unknown-key", "kepp_n_latest", "keep_n_latest");
    row("misspelt in a section", "optim.lrr = 3", "error", "config.unknown-key", "optim.lrr", "optim.lr");
    row("another tool's name", "learning_rate = 1e-4", "error", "config.unknown-key", "learning_rate", "lr, which belongs in optim");
    row("guide's spelling at the top", "grad_ckpt_setting = (8, 100)", "error", "config.unknown-key", "grad_ckpt_setting", "grad_ckpt_settings, which belongs in model");
    row("not applicable", "wandb = True", "hint", "config.not-applicable", "wandb", "TensorBoard");
    row("sampling key", "save_dir = 'samples'", "hint", "config.not-applicable", "save_dir", "sampling");
    // Types and ranges
    row("text for a number", "ckpt_every = 'often'", "error", "config.type", "ckpt_every", "whole number");
    row("float for an integer", "ckpt_every = 2.5", "error", "config.type", "ckpt_every", "whole number");
    row("whole float for an integer", "ckpt_every = 2.0", "error", "config.type", "ckpt_every", "whole number");
    row("boolean for an integer", "ckpt_every = True", "error", "config.type", "ckpt_every", "whole number");
    row("integer for a boolean", "async_io = 1", "error", "config.type", "async_io", "True or False");
    row("None where there must be a value", "seed = None", "error", "config.type", "seed", "None is not allowed");
    row("no choice", "plugin = 'zero3'", "error", "config.choice", "plugin", "zero1, zero2, hybrid");
    row("another name of a choice", "dtype = 'float32'", "error", "config.choice", "dtype", "bf16, fp16, fp32");
    row("negative", "grad_clip = -1", "error", "config.range", "grad_clip", "at least 0");
    row("probability above 1", "dropout_ratio = dict(t5=1.5)", "error", "config.range", "dropout_ratio.t5", "from 0 to 1");
    row("infinite", "grad_clip = float('inf')", "error", "config.range", "grad_clip", "finite");
    row("unusual", "optim = dict(lr=0.5)", "hint", "config.unusual", "optim.lr", "usual values");
    row("dict for a number", "grad_clip = dict(max_norm=1.0)", "error", "config.type", "grad_clip", "a number");
    row("number for a dict", "optim = 3", "error", "config.type", "optim", "a dict");
    row("section missing", "ae = None", "error", "config.required", "ae", "latents");
    row("one depth alone", "model.grad_ckpt_settings = 8", "error", "config.type", "model.grad_ckpt_settings", "two numbers");
    row("three depths", "model.grad_ckpt_settings = (1, 2, 3)", "error", "config.type", "model.grad_ckpt_settings", "exactly two");
    row("betas", "optim = dict(lr=1e-3, betas=(0.9,))", "error", "config.betas", "optim.betas", "two numbers");
    // Model
    row("heads", "model.num_heads = 3", "error", "config.heads", "model.num_heads", "no multiple");
    row("axes", "model.axes_dim = [4, 4, 4]", "error", "config.rope-axes", "model.axes_dim", "sums to 12");
    row("two axes", "model.axes_dim = [8, 8]", "error", "config.rope-axes", "model.axes_dim", "three numbers");
    row("odd axes", "model.axes_dim = [5, 5, 6]", "error", "config.rope-axes", "model.axes_dim", "even");
    row("patch sizes", "patch_size = 1", "error", "config.patch-size", "model.patch_size", "packed with the one");
    row("channels", "model.in_channels = 64", "error", "config.in-channels", "model.in_channels", "48 latent channels × 2 × 2 = 192");
    row("text size", "t5 = dict(type='hashed', hidden_size=32)", "error", "config.text-size", "model.context_in_dim", "t5 gives vectors of 32");
    row("pooled text size", "clip = dict(type='hashed', hidden_size=64)", "error", "config.text-size", "model.vec_in_dim", "clip gives vectors of 64");
    row("no blocks", "model.depth = 0\nmodel.depth_single_blocks = 0", "error", "config.no-blocks", "model.depth", "no blocks");
    row("guidance without input", "guidance = 3", "hint", "config.unused-value", "guidance", "guidance_embed");
    // Conditions
    row("conditions without input", "condition_config = dict(i2v_head=1)", "warning", "config.condition-unused", "condition_config", "cond_embed is off");
    row("input without conditions", "model.cond_embed = True", "error", "config.condition-missing", "model.cond_embed", "not set");
    row("misspelt condition", "condition_config = dict(i2v_hed=1)", "error", "config.condition", "condition_config.i2v_hed", "Was i2v_head meant");
    row("negative weight", "condition_config = dict(t2v=-1)", "error", "config.condition", "condition_config.t2v", "at least 0");
    row("weights of 0", "condition_config = dict(t2v=0)", "error", "config.condition", "condition_config", "sum to 0");
    row("video condition longer than clips", "model.cond_embed = True\ncondition_config = dict(t2v=1, v2v_head=1)", "warning", "config.condition-too-long",
        "condition_config.v2v_head", "33 frames");
    // Memory
    row("depths while off", "grad_checkpoint = False\nmodel.grad_ckpt_settings = (1, 4)", "error", "config.depth-while-off", "model.grad_ckpt_settings", "no block is checkpointed");
    row("negative depth", "model.grad_ckpt_settings = (-1, 2)", "warning", "config.negative-depth", "model.grad_ckpt_settings", "double 1 of 2, single 2 of 4");
    row("buffer without checkpointing", "model.grad_ckpt_settings = (0, 0)\ngrad_ckpt_buffer_size = 2**20", "warning", "config.buffer-without-checkpointing",
        "grad_ckpt_buffer_size", "no block is checkpointed");
    row("buffer with checkpointing off", "grad_checkpoint = False\ngrad_ckpt_buffer_size = 2**20", "warning", "config.buffer-without-checkpointing",
        "grad_ckpt_buffer_size", "no block is checkpointed");
    row("buffer in GiB", "grad_ckpt_buffer_size = 25", "warning", "config.buffer-tiny", "grad_ckpt_buffer_size", "counts elements, not GiB");
    row("buffer too small", "grad_ckpt_buffer_size = 20000", "warning", "memory.activation-buffer", "grad_ckpt_buffer_size", "stays on the device");
    row("buffer too small and strict", "grad_ckpt_buffer_size = 20000\ngrad_ckpt_buffer_overflow = 'error'", "error", "memory.activation-buffer", "grad_ckpt_buffer_size", "would stop");
    row("buffer too large", "grad_ckpt_buffer_size = 1024**3", "hint", "memory.buffer-oversized", "grad_ckpt_buffer_size", "needs only");
    // Training
    row("cosine", "use_cosine_scheduler = True", "error", "config.cosine-without-warmup", "use_cosine_scheduler", "warmup_steps");
    row("schedule at a resume", "update_warmup_steps = True", "warning", "config.schedule-without-warmup", "update_warmup_steps", "warmup_steps");
    row("long warm-up", "warmup_steps = 100\nmax_train_steps = 50", "warning", "config.warmup-too-long", "warmup_steps", "never reaches");
    row("initial rate without warm-up", "initial_lr = 1e-5", "hint", "config.unused-value", "initial_lr", "warmup_steps");
    row("no learning", "optim = dict(lr=0)", "warning", "config.no-learning", "optim.lr", "no weight ever changes");
    row("average and adapter", "lora_config = dict(r=4)\nema_decay = 0.99", "warning", "config.ema-with-lora", "ema_decay", "adapter");
    row("frozen average", "ema_decay = 1.0", "warning", "config.ema-frozen", "ema_decay", "never leaves");
    row("start without checkpoint", "start_step = 5", "warning", "config.start-without-load", "start_step", "skips data");
    row("two weight sources", "load = 'a'\nmodel.from_pretrained = 'b'", "hint", "config.two-weight-sources", "load", "checkpoint's weights");
    row("keep_every", "ckpt_every = 20\nkeep_every = 50", "warning", "config.keep-every", "keep_every", "no multiple");
    row("save after the end", "ckpt_every = 200\nmax_train_steps = 100", "hint", "config.save-after-end", "ckpt_every", "at the end");
    // Data and encoders
    row("table of another format", "dataset.data_path = 'a.xlsx'", "error", "config.table-format", "dataset.data_path", ".csv, .parquet");
    row("shards of a csv", "dataset.memory_efficient = True", "error", "config.shards-need-parquet", "dataset.memory_efficient", "Parquet");
    row("cached latents without their dataset", "cached_video = True", "error", "config.cache-without-dataset", "cached_video", "cached_video_text");
    row("half of the cache", "dataset = dict(type='cached_video_text', cached_text=True, data_path='a.csv')", "warning", "config.cache-mismatch", "cached_text", "disagree");
    row("conditions from cached latents", "dataset = dict(type='cached_video_text', cached_video=True, data_path='a.csv')\ncached_video = True\nmodel.cond_embed = True\n"
        "condition_config = dict(t2v=1)", "error", "config.condition-cached", "condition_config", "cannot be encoded");
    row("captions only", "dataset.type = 'text'", "error", "config.dataset-for-sampling", "dataset.type", "no clips");
    row("key of another dataset", "dataset.load_original_video = False", "warning", "config.other-type", "dataset.load_original_video", "no effect");
    row("prefetch without threads", "num_workers = 0\nprefetch_factor = 2", "hint", "config.unused-value", "prefetch_factor", "num_workers 0");
    row("causal", "is_causal_vae = False", "warning", "config.causal", "is_causal_vae", "haar is causal");
    row("granularity", "ae_spatial_compression = 8", "error", "config.granularity", "ae_spatial_compression", "multiples of 16");
    row("key of another autoencoder", "ae.from_scratch = True", "error", "config.other-type", "ae.from_scratch", "belongs to ae.type dc_ae");
    row("size of a learned encoder", "t5 = dict(type='text_embedder', hidden_size=64)", "error", "config.other-type", "t5.hidden_size", "hashed");
    // Acceleration
    row("hybrid's key", "plugin_config = dict(sp_size=4)", "error", "config.other-plugin", "plugin_config.sp_size", "belongs to plugin hybrid, but plugin is zero2");
    row("zero's key", "plugin = 'hybrid'\nplugin_config = dict(tp_size=1, pp_size=1, master_weights=True)", "error", "config.other-plugin", "plugin_config.master_weights", "zero1 or zero2");
    row("tensor parallel heads", "plugin = 'hybrid'\nplugin_config = dict(tp_size=3)", "error", "config.heads-parallel", "plugin_config.tp_size", "does not divide");
    row("sequence parallel heads", "plugin = 'hybrid'\nplugin_config = dict(sp_size=3, enable_sequence_parallelism=True)", "error", "config.heads-parallel", "plugin_config.sp_size",
        "all_to_all");
    row("sequence parallel off", "plugin = 'hybrid'\nplugin_config = dict(sp_size=2)", "warning", "config.sequence-parallel-off", "plugin_config.sp_size", "is off");
    row("processes", "plugin = 'hybrid'\nplugin_config = dict(sp_size=2, enable_sequence_parallelism=True)", "hint", "config.world-size", "plugin_config", "multiple");
    row("pipeline", "plugin = 'hybrid'\nplugin_config = dict(pp_size=2)", "error", "config.pipeline", "plugin_config.pp_size", "num_microbatches");
    row("pipeline and zero", "plugin = 'hybrid'\nplugin_config = dict(pp_size=2, num_microbatches=2, zero_stage=2)", "error", "config.pipeline", "plugin_config.zero_stage", "at most 1");
    row("adapter and tensor parallel", "plugin = 'hybrid'\nplugin_config = dict(tp_size=2)\nlora_config = dict(r=4)", "error", "config.lora-tensor-parallel", "plugin_config.tp_size", "adapters");
    row("device", "device = 'gpu'", "error", "config.device", "device", "cuda:N");
    row("device number", "device = 'cuda:x'", "error", "config.device", "device", "cuda:N");
    // Variables
    row("variable that nothing uses", "eps = 1e-8", "warning", "config.helper-unused", "eps", "optim.eps is what is read");
    row("variable that differs", "lr = 5e-5", "warning", "config.helper-differs", "lr", "it is 0.001");
}

void ValidateTest::findsWhatIsWrong()
{
    QFETCH(QString, more);
    QFETCH(QString, severity);
    QFETCH(QString, code);
    QFETCH(QString, path);
    QFETCH(QString, says);
    const Problems problems = validate(changed(more.toStdString()));
    const Problem *problem = find(problems, code.toStdString(), path.toStdString());
    QVERIFY2(problem, listed(problems).c_str());
    QCOMPARE(QLatin1String(severityName(problem->severity)), severity);
    QVERIFY2(QString::fromStdString(problem->message).contains(says), problem->message.c_str());
}

void ValidateTest::acceptsWhatIsRight_data()
{
    QTest::addColumn<QString>("more");
    QTest::addRow("the user's own names") << "_note = 'mine'\nx = dict(anything=[1, dict(deep=2)])\nmodel._note = 3";
    QTest::addRow("a variable that is used") << "hub = '/models'\nlora_checkpoint = hub + '/a'";
    QTest::addRow("variable and option alike") << "lr = 1e-3";
    QTest::addRow("empty depths") << "model.grad_ckpt_settings = ()";
    QTest::addRow("depths as a list beyond the depth") << "model.grad_ckpt_settings = [100, 100]";
    QTest::addRow("switch off and no depths") << "grad_checkpoint = False\nmodel.grad_ckpt_settings = (0, 0)";
    QTest::addRow("switch off") << "grad_checkpoint = False";
    QTest::addRow("patch 1 everywhere") << "patch_size = 1\nmodel.patch_size = 1\nmodel.in_channels = 48";
    QTest::addRow("integer for a float") << "grad_clip = 1\nguidance = 4\nmodel.guidance_embed = True";
    QTest::addRow("None where it may be") << "ema_decay = None\nexp_name = None\nlora_config = None\nae_spatial_compression = None";
    QTest::addRow("text and video conditions") << "model.cond_embed = True\ncondition_config = dict(t2v=1, i2v_head=2.5)";
    QTest::addRow("devices") << "device = 'cuda:12'";
    QTest::addRow("hybrid alone") << "plugin = 'hybrid'\nplugin_config = dict(tp_size=1, pp_size=1, zero_stage=2)";
}

void ValidateTest::acceptsWhatIsRight()
{
    QFETCH(QString, more);
    const Problems problems = validate(changed(more.toStdString()));
    QVERIFY2(problems.empty(), listed(problems).c_str());
}

void ValidateTest::fixesRemoveTheProblem_data()
{
    findsWhatIsWrong_data();
}

// Where a fix is offered, it leads to a stage without that problem.
void ValidateTest::fixesRemoveTheProblem()
{
    QFETCH(QString, more);
    QFETCH(QString, code);
    QFETCH(QString, path);
    const Stage stage = changed(more.toStdString());
    const Problems problems = validate(stage);
    const Problem *problem = find(problems, code.toStdString(), path.toStdString());
    QVERIFY(problem);
    if (!problem->fix)
        return;
    QVERIFY(!problem->fix->title.empty() && !problem->fix->edits.empty());
    for (const Edit &edit : problem->fix->edits) {
        const Value *before = lookUp(stage.values(), edit.path);
        QVERIFY2(!before || before->isDict() || edit.from, (edit.path + " has a value that the edit does not name").c_str());
    }
    const Problems after = validate(fixed(stage, *problem->fix));
    const Problem *still = find(after, code.toStdString(), path.toStdString());
    QVERIFY2(!still, (listed(problems) + "-- after \"" + problem->fix->title + "\":\n" + listed(after)).c_str());
}

void ValidateTest::looksForMisplacedKeysAtEveryLevel_data()
{
    QTest::addColumn<QString>("more");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("target");
    QTest::addRow("guide's spelling in model") << "model.grad_ckpt_setting = (1, 2)" << "model.grad_ckpt_setting" << "model.grad_ckpt_settings";
    QTest::addRow("guide's spelling at the top") << "grad_ckpt_setting = (1, 2)" << "grad_ckpt_setting" << "model.grad_ckpt_settings";
    QTest::addRow("model's key at the top") << "use_liger_rope = True" << "use_liger_rope" << "model.use_liger_rope";
    QTest::addRow("dataset's key at the top") << "fps_max = 24" << "fps_max" << "dataset.fps_max";
    QTest::addRow("top-level key in model") << "model.grad_checkpoint = False" << "model.grad_checkpoint" << "grad_checkpoint";
    QTest::addRow("top-level key in optim") << "optim.warmup_steps = 3" << "optim.warmup_steps" << "warmup_steps";
    QTest::addRow("singular") << "warmup_step = 3" << "warmup_step" << "warmup_steps";
    QTest::addRow("plural") << "grad_clips = 1.0" << "grad_clips" << "grad_clip";
    QTest::addRow("hyphen") << "plugin_config.overlap-allgather = False" << "plugin_config.overlap-allgather" << "plugin_config.overlap_allgather";
    QTest::addRow("capital") << "Seed = 3" << "Seed" << "seed";
    QTest::addRow("dataset's misspelt key") << "dataset.fps_mx = 24" << "dataset.fps_mx" << "dataset.fps_max";
    QTest::addRow("text encoder's") << "t5.max_lenght = 20" << "t5.max_lenght" << "t5.max_length";
}

void ValidateTest::looksForMisplacedKeysAtEveryLevel()
{
    QFETCH(QString, more);
    QFETCH(QString, path);
    QFETCH(QString, target);
    const Stage stage = changed(more.toStdString());
    const Problems problems = validate(stage);
    const Problem *problem = find(problems, "config.unknown-key", path.toStdString());
    QVERIFY2(problem && problem->fix, listed(problems).c_str());
    QCOMPARE(QString::fromStdString(problem->fix->edits[0].path), path);
    QVERIFY(!problem->fix->edits[0].to);
    if (problem->fix->edits.size() > 1)
        QCOMPARE(QString::fromStdString(problem->fix->edits[1].path), target);
    else
        QVERIFY2(lookUp(stage.values(), target.toStdString()), "removing is only right where the option is set already");
}

void ValidateTest::namesFileAndLine()
{
    const auto stage = stageFromText(std::string(kSmallStage) + "num_wrkers = 2\n", "/somewhere/stage.py");
    QVERIFY(stage.ok());
    const Problems problems = validate(*stage);
    const Problem *problem = find(problems, "config.unknown-key");
    QVERIFY(problem);
    QCOMPARE(problem->line, int(QByteArray(kSmallStage).count('\n')) + 1);
    QVERIFY2(problem->file.ends_with("stage.py"), problem->file.c_str());
    QVERIFY2(oneLine(*problem).find("stage.py:" + std::to_string(problem->line) + ":") != std::string::npos, oneLine(*problem).c_str());
}

// Whatever a tree holds: no rule may fall over what another rule reports.
void ValidateTest::acceptsAnyValueTree()
{
    const std::vector<Value> odd = {Value(), Value(true), Value(-7), Value(std::int64_t(1) << 62), Value(1e308), Value(std::nan("")), Value("text"), Value::list({}),
        Value::tuple({Value(1), Value("a"), Value()}), Value::dict({}), Value::list({Value::dict({})})};
    Problems problems;
    for (const Option &option : allOptions()) {
        for (const Value &value : odd) {
            Stage stage = smallStage();
            Dict *dict = &stage.values();
            const std::string path(option.path);
            const auto dot = path.find('.');
            if (dot != std::string::npos) {
                Value *section = dict->find(path.substr(0, dot));
                if (!section || !section->isDict())
                    section = &dict->set(path.substr(0, dot), Value::dict({}));
                dict = &section->dict();
            }
            dict->set(dot == std::string::npos ? path : path.substr(dot + 1), value);
            Surroundings machine;
            machine.hostAvailableBytes = 1 << 20;
            machine.freeDiskBytes = 1 << 20;
            machine.gpuCount = 0;
            problems = validate(stage, machine);
        }
    }
    for (const Value &value : odd) {
        Stage stage;
        stage.values().set("bucket_config", value);
        QVERIFY(!validate(stage).empty());
        Dict table;
        table.set("256px", value);
        table.set(DictKey(std::int64_t(7)), value);
        stage.values().set("bucket_config", Value::dict(table));
        QVERIFY(!validate(stage).empty());
        Dict rows;
        rows.set(DictKey(std::int64_t(1)), value);
        rows.set(DictKey(std::int64_t(-4)), value);
        rows.set(DictKey(std::int64_t(1) << 60), value);
        rows.set("many", Value::tuple({value, value}));
        table.set("256px", Value::dict(rows));
        stage.values().set("bucket_config", Value::dict(table));
        QVERIFY(!validate(stage).empty());
    }
}

void ValidateTest::ordersErrorsFirst()
{
    const Problems problems = validate(changed("wandb = True\nstart_step = 5\nseeed = 3\nckpt_every = 'a'"));
    QVERIFY(problems.size() >= 4);
    for (std::size_t i = 1; i < problems.size(); ++i) {
        const auto rank = [&](std::size_t at) { return std::pair(int(problems[at].severity), problems[at].line); };
        QVERIFY2(rank(i - 1) <= rank(i), listed(problems).c_str());
    }
}

void ValidateTest::aSwitchThatAnotherLayerTurnedOffIsAWarning()
{
    Stage stage = changed("model.grad_ckpt_settings = (1, 4)");
    QVERIFY(applyOverrides(stage, {{"grad_checkpoint", "False", OriginKind::Override}}).empty());
    const Problems problems = validate(stage);
    const Problem *problem = find(problems, "config.depth-while-off");
    QVERIFY2(problem && problem->severity == Severity::Warning, listed(problems).c_str());
    QVERIFY(!hasErrors(problems));
}

void ValidateTest::theMachineIsLookedAtOnlyWhereItIsKnown()
{
    const Stage stage = changed("device = 'cuda:1'\nckpt_every = 10\nkeep_n_latest = 3\ngrad_ckpt_buffer_size = 100000\nasync_io = True");
    QVERIFY2(!hasErrors(validate(stage)), listed(validate(stage)).c_str());
    const std::int64_t checkpoint = checkpointBytes(stage).value();

    Surroundings none;
    none.gpuCount = 0;
    const Problems withoutGpu = validate(stage, none);
    QVERIFY2(find(withoutGpu, "env.device")->message.find("no NVIDIA GPU") != std::string::npos, listed(withoutGpu).c_str());
    Surroundings one;
    one.gpuCount = 1;
    QVERIFY(find(validate(stage, one), "env.device"));
    Surroundings two;
    two.gpuCount = 2;
    QVERIFY(!find(validate(stage, two), "env.device"));

    Surroundings small;
    small.freeDiskBytes = 3 * checkpoint;
    const Problems full = validate(stage, small);
    const Problem *disk = find(full, "env.disk", "keep_n_latest");
    QVERIFY2(disk && disk->fix, listed(full).c_str());
    QCOMPARE(QString::fromStdString(disk->fix->edits[0].to.value()), QStringLiteral("2"));
    small.freeDiskBytes = 4 * checkpoint;
    QVERIFY(!find(validate(stage, small), "env.disk"));

    Surroundings tight;
    tight.hostAvailableBytes = 400000 + checkpoint;
    QVERIFY(!find(validate(stage, tight), "env.host-memory"));
    tight.hostAvailableBytes = 400000 + checkpoint - 1;
    QVERIFY(find(validate(stage, tight), "env.host-memory"));
    tight.hostAvailableBytes = 400000 + checkpoint;
    tight.worldSize = 2;
    QVERIFY2(find(validate(stage, tight), "env.host-memory"), "each process locks a buffer of its own");
}

void ValidateTest::pathsAreLookedForWhenAsked()
{
    QTemporaryDir folder;
    const std::string root = folder.path().toStdString();
    const Stage missing = changed("load = '" + root + "/run/epoch*'\nmodel.from_pretrained = '" + root + "/w.safetensors'\ndataset.data_path = '" + root + "/t.csv'\noutputs = '" + root
        + "/file'");
    std::ofstream(root + "/file") << "a file";
    QVERIFY(!hasErrors(validate(missing)));
    Surroundings look;
    look.checkPaths = true;
    const Problems problems = validate(missing, look);
    for (const char *code : {"checkpoint.missing", "env.path-missing", "data.table-missing", "env.outputs"})
        QVERIFY2(find(problems, code), (std::string(code) + "\n" + listed(problems)).c_str());

    std::filesystem::create_directories(root + "/run/epoch0-global_step200");
    QVERIFY(!find(validate(missing, look), "checkpoint.missing"));
    std::filesystem::create_directories(root + "/run/epoch1-global_step1000");
    const Problems two = validate(missing, look);
    const Problem *ambiguous = find(two, "checkpoint.ambiguous");
    QVERIFY2(ambiguous && ambiguous->fix && ambiguous->severity == Severity::Hint, listed(two).c_str());      // the newest whole one is taken
    QVERIFY2(ambiguous->fix->edits[0].to->find("global_step1000") != std::string::npos, "the newest is found by number, not by letters");

    // Weights that are there: in which rotary order, the user says, or a checkpoint of ours does.
    std::ofstream(root + "/w.safetensors") << "weights";
    const std::string weights = "model.from_pretrained = '" + root + "/w.safetensors'\n";
    const Problems rope = validate(changed(weights), look);
    const Problem *unsaid = find(rope, "config.rope-unsaid");
    QVERIFY2(unsaid && unsaid->severity == Severity::Error, listed(rope).c_str());
    const Problems asOriginal = validate(changed(weights + "compat = 'opensora'"), look);
    QVERIFY2(find(asOriginal, "config.rope-unsaid") && find(asOriginal, "config.rope-unsaid")->severity == Severity::Warning, listed(asOriginal).c_str());
    QVERIFY(!find(validate(changed(weights + "pretrained_rope = 'flux'"), look), "config.rope-unsaid"));
    QVERIFY(!find(validate(changed(weights)), "config.rope-unsaid"));
    std::filesystem::create_directories(root + "/ours/stagewright");
    std::ofstream(root + "/ours/stagewright/config.yaml") << "model: {}";
    QVERIFY(!find(validate(changed("model.from_pretrained = '" + root + "/ours'"), look), "config.rope-unsaid"));

    const Problems noTable = validate(changed("dataset.data_path = None"), look);
    QVERIFY2(find(noTable, "data.no-table"), listed(noTable).c_str());
}

void ValidateTest::countsParametersAsTheModel()
{
    const auto model = [](const std::string &more) {
        return stageOf("model = dict(type='flux', hidden_size=3072, num_heads=24, depth=19, depth_single_blocks=38, axes_dim=[16, 56, 56], theta=10000, qkv_bias=True, mlp_ratio=4.0,"
            " vec_in_dim=768, context_in_dim=4096, in_channels=64, guidance_embed=False)\n" + more);
    };
    QCOMPARE(parameterCount(model("")).value(), std::int64_t(11891178560));
    QCOMPARE(parameterCount(model("")).value() + std::int64_t(211968), std::int64_t(11891390528));
    Stage conditioned = model("");
    lookUp(conditioned.values(), "model")->dict().set("cond_embed", true);
    QCOMPARE(parameterCount(conditioned).value(), std::int64_t(11891390528));
    Stage guided = model("");
    lookUp(guided.values(), "model")->dict().set("guidance_embed", true);
    QCOMPARE(parameterCount(guided).value(), std::int64_t(11901408320));
    Stage tiny = stageOf("model = dict(type='flux', hidden_size=64, num_heads=4, depth=2, depth_single_blocks=2, axes_dim=[4, 6, 6], theta=10000, qkv_bias=True, mlp_ratio=4.0,"
        " vec_in_dim=12, context_in_dim=20, in_channels=16, guidance_embed=False, cond_embed=True)");
    QCOMPARE(parameterCount(tiny).value(), std::int64_t(461968));
    QVERIFY(!parameterCount(Stage()));

    // Sizes beyond all sense have no sum, and nothing that is computed from them overflows; they are reported elsewhere.
    for (const char *value : {"-1", "1000000000", "4611686018427387904", "9223372036854775807", "-9223372036854775807"}) {
        for (const char *key : {"hidden_size", "depth", "depth_single_blocks", "in_channels", "vec_in_dim", "context_in_dim", "patch_size", "mlp_ratio", "num_heads"}) {
            const std::string line = std::string("model.") + key + " = " + value;
            const Stage one = changed(line);
            QVERIFY2(!parameterCount(one) && !checkpointBytes(one), line.c_str());
            QVERIFY2(hasErrors(validate(one)), line.c_str());
        }
    }
    QVERIFY(!parameterCount(changed("model.mlp_ratio = 1e300")));
}

// Whatever number stands in whatever place, the checks come to an end and compute nothing beyond 63 bits (the sanitizer sees to the latter).
void ValidateTest::survivesAnyNumberAnywhere()
{
    Surroundings machine;
    machine.hostAvailableBytes = 64ll << 30;
    machine.freeDiskBytes = 1ll << 40;
    machine.gpuCount = 2;
    machine.worldSize = 2;
    int checked = 0;
    for (const Option &option : allOptions()) {
        for (const char *number : {"9223372036854775807", "-9223372036854775807", "4611686018427387904", "1e308", "-1e308", "0", "-1"}) {
            for (const std::string &text : {std::string(number), "[" + std::string(number) + ", " + number + "]"}) {
                Stage stage = smallStage();
                if (!applyOverrides(stage, {{std::string(option.path), text, OriginKind::Edit}}).empty())
                    continue;
                validate(stage, machine);
                ++checked;
            }
        }
    }
    for (const char *number : {"9223372036854775807", "-9223372036854775807", "4611686018427387904"}) {
        const std::string n = number;
        for (const std::string &row : {"1: (1.0, " + n + ")", n + ": (1.0, 2)", "5: ((" + n + ", 1.0), (2, " + n + "))", "5: (" + n + ", 2)"}) {
            for (const std::string &side : {std::string("256px"), n + "px", n})
                validate(smallStage("bucket_config = {\"" + side + "\": {" + row + "}}\n"), machine);
        }
    }
    QVERIFY2(checked > 500, std::to_string(checked).c_str());
}

void ValidateTest::saysWhichBlocksAreCheckpointed_data()
{
    QTest::addColumn<QString>("more");
    QTest::addColumn<int>("doubles");
    QTest::addColumn<int>("singles");
    QTest::addRow("unset") << "" << 2 << 4;
    QTest::addRow("None") << "model.grad_ckpt_settings = None" << 2 << 4;
    QTest::addRow("empty") << "model.grad_ckpt_settings = []" << 2 << 4;
    QTest::addRow("none at all") << "model.grad_ckpt_settings = (0, 0)" << 0 << 0;
    QTest::addRow("some") << "model.grad_ckpt_settings = (1, 3)" << 1 << 3;
    QTest::addRow("beyond") << "model.grad_ckpt_settings = (8, 100)" << 2 << 4;
    QTest::addRow("from the end") << "model.grad_ckpt_settings = (-1, -3)" << 1 << 1;
    QTest::addRow("far from the end") << "model.grad_ckpt_settings = (-9, -9)" << 0 << 0;
    QTest::addRow("off") << "grad_checkpoint = False" << 0 << 0;
}

void ValidateTest::saysWhichBlocksAreCheckpointed()
{
    QFETCH(QString, more);
    QFETCH(int, doubles);
    QFETCH(int, singles);
    const CheckpointedBlocks blocks = checkpointedBlocks(changed(more.toStdString()));
    QCOMPARE(blocks.doubles, doubles);
    QCOMPARE(blocks.singles, singles);
    QCOMPARE(QString::fromStdString(words(blocks)), QStringLiteral("double %1 of 2, single %2 of 4 checkpointed").arg(doubles).arg(singles));
}

// A code that any layer reports stands in the reference, and the reference has no others.
void ValidateTest::everyCodeIsListed()
{
    std::set<std::string> reported, listedCodes;
    const QRegularExpression pattern(QStringLiteral("\"((?:config|env|memory|data|checkpoint|run)\\.[a-z][a-z0-9-]+)\""));
    const std::set<std::string> files = {"config.txt", "config.yaml", "data.pkl", "run.json"};      // names of files that look like codes
    for (const auto *folder : {STAGEWRIGHT_SOURCE "/core", STAGEWRIGHT_SOURCE "/ui", STAGEWRIGHT_SOURCE "/app"}) {
        for (QDirIterator sources(QString::fromUtf8(folder), {QStringLiteral("*.cpp"), QStringLiteral("*.h"), QStringLiteral("*.cu")}, QDir::Files, QDirIterator::Subdirectories); sources.hasNext();) {
            QFile file(sources.next());
            if (QFileInfo(file).fileName().startsWith(QStringLiteral("problem_code")))
                continue;
            QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
            for (auto it = pattern.globalMatch(QString::fromUtf8(file.readAll())); it.hasNext();) {
                if (const std::string code = it.next().captured(1).toStdString(); !files.count(code))
                    reported.insert(code);
            }
        }
    }
    for (const ProblemCode &code : problemCodes())
        QVERIFY2(listedCodes.insert(std::string(code.code)).second, (std::string(code.code) + " is listed twice").c_str());
    std::string wrong;
    for (const std::string &code : reported)
        wrong += listedCodes.count(code) ? "" : "\n" + code + " is reported, but core/config/problem_codes_*.cpp does not say what it means";
    for (const std::string &code : listedCodes)
        wrong += reported.count(code) ? "" : "\n" + code + " is listed, but never reported";
    QVERIFY(reported.size() > 250);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

QTEST_GUILESS_MAIN(ValidateTest)
#include "validate_test.moc"
