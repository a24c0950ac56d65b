#include "ui/look/problem_words.h"

#include <QCoreApplication>
#include <algorithm>

#include "core/config/problem_codes.h"
#include "ui/look/language.h"
#include "ui/look/words.h"

namespace stagewright::look {

using namespace Qt::StringLiterals;

// The forms that titles have, the special ones first.
static const char *const kTitles[] = {
    QT_TRANSLATE_NOOP("FixTitle", "Rename to %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Remove it, since %1 is set too"),
    QT_TRANSLATE_NOOP("FixTitle", "Remove %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Set to %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Set %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Use the newest, %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Use %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Keep %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Make it %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Enlarge the buffer to %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Shrink the buffer to %1"),
    QT_TRANSLATE_NOOP("FixTitle", "Switch the buffer off"),
    QT_TRANSLATE_NOOP("FixTitle", "Switch gradient checkpointing on"),
    QT_TRANSLATE_NOOP("FixTitle", "Switch sequence parallelism on"),
    QT_TRANSLATE_NOOP("FixTitle", "Switch %1 on"),
    QT_TRANSLATE_NOOP("FixTitle", "Switch %1 off"),
    QT_TRANSLATE_NOOP("FixTitle", "Train text-to-video only"),
};

QString problemSentence(const Problem &problem)
{
    const QString message = q(problem.message);
    if (language().current() != LanguageId::Chinese)
        return message;
    const auto &codes = config::problemCodes();
    const auto at = std::lower_bound(codes.begin(), codes.end(), problem.code, [](const config::ProblemCode &code, const std::string &wanted) { return code.code < wanted; });
    if (at == codes.end() || at->code != problem.code)
        return message;
    return q(at->meaning.zh) + u"。"_s + message;
}

QString fixTitle(const Fix &fix)
{
    const QString title = q(fix.title);
    for (const char *form : kTitles) {
        const QString english = QString::fromLatin1(form);
        const auto hole = english.indexOf("%1"_L1);
        if (hole < 0) {
            if (title == english)
                return QCoreApplication::translate("FixTitle", form);
            continue;
        }
        const QString before = english.left(hole), behind = english.mid(hole + 2);
        if (title.size() > before.size() + behind.size() && title.startsWith(before) && title.endsWith(behind))
            return QCoreApplication::translate("FixTitle", form).arg(title.mid(before.size(), title.size() - before.size() - behind.size()));
    }
    return title;
}

} // namespace stagewright::look
