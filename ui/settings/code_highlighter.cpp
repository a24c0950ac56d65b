#include "ui/settings/code_highlighter.h"

#include "ui/look/theme.h"

namespace stagewright::settings {

CodeHighlighter::CodeHighlighter(QTextDocument *document) : QSyntaxHighlighter(document)
{
    connect(&look::theme(), &look::Theme::changed, this, &QSyntaxHighlighter::rehighlight);
}

// Line by line; a triple-quoted string over several lines is rare in configs and stays plain.
void CodeHighlighter::highlightBlock(const QString &line)
{
    const auto &t = look::tokens();
    const QColor strings = t.dark ? QColor(0x8fc99a) : QColor(0x1d7340), numbers = t.dark ? QColor(0xe0b060) : QColor(0x8a5a00), keys = t.dark ? QColor(0x7fbbe8) : QColor(0x0b5c99);
    int i = 0;
    const int n = int(line.size());
    while (i < n) {
        const QChar c = line.at(i);
        if (c == u'#') {
            setFormat(i, n - i, t.muted);
            return;
        }
        if (c == u'"' || c == u'\'') {
            int end = i + 1;
            while (end < n && line.at(end) != c)
                end += line.at(end) == u'\\' ? 2 : 1;
            setFormat(i, std::min(n, end + 1) - i, strings);
            i = end + 1;
            continue;
        }
        if (c.isLetter() || c == u'_') {
            int end = i;
            while (end < n && (line.at(end).isLetterOrNumber() || line.at(end) == u'_'))
                ++end;
            int after = end;
            while (after < n && line.at(after) == u' ')
                ++after;
            if (after < n && (line.at(after) == u':' || (line.at(after) == u'=' && (after + 1 >= n || line.at(after + 1) != u'='))))
                setFormat(i, end - i, keys);
            i = end;
            continue;
        }
        if (c.isDigit() && (i == 0 || !line.at(i - 1).isLetterOrNumber())) {
            int end = i;
            while (end < n && (line.at(end).isLetterOrNumber() || line.at(end) == u'.' || line.at(end) == u'_' || ((line.at(end) == u'-' || line.at(end) == u'+') && line.at(end - 1).toLower() == u'e')))
                ++end;
            setFormat(i, end - i, numbers);
            i = end;
            continue;
        }
        ++i;
    }
}

} // namespace stagewright::settings
