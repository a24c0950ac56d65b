#include "ui/settings/option_words.h"

#include <QCoreApplication>
#include <filesystem>

#include "ui/look/language.h"
#include "ui/look/words.h"

namespace stagewright::settings {

using namespace Qt::StringLiterals;
using config::Effect;
using config::OptionType;
using config::Unit;
using look::q;

static QString translated(const char *text) { return QCoreApplication::translate("OptionWords", text); }

QString labelOf(const config::Option &option)
{
    const QString label = look::textOf(option.label);
    return label.isEmpty() ? q(option.path) : label;
}

QString unitWord(Unit unit)
{
    switch (unit) {
    case Unit::None: return {};
    case Unit::Elements: return translated(QT_TRANSLATE_NOOP("OptionWords", "elements"));
    case Unit::Bytes: return translated(QT_TRANSLATE_NOOP("OptionWords", "bytes"));
    case Unit::GiB: return u"GiB"_s;
    case Unit::Steps: return translated(QT_TRANSLATE_NOOP("OptionWords", "steps"));
    case Unit::MicroSteps: return translated(QT_TRANSLATE_NOOP("OptionWords", "micro-steps"));
    case Unit::Seconds: return translated(QT_TRANSLATE_NOOP("OptionWords", "seconds"));
    case Unit::Frames: return translated(QT_TRANSLATE_NOOP("OptionWords", "frames"));
    case Unit::FramesPerSecond: return translated(QT_TRANSLATE_NOOP("OptionWords", "frames per second"));
    case Unit::Pixels: return translated(QT_TRANSLATE_NOOP("OptionWords", "pixels"));
    case Unit::Probability: return translated(QT_TRANSLATE_NOOP("OptionWords", "probability"));
    case Unit::MebiElements: return translated(QT_TRANSLATE_NOOP("OptionWords", "1024² elements"));
    }
    return {};
}

QString typeWord(const config::Option &option)
{
    QString word;
    switch (option.type) {
    case OptionType::Bool: word = translated(QT_TRANSLATE_NOOP("OptionWords", "on or off")); break;
    case OptionType::Int: word = translated(QT_TRANSLATE_NOOP("OptionWords", "whole number")); break;
    case OptionType::Float: word = translated(QT_TRANSLATE_NOOP("OptionWords", "number")); break;
    case OptionType::String: word = translated(QT_TRANSLATE_NOOP("OptionWords", "text")); break;
    case OptionType::Choice: word = translated(QT_TRANSLATE_NOOP("OptionWords", "choice")); break;
    case OptionType::Path: word = translated(QT_TRANSLATE_NOOP("OptionWords", "path")); break;
    case OptionType::IntList: word = translated(QT_TRANSLATE_NOOP("OptionWords", "list of whole numbers")); break;
    case OptionType::FloatList: word = translated(QT_TRANSLATE_NOOP("OptionWords", "list of numbers")); break;
    case OptionType::IntPair: word = translated(QT_TRANSLATE_NOOP("OptionWords", "two counts")); break;
    case OptionType::BucketTable: word = translated(QT_TRANSLATE_NOOP("OptionWords", "table")); break;
    case OptionType::WeightTable: word = translated(QT_TRANSLATE_NOOP("OptionWords", "names with weights")); break;
    case OptionType::Dict: word = translated(QT_TRANSLATE_NOOP("OptionWords", "section")); break;
    case OptionType::Any: word = translated(QT_TRANSLATE_NOOP("OptionWords", "any value")); break;
    }
    if (const QString unit = unitWord(option.unit); !unit.isEmpty())
        word += u" · "_s + unit;
    if (option.hardMin && option.hardMax)
        word += translated(QT_TRANSLATE_NOOP("OptionWords", " · %1 to %2")).arg(QString::number(*option.hardMin, 'g', 8), QString::number(*option.hardMax, 'g', 8));
    else if (option.hardMin)
        word += translated(QT_TRANSLATE_NOOP("OptionWords", " · at least %1")).arg(QString::number(*option.hardMin, 'g', 8));
    return word;
}

QString effectWords(const config::Option &option)
{
    QString when;
    switch (option.effect) {
    case Effect::Live: when = translated(QT_TRANSLATE_NOOP("OptionWords", "Takes effect at once.")); break;
    case Effect::NextStep: when = translated(QT_TRANSLATE_NOOP("OptionWords", "Takes effect with the next step of a new or resumed run.")); break;
    case Effect::NextEpoch: when = translated(QT_TRANSLATE_NOOP("OptionWords", "Takes effect with the next epoch of a new or resumed run.")); break;
    case Effect::NewRun: when = translated(QT_TRANSLATE_NOOP("OptionWords", "Takes effect with a new or resumed run.")); break;
    }
    return when + u' '
        + (option.changesResults ? translated(QT_TRANSLATE_NOOP("OptionWords", "Changes what is learned."))
                                 : translated(QT_TRANSLATE_NOOP("OptionWords", "Does not change what is learned.")));
}

QString originWords(const session::Source &source)
{
    if (source.file.empty())
        return q(config::originKindName(source.kind)) == "default"_L1 ? translated(QT_TRANSLATE_NOOP("OptionWords", "default")) : q(config::originKindName(source.kind));
    const QString name = q(std::filesystem::path(source.file).filename());
    return source.line > 0 ? u"%1:%2"_s.arg(name).arg(source.line) : name;
}

QString groupTitle(std::string_view group)
{
    for (const auto &[id, title] : config::optionGroups())
        if (id == group)
            return look::textOf(title);
    return q(group);
}

} // namespace stagewright::settings
