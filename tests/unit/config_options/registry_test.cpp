#include <QtTest>

#include <algorithm>

#include <set>

#include "core/config/related_options.h"
#include "core/config/bucket_table.h"
#include "core/config/option.h"
#include "core/config/option_value.h"
#include "core/config/validate.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

QString text(std::string_view view)
{
    return QString::fromUtf8(view.data(), qsizetype(view.size()));
}

bool isChinese(std::string_view view)
{
    for (QChar c : text(view)) {
        if (c.unicode() >= 0x4e00 && c.unicode() <= 0x9fff)
            return true;
    }
    return false;
}

} // namespace

class RegistryTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pathsAreUniqueAndHaveTheirSection();
    void everyOptionIsDescribedInBothLanguages_data();
    void everyOptionIsDescribedInBothLanguages();
    void everyDefaultIsValid();
    void groupsAreDeclaredAndUsed();
    void referencesBetweenOptionsHold();
    void aliasesMapToLiveKeys();
    void knowsTheKeysOfTheOriginal();
    void defaultsDependOnTheType();
    void namesOfTheUsersOwnAreKnown();
    void relatedOptionsAreDeclaredAndMutual();
};

void RegistryTest::pathsAreUniqueAndHaveTheirSection()
{
    std::set<std::string_view> seen;
    for (const Option &option : allOptions()) {
        QVERIFY2(seen.insert(option.path).second, qPrintable(text(option.path)));
        QCOMPARE(findOption(option.path), &option);
        const auto dot = option.path.rfind('.');
        if (dot == std::string_view::npos)
            continue;
        const Option *section = findOption(option.path.substr(0, dot));
        QVERIFY2(section && section->type == OptionType::Dict, qPrintable(text(option.path)));
    }
    QVERIFY(allOptions().size() > 150);
    QVERIFY(!findOption("no_such_option"));
}

void RegistryTest::everyOptionIsDescribedInBothLanguages_data()
{
    QTest::addColumn<int>("index");
    int index = 0;
    for (const Option &option : allOptions())
        QTest::addRow("%s", text(option.path).toUtf8().constData()) << index++;
}

void RegistryTest::everyOptionIsDescribedInBothLanguages()
{
    QFETCH(int, index);
    const Option &option = allOptions()[std::size_t(index)];
    QVERIFY(!option.label.en.empty() && !option.label.zh.empty());
    QVERIFY(option.label.en.size() <= 45);
    QVERIFY(!option.help.en.empty());
    QVERIFY2(isChinese(option.help.zh), "help in Chinese");
    QVERIFY2(!isChinese(option.label.en) && !isChinese(option.help.en), "English texts are English");
    QCOMPARE(option.trap.en.empty(), option.trap.zh.empty());
    if (option.keyClass == KeyClass::NotApplicable) {
        QVERIFY(!option.reason.en.empty());
        QVERIFY(isChinese(option.reason.zh));
    } else {
        QVERIFY(option.reason.en.empty());
    }
    for (std::string_view view : {option.label.zh, option.help.zh, option.trap.zh}) {
        const QString chinese = text(view);
        for (const char16_t mark : {u',', u';'})
            QVERIFY2(!QRegularExpression(QStringLiteral("[\u4e00-\u9fff]") + QChar(mark) + QStringLiteral("[\u4e00-\u9fff ]")).match(chinese).hasMatch(),
                "Chinese sentences have Chinese punctuation");
    }
}

void RegistryTest::everyDefaultIsValid()
{
    for (const Option &option : allOptions()) {
        if (option.fallback.isNone() && !option.nullable)
            continue;
        const auto fault = typeFault(option, option.fallback);
        QVERIFY2(!fault, qPrintable(text(option.path) + QStringLiteral(": ") + QString::fromStdString(fault.value_or(""))));
        if (option.fallback.isNumber()) {
            QVERIFY2(!option.hardMin || option.fallback.number() >= *option.hardMin, qPrintable(text(option.path)));
            QVERIFY2(!option.hardMax || option.fallback.number() <= *option.hardMax, qPrintable(text(option.path)));
        }
        for (const VariantDefault &variant : option.variants)
            QVERIFY2(!typeFault(option, variant.fallback), qPrintable(text(option.path)));
    }
}

void RegistryTest::groupsAreDeclaredAndUsed()
{
    std::set<std::string_view> used;
    for (const Option &option : allOptions())
        used.insert(option.group);
    std::set<std::string_view> declared;
    for (const auto &[id, title] : optionGroups()) {
        declared.insert(id);
        QVERIFY(isChinese(title.zh));
    }
    QCOMPARE(used, declared);
}

void RegistryTest::referencesBetweenOptionsHold()
{
    for (const Option &option : allOptions()) {
        if (!option.writesThroughTo.empty()) {
            const Option *target = findOption(option.writesThroughTo);
            QVERIFY2(target && target->type == option.type, qPrintable(text(option.path)));
        }
        if (!option.onlyWith.path.empty()) {
            const Option *selector = findOption(option.onlyWith.path);
            QVERIFY2(selector && selector->type == OptionType::Choice, qPrintable(text(option.path)));
            for (std::string_view value : option.onlyWith.values)
                QVERIFY2(std::find(selector->choices.begin(), selector->choices.end(), value) != selector->choices.end(), qPrintable(text(option.path)));
        }
        for (const VariantDefault &variant : option.variants) {
            const Option *selector = findOption(variant.path);
            QVERIFY(selector && std::find(selector->choices.begin(), selector->choices.end(), variant.value) != selector->choices.end());
        }
        QCOMPARE(option.type == OptionType::Choice, !option.choices.empty());
    }
}

