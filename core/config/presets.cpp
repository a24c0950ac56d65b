#include "core/config/presets.h"

#include <algorithm>

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/config/bucket_table.h"
#include "core/config/document.h"
#include "core/config/option.h"

namespace stagewright::config {

namespace {

std::string textAt(const Dict &dict, std::string_view path)
{
    const Value *value = lookUp(dict, path);
    return value && value->type() == Type::String ? value->string() : std::string();
}

Result<Preset> readPreset(const std::filesystem::path &file)
{
    auto loaded = loadDocument(file);
    if (!loaded)
        return loaded.error();
    Preset preset;
    preset.id = file.stem().string();
    preset.file = file;
    preset.titleEn = textAt(loaded->values, "title.en");
    preset.titleZh = textAt(loaded->values, "title.zh");
    preset.helpEn = textAt(loaded->values, "help.en");
    preset.helpZh = textAt(loaded->values, "help.zh");
    if (const Value *vram = loaded->values.find("vram"); vram && vram->isNumber())
        preset.vramGiB = vram->number();
    const Value *values = loaded->values.find("values");
    if (!values || !values->isDict() || preset.titleEn.empty())
        return Error(ExitCode::Usage, "config.preset", file.string() + ": a preset has title: {en, zh} and values:", file.string());
    preset.values = values->dict();
    return preset;
}

bool isTable(const DictKey &key)
{
    const Option *option = findOption(key.text());
    return option && option->type != OptionType::Dict;
}

void mergeOver(Dict &target, const Dict &layer, bool top)
{
    for (const auto &[key, value] : layer) {
        Value *existing = target.find(key);
        if (existing && existing->isDict() && value.isDict() && !(top && isTable(key))) {
            mergeOver(existing->dict(), value.dict(), false);
            continue;
        }
        Value copy = value.isDict() ? Value::dict({}) : value;
        copy.origin = value.origin;
        copy.origin.kind = OriginKind::Preset;
        Value &placed = target.set(key, std::move(copy));
        if (value.isDict())
            mergeOver(placed.dict(), value.dict(), false);
    }
}

} // namespace

std::vector<Preset> presets(Problems *problems)
{
    std::vector<Preset> found;
    std::error_code code;
    for (const auto &entry : std::filesystem::directory_iterator(configsFolder() / "presets", code)) {
        if (entry.path().extension() != ".yaml")
            continue;
        auto preset = readPreset(entry.path());
        if (preset)
            found.push_back(std::move(*preset));
        else if (problems)
            problems->push_back(preset.error().problem);
    }
    std::sort(found.begin(), found.end(), [](const Preset &a, const Preset &b) { return std::pair(a.vramGiB, a.id) < std::pair(b.vramGiB, b.id); });
    return found;
}

Result<Preset> findPreset(std::string_view id)
{
    std::vector<std::string> names;
    for (Preset &preset : presets()) {
        if (preset.id == id)
            return std::move(preset);
        names.push_back(preset.id);
    }
    std::string sentence = "there is no preset \"" + std::string(id) + "\"; there are: " + (names.empty() ? "none" : joined(names, ", "));
    if (const auto near = nearestOf(id, names))
        sentence += ". Was \"" + *near + "\" meant?";
    return Error(ExitCode::Usage, "config.preset", sentence);
}

Problems applyPreset(Stage &stage, const Preset &preset)
{
    mergeOver(stage.values(), preset.values, true);
    normaliseBuckets(stage.values());
    return {};
}

} // namespace stagewright::config
