#include "core/runlog/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/host.h"

namespace stagewright::runlog {

namespace {

// The few protobuf wire forms that an Event with scalars needs.
class Message
{
public:
    void number(int field, double value) { tag(field, 1); raw(&value, sizeof value); }
    void number(int field, float value) { tag(field, 5); raw(&value, sizeof value); }
    void integer(int field, std::int64_t value) { tag(field, 0); varint(static_cast<std::uint64_t>(value)); }
    void bytes(int field, std::string_view value)
    {
        tag(field, 2);
        varint(value.size());
        m_bytes.append(value);
    }
    const std::string &text() const { return m_bytes; }

private:
    void tag(int field, int wire) { varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire)); }
    void raw(const void *value, std::size_t size) { m_bytes.append(static_cast<const char *>(value), size); }   // little-endian machines only, as Torch
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            m_bytes += static_cast<char>(value | 0x80);
        m_bytes += static_cast<char>(value);
    }

    std::string m_bytes;
};

template <class T>
void appendRaw(std::string &to, T value)
{
    to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

constexpr std::array<std::uint32_t, 256> crcTable()
{
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);     // Castagnoli, reflected
        table[byte] = crc;
    }
    return table;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes)
{
    static constexpr auto table = crcTable();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
    return ~crc;
}

std::uint32_t maskedCrc32c(std::string_view bytes)
{
    const std::uint32_t crc = crc32c(bytes);
    return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

Result<std::unique_ptr<TensorBoardWriter>> TensorBoardWriter::open(const std::filesystem::path &folder)
{
    if (auto made = ensureFolder(folder); !made)
        return made.error();
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    const auto file = folder / ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(wallSeconds())) + "." + host + "."
                                + std::to_string(::getpid()) + ".0");
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return ioError("create", file, errno);
    std::unique_ptr<TensorBoardWriter> writer(new TensorBoardWriter(file, fd));
    Message version;
    version.number(1, wallSeconds());
    version.bytes(3, "brain.Event:2");
    if (auto written = writer->writeFrame(version.text()); !written)
        return written.error();
    return writer;
}

TensorBoardWriter::~TensorBoardWriter()
{
    ::close(m_fd);
}

Status TensorBoardWriter::writeFrame(std::string_view event)
{
    std::string frame;
    appendRaw(frame, static_cast<std::uint64_t>(event.size()));
    appendRaw(frame, maskedCrc32c(frame));
    frame += event;
    appendRaw(frame, maskedCrc32c(event));
    std::size_t done = 0;
    while (done < frame.size()) {
        const ssize_t written = ::pwrite(m_fd, frame.data() + done, frame.size() - done, m_size + static_cast<std::int64_t>(done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int failed = written < 0 ? errno : ENOSPC;
            [[maybe_unused]] const int ignored = ::ftruncate(m_fd, m_size);      // the next frame begins where this one did, in any case
            return ioError("write", m_file, failed);
        }
        done += static_cast<std::size_t>(written);
    }
    m_size += static_cast<std::int64_t>(frame.size());
    return Done{};
}

Status TensorBoardWriter::addScalars(std::int64_t step, double wallTime, const std::vector<std::pair<std::string_view, double>> &scalars)
{
    Message summary;
    for (const auto &[tag, value] : scalars) {
        Message one;
        one.bytes(1, tag);
        one.number(2, static_cast<float>(value));
        summary.bytes(1, one.text());
    }
    Message event;
    event.number(1, wallTime);
    event.integer(2, step);
    event.bytes(5, summary.text());
    return writeFrame(event.text());
}

Status TensorBoardWriter::add(const events::Record &record)
{
    const auto *step = std::get_if<events::Step>(&record.payload);
    if (!step)
        return Done{};
    static const auto kindTags = [] {
        std::array<std::string, kMemoryKindNames.size()> tags;
        for (std::size_t at = 0; at < tags.size(); ++at)
            tags[at] = "memory/" + std::string(kMemoryKindNames[at]);
        return tags;
    }();
    std::vector<std::pair<std::string_view, double>> scalars{
        {"loss", step->loss}, {"lr", step->lr}, {"grad_norm", step->gradNorm}, {"memory/peak", double(step->peakBytes)},
        {"time/step_seconds", step->seconds}, {"time/data_wait_seconds", step->dataWaitSeconds}, {"time/blocked_seconds", step->blockedSeconds}};
    if (step->seconds > 0)
        scalars.emplace_back("throughput/samples_per_second", double(step->samples) / step->seconds);
    for (std::size_t at = 0; at < kindTags.size(); ++at) {
        if (step->peakByKind[at] != 0)
            scalars.emplace_back(kindTags[at], double(step->peakByKind[at]));
    }
    return addScalars(record.step, record.time, scalars);
}

Status TensorBoardWriter::flush()
{
    if (::fdatasync(m_fd) != 0)
        return ioError("flush", m_file, errno);
    return Done{};
}

} // namespace stagewright::runlog
