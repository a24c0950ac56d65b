// A sink that keeps every record, and asks for what a test tells it to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/train/sink.h"

namespace stagewright::test {

class RecordingSink final : public train::Sink
{
public:
    void report(events::Record record) override { records.push_back(std::move(record)); }
    train::Requests poll() override { return asks ? asks(*this) : train::Requests{}; }

    template <class Payload>
    std::vector<Payload> all() const
    {
        std::vector<Payload> found;
        for (const auto &record : records) {
            if (const auto *payload = std::get_if<Payload>(&record.payload))
                found.push_back(*payload);
        }
        return found;
    }
    std::vector<double> losses() const
    {
        std::vector<double> values;
        for (const auto &step : all<events::Step>())
            values.push_back(step.loss);
        return values;
    }
    std::string problems() const                         // what went wrong, for a failed comparison's message
    {
        std::string text;
        for (const auto &problem : all<events::ProblemRecord>())
            text += problem.problem.message + "\n";
        return text;
    }

    std::vector<events::Record> records;
    std::function<train::Requests(const RecordingSink &)> asks;
};

} // namespace stagewright::test
