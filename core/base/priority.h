// Who waits where there is no core to spare: training never does.
#pragma once

namespace stagewright {

inline constexpr int kViewerNiceness = 10;         // who watches a run
inline constexpr int kSaverNiceness = 15;          // who writes a checkpoint behind it
inline constexpr int kLeastNiceness = 19;          // whom nobody waits for

// The calling thread is at least so nice from now on (Linux: this thread only). A refusal changes nothing.
void giveWay(int niceness);

} // namespace stagewright
