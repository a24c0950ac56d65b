// Numbers and moments as people read them, with units, in the current language.
#pragma once

#include <QString>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace stagewright::look {

inline QString q(std::string_view text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
inline QString q(const std::string &text) { return QString::fromStdString(text); }
inline QString q(const char *text) { return QString::fromUtf8(text); }
inline std::string s(const QString &text) { return text.toStdString(); }
QString q(const std::filesystem::path &path);
std::filesystem::path pathOf(const QString &text);

QString bytes(double count);                           // "21.4 GiB"
QString gib(double bytes);                             // "21.4" without the unit, one decimal
QString count(std::int64_t number);                    // "1,284"
QString duration(double seconds);                      // "1 d 9 h", "6.42 s"
QString figure(double value, int significant = 4);     // "0.2137", "5.0e-05", "—" for what is not finite
QString elapsed(double seconds);                       // "2:05", "1:02:05" for axes
QString ago(double wallSeconds, double now);           // "just now", "3 min ago", "2 days ago"
QString clock(double wallSeconds);                     // "12:04:31", local time

} // namespace stagewright::look
