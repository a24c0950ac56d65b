// How a cell speaks; views give the tone its colour, the words say the same.
#pragma once

namespace stagewright::models {

enum class Tone { Normal, Muted, Good, Warning, Error };

} // namespace stagewright::models
