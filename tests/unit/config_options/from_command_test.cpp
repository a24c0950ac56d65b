#include <QtTest>

#include "core/config/from_command.h"
#include "core/config/option.h"
#include "core/config/shell_words.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

QString overridesOf(const FromCommand &found)
{
    QStringList list;
    for (const Override &override : found.overrides)
        list << QString::fromStdString(override.path + "=" + override.text);
    list.sort();
    return list.join(QLatin1Char(' '));
}

const FlagNote *noteOf(const FromCommand &found, std::string_view flag)
{
    for (const FlagNote &note : found.notes) {
        if (note.flag == flag)
            return &note;
    }
    return nullptr;
}

} // namespace

class FromCommandTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void splitsAsAShell_data();
    void splitsAsAShell();
    void refusesWhatOnlyAShellKnows_data();
    void refusesWhatOnlyAShellKnows();
    void understandsOpenSora_data();
    void understandsOpenSora();
    void looksPastProgramsThatOnlyStartOthers_data();
    void looksPastProgramsThatOnlyStartOthers();
    void leavesWhatIsEmptyAsItIs();
    void saysWhatOverridesMean();
    void understandsPlanFlags_data();
    void understandsPlanFlags();
    void everyFlagHasANote();
    void readsDeepSpeedAndAccelerateFiles();
    void overridesAreForDeclaredOptions();
    void refusesOtherCommands_data();
    void refusesOtherCommands();
};

void FromCommandTest::splitsAsAShell_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::addRow("plain") << "a b  c" << "a|b|c";
    QTest::addRow("quotes") << "a 'b c' \"d e\"f" << "a|b c|d ef";
    QTest::addRow("escapes") << "a\\ b \"c\\\"d\" 'e\\f'" << "a b|c\"d|e\\f";
    QTest::addRow("lines that go on") << "a \\\n  b \\\r\n c\n" << "a|b|c";
    QTest::addRow("comment") << "a # b c\n" << "a";
    QTest::addRow("prompt") << "$ a b" << "a|b";
    QTest::addRow("empty argument") << "a '' b" << "a||b";
    QTest::addRow("dollar in single quotes") << "a '$b'" << "a|$b";
    QTest::addRow("nothing") << "  \n " << "";
    QTest::addRow("unicode") << "训练 \"数 据\"" << "训练|数 据";
}

void FromCommandTest::splitsAsAShell()
{
    QFETCH(QString, text);
    QFETCH(QString, words);
    const auto split = shellWords(text.toStdString());
    QVERIFY2(split.ok(), split ? "" : split.error().message().c_str());
    QStringList got;
    for (const std::string &word : *split)
        got << QString::fromStdString(word);
    QCOMPARE(got.join(QLatin1Char('|')), words);
}

void FromCommandTest::refusesWhatOnlyAShellKnows_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    QTest::addRow("variable") << "torchrun train.py $CONFIG" << "$CONFIG";
    QTest::addRow("variable in quotes") << "torchrun \"${HOME}/train.py\"" << "${HOME";
    QTest::addRow("command in a command") << "a $(date)" << "$(date";
    QTest::addRow("pipe") << "a | tee log" << "\"|\"";
    QTest::addRow("two commands") << "cd x && a" << "\"&\"";
    QTest::addRow("two lines") << "a\nb" << "more than one command";
    QTest::addRow("redirection") << "a > log" << "\">\"";
    QTest::addRow("open quote") << "a 'b" << "not closed";
}

void FromCommandTest::refusesWhatOnlyAShellKnows()
{
    QFETCH(QString, text);
    QFETCH(QString, says);
    const auto split = shellWords(text.toStdString());
    QVERIFY(!split.ok());
    QVERIFY2(QString::fromStdString(split.error().message()).contains(says), split.error().message().c_str());
}

