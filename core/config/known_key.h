// What a key that nothing reads was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option.h"

namespace stagewright::config {

// The declared option that is nearest to an unknown path: an alias, then a near spelling in the same section (singular and plural, hyphens), then
// the same name in another section, then a near spelling anywhere. Nothing where no name is near. Variables are answered with what they stand for.
const Option *nearestOption(std::string_view path);

// The option that says how a path is read: itself, or the table or free-form option above it ("bucket_config.256px.129"). Null: nobody reads it.
const Option *governingOption(std::string_view path);

// "grad_ckpt_settings, which belongs in model" / "keep_n_latest": how a sentence names an option that was meant instead of `path`.
std::string describePlace(const Option &option, std::string_view path);

} // namespace stagewright::config
