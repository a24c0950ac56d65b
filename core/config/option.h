// One declaration for every option of a stage. Parser, validation, command-line flags, help, JSON Schema, reference page and the
// editors of the window all come from these; nobody else states a name, a default, a unit or a range.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/value.h"

namespace stagewright::config {

enum class OptionType {
    Bool, Int, Float, String, Choice, Path,
    IntList, FloatList, IntPair,           // IntPair: grad_ckpt_settings
    BucketTable,                           // resolution -> frames -> (probability, batch)
    WeightTable,                           // name -> weight (condition_config)
    Dict,                                  // a section with declared keys below it
    Any                                    // kept and written back; its reader validates it
};

enum class Unit { None, Elements, Bytes, GiB, Steps, MicroSteps, Seconds, Frames, FramesPerSecond, Pixels, Probability, MebiElements };
enum class Tier { Basic, Advanced, Debug };
enum class Effect { Live, NextStep, NextEpoch, NewRun };        // when a change takes effect
// Class of a key (DECISIONS 4). Read: the trainer reads it. Helper: only an expression in the file uses it (and, on the command line,
// writes through). NotApplicable: known to the originals, without meaning here: hint with the reason.
enum class KeyClass { Read, Helper, NotApplicable };

struct Text {                              // shown to people, in both languages
    std::string_view en, zh;
};

struct VariantDefault {                    // the default where another option has a certain value: ae.latent_channels with ae.type haar
    std::string_view path, value;
    Value fallback;
};

struct OnlyWith {                          // the key exists only where another option has one of these values; empty path: always
    std::string_view path;
    std::vector<std::string_view> values;
};

struct Option {
    std::string_view path{};                 // dotted; unique
    OptionType type = OptionType::Any;
    Value fallback{};                      // the default; None where there is none
    bool nullable = false;                 // None is a legal value
    bool required = false;                 // a stage without it cannot train
    Unit unit = Unit::None;
    std::optional<double> hardMin{}, hardMax{};          // outside: error
    std::optional<double> softMin{}, softMax{};          // outside: hint, and the slider's ends
    std::vector<std::string_view> choices{};           // for Choice, in the order of the editor
    std::string_view group{};                // id of the form's group: "model", "memory", "buckets", "optimization", "saving", "data", "encoders", "acceleration", "logging", "run"
    Tier tier = Tier::Basic;
    KeyClass keyClass = KeyClass::Read;
    Text label{};                            // a few words: "Checkpointed blocks"
    Text help{};                             // one to three sentences
    Effect effect = Effect::NewRun;
    bool changesResults = true;            // whether two runs that differ in it train different weights
    std::vector<std::string_view> aliases{}; // other spellings that are understood and reported (grad_ckpt_setting)
    std::string_view writesThroughTo{};      // for helpers on the command line: "lr" -> "optim.lr"
    Text trap{};                             // what people get wrong with it; empty where nothing is known
    Text reason{};                           // for NotApplicable: why
    std::vector<VariantDefault> variants{};  // first match wins over fallback
    OnlyWith onlyWith{};                     // elsewhere the key is an error (the originals raise on it)

    // Within the hard range; numbers that are not finite never are. Within the soft one.
    bool allows(double number) const { return std::isfinite(number) && isWithin(number, hardMin, hardMax); }
    bool isUsual(double number) const { return isWithin(number, softMin, softMax); }

private:
    static bool isWithin(double number, const std::optional<double> &least, const std::optional<double> &most) { return !(least && number < *least) && !(most && number > *most); }
};

const std::vector<Option> &allOptions();                    // in the order of the form
const Option *findOption(std::string_view path);            // exact path, aliases not included
// The option that an alias stands for: its own path with the last part, or the whole path, replaced by one of its aliases.
const Option *findByAlias(std::string_view path);
// Names that are the user's own and never judged: any part that starts with "_", and everything under "x".
bool isUsersOwn(std::string_view path);
const std::vector<std::pair<std::string_view, Text>> &optionGroups();   // id and title, in the order of the form

} // namespace stagewright::config
