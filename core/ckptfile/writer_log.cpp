#include "core/ckptfile/writer_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/ckptfile/layout.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFinished = "All tasks are completed";

std::int64_t finishedFiles(const std::string &log)
{
    std::int64_t count = 0;
    for (std::size_t at = log.find(kFinished); at != std::string::npos; at = log.find(kFinished, at + 1))
        ++count;
    return count;
}

// Bytes of a file that no write ever reached; 0 also where the file system does not tell.
std::int64_t holeBytes(const fs::path &path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    struct stat info {};
    std::int64_t holes = 0;
    if (::fstat(file, &info) == 0) {
        for (off_t hole = ::lseek(file, 0, SEEK_HOLE); hole >= 0 && hole < info.st_size;) {
            const off_t data = ::lseek(file, hole, SEEK_DATA), end = data < 0 ? info.st_size : data;     // no data behind it: to the end
            holes += end - hole;
            hole = end < info.st_size ? ::lseek(file, end, SEEK_HOLE) : info.st_size;
        }
    }
    ::close(file);
    return holes;
}

Problem problemOf(const fs::path &checkpoint, Severity severity, const char *code, const std::string &sentence, const fs::path &file)
{
    Problem problem;
    problem.severity = severity;
    problem.code = code;
    problem.message = checkpoint.string() + ": " + sentence;
    problem.file = file.string();
    return problem;
}

} // namespace

std::vector<fs::path> asynchronousFiles(const fs::path &checkpoint)
{
    std::error_code ignored;
    std::vector<fs::path> files;
    const auto add = [&](const fs::path &folder) {
        std::error_code failed;
        for (auto entry = fs::directory_iterator(checkpoint / folder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
            if (entry->path().extension() == ".safetensors" && entry->is_regular_file(ignored))
                files.push_back(folder / entry->path().filename());
        }
    };
    const bool isAsynchronous = fs::exists(checkpoint / kOptimizerFolder / kOptimizerIndex, ignored) || fs::exists(checkpoint / kEmaFile, ignored);
    if (isAsynchronous) {
        for (const std::string_view folder : {kModelFolder, kOptimizerFolder})
            add(folder);
    }
    for (const std::string_view file : {kEmaFile, kMasterFile}) {
        if (fs::exists(checkpoint / file, ignored))
            files.emplace_back(file);
    }
    std::sort(files.begin(), files.end());
    return files;
}

Problems unfinishedSave(const fs::path &checkpoint)
{
    Problems problems;
    const std::vector<fs::path> files = asynchronousFiles(checkpoint);
    if (files.empty())
        return problems;
    const fs::path logFile = checkpoint / kWriterLogFile;
    std::error_code ignored;
    const bool hasLog = fs::exists(logFile, ignored);
    const auto log = hasLog ? readFile(logFile, 16 << 20) : Result<std::string>(std::string());
    if (!log)
        return {log.error().problem};
    const std::int64_t finished = finishedFiles(*log), wanted = static_cast<std::int64_t>(files.size());
    if (hasLog && finished < wanted) {
        problems.push_back(problemOf(checkpoint, Severity::Error, "checkpoint.unfinished-save", std::string(kWriterLogFile) + " says that " + std::to_string(finished) + " of the "
                                         + std::to_string(wanted) + " files of this save were finished: the program ended while it was writing; choose an earlier checkpoint", logFile));
        return problems;
    }
    for (const fs::path &file : files) {
        const std::int64_t holes = holeBytes(checkpoint / file);
        if (holes == 0)
            continue;
        const std::string sentence = formatBytes(static_cast<double>(holes)) + " of " + file.string() + " were never written and read as zeros: ";
        problems.push_back(hasLog ? problemOf(checkpoint, Severity::Warning, "checkpoint.hole", sentence + "the disk was full while it was saved, or the file system leaves zeros out", checkpoint / file)
                                  : problemOf(checkpoint, Severity::Error, "checkpoint.hole", sentence + "the program ended while it was writing; choose an earlier checkpoint", checkpoint / file));
    }
    if (!hasLog)
        problems.push_back(problemOf(checkpoint, Severity::Warning, "checkpoint.no-writer-log", "there is no " + std::string(kWriterLogFile) + ", in which the program that saved it says which files were finished", checkpoint));
    return problems;
}

} // namespace stagewright::ckptfile
