#include "core/ckptfile/own_state.h"

#include <nlohmann/json.hpp>

namespace stagewright::ckptfile {

std::string toJsonText(const OwnState &state)
{
    nlohmann::ordered_json json{{"version", 1}, {"run", state.run}, {"dtype", state.dtype}, {"world_size", state.worldSize},
        {"dataset_fingerprint", state.datasetFingerprint}, {"skipped_updates", state.skippedUpdates},
        {"collected_micro_steps", state.collectedMicroSteps}, {"position", nullptr}, {"scaler", nullptr}};
    if (state.position)
        json["position"] = {{"epoch", state.position->epoch}, {"index", state.position->index}};
    if (state.scaler)
        json["scaler"] = {{"scale", state.scaler->scale}, {"good_steps", state.scaler->goodSteps}, {"hysteresis", state.scaler->hysteresis}};
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<OwnState> parseOwnState(const std::string &text, const std::string &file)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    try {
        if (json.at("version").get<int>() > 1)
            return Error(ExitCode::Checkpoint, "checkpoint.newer-version", file + ": written by a newer Stagewright; use that one", file);
        OwnState state;
        state.run = json.at("run");
        state.dtype = json.at("dtype");
        state.worldSize = json.at("world_size");
        state.datasetFingerprint = json.at("dataset_fingerprint");
        state.skippedUpdates = json.at("skipped_updates");
        state.collectedMicroSteps = json.at("collected_micro_steps");
        if (const auto &position = json.at("position"); !position.is_null())
            state.position = DataPosition{position.at("epoch"), position.at("index")};
        if (const auto &scaler = json.at("scaler"); !scaler.is_null())
            state.scaler = ScalerState{scaler.at("scale"), scaler.at("good_steps"), scaler.at("hysteresis")};
        return state;
    } catch (const nlohmann::json::exception &failed) {
        return Error(ExitCode::Checkpoint, "checkpoint.bad-state", file + ": damaged or edited: " + failed.what(), file);
    }
}

} // namespace stagewright::ckptfile
