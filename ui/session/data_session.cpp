#include "ui/session/data_session.h"

#include <QElapsedTimer>
#include <algorithm>
#include <thread>

#include "core/config/text_document.h"

namespace stagewright::session {

using namespace Qt::StringLiterals;

namespace {

constexpr const char *kTablePath = "dataset.data_path";
constexpr const char *kBuckets = "bucket_config";

QString text(const std::string &utf8) { return QString::fromStdString(utf8); }

// Other contents have another stamp; empty where there is nothing. For a folder: of the folder itself.
std::string stampOf(const std::filesystem::path &file)
{
    std::error_code error;
    const auto time = std::filesystem::last_write_time(file, error);
    if (error)
        return {};
    const auto size = std::filesystem::is_regular_file(file, error) ? std::filesystem::file_size(file, error) : 0;
    return std::to_string(time.time_since_epoch().count()) + ' ' + std::to_string(size);
}

struct Read {
    std::shared_ptr<OpenTable> open;
    std::optional<Error> error;
    bool canProbe = false;
    std::string stamp;
};

// Where only measures are missing, the table without them can be read.
Read readNow(const config::Stage &stage)
{
    Read result;
    const std::filesystem::path file = stage.string(kTablePath);
    result.stamp = stampOf(file);
    auto read = table::readTable(stage);
    if (read) {
        result.open = std::make_shared<OpenTable>(std::move(*read));
        return result;
    }
    result.error = read.error();
    if (result.error->problem.code == "data.missing-column") {
        auto options = table::readOptions(stage);
        options.needMeasures = false;
        result.canProbe = table::readTable(file, options).ok();
    }
    return result;
}

// A stage under edit may hold anything. The first of the values that decide about data whose type is wrong; empty where they can be read.
std::string wronglyTyped(const config::Stage &stage)
{
    using config::Type;
    const auto is = [&](const char *path, std::initializer_list<Type> types) { return std::find(types.begin(), types.end(), stage.at(path).type()) != types.end(); };
    for (const char *path : {"dataset.memory_efficient", "cached_text"}) {
        if (!is(path, {Type::Bool}))
            return path;
    }
    if (!is(kTablePath, {Type::String, Type::None}))
        return kTablePath;
    if (!is("seed", {Type::Int}))
        return "seed";
    if (!is("dataset.fps_max", {Type::Int, Type::Float, Type::None}))
        return "dataset.fps_max";
    if (!is("data_policy", {Type::String}))
        return "data_policy";
    return {};
}

} // namespace

DataSession::DataSession(StageSession *stage, QObject *parent) : QObject(parent), m_stage(stage)
{
    connect(m_stage, &StageSession::snapshotChanged, this, &DataSession::takeStage);
    connect(&m_probe, &TableProbe::finished, this, [this] { Q_EMIT stateChanged(); });
    m_calm.setSingleShot(true);
    m_calm.setInterval(kCalmMs);
    connect(&m_calm, &QTimer::timeout, this, [this] {
        askOtherPolicy();
        findRowsAgain();
    });
}

std::shared_ptr<const config::Stage> DataSession::current() const
{
    return m_stage->isOpen() && m_stage->snapshot() ? m_stage->snapshot()->stage : nullptr;
}

void DataSession::setActive(bool active)
{
    m_active = active;
    if (!active)
        return;
    takeStage();
    if (m_state != State::Ready && m_state != State::Unreadable)
        return;
    m_stampJob.start(this, [file = std::filesystem::path(m_path.toStdString())] { return stampOf(file); },
                     [this](const std::string &now) { if (now != m_stamp) readAgain(); });
}

void DataSession::readAgain()
{
    m_readKey.clear();
    takeStage();
}

void DataSession::setState(State state, const QString &sentence)
{
    m_state = state;
    m_sentence = sentence;
    Q_EMIT stateChanged();
}

void DataSession::takeStage()
{
    if (!m_active)
        return;
    m_ofStage.reset();
    const auto stage = current();
    if (!stage) {
        if (!m_open)
            setState(State::NoStage);                  // a text that is half typed takes nothing away
        return;
    }
    if (const std::string path = wronglyTyped(*stage); !path.empty()) {
        const auto problems = m_stage->snapshot()->problemsOf(path);
        m_answer.reset();
        setState(State::NoBuckets, problems.empty() ? tr("%1 has a value of the wrong type").arg(text(path)) : text(problems.front()->message));
        return;
    }
    const std::string path = stage->isSet(kTablePath) ? stage->string(kTablePath) : std::string();
    const QString key = text(path) + (stage->boolean("dataset.memory_efficient") ? u"\nshards"_s : u"\n"_s);
    if (key != m_readKey) {
        m_readKey = key;
        m_path = text(path);
        m_open.reset();
        m_answer.reset();
        m_rows.reset();
        m_choice = {};
        m_tries.clear();
        m_canProbe = false;
        m_readJob.cancel();
        if (path.empty())
            setState(State::NoTable);
        else
            read();
        return;
    }
    if (!m_open)
        return;
    std::erase_if(m_tries, [&](const auto &entry) {
        auto now = config::bucketRows(*stage);
        return !now || std::none_of(now->begin(), now->end(), [&](const config::BucketRow &row) { return row.resolution == entry.first.first && row.frames == entry.first.second; })
            || std::find(now->begin(), now->end(), entry.second.row) != now->end();
    });
    ask();
}

void DataSession::read()
{
    setState(State::Reading);
    m_readJob.start(this, [stage = current()] { return readNow(*stage); }, [this](Read result) {
        m_stamp = std::move(result.stamp);
        m_canProbe = result.canProbe;
        m_open = std::move(result.open);
        if (m_open)
            ask();
        else
            setState(State::Unreadable, text(result.error->message()));
    });
}

Result<table::BucketRules> DataSession::rulesWith(const std::map<Key, Try> &tries) const
{
    const auto stage = current();
    if (!stage)
        return Error(ExitCode::Usage, "config.no-buckets", "the stage cannot be read");
    auto rules = table::bucketRules(*stage);
    if (!rules || tries.empty())
        return rules;
    auto rows = config::bucketRows(*stage);
    if (!rows)
        return rows.error();
    for (config::BucketRow &row : *rows)
        if (const auto tried = tries.find({row.resolution, row.frames}); tried != tries.end())
            row = tried->second.row;
    auto changed = table::bucketRules(*rows, config::aspectGranularity(*stage), rules->seed, rules->fpsMax);
    if (changed)
        changed->policy = rules->policy;
    return changed;
}

void DataSession::ask()
{
    auto rules = rulesWith(m_tries), plain = rulesWith({});
    if (!rules || !plain) {
        m_answer.reset();
        setState(State::NoBuckets, text((rules ? plain : rules).error().message()));
        return;
    }
    QElapsedTimer clock;
    clock.start();
    const bool tried = !m_tries.empty();
    m_policyJob.cancel();
    m_calm.stop();
    m_askJob.start(this, [open = m_open, rules = *rules, plain = *plain, tried, epoch = m_epoch, ranks = m_worldSize, ofStage = m_ofStage]() {
        Answer answer;
        answer.rules = rules;
        const std::lock_guard lock(open->mutex);
        answer.shown = open->simulator.simulate(rules, epoch, ranks);
        if (tried)
            answer.stage = ofStage ? *ofStage : open->simulator.simulate(plain, epoch, ranks);
        return answer;
    }, [this, clock](Answer answer) {
        if (!m_open)
            return;
        m_ofStage = answer.stage ? *answer.stage : answer.shown;
        answer.milliseconds = double(clock.nsecsElapsed()) / 1e6;
        m_answer = std::move(answer);
        if (m_state != State::Ready)
            setState(State::Ready);
        Q_EMIT answered();
        m_calm.start();                                // what takes longer must not stand in the way of the next keystroke
    });
}

void DataSession::askOtherPolicy()
{
    table::BucketRules other = m_answer->rules;
    other.policy = other.policy == table::DataPolicy::Keep ? table::DataPolicy::Original : table::DataPolicy::Keep;
    m_policyJob.start(this, [open = m_open, other, epoch = m_epoch, ranks = m_worldSize] {
        const std::lock_guard lock(open->mutex);
        return open->simulator.simulate(other, epoch, ranks);
    }, [this](table::Simulation simulation) {
        if (!m_answer)
            return;
        m_answer->otherPolicy = std::move(simulation);
        Q_EMIT answered();
    });
}

void DataSession::setWorldSize(int ranks)
{
    m_worldSize = std::max(ranks, 1);
    m_ofStage.reset();
    if (m_open)
        ask();
}

void DataSession::setEpoch(int epoch)
{
    m_epoch = std::max(epoch, 0);
    m_ofStage.reset();
    if (m_open)
        ask();
}

std::int64_t DataSession::accumulation() const
{
    const auto stage = current();
    const config::Value *value = stage ? &stage->at("accumulation_steps") : nullptr;
    return value && value->type() == config::Type::Int ? std::max<std::int64_t>(value->integer(), 1) : 1;
}

Status DataSession::tryBucket(const std::string &resolution, std::int64_t frames, const std::string &probability, const std::string &batch)
{
    auto value = config::parseLiteral("(" + probability + ", " + batch + ")");
    if (!value)
        return value.error();
    auto row = config::bucketRow(resolution, config::DictKey(frames), *value);
    if (!row)
        return row.error();
    auto stageSays = config::bucketRows(*current());
    if (!stageSays)
        return stageSays.error();
    const bool isStages = std::find(stageSays->begin(), stageSays->end(), *row) != stageSays->end();
    auto tries = m_tries;
    if (isStages)
        tries.erase({resolution, frames});
    else
        tries[{resolution, frames}] = {*row, probability, batch};
    if (auto rules = rulesWith(tries); !rules)
        return rules.error();
    m_tries = std::move(tries);
    ask();
    return Done{};
}

std::shared_ptr<const config::Stage> DataSession::soundStage() const
{
    const auto stage = current();
    if (!stage || !m_stage->isSettled())
        return nullptr;
    const Problems &problems = m_stage->snapshot()->problems;
    const bool isBad = std::any_of(problems.begin(), problems.end(), [](const Problem &problem) { return problem.severity == Severity::Error && problem.code.starts_with("config."); });
    return isBad ? nullptr : stage;
}

std::shared_ptr<const config::Stage> DataSession::stageAsTried() const
{
    const auto stage = current();
    if (!stage || m_tries.empty())
        return stage;
    auto changed = std::make_shared<config::Stage>(*stage);
    for (const auto &[key, tried] : m_tries) {
        config::Value *row = config::lookUp(changed->values(), std::string(kBuckets) + '.' + key.first + '.' + std::to_string(key.second));
        if (auto value = config::parseLiteral("(" + tried.probability + ", " + tried.batch + ")"); row && value)
            *row = std::move(*value);
    }
    return changed;
}

void DataSession::forgetTries()
{
    m_tries.clear();
    if (m_open)
        ask();
}

Status DataSession::applyTries()
{
    Fix fix{tr("Change buckets").toStdString(), {}};
    for (const auto &[key, tried] : m_tries)
        fix.edits.push_back({std::string(kBuckets) + '.' + key.first + '.' + std::to_string(key.second), std::nullopt, "(" + tried.probability + ", " + tried.batch + ")"});
    return m_stage->applyFix(fix);                     // the snapshot that follows makes the tries the stage's own
}

Status DataSession::usePolicy(table::DataPolicy policy) { return m_stage->setValue("data_policy", config::toPython(config::Value(policy == table::DataPolicy::Keep ? "keep" : "original"))); }
Status DataSession::useTable(const std::filesystem::path &file) { return m_stage->setValue(kTablePath, config::toPython(config::Value(file.string()))); }

std::pair<std::string, std::string> DataSession::spelling(const std::string &resolution, std::int64_t frames) const
{
    if (const auto tried = m_tries.find({resolution, frames}); tried != m_tries.end())
        return {tried->second.probability, tried->second.batch};
    const auto stage = current();
    const auto rows = stage ? config::bucketRows(*stage) : Result<std::vector<config::BucketRow>>(std::vector<config::BucketRow>());
    if (rows)
        for (const config::BucketRow &row : *rows)
            if (row.resolution == resolution && row.frames == frames) {
                const std::string first = config::toPython(config::Value(row.probability));
                return {row.nextProbability ? "(" + first + ", " + config::toPython(config::Value(*row.nextProbability)) + ")" : first, std::to_string(row.batchSize)};
            }
    return {};
}

void DataSession::startProbe()
{
    if (const auto stage = current(); stage && m_canProbe)
        m_probe.start(stage);
    Q_EMIT stateChanged();
}

void DataSession::choose(const RowChoice &choice, const QString &words)
{
    m_choice = choice;
    m_words = words.trimmed().toLower();
    findRowsAgain();
}

void DataSession::findRowsAgain()
{
    m_finding = m_open && m_answer && m_choice.kind != RowChoice::Kind::Nothing;
    if (!m_finding) {
        m_rowsJob.cancel();
        m_rows.reset();
        Q_EMIT rowsChanged();
        return;
    }
    if (!m_rows)
        Q_EMIT rowsChanged();
    m_rowsJob.start(this, [open = m_open, rules = m_answer->rules, epoch = m_epoch, choice = m_choice, words = m_words.toStdString()] { return findRows(open, rules, epoch, choice, words); },
        [this](std::shared_ptr<const RowList> rows) {
            m_finding = false;
            m_rows = std::move(rows);
            Q_EMIT rowsChanged();
        });
}

void DataSession::exportTo(const std::filesystem::path &file)
{
    if (!m_rows)
        return;
    m_exportJob.start(this, [rows = m_rows, file] { return exportRows(*rows, file); },
        [this, file](Status written) { Q_EMIT exported(text(file.string()), written ? QString() : text(written.error().message())); });
}

} // namespace stagewright::session
