#include "ui/settings/editor_factory.h"

#include <map>

#include "ui/settings/bucket_editor.h"
#include "ui/settings/buffer_editor.h"
#include "ui/settings/depth_editor.h"
#include "ui/settings/simple_editors.h"

namespace stagewright::settings {

using config::Option;
using config::OptionType;

template <class Editor>
static OptionEditor *make(const Option &option, QWidget *parent) { return new Editor(option, parent); }

using Maker = OptionEditor *(*)(const Option &, QWidget *);

static const std::map<std::string_view, Maker> &makersByPath()
{
    static const std::map<std::string_view, Maker> makers{
        {"model.grad_ckpt_settings", make<DepthEditor>},
        {"grad_ckpt_buffer_size", make<BufferEditor>},
    };
    return makers;
}

static const std::map<OptionType, Maker> &makersByType()
{
    static const std::map<OptionType, Maker> makers{
        {OptionType::Bool, make<BoolEditor>},        {OptionType::Int, make<LiteralEditor>},    {OptionType::Float, make<LiteralEditor>},
        {OptionType::String, make<StringEditor>},    {OptionType::Choice, make<ChoiceEditor>},  {OptionType::Path, make<PathEditor>},
        {OptionType::IntList, make<LiteralEditor>},  {OptionType::FloatList, make<LiteralEditor>}, {OptionType::IntPair, make<LiteralEditor>},
        {OptionType::BucketTable, make<BucketEditor>}, {OptionType::WeightTable, make<LiteralEditor>}, {OptionType::Any, make<LiteralEditor>},
    };
    return makers;
}

bool isEditable(OptionType type) { return makersByType().count(type) > 0; }

OptionEditor *makeEditor(const Option &option, QWidget *parent)
{
    if (const auto at = makersByPath().find(option.path); at != makersByPath().end())
        return at->second(option, parent);
    const auto at = makersByType().find(option.type);
    return at == makersByType().end() ? nullptr : at->second(option, parent);
}

} // namespace stagewright::settings
