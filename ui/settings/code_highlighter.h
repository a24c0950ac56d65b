// Colours comments, strings, numbers and keys of a stage's text, Python or YAML.
#pragma once

#include <QSyntaxHighlighter>

namespace stagewright::settings {

class CodeHighlighter : public QSyntaxHighlighter
{
    Q_OBJECT
public:
    explicit CodeHighlighter(QTextDocument *document);

protected:
    void highlightBlock(const QString &line) override;
};

} // namespace stagewright::settings
