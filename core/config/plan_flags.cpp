#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>

#include "core/config/command_flags.h"

namespace stagewright::config {

namespace {

struct Renamed {
    const char *path;
    const char *remark;
};

// Flags whose value is the value of an option.
const std::unordered_map<std::string_view, Renamed> kRenamed = {
    {"gradient_accumulation_steps", {"accumulation_steps", ""}},
    {"learning_rate", {"optim.lr", ""}},
    {"adam_epsilon", {"optim.eps", ""}},
    {"adam_weight_decay", {"optim.weight_decay", ""}},
    {"lr_warmup_steps", {"warmup_steps", "optimizer updates; the original's scheduler counts differently with several processes"}},
    {"checkpointing_steps", {"ckpt_every", ""}},
    {"checkpoints_total_limit", {"keep_n_latest", ""}},
    {"output_dir", {"outputs", ""}},
    {"max_train_steps", {"max_train_steps", ""}},
    {"seed", {"seed", "the original's sampler uses 42 whatever the seed"}},
    {"dataloader_num_workers", {"num_workers", ""}},
    {"model_max_length", {"t5.max_length", ""}},
    {"log_interval", {"log_every", ""}},
    {"pretrained", {"model.from_pretrained", ""}},
    {"train_fps", {"dataset.fps_max", ""}},
    {"data", {"dataset.data_path", "the index of annotations is read as it is"}},
    {"max_grad_norm", {"grad_clip", "with DeepSpeed the original ignores the flag and uses the JSON's gradient_clipping"}},
    {"lora_checkpoint", {"lora_checkpoint", ""}},
    {"rank", {"lora_config.r", ""}},
    {"lora_alpha", {"lora_config.lora_alpha", ""}},
};

// Flags without a value that are plain options.
const std::unordered_map<std::string_view, Renamed> kSwitches = {
    {"gradient_checkpointing", {"grad_checkpoint", "all blocks, unless model.grad_ckpt_settings says otherwise"}},
    {"enable_tiling", {"ae.use_temporal_tiling", "clips are encoded slice by slice"}},
};

// Flags that mean nothing here, and why. The sets say which of them take a value.
const std::unordered_map<std::string_view, const char *> kNoCounterpart = {
    {"vae_fp32", "no counterpart: the autoencoder computes in the training's number format"},
    {"extra_save_mem", "no counterpart: encoders stay on the device; use model.grad_ckpt_settings and grad_ckpt_buffer_size to save memory"},
    {"save_memory", "no counterpart: it does not exist for training, and in sampling it only moves models between host and device"},
    {"offload_ema", "no counterpart: the average stays where the weights are"},
    {"foreach_ema", "no counterpart: it only changes how the average is computed"},
    {"use_8bit_adam", "no counterpart: the optimizer's state is fp32"},
    {"allow_tf32", "no counterpart: the device's default is used"},
    {"skip_connection", "no effect in the original either: v1.3 drops it"},
    {"group_data", "always so: batches hold clips of one size"},
    {"force_resolution", "always so: bucket sizes are fixed"},
    {"rf_scheduler", "always so: the objective is flow matching"},
    {"use_image_num", "no counterpart: images are their own buckets (1 frame)"},
    {"use_img_from_vid", "no effect in the original either"},
    {"multi_scale", "always so: every aspect ratio has its own bucket"},
    {"use_decord", "no counterpart: clips are decoded with FFmpeg's libraries"},
    {"use_motion", "use dataset.vmaf with the column score_vmafmotion"},
    {"zero_terminal_snr", "no counterpart: it belongs to diffusion, and the objective here is flow matching"},
    {"sparse1d", "the skiparse model has no counterpart in a flux stage"},
    {"v1_5_scheduler", "no counterpart: the objective is Open-Sora's flow matching"},
    {"enable_stable_fp32", "no counterpart: norms are always computed in fp32"},
    {"rescale_betas_zero_snr", "no counterpart: it belongs to diffusion, and the objective here is flow matching"},
    {"cogvideox_scheduler", "no counterpart: the objective is Open-Sora's flow matching"},
    {"skip_abnorml_step", "see on_nonfinite: steps whose loss or gradient is not finite are skipped and counted"},
    {"prodigy_use_bias_correction", "no counterpart: HybridAdam is used"},
    {"prodigy_safeguard_warmup", "no counterpart: HybridAdam is used"},
    {"prodigy_decouple", "no counterpart: HybridAdam is used"},
    {"use_rope", "always so: positions are rotary"},
    {"ae_fp32", "no counterpart: the autoencoder computes in the training's number format"},
    {"enable_tracker", "runs are recorded in TensorBoard files and JSON Lines"},
    {"enable_profiling", "start the worker under the profiler instead"},
    {"do_eval", "no counterpart"},
    {"trained_data_global_step", "not needed: a checkpoint knows its data position"},
};

const std::unordered_map<std::string_view, const char *> kNoCounterpartWithValue = {
    {"model", "the model of Open-Sora-Plan has no counterpart in a flux stage; sizes come from the stage's model"},
    {"dataset", "decided by the table that dataset.data_path names"},
    {"cache_dir", "nothing is downloaded"},
    {"ae", "the autoencoder of Open-Sora-Plan has no counterpart yet; the stage's ae is used"},
    {"ae_path", "the autoencoder of Open-Sora-Plan has no counterpart yet; set ae.from_pretrained for one that the stage knows"},
    {"text_encoder_name", "set t5.from_pretrained to the folder of the encoder"},
    {"text_encoder_name_1", "set t5.from_pretrained to the folder of the encoder"},
    {"text_encoder_name_2", "set clip.from_pretrained to the folder of the encoder"},
    {"report_to", "runs are recorded in TensorBoard files and JSON Lines"},
    {"tracker_project_name", "runs are recorded in TensorBoard files and JSON Lines"},
    {"num_train_epochs", "has only the effect of max_train_steps in the original; set epochs or max_train_steps"},
    {"ema_start_step", "no counterpart: the average starts with the first update"},
    {"train_sp_batch_size", "no counterpart: batch sizes are per process in bucket_config"},
    {"sparse_n", "the skiparse model has no counterpart in a flux stage"},
    {"snr_gamma", "no counterpart: it belongs to diffusion, and the objective here is flow matching"},
    {"noise_offset", "no counterpart: the objective is flow matching"},
    {"prediction_type", "no counterpart: the objective is flow matching"},
    {"weighting_scheme", "always logit-normal, as in Open-Sora"},
    {"logit_mean", "always 0"},
    {"logit_std", "always 1"},
    {"mode_scale", "no counterpart"},
    {"ood_img_ratio", "no effect in the original either"},
    {"sample_rate", "no effect in the original either"},
    {"adam_weight_decay_text_encoder", "no effect in the original either"},
    {"interpolation_scale_h", "no counterpart: positions are not scaled"},
    {"interpolation_scale_w", "no counterpart: positions are not scaled"},
    {"interpolation_scale_t", "no counterpart: positions are not scaled"},
    {"precondition_outputs", "no counterpart: the objective is flow matching on velocities"},
    {"prodigy_beta3", "no counterpart: HybridAdam is used"},
    {"prodigy_d_coef", "no counterpart: HybridAdam is used"},
    {"ema_decay_grad_clipping", "no counterpart: gradients are clipped at grad_clip"},
    {"compress_kv_factor", "the model of Open-Sora-Plan has no counterpart in a flux stage"},
    {"min_height", "no effect in the original either"},
    {"min_width", "no effect in the original either"},
    {"min_hxw", "no counterpart: a clip needs 0.8 of a bucket's pixels"},
    {"max_hxw", "see bucket_config"},
    {"hw_stride", "see ae_spatial_compression"},
    {"drop_short_ratio", "no counterpart: clips that are too short for every bucket are dropped and counted"},
    {"speed_factor", "no counterpart: clips play at their own speed"},
    {"tile_overlap_factor", "no effect for this autoencoder in the original either"},
    {"guidance_scale", "only for sampling"},
    {"num_sampling_steps", "only for sampling"},
    {"logging_dir", "TensorBoard files lie in the run's folder"},
    {"local_rank", "set by the launcher"},
    {"scale_lr", "give the learning rate itself as optim.lr"},
};

class PlanReader
{
public:
    PlanReader(FlagReader &flags, CommandSink &sink) : m_flags(flags), m_sink(sink) {}

