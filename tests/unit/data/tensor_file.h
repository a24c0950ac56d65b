// Just enough of the safetensors format for tests: named tensors with their bytes.
#pragma once

#include <QtCore/QByteArray>
#include <QtCore/QFile>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace stagewright::tests {

struct StoredTensor {
    std::vector<std::int64_t> shape;
    QByteArray bytes;
    const float *floats() const { return reinterpret_cast<const float *>(bytes.constData()); }
    const std::uint8_t *pixels() const { return reinterpret_cast<const std::uint8_t *>(bytes.constData()); }
    std::int64_t floatCount() const { return bytes.size() / 4; }
};

inline std::map<std::string, StoredTensor> readTensors(const std::filesystem::path &path)
{
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("cannot read %s", path.c_str());
    std::uint64_t length = 0;
    const QByteArray start = file.read(8);
    std::memcpy(&length, start.constData(), 8);
    const auto header = nlohmann::json::parse(file.read(static_cast<qint64>(length)).toStdString());
    const QByteArray data = file.readAll();
    std::map<std::string, StoredTensor> tensors;
    for (const auto &[name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        const auto offsets = entry.at("data_offsets").get<std::vector<qsizetype>>();
        tensors[name] = {entry.at("shape").get<std::vector<std::int64_t>>(), data.mid(offsets[0], offsets[1] - offsets[0])};
    }
    return tensors;
}

} // namespace stagewright::tests
