// Editor of model.grad_ckpt_settings: the strip, the pair as text, and in words what it means on this model.
#pragma once

#include "ui/settings/option_editor.h"

class QLabel;
class QLineEdit;

namespace stagewright::settings {

class DepthStrip;

// What a pair means on a model: counts from 0 to the number of blocks, and a sentence. Exactly the original's rule: not set or empty is all,
// more than there are is all, negative counts leave that many at the end uncheckpointed.
struct DepthMeaning { int doubles = 0, singles = 0; QString sentence; };
DepthMeaning depthMeaning(const config::Value &value, int doubleBlocks, int singleBlocks, bool checkpointing);

class DepthEditor : public OptionEditor
{
    Q_OBJECT
public:
    DepthEditor(const config::Option &option, QWidget *parent);
    bool isWide() const override { return true; }
    DepthStrip *strip() { return m_strip; }

protected:
    void display() override;

private:
    void commitText();
    DepthStrip *m_strip;
    QLineEdit *m_field;
    QLabel *m_words;
};

} // namespace stagewright::settings
