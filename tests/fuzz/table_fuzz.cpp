// Feeds changed tables to the readers of core/table: what is accepted can be asked for every row.
#include <fstream>

#include "core/base/scratch_folder.h"
#include "core/table/table.h"
#include "tests/fuzz/harness.h"

using namespace stagewright;
namespace fs = std::filesystem;

namespace {

void readAs(const fs::path &file, const std::string &bytes)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    for (const bool needed : {true, false}) {
        table::ReadOptions options;
        options.needCaptions = options.needMeasures = needed;
        const auto read = table::readTable(file, options);
        if (!read) {
            fuzz::mustBeSentence(read.error());
            continue;
        }
        const table::Table &rows = **read;
        for (std::int64_t row = 0; row < std::min<std::int64_t>(rows.rowCount(), 50); ++row) {
            if (rows.captionCount(row) < 1)
                fuzz::fail("a row without a caption");
            (void)rows.mediaPath(row);
            (void)rows.cutout(row);
        }
        for (const std::int64_t row : rows.unreadableRows())
            if (row < 0 || row >= rows.rowCount())
                fuzz::fail("an unreadable row that does not exist");
        if (rows.fingerprint().size() != 32)
            fuzz::fail("a fingerprint of another length");
    }
}

} // namespace

int main(int argc, char **argv)
{
    const auto scratch = ScratchFolder::make("table-fuzz");
    if (!scratch)
        return 1;
    const auto as = [&](const char *name) { return [file = scratch->path() / name](const std::string &bytes, fuzz::Random &) { readAs(file, bytes); }; };
    const std::vector<std::string> csv = {"path,text,num_frames,height,width,fps\na.mp4,\"a man, a \"\"dog\"\"\nand a cat\",129,256,256,24\nb.jpg,NA,1,512,512,\n",
                                          "path,caption,n_frames,height,width,fps,score_vmafmotion\r\n/x/\xe5\xad\xa6.mp4,null,129.0,720,1280,23.976,1.5\r\nc.mp4,,1e3,0,-1,nan,\r\n",
                                          "\xef\xbb\xbf\"path\",text,num_frames,height,width,fps\na.mp4,2024,12 frames,256,256,inf\n"};
    const std::vector<std::string> json = {R"([{"path":"a.mp4","cap":["one","two"],"resolution":{"height":256,"width":320},"num_frames":93,"fps":24,"duration":3.9,"cut":[0,93],"crop":[0,320,0,256]},{"path":"b.jpg","cap":"x","resolution":{"height":1,"width":1}}])",
                                           R"([{"path":"\u5b66.mp4","cap":[],"num_frames":null,"fps":1e999,"resolution":[1,2],"crop":[1]}])"};
    const std::vector<std::string> lines = {"{\"path\":\"a.mp4\",\"cap\":\"one\",\"num_frames\":9,\"fps\":8,\"resolution\":{\"height\":9,\"width\":9}}\n{\"path\":\"b.mp4\",\"cap\":\"two\",\"num_frames\":9,\"fps\":8,\"resolution\":{\"height\":9,\"width\":9}}\n"};
    const std::vector<std::string> csvWords = {",", "\"", "\"\"", "\n", "\r\n", "\r", ";", "\t", "path", "text", "num_frames", "fps", "nan", "NULL", "1e999", "-0", "0x10", "1_000", "129.5", "9223372036854775808", "\xef\xbb\xbf", "\xff\xfe", "\xe9", std::string(1, '\0'), "\xe5\xad", " ", "\\"};
    const std::vector<std::string> jsonWords = {"{", "}", "[", "]", ":", ",", "\"", "\\u", "\\ud800", "null", "1e999", "-1", "\"cap\":", "\"cut\":[5,1]", "\"crop\":[9,0,9,0]", "\"resolution\":{}", "[[[[[[[[[[", "\n", "\xff", std::string(1, '\0')};
    return fuzz::run(argc, argv, {{"csv", csv, csvWords, as("fuzzed.csv")}, {"json", json, jsonWords, as("fuzzed.json")}, {"jsonl", lines, jsonWords, as("fuzzed.jsonl")},
                                  {"txt", {"/data,annotations.json\n", "~/x,../y.jsonl\n\n"}, csvWords, as("fuzzed.txt")}});
}
