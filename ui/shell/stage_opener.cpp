#include "ui/shell/stage_opener.h"

#include "core/demo/demo_stage.h"
#include "ui/look/words.h"

namespace stagewright::shell {

void StageOpener::findDemo()
{
    const std::filesystem::path folder = demo::defaultDemoFolder();
    std::error_code ignored;
    if (std::filesystem::exists(folder / "demo.yaml", ignored)) {
        Q_EMIT ready(look::q(folder / "demo.yaml"));
        return;
    }
    Q_EMIT making();
    m_job.start(this, [folder] { return demo::makeDemoStage(folder); }, [this](Result<demo::DemoStage> made) {
        if (made)
            Q_EMIT ready(look::q(made->stage));
        else
            Q_EMIT failed(look::q(made.error().message()));
    });
}

} // namespace stagewright::shell
