// TensorBoard event files, written by hand: TFRecord frames of protobuf Event messages (README.md has the bytes).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/events/record.h"

namespace stagewright::runlog {

// One thread. A full disk is reported once by add(); the file stays readable up to the last whole frame.
class TensorBoardWriter
{
public:
    static Result<std::unique_ptr<TensorBoardWriter>> open(const std::filesystem::path &folder);
    ~TensorBoardWriter();
    TensorBoardWriter(const TensorBoardWriter &) = delete;
    TensorBoardWriter &operator=(const TensorBoardWriter &) = delete;

    Status addScalars(std::int64_t step, double wallTime, const std::vector<std::pair<std::string_view, double>> &scalars);
    // The scalars of a step record, x = update step: loss, lr, grad_norm (the original's names), and memory/…, time/… of ours. Others are ignored.
    Status add(const events::Record &record);
    Status flush();
    const std::filesystem::path &file() const { return m_file; }

private:
    TensorBoardWriter(std::filesystem::path file, int fd) : m_file(std::move(file)), m_fd(fd) {}
    Status writeFrame(std::string_view event);

    std::filesystem::path m_file;
    int m_fd;
    std::int64_t m_size = 0;                                  // bytes of whole frames
};

std::uint32_t crc32c(std::string_view bytes);
std::uint32_t maskedCrc32c(std::string_view bytes);          // TFRecord's form

} // namespace stagewright::runlog
