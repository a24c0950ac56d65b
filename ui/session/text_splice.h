// The difference of two texts as one replaced stretch: what an undo step stores.
#pragma once

#include <optional>
#include <string>

namespace stagewright::session {

struct Splice {
    std::size_t at = 0;                    // byte offset
    std::string removed, inserted;
    bool empty() const { return removed.empty() && inserted.empty(); }
};

Splice spliceBetween(const std::string &before, const std::string &after);     // never splits a UTF-8 character
void applySplice(std::string &text, const Splice &splice);
void revertSplice(std::string &text, const Splice &splice);
// One splice for both, where the second touches what the first inserted.
std::optional<Splice> composed(const Splice &first, const Splice &second);

} // namespace stagewright::session