void RegistryTest::aliasesMapToLiveKeys()
{
    int aliases = 0;
    for (const Option &option : allOptions()) {
        for (std::string_view alias : option.aliases) {
            ++aliases;
            const auto dot = option.path.rfind('.');
            const std::string path = (dot == std::string_view::npos ? "" : std::string(option.path.substr(0, dot + 1))) + std::string(alias);
            QVERIFY2(!findOption(path), "an alias is no key");
            QVERIFY2(findByAlias(path), path.c_str());
        }
    }
    QVERIFY(aliases > 5);
    QCOMPARE(findByAlias("model.grad_ckpt_setting"), findOption("model.grad_ckpt_settings"));
    QVERIFY(!findByAlias("model.depth"));
}

// Every key that the training program or one of its bundled configs reads.
void RegistryTest::knowsTheKeysOfTheOriginal()
{
    for (const char *path : {"dtype", "seed", "grad_ckpt_buffer_size", "pin_memory_cache_pre_alloc_numels", "plugin", "plugin_config", "grad_clip", "outputs", "exp_name",
             "wandb", "wandb_project", "dataset", "batch_size", "num_workers", "prefetch_factor", "bucket_config", "num_bucket_build_workers", "model", "grad_checkpoint",
             "lora_config", "lora_checkpoint", "ema_decay", "cached_video", "cached_text", "ae", "t5", "clip", "optim", "epochs", "warmup_steps", "use_cosine_scheduler",
             "initial_lr", "update_warmup_steps", "load", "load_master_weights", "save_master_weights", "start_epoch", "start_step", "record_time", "record_barrier", "nsys",
             "nsys_warmup_steps", "nsys_num_steps", "warmup_ae", "sigma_min", "accumulation_steps", "ckpt_every", "is_causal_vae", "condition_config", "patch_size",
             "dropout_ratio", "guidance", "no_i2v_ref_loss", "log_every", "async_io", "keep_n_latest", "ae_spatial_compression", "dataset.type", "dataset.data_path",
             "dataset.transform_name", "dataset.fps_max", "dataset.vmaf", "dataset.memory_efficient", "dataset.bucket_class", "dataset.rand_sample_interval",
             "dataset.tokenize_fn", "dataset.return_latents_path", "dataset.load_original_video", "model.use_liger_rope", "model.grad_ckpt_settings", "model.cache_dir",
             "ae.block_out_channels", "ae.sample_tsize", "ae.scaling_factor", "ae.disc_off_grad_ckpt", "t5.shardformer", "clip.max_length", "optim.nvme_offload_dir",
             "plugin_config.reduce_bucket_size_in_m", "plugin_config.extra_dp_size", "plugin_config.sequence_parallelism_mode", "lr", "eps", "grad_ckpt_settings",
             "compat", "device", "max_train_steps", "grad_ckpt_buffer_overflow", "on_save_error", "keep_every", "on_low_disk", "on_nonfinite", "memory_limit", "data_policy", "encoding_cache", "decoder_memory"})
        QVERIFY2(findOption(path), path);
    QCOMPARE(findOption("lr")->keyClass, KeyClass::Helper);
    QCOMPARE(findOption("patch_size")->keyClass, KeyClass::Read);
    QCOMPARE(findOption("wandb")->keyClass, KeyClass::NotApplicable);
}

void RegistryTest::defaultsDependOnTheType()
{
    Stage stage;
    QCOMPARE(stage.integer("ae.latent_channels"), std::int64_t(16));
    QCOMPARE(stage.integer("t5.max_length"), std::int64_t(512));
    QCOMPARE(stage.integer("clip.hidden_size"), std::int64_t(768));
    Dict ae;
    ae.set("type", "haar");
    stage.values().set("ae", Value::dict(ae));
    QCOMPARE(stage.integer("ae.latent_channels"), std::int64_t(48));
    ae.set("type", "dc_ae");
    stage.values().set("ae", Value::dict(ae));
    QCOMPARE(latentGeometry(stage).spaceRatio, 32);
    QCOMPARE(latentGeometry(stage).channels, 128);
}

void RegistryTest::namesOfTheUsersOwnAreKnown()
{
    for (const char *own : {"_mine", "x", "x.anything.deep", "model._note"})
        QVERIFY2(isUsersOwn(own), own);
    for (const char *notOwn : {"xx", "model.x", "lr", "a_b"})
        QVERIFY2(!isUsersOwn(notOwn), notOwn);
}

void RegistryTest::relatedOptionsAreDeclaredAndMutual()
{
    for (const auto &group : judgedTogether())
        for (const std::string_view path : group)
            QVERIFY2(findOption(path), std::string(path).c_str());
    const auto has = [](const char *path, const char *other) {
        const auto related = relatedOptions(*findOption(path));
        return std::any_of(related.begin(), related.end(), [&](const Option *option) { return option->path == other; });
    };
    QVERIFY(has("grad_ckpt_buffer_size", "model.grad_ckpt_settings"));
    QVERIFY(has("model.grad_ckpt_settings", "grad_ckpt_buffer_size"));
    QVERIFY(has("optim.lr", "lr") && has("lr", "optim.lr"));
    QVERIFY(has("ae.scaling_factor", "ae.type"));
    QVERIFY(!has("seed", "seed"));
    for (const Option &option : allOptions())
        QVERIFY(relatedOptions(option).size() <= kMostRelated);
}

QTEST_GUILESS_MAIN(RegistryTest)
#include "registry_test.moc"