void FromCommandTest::understandsOpenSora_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("overrides");
    QTest::addColumn<int>("nproc");
    QTest::addColumn<int>("nodes");
    QTest::addRow("guide") << "torchrun --nproc_per_node 8 scripts/diffusion/train.py configs/diffusion/train/stage1.py --dataset.data-path datasets/pexels_45k_necessary.csv"
                           << "configs/diffusion/train/stage1.py" << "dataset.data_path=datasets/pexels_45k_necessary.csv" << 8 << 1;
    QTest::addRow("equals and standalone") << "torchrun --nproc-per-node=4 --standalone train.py stage.py --lr=1e-4" << "stage.py" << "lr=1e-4" << 4 << 1;
    QTest::addRow("several machines") << "torchrun --nproc_per_node=8 --nnodes=2 --node_rank=1 --master_addr=10.0.0.1 --master_port=29501 scripts/diffusion/train.py c.py --async_io True"
                                      << "c.py" << "async_io=True" << 8 << 2;
    QTest::addRow("colossalai") << "colossalai run --hostfile hosts --nproc_per_node 8 scripts/diffusion/train.py c.py --dataset.data-path 'a b.csv'" << "c.py"
                                << "dataset.data_path=a b.csv" << 8 << 1;
    QTest::addRow("python module") << "python -m torch.distributed.run --nproc_per_node 2 scripts/diffusion/train.py c.py" << "c.py" << "" << 2 << 1;
    QTest::addRow("python alone") << "python3 -u scripts/diffusion/train.py c.py --seed 3" << "c.py" << "seed=3" << 1 << 1;
    QTest::addRow("environment") << "CUDA_VISIBLE_DEVICES=0,1 AE_SPATIAL_COMPRESSION=32 torchrun --nproc_per_node 2 train.py c.py" << "c.py" << "ae_spatial_compression=32" << 2 << 1;
    QTest::addRow("overrides first") << "torchrun train.py --seed 3 c.py" << "c.py" << "seed=3" << 1 << 1;
    QTest::addRow("script's own flag") << "torchrun train.py c.py --wandb" << "c.py" << "wandb=True" << 1 << 1;
    QTest::addRow("full paths") << "/opt/venv/bin/torchrun --nproc_per_node 8 /src/Open-Sora/scripts/diffusion/train.py /data/c.py" << "/data/c.py" << "" << 8 << 1;
}

void FromCommandTest::understandsOpenSora()
{
    QFETCH(QString, command);
    QFETCH(QString, config);
    QFETCH(QString, overrides);
    QFETCH(int, nproc);
    QFETCH(int, nodes);
    const auto found = fromCommand(command.toStdString());
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    QCOMPARE(QString::fromStdString(found->program), QStringLiteral("opensora"));
    QCOMPARE(QString::fromStdString(found->config->string()), config);
    QCOMPARE(overridesOf(*found), overrides);
    QCOMPARE(found->launch.nproc, nproc);
    QCOMPARE(found->launch.nodes, nodes);
}

void FromCommandTest::looksPastProgramsThatOnlyStartOthers_data()
{
    QTest::addColumn<QString>("before");
    for (const char *before : {"nohup", "time", "srun -N2 --gres=gpu:8", "mpirun -np 2", "sudo -E", "numactl --cpunodebind=0", "env A=1 nohup"})
        QTest::addRow("%s", before) << QString::fromLatin1(before);
}

void FromCommandTest::looksPastProgramsThatOnlyStartOthers()
{
    QFETCH(QString, before);
    const auto found = fromCommand(before.toStdString() + " torchrun --nproc_per_node 4 scripts/diffusion/train.py stage.py --lr 1e-4");
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    QCOMPARE(found->launch.nproc, 4);
    QCOMPARE(found->config->string(), std::string("stage.py"));
    QVERIFY(noteOf(*found, before.section(QLatin1Char(' '), before.startsWith(QLatin1String("env")) ? 2 : 0, before.startsWith(QLatin1String("env")) ? 2 : 0).toStdString()));
    QVERIFY2(noteOf(*found, "stage.py"), "that the config is not there is said");
}

void FromCommandTest::leavesWhatIsEmptyAsItIs()
{
    const auto found = fromCommand("accelerate launch train_t2v_diffusers.py --gradient_checkpointing --pretrained ''");
    QVERIFY(found.ok());
    for (const Override &override : found->overrides)
        QVERIFY(override.path != "model.from_pretrained");
    QVERIFY(noteOf(*found, "--pretrained"));
}

void FromCommandTest::saysWhatOverridesMean()
{
    const auto found = fromCommand("torchrun --nproc_per_node 8 --rdzv_backend c10d scripts/diffusion/train.py c.py --lr 1e-4 --ckpt_evry 5 --wandb True --x.mine 3");
    QVERIFY(found.ok());
    QVERIFY(noteOf(*found, "--lr") && noteOf(*found, "--lr")->applied);
    QVERIFY2(noteOf(*found, "--lr")->became.find("optim.lr") != std::string::npos, noteOf(*found, "--lr")->became.c_str());
    QVERIFY(!noteOf(*found, "--ckpt_evry")->applied);
    QVERIFY2(noteOf(*found, "--ckpt_evry")->became.find("ckpt_every") != std::string::npos, noteOf(*found, "--ckpt_evry")->became.c_str());
    QVERIFY(!noteOf(*found, "--wandb")->applied);
    QVERIFY(noteOf(*found, "--x.mine")->applied);
    QVERIFY(noteOf(*found, "--rdzv_backend"));
}

