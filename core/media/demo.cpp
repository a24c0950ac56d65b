#include "core/media/demo.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/files.h"
#include "core/media/demo_clip.h"

namespace stagewright::media {

namespace fs = std::filesystem;

namespace {

constexpr const char *kMarker = ".stagewright-demo", *kMarkerText = "demo dataset of Stagewright, version 1\n", *kBroken = "broken.mp4";
constexpr std::size_t kBrokenOf = 0, kBrokenBytes = 2000;              // the scene whose beginning the broken file is
constexpr int kThreads = 2;

std::string quoted(const std::string &text)
{
    std::string result = "\"";
    for (const char c : text)
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

std::string tableRow(const DemoScene &scene, const std::string &file)
{
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, ",%d,%d,%d,%s,%.2f,%.5f,%d\n", scene.frames, scene.height, scene.width,
                  scene.rate ? std::to_string(scene.rate).c_str() : "", scene.motion, static_cast<double>(scene.height) / scene.width, scene.height * scene.width);
    return "clips/" + file + ',' + quoted(scene.caption) + numbers;
}

std::string tableText(const std::vector<DemoScene> &scenes)
{
    std::string text = "path,text,num_frames,height,width,fps,score_vmafmotion,aspect_ratio,resolution\n";
    for (const DemoScene &scene : scenes)
        text += tableRow(scene, scene.file);
    return text + tableRow(scenes[kBrokenOf], kBroken);
}

Status checkFolder(const fs::path &folder)
{
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_directory(folder, error))
        return Error(ExitCode::InputOutput, "data.demo-folder", folder.string() + " is a file; name a new or empty folder for the demo", folder.string());
    if (!fs::exists(folder, error) || fs::exists(folder / kMarker, error))
        return Done{};
    if (fs::is_empty(folder, error) && !error)
        return Done{};
    return Error(ExitCode::InputOutput, "data.demo-folder", folder.string() + " already holds something else; name a new or empty folder for the demo", folder.string());
}

// All clips, by a few threads; the first failure ends it.
Status writeScenes(const std::vector<DemoScene> &scenes, const fs::path &clips, const std::function<void(int, int)> &progress)
{
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<Error> failure;
    int done = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < scenes.size(); i = next++) {
            const Status written = writeScene(scenes[i], clips / scenes[i].file);
            const std::lock_guard lock(mutex);
            if (!written && !failure)
                failure = written.error();
            if (failure)
                return;
            if (progress)
                progress(++done, static_cast<int>(scenes.size()) + 1);
        }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < kThreads; ++i)
        others.emplace_back(work);
    work();
    others.clear();
    if (failure)
        return *failure;
    return Done{};
}

Status writeBroken(const fs::path &whole, const fs::path &broken)
{
    const auto content = readFile(whole);
    if (!content)
        return content.error();
    return replaceFile(broken, std::string_view(*content).substr(0, kBrokenBytes));
}

DemoFiles filesOf(const std::vector<DemoScene> &scenes, const fs::path &folder)
{
    DemoFiles files;
    for (const DemoScene &scene : scenes)
        files.files.push_back(folder / "clips" / scene.file);
    files.files.push_back(folder / "clips" / kBroken);
    files.table = folder / "meta.csv";
    files.files.push_back(files.table);
    return files;
}

// An earlier demo of this version with nothing missing.
bool isComplete(const DemoFiles &files, const fs::path &folder, const std::string &table)
{
    const auto marker = readFile(folder / kMarker), found = readFile(files.table);
    if (!marker || !found || *marker != kMarkerText || *found != table)
        return false;
    std::error_code error;
    return std::all_of(files.files.begin(), files.files.end(), [&error](const fs::path &file) { return fs::file_size(file, error) > 0 && !error; });
}

} // namespace

Result<DemoFiles> makeDemo(const fs::path &folder, const std::function<void(int, int)> &progress)
{
    const std::vector<DemoScene> scenes = demoScenes();
    const std::string table = tableText(scenes);
    const DemoFiles files = filesOf(scenes, folder);
    if (Status free = checkFolder(folder); !free)
        return free.error();
    if (isComplete(files, folder, table))
        return files;
    if (Status made = ensureFolder(folder / "clips"); !made)
        return made.error();
    if (Status marked = replaceFile(folder / kMarker, kMarkerText); !marked)
        return marked.error();
    if (Status written = writeScenes(scenes, folder / "clips", progress); !written)
        return written.error();
    if (Status broken = writeBroken(folder / "clips" / scenes[kBrokenOf].file, folder / "clips" / kBroken); !broken)
        return broken.error();
    if (Status written = replaceFile(files.table, table); !written)
        return written.error();
    if (progress)
        progress(static_cast<int>(scenes.size()) + 1, static_cast<int>(scenes.size()) + 1);
    return files;
}

} // namespace stagewright::media
