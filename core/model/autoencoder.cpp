#include "core/model/autoencoder.h"

#include "core/base/text.h"
#include "core/model/haar.h"

namespace stagewright::model {

Result<std::unique_ptr<Autoencoder>> makeAutoencoder(const config::Stage &stage, torch::Device device, torch::Dtype dtype)
{
    const config::Value &type = stage.at("ae.type");
    const std::string name = type.type() == config::Type::String ? type.string() : config::toPython(type);
    const auto place = [&](ExitCode exit, std::string code, std::string message) {
        return Error(exit, std::move(code), std::move(message), type.origin.fileName(), type.origin.line);
    };
    if (name == "haar") {
        const auto channels = stage.integer("ae.latent_channels");
        if (channels < 1 || channels > kHaarCoefficients)
            return place(ExitCode::Usage, "config.range", "ae.latent_channels must be 1 to 768 with ae.type haar, not " + std::to_string(channels));
        return std::unique_ptr<Autoencoder>(std::make_unique<HaarAutoencoder>(channels, device, dtype));
    }
    if (name == "hunyuan_vae" || name == "dc_ae") {
        return place(ExitCode::Usage, "run.not-built-yet", "ae.type '" + name + "' cannot be trained with yet: this version encodes video with ae.type 'haar' "
                     "only; check, show, plan and buckets accept the stage");
    }
    return place(ExitCode::Usage, "config.choice", "there is no autoencoder '" + name + "'; ae.type is haar, hunyuan_vae or dc_ae");
}

} // namespace stagewright::model
