// The declarations by group; option.cpp puts them together. Each returns the options of one form group (or of one page of it) in the form's order.
#pragma once

#include <vector>

#include "core/config/option.h"

namespace stagewright::config {

std::vector<Option> runOptions();
std::vector<Option> modelOptions();
std::vector<Option> memoryOptions();
std::vector<Option> bucketOptions();
std::vector<Option> optimizationOptions();
std::vector<Option> savingOptions();
std::vector<Option> dataOptions();
std::vector<Option> autoencoderOptions();
std::vector<Option> textEncoderOptions();
std::vector<Option> accelerationOptions();
std::vector<Option> hybridPluginOptions();
std::vector<Option> loggingOptions();
std::vector<Option> otherProgramOptions();        // keys of Open-Sora's sampling and autoencoder training, known but without meaning here

} // namespace stagewright::config
