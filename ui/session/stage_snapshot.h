// A stage as its text says it at one moment, resolved and validated: immutable, made off the GUI thread, shared by every view.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/option.h"
#include "core/config/stage.h"

namespace stagewright::session {

// One layer's word on an option, highest first: what counts, and what it covers.
struct Source {
    config::OriginKind kind = config::OriginKind::Default;
    std::string file;                      // empty for the default
    int line = 0;
    std::string text;                      // the value as written, or its repr
};

struct StageSnapshot {
    std::int64_t revision = 0;
    std::shared_ptr<const config::Stage> stage;                // null where the text cannot be read
    std::vector<std::shared_ptr<const config::Stage>> bases;   // each base file resolved by itself, nearest first
    Problems problems;                                         // errors first; with an unreadable text exactly its error
    double seconds = 0;                                        // what reading and validating took
    bool provisional = false;                                  // made from the one before (withValue); the whole text is still being read

    bool canLaunch() const { return stage && !hasErrors(problems); }
    const config::Value *valueOf(std::string_view path) const;  // what is set, null where nothing is
    std::string spellingOf(std::string_view path) const;       // as written; of the default where nothing is set; empty for neither
    bool isChanged(const config::Option &option) const;        // set, and other than the declared default
    std::vector<Source> sourcesOf(const config::Option &option) const;
    std::vector<const Problem *> problemsOf(std::string_view path) const;   // at the path or, for tables and sections, below it
};
using SnapshotPtr = std::shared_ptr<const StageSnapshot>;

// Pure and slow enough for another thread (it looks at the disk).
SnapshotPtr takeSnapshot(const std::string &text, const std::filesystem::path &file, std::int64_t revision);

// `before` with one value changed and validated again: what takeSnapshot() of the edited text will say, in a fraction of its time. Null where
// only the text can tell: the option is not set in it, it is computed from others or others from it, or the expression uses names.
SnapshotPtr withValue(const SnapshotPtr &before, const std::string &path, const std::string &expression, std::int64_t revision);

std::string spelled(const config::Value &value);               // value.spelling, or its repr

} // namespace stagewright::session
