// Editor of grad_ckpt_buffer_size: elements as the original counts them, and the bytes that they are, against the host's memory.
#pragma once

#include "ui/settings/option_editor.h"

class QLabel;
class QLineEdit;
namespace stagewright::look { class PartsBar; }

namespace stagewright::settings {

// "12 GiB" as an expression in elements ("6 * 1024**3" for two bytes each); other text unchanged.
QString elementsExpression(const QString &typed, int bytesPerElement);

class BufferEditor : public OptionEditor
{
    Q_OBJECT
public:
    BufferEditor(const config::Option &option, QWidget *parent);

protected:
    void display() override;

private:
    int bytesEach() const;
    void commit();
    QLineEdit *m_field;
    QLabel *m_words, *m_hostWords;
    look::PartsBar *m_bar;
};

} // namespace stagewright::settings