    void read()
    {
        while (!m_flags.atEnd()) {
            if (!m_flags.isFlag()) {
                const std::string token = m_flags.next();
                m_sink.note(token, "not understood: it belongs to no flag");
                continue;
            }
            readFlag(m_flags.nextFlag());
        }
        finish();
    }

private:
    void readFlag(const std::string &name)
    {
        const std::string flag = m_flags.typed();
        m_seen.insert(name);
        if (const auto renamed = kRenamed.find(name); renamed != kRenamed.end()) {
            const std::string value = m_flags.value();
            if (name == "output_dir")
                m_outputs = value;
            if (value.empty())
                return m_sink.note(flag, "empty, so " + std::string(renamed->second.path) + " is left as it is");
            m_sink.set(flag, renamed->second.path, value, renamed->second.remark);
        } else if (const auto on = kSwitches.find(name); on != kSwitches.end()) {
            m_sink.set(flag, on->second.path, "True", on->second.remark);
        } else if (const auto none = kNoCounterpart.find(name); none != kNoCounterpart.end()) {
            m_sink.note(flag, none->second);
            if (name == "trained_data_global_step")
                m_flags.value();
        } else if (const auto nothing = kNoCounterpartWithValue.find(name); nothing != kNoCounterpartWithValue.end()) {
            while (m_flags.hasValue())
                m_flags.value();
            m_sink.note(flag, nothing->second);
        } else {
            readSpecial(name, flag);
        }
    }