void FromCommandTest::understandsPlanFlags_data()
{
    QTest::addColumn<QString>("flags");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("text");
    QTest::addRow("checkpointing") << "--gradient_checkpointing" << "grad_checkpoint" << "True";
    QTest::addRow("no checkpointing") << "" << "grad_checkpoint" << "False";
    QTest::addRow("precision") << "--mixed_precision=bf16" << "dtype" << "bf16";
    QTest::addRow("no precision") << "--mixed_precision no" << "dtype" << "fp32";
    QTest::addRow("accumulation") << "--gradient_accumulation_steps=4" << "accumulation_steps" << "4";
    QTest::addRow("rate") << "--learning_rate=1e-5" << "optim.lr" << "1e-5";
    QTest::addRow("betas") << "--adam_beta2 0.95" << "optim.betas" << "(0.9, 0.95)";
    QTest::addRow("EMA") << "--use_ema" << "ema_decay" << "0.9999";
    QTest::addRow("EMA with decay") << "--ema_decay 0.999 --use_ema" << "ema_decay" << "0.999";
    QTest::addRow("saving") << "--checkpointing_steps=500 --checkpoints_total_limit 3" << "keep_n_latest" << "3";
    QTest::addRow("cosine") << "--lr_scheduler=cosine" << "use_cosine_scheduler" << "True";
    QTest::addRow("drop-out") << "--cfg 0.1" << "dropout_ratio.clip" << "0.1";
    QTest::addRow("tiling") << "--enable_tiling" << "ae.use_temporal_tiling" << "True";
    QTest::addRow("resume") << "--output_dir=out --resume_from_checkpoint=latest" << "load" << "out/*global_step*";
    QTest::addRow("bucket") << "--num_frames 93 --max_height 352 --max_width 352 --train_batch_size 2" << "bucket_config" << "{\"352px\": {93: (1.0, 2)}}";
    QTest::addRow("sequence parallel") << "--sp_size=4" << "plugin" << "hybrid";
    QTest::addRow("frame rate") << "--train_fps 16" << "dataset.fps_max" << "16";
}

void FromCommandTest::understandsPlanFlags()
{
    QFETCH(QString, flags);
    QFETCH(QString, path);
    QFETCH(QString, text);
    const auto found = fromCommand("accelerate launch opensora/train/train_t2v_diffusers.py " + flags.toStdString());
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    QCOMPARE(QString::fromStdString(found->program), QStringLiteral("opensora-plan"));
    QVERIFY(!found->config);
    const auto at = std::find_if(found->overrides.begin(), found->overrides.end(), [&](const Override &override) { return override.path == path.toStdString(); });
    QVERIFY2(at != found->overrides.end(), qPrintable(overridesOf(*found)));
    QCOMPARE(QString::fromStdString(at->text), text);
}

// The flags of a training script as people have it: each gets one sentence, and nothing is passed over.
void FromCommandTest::everyFlagHasANote()
{
    const std::string command = "accelerate launch --num_processes 8 --mixed_precision bf16 opensora/train/train_t2v_diffusers.py --model OpenSoraT2V_v1_3-2B/122 "
                                "--text_encoder_name_1 google/mt5-xxl --cache_dir ../cache --dataset t2v --data scripts/data.txt --ae WFVAEModel_D8_4x8x8 --ae_path /vae "
                                "--sample_rate 1 --num_frames 93 --max_height 352 --max_width 640 --interpolation_scale_t 1.0 --gradient_checkpointing --train_batch_size=1 "
                                "--dataloader_num_workers 8 --gradient_accumulation_steps=1 --max_train_steps=1000000 --learning_rate=1e-5 --lr_scheduler=constant "
                                "--lr_warmup_steps=0 --mixed_precision=bf16 --report_to=wandb --checkpointing_steps=1000 --allow_tf32 --model_max_length 512 --use_ema "
                                "--ema_start_step 0 --cfg 0.1 --resume_from_checkpoint=latest --speed_factor 1.0 --ema_decay 0.9999 --drop_short_ratio 0.0 --hw_stride 32 "
                                "--sparse1d --sparse_n 4 --train_fps 16 --seed 1234 --group_data --use_decord --prediction_type v_prediction --snr_gamma 5.0 --output_dir out "
                                "--extra_save_mem --vae_fp32 --no_such_flag 3";
    const auto found = fromCommand(command);
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    for (const QString &word : QString::fromStdString(command).split(QLatin1Char(' '))) {
        if (!word.startsWith(QStringLiteral("--")))
            continue;
        const std::string flag = word.section(QLatin1Char('='), 0, 0).toStdString();
        const FlagNote *note = noteOf(*found, flag);
        QVERIFY2(note && !note->became.empty(), flag.c_str());
    }
    QVERIFY(!noteOf(*found, "--no_such_flag")->applied);
    QVERIFY(!noteOf(*found, "--extra_save_mem")->applied);
    QVERIFY(noteOf(*found, "--gradient_checkpointing")->applied);
    QCOMPARE(found->launch.nproc, 8);
}

