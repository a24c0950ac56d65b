// Feeds changed configs to the readers, writers and editors of core/config: what is accepted can be written and read back.
#include <algorithm>
#include <cstdio>

#include "core/base/files.h"
#include "core/config/comment_map.h"
#include "core/config/document.h"
#include "core/config/stage.h"
#include "tests/fuzz/harness.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;
using fuzz::fail;

namespace {

int depthOf(const Value &value)
{
    int deepest = 0;
    if (value.isSequence()) {
        for (const Value &item : value.items())
            deepest = std::max(deepest, depthOf(item));
    } else if (value.isDict()) {
        for (const auto &[key, item] : value.dict())
            deepest = std::max(deepest, depthOf(item));
    }
    return deepest + 1;
}

void mustReadBack(const LoadedConfig &loaded)
{
    const Value all = Value::dict(loaded.values);
    const std::string spelled = toPython(all);
    if (depthOf(all) > 60 || spelled.size() > (1u << 20))
        return;
    const auto literal = parseLiteral(spelled);
    if (!literal || toPython(*literal) != spelled)
        fail("the Python spelling of the values does not read back: " + (literal ? toPython(*literal) : literal.error().message()).substr(0, 300));
    const auto yaml = loadDocumentText(toYaml(loaded.values), {}, Format::Yaml);
    if (!yaml || toPython(Value::dict(yaml->values)) != spelled)
        fail("the YAML of the values does not read back: " + (yaml ? toPython(Value::dict(yaml->values)) : yaml.error().message()).substr(0, 300));
}

void mustEdit(const std::string &text, const LoadedConfig &loaded, Format format, fuzz::Random &random)
{
    TextDocument document(text, format);
    if (document.text() != text)
        fail("an unedited text changed");
    if (loaded.values.empty())
        return;
    auto entry = loaded.values.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(random() % loaded.values.size()));
    std::string path = entry->first.text();
    if (entry->second.isDict() && !entry->second.dict().empty() && random() % 2)
        path += "." + entry->second.dict().begin()->first.text();
    switch (random() % 4) {
    case 0: (void)document.removeKey(path).ok(); break;
    case 1: (void)document.renameKey(path, "renamed_key").ok(); break;
    default: {
        if (!document.setValue(path, "(1, 'fresh')"))
            return;
        const auto again = loadDocumentText(document.text(), {}, format);
        if (!again)
            return;                              // a base that is missing here, or another value that needs the old one
        const Value *value = lookUp(again->values, path);
        const bool simplePath = path.find('.') == path.rfind('.') && entry->first.text().find('.') == std::string::npos;
        if (format == Format::Yaml && simplePath && value && toPython(*value) != "(1, 'fresh')")
            fail("an edit of `" + path + "` did not arrive");
    }
    }
}

void readConfig(const std::string &text, Format format, const std::filesystem::path &folder, fuzz::Random &random)
{
    const auto loaded = loadDocumentText(text, folder / (format == Format::Python ? "fuzzed.py" : "fuzzed.yaml"), format);
    if (loaded) {
        mustReadBack(*loaded);
        mustEdit(text, *loaded, format, random);
    } else {
        fuzz::mustBeSentence(loaded.error());
    }
    (void)CommentMap::make(text, "fuzzed", format).ok();
    (void)TextDocument(text, format).lineOf("model.depth");
    if (text.size() < 200)
        (void)parseLiteral(text).ok();
}

const std::vector<std::string> kWords = {
    "(", ")", "[", "]", "{", "}", ":", ",", "=", "\n", "\r\n", " ", "\t", "#", "'", "\"", "\"\"\"", "'''", "\\", "f'{", "}'", "**", "*", "//", "%", "<<", ">>", "-", "~",
    "not ", " in ", " is ", " if ", " else ", " for x in ", " and ", "lambda:", "dict(", "range(", "len(", "sum(", "round(", "sorted(", "list(", "zip(", "int(", "str(",
    "_base_", "_base_ = ['root.py']\n", "{{_base_.lr}}", "{{ fileDirname }}", "{{$HOME:x}}", "{{", "}}", "_delete_", "None", "True", "9**9**9", "0x", "1e999", "1_0", "-0.0",
    "9223372036854775807", "9223372036854775808", "'a' * 99999", "[0] * 99999", "!tuple ", "!!str ", "&a ", "*a", "- ", "? ", "|\n", ">-\n", "---\n", "...\n", "%YAML 1.2\n", "<<: ",
    "~", ".inf", ".nan", "\xef\xbb\xbf", "\xff\xfe", std::string(1, '\0'), "\xc2\x85", "\xe2\x80\xa8", "\xee\x80\x80", "\xe5\xad\xa6", "import os\n", "del ", "+= 1", " = a = ", "; "};

// The golden files, their values in YAML, and what is nasty by itself.
void fillCorpora(const std::filesystem::path &files, std::vector<std::string> &python, std::vector<std::string> &yaml)
{
    for (const auto &entry : std::filesystem::recursive_directory_iterator(files)) {
        if (entry.path().extension() != ".py")
            continue;
        if (const auto text = readFile(entry.path()))
            python.push_back(*text);
        if (const auto loaded = loadDocument(entry.path()))
            yaml.push_back(toYaml(loaded->values));
    }
    for (const char *text : {"x = [i * j for i in range(9) for j in [1, 2] if i % 2]\n", "x = f'{3:>5}|{0.5!r:>{3}}'\n", "a, *b = 1, 2, 3\nd = {'k': 1, **{'z': a}}\nd['k'] += 2\ndel d['z']\n",
             "x = 'a%s' % 3 + r'\\n' '''t\n''' \"\\u5b66\"\nx: int = -2 ** 63\n", "x = (1 if True else 2, not 0, 1 < 2 < 3, [1, 2][::-1], {}, ())\n", "x = 1; y = x // -3 % 2 ** 2 ** 1 << 2 | 3 & ~4 ^ 5\n"})
        python.push_back(text);
    for (const char *text : {"a: &a [1, 2]\nb: [*a, *a]\nc: {<<: {x: 1}, y: *a}\n", "x: |\n  text # no\n  more\ny: >-\n  folded\n  text\nz: 'it''s'\n", "? a\n: b\n\"k\": \"q\\u5b66\"\n- no\n",
             "{\"json\": [1, 2.5e-3, null, true, {\"a\": \"b\"}]}\n", "x: !tuple [1, !tuple [2]]\nf: 1e-5 # c\nr: {{_base_.lr}}\n", "deep:\n  - a: 1\n    b:\n    - 2\n    -\n  - {}\nn:\n"})
        yaml.push_back(text);
}

} // namespace

int main(int argc, char **argv)
{
    const auto files = support::goldenFolder("config") / "files";
    std::vector<std::string> python, yaml;
    fillCorpora(files, python, yaml);
    if (python.size() < 8 || yaml.size() < 8) {
        std::fprintf(stderr, "no seeds in %s\n", files.c_str());
        return 1;
    }
    const auto reading = [&](Format format) { return [&files, format](const std::string &text, fuzz::Random &random) { readConfig(text, format, files, random); }; };
    return fuzz::run(argc, argv, {{"py", python, kWords, reading(Format::Python)}, {"yaml", yaml, kWords, reading(Format::Yaml)}});
}