    void readSpecial(const std::string &name, const std::string &flag)
    {
        if (name == "mixed_precision") {
            const std::string precision = m_flags.value();
            m_sink.set(flag, "dtype", precision == "no" ? "fp32" : precision);
        } else if (name == "lr_scheduler") {
            readSchedule(flag, m_flags.value());
        } else if (name == "optimizer") {
            const std::string optimizer = m_flags.value();
            m_sink.note(flag, optimizer == "adamW" || optimizer == "adamw" ? "optim.cls = HybridAdam, which is an AdamW" : "no counterpart for " + optimizer + "; HybridAdam is used");
        } else if (name == "use_ema") {
            m_emaFlag = flag;
        } else if (name == "cfg") {
            m_cfg = m_flags.value();
            m_sink.set(flag, "dropout_ratio.t5", m_cfg, "the caption is dropped for each text encoder on its own here");
            m_sink.alsoSet("dropout_ratio.clip", m_cfg);
        } else if (name == "sp_size") {
            readSequenceParallel(flag, m_flags.value());
        } else if (name == "resume_from_checkpoint") {
            m_resume = m_flags.value();
            m_sink.note(flag, m_resume == "latest" ? "load: the newest checkpoint below output_dir" : "load: " + m_resume + " below output_dir", true);
        } else if (kKept.count(name)) {
            m_values[name] = m_flags.value();
            m_flagOf[name] = flag;
        } else {
            if (m_flags.hasValue())
                m_flags.value();
            m_sink.note(flag, "not known; it is left out");
        }
    }

    void readSchedule(const std::string &flag, const std::string &schedule)
    {
        if (schedule == "cosine")
            m_sink.set(flag, "use_cosine_scheduler", "True");
        else if (schedule == "constant" || schedule == "constant_with_warmup")
            m_sink.set(flag, "use_cosine_scheduler", "False");
        else
            m_sink.note(flag, "no counterpart for the schedule " + schedule + "; there are constant and cosine");
    }

