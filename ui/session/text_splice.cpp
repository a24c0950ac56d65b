#include "ui/session/text_splice.h"

#include <algorithm>

namespace stagewright::session {

static bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Splice spliceBetween(const std::string &before, const std::string &after)
{
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head])
        ++head;
    while (head > 0 && ((head < before.size() && isContinuation(before[head])) || (head < after.size() && isContinuation(after[head]))))
        --head;
    std::size_t tail = 0;
    while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
        ++tail;
    while (tail > 0 && isContinuation(before[before.size() - tail]))
        --tail;
    return {head, before.substr(head, before.size() - head - tail), after.substr(head, after.size() - head - tail)};
}

void applySplice(std::string &text, const Splice &splice) { text.replace(splice.at, splice.removed.size(), splice.inserted); }
void revertSplice(std::string &text, const Splice &splice) { text.replace(splice.at, splice.inserted.size(), splice.removed); }

std::optional<Splice> composed(const Splice &first, const Splice &second)
{
    const std::size_t firstEnd = first.at + first.inserted.size(), secondEnd = second.at + second.removed.size();
    if (second.at > firstEnd || secondEnd < first.at)
        return std::nullopt;
    Splice both;
    both.at = std::min(first.at, second.at);
    // Before both: what the second removed on either side of the first's insertion, around what the first removed.
    const std::size_t left = first.at > second.at ? first.at - second.at : 0;
    const std::size_t right = secondEnd > firstEnd ? secondEnd - firstEnd : 0;
    both.removed = second.removed.substr(0, left) + first.removed + second.removed.substr(second.removed.size() - right);
    const std::size_t keptLeft = second.at > first.at ? second.at - first.at : 0;
    const std::size_t keptRight = firstEnd > secondEnd ? firstEnd - secondEnd : 0;
    both.inserted = first.inserted.substr(0, keptLeft) + second.inserted + first.inserted.substr(first.inserted.size() - keptRight);
    return both;
}

} // namespace stagewright::session
