<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>stagewright::pages::BucketGauges</name>
    <message numerus="yes">
        <source>and %n more bucket(s)</source>
        <translation>
            <numerusform>and %n more bucket</numerusform>
            <numerusform>and %n more buckets</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::CheckpointActions</name>
    <message numerus="yes">
        <source>Cleaned: %n folder(s).</source>
        <translation>
            <numerusform>Cleaned: %n folder.</numerusform>
            <numerusform>Cleaned: %n folders.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::DataWords</name>
    <message numerus="yes">
        <source>%n aspect(s)</source>
        <translation>
            <numerusform>%n aspect</numerusform>
            <numerusform>%n aspects</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::PlanPanel</name>
    <message numerus="yes">
        <source>; %n block(s) find no room in the activation buffer</source>
        <translation>
            <numerusform>; %n block find no room in the activation buffer</numerusform>
            <numerusform>; %n blocks find no room in the activation buffer</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::RunSidePanel</name>
    <message numerus="yes">
        <source>%n block(s) had no room and stayed on the device</source>
        <translation>
            <numerusform>%n block had no room and stayed on the device</numerusform>
            <numerusform>%n blocks had no room and stayed on the device</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::SweepPanel</name>
    <message numerus="yes">
        <source>Measuring; %n more point(s) wait</source>
        <translation>
            <numerusform>Measuring; %n more point wait</numerusform>
            <numerusform>Measuring; %n more points wait</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::settings::BucketGridModel</name>
    <message numerus="yes">
        <source>%n frame(s)</source>
        <translation>
            <numerusform>%n frame</numerusform>
            <numerusform>%n frames</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::settings::ComparePanel</name>
    <message numerus="yes">
        <source>%n difference(s)</source>
        <translation>
            <numerusform>%n difference</numerusform>
            <numerusform>%n differences</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::shell::Rail</name>
    <message numerus="yes">
        <source>%n problem(s) must be mended before launch</source>
        <translation>
            <numerusform>%n problem must be mended before launch</numerusform>
            <numerusform>%n problems must be mended before launch</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::shell::StatusBar</name>
    <message numerus="yes">
        <source>%n problem(s)</source>
        <translation>
            <numerusform>%n problem</numerusform>
            <numerusform>%n problems</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hint(s)</source>
        <translation>
            <numerusform>%n hint</numerusform>
            <numerusform>%n hints</numerusform>
        </translation>
    </message>
</context>
</TS>