    void readSequenceParallel(const std::string &flag, const std::string &size)
    {
        if (std::atoi(size.c_str()) <= 1)
            return m_sink.note(flag, "no sequence parallelism", true);
        m_sink.set(flag, "plugin_config.sp_size", size, "with plugin = hybrid and all_to_all, which divides the heads");
        m_sink.alsoSet("plugin", "hybrid");
        m_sink.alsoSet("plugin_config.enable_sequence_parallelism", "True");
        m_sink.alsoSet("plugin_config.sequence_parallelism_mode", "all_to_all");
        m_sink.alsoSet("plugin_config.zero_stage", "2");
    }

    // What takes several flags together.
    void finish()
    {
        if (!m_seen.count("gradient_checkpointing"))
            m_sink.set("(no --gradient_checkpointing)", "grad_checkpoint", "False", "off unless asked for");
        finishAverage();
        finishBetas();
        finishBuckets();
        if (!m_resume.empty()) {
            m_sink.alsoSet("load", outputs() + "/" + (m_resume == "latest" ? "*global_step*" : m_resume.substr(m_resume.rfind('/') + 1)));
        }
    }

    std::string outputs() const { return m_outputs.empty() ? "." : m_outputs; }

    void finishAverage()
    {
        const bool hasDecay = m_values.count("ema_decay");
        const std::string decay = hasDecay ? m_values["ema_decay"] : "0.9999";
        if (!m_emaFlag.empty())
            m_sink.set(m_emaFlag, "ema_decay", decay);
        if (hasDecay)
            m_sink.note(m_flagOf["ema_decay"], m_emaFlag.empty() ? "no effect without --use_ema" : "ema_decay = " + decay, !m_emaFlag.empty());
    }

    void finishBetas()
    {
        if (!m_values.count("adam_beta1") && !m_values.count("adam_beta2"))
            return;
        const std::string first = m_values.count("adam_beta1") ? m_values["adam_beta1"] : "0.9", second = m_values.count("adam_beta2") ? m_values["adam_beta2"] : "0.999";
        m_sink.alsoSet("optim.betas", "(" + first + ", " + second + ")");
        for (const char *name : {"adam_beta1", "adam_beta2"}) {
            if (m_values.count(name))
                m_sink.note(m_flagOf[name], "optim.betas = (" + first + ", " + second + ")", true);
        }
    }

    // One bucket of the pixels that the flags ask for.
    void finishBuckets()
    {
        const auto number = [&](const char *name, int otherwise) { return m_values.count(name) ? std::atoi(m_values[name].c_str()) : otherwise; };
        bool any = false;
        for (const char *name : kBucketFlags)
            any = any || m_values.count(name);
        if (!any)
            return;
        const int frames = number("num_frames", 65), height = number("max_height", 320), width = number("max_width", 240), batch = number("train_batch_size", 16);
        std::string became = "no effect: sizes must be above 0";
        const bool valid = frames > 0 && height > 0 && width > 0 && batch > 0;
        if (valid) {
            const long side = std::lround(std::sqrt(static_cast<double>(height) * width));
            const std::string table = "{\"" + std::to_string(side) + "px\": {" + std::to_string(frames) + ": (1.0, " + std::to_string(batch) + ")}}";
            m_sink.alsoSet("bucket_config", table);
            became = "bucket_config = " + table + " (" + std::to_string(side) + "px has the area of " + std::to_string(height) + "×" + std::to_string(width) + ")";
        }
        for (const char *name : kBucketFlags) {
            if (m_values.count(name))
                m_sink.note(m_flagOf[name], became, valid);
        }
    }

    static constexpr const char *kBucketFlags[] = {"num_frames", "max_height", "max_width", "train_batch_size"};
    static inline const std::set<std::string_view> kKept = {"ema_decay", "adam_beta1", "adam_beta2", "num_frames", "max_height", "max_width", "train_batch_size"};

    FlagReader &m_flags;
    CommandSink &m_sink;
    std::set<std::string> m_seen;
    std::map<std::string, std::string> m_values, m_flagOf;
    std::string m_emaFlag, m_cfg, m_resume, m_outputs;
};

} // namespace

void readPlanFlags(FlagReader &flags, CommandSink &sink)
{
    PlanReader(flags, sink).read();
}

} // namespace stagewright::config