void FromCommandTest::readsDeepSpeedAndAccelerateFiles()
{
    QTemporaryDir folder;
    const auto write = [&](const char *name, const QByteArray &text) {
        QFile file(folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write("zero2_offload.json", R"({"bf16": {"enabled": true}, "communication_data_type": "fp32", "gradient_clipping": 1.0, "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 2, "overlap_comm": true, "reduce_bucket_size": 5e8, "offload_optimizer": {"device": "cpu"}}})");
    write("deepspeed.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: zero2_offload.json\n"
                            "num_machines: 1\nnum_processes: 8\nmain_process_port: 29503\n");
    const auto found = fromCommand("accelerate launch --config_file deepspeed.yaml train_t2v_diffusers.py --gradient_checkpointing", folder.path().toStdString());
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    QCOMPARE(overridesOf(*found), QStringLiteral("dtype=bf16 grad_checkpoint=True grad_clip=1 plugin=zero2 plugin_config.cpu_offload=True "
                                                 "plugin_config.overlap_communication=True plugin_config.reduce_bucket_size_in_m=477"));
    QCOMPARE(found->launch.nproc, 8);
    QCOMPARE(found->launch.masterPort, 29503);

    const auto missing = fromCommand("accelerate launch --deepspeed_config_file none.json train_t2v_diffusers.py", folder.path().toStdString());
    QVERIFY(missing.ok());
    QVERIFY2(noteOf(*missing, "--deepspeed_config_file")->became.find("none.json") != std::string::npos, noteOf(*missing, "--deepspeed_config_file")->became.c_str());
    const auto third = fromCommand("accelerate launch --zero_stage 3 train_t2v_diffusers.py");
    QVERIFY(third.ok());
    QVERIFY(overridesOf(*third).contains(QStringLiteral("plugin=zero2")));
}

// What a pasted command becomes can be applied to a stage.
void FromCommandTest::overridesAreForDeclaredOptions()
{
    understandsPlanFlags_data();
    const auto found = fromCommand("accelerate launch train_t2v_diffusers.py --gradient_checkpointing --mixed_precision bf16 --gradient_accumulation_steps 4 --learning_rate 1e-5 "
                                   "--adam_beta1 0.9 --adam_beta2 0.95 --adam_epsilon 1e-15 --adam_weight_decay 1e-2 --use_ema --ema_decay 0.999 --checkpointing_steps 500 "
                                   "--checkpoints_total_limit 3 --output_dir out --max_train_steps 100 --seed 3 --dataloader_num_workers 2 --cfg 0.1 --num_frames 17 --max_height 96 "
                                   "--max_width 96 --train_batch_size 2 --lr_scheduler constant --lr_warmup_steps 10 --train_fps 16 --max_grad_norm 1.0");
    QVERIFY(found.ok());
    Stage stage = smallStage();
    const Problems problems = applyOverrides(stage, found->overrides);
    QVERIFY2(problems.empty(), listed(problems).c_str());
    QVERIFY2(!hasErrors(validate(stage)), listed(validate(stage)).c_str());
    for (const Override &override : found->overrides)
        QVERIFY2(findOption(override.path), override.path.c_str());
}

void FromCommandTest::refusesOtherCommands_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("says");
    QTest::addRow("empty") << "" << "no command";
    QTest::addRow("no script") << "torchrun --nproc_per_node 8" << "no training script";
    QTest::addRow("another script") << "torchrun scripts/diffusion/inference.py c.py" << "inference.py";
    QTest::addRow("no config") << "torchrun train.py --seed 3" << "config file";
    QTest::addRow("two configs") << "torchrun train.py a.py b.py" << "b.py";
    QTest::addRow("one dash") << "torchrun train.py a.py -x" << "two dashes";
}

void FromCommandTest::refusesOtherCommands()
{
    QFETCH(QString, command);
    QFETCH(QString, says);
    const auto found = fromCommand(command.toStdString());
    QVERIFY(!found.ok());
    QCOMPARE(found.error().exit, ExitCode::Usage);
    QVERIFY2(QString::fromStdString(found.error().message()).contains(says), found.error().message().c_str());
}

QTEST_GUILESS_MAIN(FromCommandTest)
#include "from_command_test.moc"
