#include "core/config/option_list.h"

namespace stagewright::config {

namespace {

constexpr Text kSampling{"it belongs to Open-Sora's sampling program, not to training", "它属于 Open-Sora 的采样程序，与训练无关"};
constexpr Text kAutoencoderTraining{"it belongs to Open-Sora's autoencoder training; here the diffusion model is trained", "它属于 Open-Sora 的自编码器训练；本程序训练的是扩散模型"};

Option foreign(std::string_view path, Text label, Text reason)
{
    Option option;
    option.path = path;
    option.type = OptionType::Any;
    option.nullable = true;
    option.group = "run";
    option.tier = Tier::Debug;
    option.keyClass = KeyClass::NotApplicable;
    option.label = label;
    option.help = reason;
    option.changesResults = false;
    option.reason = reason;
    return option;
}

} // namespace

std::vector<Option> otherProgramOptions()
{
    return {
        foreign("save_dir", {"Sample folder", "采样输出文件夹"}, kSampling),
        foreign("cond_type", {"Condition of a sample", "采样条件类型"}, kSampling),
        foreign("sampling_option", {"Sampling options", "采样选项"}, kSampling),
        foreign("motion_score", {"Motion score of a sample", "采样运动分"}, kSampling),
        foreign("fps_save", {"Frame rate of a sample", "采样帧率"}, kSampling),
        foreign("num_samples", {"Number of samples", "采样数量"}, kSampling),
        foreign("prompt", {"Prompt", "提示词"}, kSampling),
        foreign("use_t2i2v", {"Sample an image first", "先生成图像"}, kSampling),
        foreign("img_flux", {"Image model", "图像模型"}, kSampling),
        foreign("img_flux_ae", {"Autoencoder of the image model", "图像模型的自编码器"}, kSampling),
        foreign("img_resolution", {"Size of the image", "图像尺寸"}, kSampling),
        foreign("plugin_ae", {"Distribution of the autoencoder", "自编码器的分布式方式"}, kSampling),
        foreign("plugin_config_ae", {"Its details", "自编码器的分布式细节"}, kSampling),
        foreign("lr_scheduler", {"Schedule", "学习率计划"}, kAutoencoderTraining),
        foreign("mixed_strategy", {"Mixing of images", "图像混合策略"}, kAutoencoderTraining),
        foreign("mixed_image_ratio", {"Share of images", "图像占比"}, kAutoencoderTraining),
        foreign("vae_loss_config", {"Loss", "自编码器损失"}, kAutoencoderTraining),
        foreign("discriminator", {"Discriminator", "判别器"}, kAutoencoderTraining),
        foreign("disc_lr_scheduler", {"Discriminator's schedule", "判别器学习率计划"}, kAutoencoderTraining),
        foreign("gen_loss_config", {"Generator's loss", "生成器损失"}, kAutoencoderTraining),
        foreign("disc_loss_config", {"Discriminator's loss", "判别器损失"}, kAutoencoderTraining),
        foreign("optim_discriminator", {"Discriminator's optimizer", "判别器优化器"}, kAutoencoderTraining),
    };
}

} // namespace stagewright::config
