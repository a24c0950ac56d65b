#include "core/demo/demo_stage.h"

#include <cstdlib>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/config/text_document.h"
#include "core/config/value.h"
#include "core/media/demo.h"

namespace stagewright::demo {

namespace fs = std::filesystem;

namespace {

// The ready stage's text with the table's path filled in; its comments stay.
Result<std::string> stageText(const fs::path &table)
{
    const fs::path ready = configsFolder() / "demo.yaml";
    auto text = readFile(ready);
    if (!text)
        return text.error();
    config::TextDocument document(*text, config::Format::Yaml);
    if (auto set = document.setValue("dataset.data_path", config::toPython(config::Value(table.string()))); !set)
        return set.error().during("filling in " + ready.string());
    return document.text();
}

} // namespace

fs::path defaultDemoFolder()
{
    if (const char *set = std::getenv("STAGEWRIGHT_DEMO"); set && *set)
        return set;
    const char *data = std::getenv("XDG_DATA_HOME");
    return (data && *data ? fs::path(data) : expandUser("~/.local/share")) / "stagewright/demo";
}

Result<DemoStage> makeDemoStage(const fs::path &folder, const std::function<void(int, int)> &progress)
{
    auto made = media::makeDemo(folder, progress);
    if (!made)
        return made.error();
    std::error_code ignored;
    DemoStage demo{fs::weakly_canonical(folder, ignored) / "demo.yaml", std::move(made->files)};
    if (!fs::exists(demo.stage, ignored)) {
        auto text = stageText(fs::weakly_canonical(made->table, ignored));
        if (!text)
            return text.error();
        if (auto written = replaceFile(demo.stage, *text); !written)
            return written.error();
    }
    demo.files.push_back(demo.stage);
    return demo;
}

} // namespace stagewright::demo
