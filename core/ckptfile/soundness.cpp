#include "core/ckptfile/soundness.h"

#include "core/ckptfile/finite.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/torch_archive.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

Status compareOurs(const Contents &contents, const ReadProgress &progress)
{
    auto files = compareBeforeReading(contents.folder, *contents.manifest, progress);
    if (!files)
        return files.error();
    const InspectedFile *fault = firstFault(*files);
    if (!fault)
        return Done{};
    (void)markDamaged(contents.folder, *contents.manifest, {fault->path, fault->sentence});     // a read-only folder does not keep it
    return Error(ExitCode::Checkpoint, "checkpoint.damaged-file", contents.folder.string() + ": " + fault->sentence + "; choose an older checkpoint", (contents.folder / fault->path).string());
}

Status checkArchives(const Contents &contents)
{
    std::error_code failed, ignored;
    for (auto entry = fs::recursive_directory_iterator(contents.folder, fs::directory_options::skip_permission_denied, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        if (!entry->is_regular_file(ignored) || !isTorchArchive(entry->path()))
            continue;
        if (Status whole = checkArchive(entry->path()); !whole)
            return whole;
    }
    return Done{};
}

} // namespace

bool isTorchArchive(const fs::path &file)
{
    const fs::path extension = file.extension();
    return extension == ".bin" || extension == ".pt" || file.filename() == kSchedulerFile || file.filename() == kSamplerFile;
}

Status checkArchive(const fs::path &file)
{
    auto archive = TorchArchive::open(file);
    return archive ? (*archive)->checkEverything() : Status(archive.error());
}

Status checkSound(const Contents &contents, const ReadProgress &progress)
{
    if (Status whole = contents.manifest ? compareOurs(contents, progress) : checkArchives(contents); !whole)
        return whole;
    const auto found = findNotFinite(valuesOf(contents), progress);
    if (!found)
        return found.error();
    if (found->empty())
        return Done{};
    const Error error = notFinite(found->front());
    if (contents.manifest)
        (void)markDamaged(contents.folder, *contents.manifest, {found->front().tensor->file().lexically_relative(contents.folder).string(), error.message()});
    return error;
}

} // namespace stagewright::ckptfile
