// Editors of single values: on/off, literals as people spell them, text, choices, paths.
#pragma once

#include "ui/settings/option_editor.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;

namespace stagewright::settings {

class BoolEditor : public OptionEditor
{
    Q_OBJECT
public:
    BoolEditor(const config::Option &option, QWidget *parent);

protected:
    void display() override;

private:
    QCheckBox *m_box;
};

// Numbers, lists, tuples, dicts: an expression in Python's spelling, kept as typed ("25 * 1024**3", "1e-5").
class LiteralEditor : public OptionEditor
{
    Q_OBJECT
public:
    LiteralEditor(const config::Option &option, QWidget *parent);

protected:
    void display() override;
    virtual QString expressionOf(const QString &typed) const;      // empty: leave the value as it was
    void commit();
    QLineEdit *field() { return m_field; }

private:
    QLineEdit *m_field;
    QLabel *m_unit;
};

class StringEditor : public LiteralEditor
{
    Q_OBJECT
public:
    StringEditor(const config::Option &option, QWidget *parent);

protected:
    void display() override;
    QString expressionOf(const QString &typed) const override;
};

class PathEditor : public StringEditor
{
    Q_OBJECT
public:
    PathEditor(const config::Option &option, QWidget *parent);

private:
    void browse();
};

class ChoiceEditor : public OptionEditor
{
    Q_OBJECT
public:
    ChoiceEditor(const config::Option &option, QWidget *parent);

protected:
    void display() override;

private:
    QComboBox *m_box;
};

QString quoted(const QString &text);                   // as a Python string literal

} // namespace stagewright::settings
