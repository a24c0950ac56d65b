#include "core/config/from_command.h"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/config/command_flags.h"
#include "core/config/known_key.h"
#include "core/config/overrides.h"
#include "core/config/shell_words.h"

namespace stagewright::config {

namespace fs = std::filesystem;

namespace {

Error notUnderstood(const std::string &sentence)
{
    return Error(ExitCode::Usage, "config.command-line", sentence);
}

std::string fileName(const std::string &path)
{
    return fs::path(path).filename().string();
}

enum class Launcher { None, Torchrun, Colossal, Accelerate, DeepSpeed };

class CommandReader
{
public:
    CommandReader(std::vector<std::string> words, const fs::path &folder) : m_words(std::move(words)), m_folder(folder), m_sink(m_result) {}

    Result<FromCommand> read()
    {
        readEnvironment();
        const Launcher launcher = takeLauncher();
        FlagReader flags({m_words.begin() + static_cast<std::ptrdiff_t>(m_at), m_words.end()});
        if (launcher != Launcher::None)
            readLauncherFlags(launcher, flags);
        if (flags.atEnd())
            return notUnderstood("the command names no training script; expected something like \"torchrun --nproc_per_node 8 scripts/diffusion/train.py CONFIG …\"");
        const std::string script = flags.next();
        if (isPlanScript(script))
            readPlan(flags);
        else if (fileName(script) == "train.py")
            return readOpenSora(flags, script);
        else
            return notUnderstood("\"" + script + "\" is not a training script that is known: Open-Sora's scripts/diffusion/train.py and Open-Sora-Plan's train_t2v_diffusers.py are");
        return std::move(m_result);
    }

private:
    static bool isPlanScript(const std::string &script)
    {
        const std::string name = fileName(script);
        return name.starts_with("train_t2v") || name.starts_with("train_inpaint") || name.starts_with("train_i2v");
    }

    void readEnvironment()
    {
        if (m_at < m_words.size() && m_words[m_at] == "env")
            ++m_at;
        for (; m_at < m_words.size(); ++m_at) {
            const auto equals = m_words[m_at].find('=');
            const bool isAssignment = equals != std::string::npos && equals > 0 && m_words[m_at].find('-') != 0 && m_words[m_at].find('/') > equals;
            if (!isAssignment)
                return;
            const std::string name = m_words[m_at].substr(0, equals);
            m_result.launch.environment.emplace_back(name, m_words[m_at].substr(equals + 1));
            if (name == "AE_SPATIAL_COMPRESSION")
                m_sink.set(name, "ae_spatial_compression", m_words[m_at].substr(equals + 1));
            else
                m_sink.note(name, "launch: environment variable", true);
        }
    }

    static bool isLauncher(const std::string &program)
    {
        return program == "torchrun" || program == "colossalai" || program == "accelerate" || program == "deepspeed" || program.starts_with("python");
    }

    // Programs that only start others: nohup, time, srun -N2, mpirun -np 2, numactl … up to the launcher or the script.
    void skipWrappers()
    {
        static const std::vector<std::string_view> kWrappers = {"srun", "mpirun", "mpiexec", "nohup", "time", "sudo", "numactl", "taskset", "stdbuf", "nice", "ionice", "timeout", "caffeinate", "exec", "uv", "poetry", "conda"};
        if (m_at >= m_words.size() || std::find(kWrappers.begin(), kWrappers.end(), fileName(m_words[m_at])) == kWrappers.end())
            return;
        const std::string wrapper = m_words[m_at];
        std::size_t next = m_at + 1;
        while (next < m_words.size() && !isLauncher(fileName(m_words[next])) && !m_words[next].ends_with(".py"))
            ++next;
        if (next == m_words.size())
            return;
        const bool starts = wrapper == "srun" || wrapper == "mpirun" || wrapper == "mpiexec";
        m_sink.note(wrapper, starts ? "launch: put it in front of stagewright-worker, which reads RANK, WORLD_SIZE and MASTER_ADDR" : "launch: put it in front of stagewright-cli", true);
        m_at = next;
    }

    // Python in front of a module or script counts as its launcher's name.
    Launcher takeLauncher()
    {
        skipWrappers();
        if (m_at >= m_words.size())
            return Launcher::None;
        const std::string program = fileName(m_words[m_at]);
        if (program == "torchrun") {
            ++m_at;
            return Launcher::Torchrun;
        }
        if ((program == "colossalai" || program == "accelerate") && m_at + 1 < m_words.size()) {
            m_at += m_words[m_at + 1] == "run" || m_words[m_at + 1] == "launch" ? 2 : 1;
            return program == "colossalai" ? Launcher::Colossal : Launcher::Accelerate;
        }
        if (program == "deepspeed") {
            ++m_at;
            return Launcher::DeepSpeed;
        }
        if (program.starts_with("python")) {
            ++m_at;
            while (m_at < m_words.size() && (m_words[m_at] == "-u" || m_words[m_at] == "-O"))
                ++m_at;
            if (m_at + 1 < m_words.size() && m_words[m_at] == "-m") {
                const std::string module = m_words[m_at + 1];
                m_at += 2;
                if (module == "torch.distributed.run" || module == "torch.distributed.launch")
                    return Launcher::Torchrun;
                if (module == "accelerate.commands.launch")
                    return Launcher::Accelerate;
                m_words.insert(m_words.begin() + static_cast<std::ptrdiff_t>(m_at), module.substr(module.rfind('.') + 1) + ".py");
            }
        }
        return Launcher::None;
    }

    void readLauncherFlags(Launcher launcher, FlagReader &flags)
    {
        while (!flags.atEnd() && flags.isFlag()) {
            const std::string name = flags.nextFlag();
            const std::string flag = flags.typed();
            if (!readCommon(name, flag, flags) && !(launcher == Launcher::Accelerate && readAccelerate(name, flag, flags)))
                unknownLauncherFlag(launcher, name, flag, flags);
        }
    }

    bool readCommon(const std::string &name, const std::string &flag, FlagReader &flags)
    {
        LaunchSettings &launch = m_result.launch;
        const auto number = [&](int &target, const char *what) {
            const std::string text = flags.value();
            const int value = std::atoi(text.c_str());
            if (value > 0 || text == "0")
                target = value;
            m_sink.note(flag, value > 0 || text == "0" ? std::string("launch: ") + what + " " + text : "\"" + text + "\" is decided at launch", true);
            return true;
        };
        if (name == "nproc_per_node" || name == "nproc" || name == "num_gpus")
            return number(launch.nproc, "processes");
        if (name == "nnodes" || name == "num_nodes" || name == "num_machines")
            return number(launch.nodes, "machines");
        if (name == "node_rank" || name == "machine_rank")
            return number(launch.nodeRank, "machine number");
        if (name == "master_port" || name == "main_process_port")
            return number(launch.masterPort, "port");
        if (name == "master_addr" || name == "main_process_ip") {
            launch.masterAddress = flags.value();
            m_sink.note(flag, "launch: address " + launch.masterAddress, true);
            return true;
        }
        if (name == "hostfile" || name == "host") {
            launch.hostFile = flags.value();
            m_sink.note(flag, "launch: hosts " + launch.hostFile + "; start one process a GPU on each with torchrun --no-python, srun or mpirun", true);
            return true;
        }
        if (name == "standalone") {
            m_sink.note(flag, "launch: one machine", true);
            return true;
        }
        return false;
    }

    bool readAccelerate(const std::string &name, const std::string &flag, FlagReader &flags)
    {
        if (name == "num_processes") {
            m_result.launch.nproc = std::max(1, std::atoi(flags.value().c_str()));
            m_sink.note(flag, "launch: " + std::to_string(m_result.launch.nproc) + " processes", true);
        } else if (name == "mixed_precision") {
            const std::string precision = flags.value();
            m_sink.set(flag, "dtype", precision == "no" ? "fp32" : precision);
        } else if (name == "config_file" || name == "deepspeed_config_file") {
            readFile(name, flag, flags.value());
        } else if (name == "zero_stage" || name == "gradient_accumulation_steps" || name == "gradient_clipping") {
            const std::string text = flags.value();
            nlohmann::json json;
            if (name == "zero_stage")
                json["zero_optimization"]["stage"] = text;
            else
                json[name] = text;
            readDeepSpeed(json, flag, m_sink);
        } else if (name == "offload_optimizer_device") {
            readDeepSpeed({{"zero_optimization", {{"offload_optimizer", {{"device", flags.value()}}}}}}, flag, m_sink);
        } else if (name == "use_deepspeed" || name == "multi_gpu" || name == "cpu" || name == "same_network") {
            m_sink.note(flag, "launch: decided by the device and the number of processes", true);
        } else {
            return false;
        }
        return true;
    }

    void readFile(const std::string &name, const std::string &flag, const std::string &path)
    {
        const auto json = readConfigFile(path, m_folder);
        if (!json)
            return m_sink.note(flag, "not read: " + json.error().message());
        m_sink.note(flag, "read, see below", true);
        if (name == "config_file")
            readAccelerateConfig(*json, fileName(path), m_folder, m_sink);
        else
            readDeepSpeed(*json, fileName(path), m_sink);
    }

    void unknownLauncherFlag(Launcher, const std::string &name, const std::string &flag, FlagReader &flags)
    {
        static const std::vector<std::string_view> kSwitches = {"no_python", "run_path", "module", "use_fsdp", "tpu", "quiet", "debug"};
        const bool isSwitch = std::find(kSwitches.begin(), kSwitches.end(), name) != kSwitches.end();
        if (!isSwitch && flags.hasValue())
            flags.value();
        m_sink.note(flag, "the launcher's; nothing to do here");
    }

    void readPlan(FlagReader &flags)
    {
        m_result.program = "opensora-plan";
        readDeepSpeedFlag(flags);
        readPlanFlags(flags, m_sink);
    }

    // "--deepspeed FILE" may stand among the script's own flags.
    void readDeepSpeedFlag(FlagReader &flags)
    {
        auto rest = flags.rest();
        for (std::size_t i = 0; i + 1 < rest.size(); ++i) {
            if (rest[i] != "--deepspeed" && rest[i] != "--deepspeed_config")
                continue;
            readFile("deepspeed_config_file", rest[i], rest[i + 1]);
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i), rest.begin() + static_cast<std::ptrdiff_t>(i) + 2);
            break;
        }
        flags = FlagReader(rest);
    }

    Result<FromCommand> readOpenSora(FlagReader &flags, const std::string &script)
    {
        m_result.program = "opensora";
        const auto parsed = parseOverrides(flags.rest());
        if (!parsed)
            return parsed.error();
        if (const Status status = expectPositionals(*parsed, 1, 1, "config file behind " + script); !status)
            return status.error();
        m_result.config = parsed->positional.front();
        std::error_code ignored;
        if (!fs::exists(m_folder / *m_result.config, ignored))
            m_sink.note(m_result.config->string(), "there is no such file in " + m_folder.string() + "; run this where the project's configs are, or name the file by its path");
        for (const Override &override : parsed->overrides)
            addOverride(override);
        return std::move(m_result);
    }

    void addOverride(const Override &override)
    {
        const std::string flag = "--" + override.path;
        m_result.overrides.push_back(override);
        const Option *option = findOption(override.path);
        if (!option && !governingOption(override.path) && !isUsersOwn(override.path)) {
            const Option *meant = nearestOption(override.path);
            return m_sink.note(flag, "nothing reads it" + (meant ? "; was " + std::string(meant->path) + " meant?" : std::string()));
        }
        if (option && option->keyClass == KeyClass::NotApplicable)
            return m_sink.note(flag, "no effect here: " + std::string(option->reason.en));
        std::string became = override.path + " = " + override.text;
        if (option && !option->writesThroughTo.empty())
            became += ", and " + std::string(option->writesThroughTo) + ", which is what is read";
        m_sink.note(flag, became, true);
    }

    std::vector<std::string> m_words;
    fs::path m_folder;
    std::size_t m_at = 0;
    FromCommand m_result;
    CommandSink m_sink;
};

} // namespace

Result<FromCommand> fromCommand(const std::string &commandLine, const fs::path &folder)
{
    auto words = shellWords(commandLine);
    if (!words)
        return words.error();
    if (words->empty())
        return notUnderstood("there is no command; paste one such as \"torchrun --nproc_per_node 8 scripts/diffusion/train.py CONFIG\"");
    return CommandReader(std::move(*words), folder.empty() ? fs::current_path() : folder).read();
}

} // namespace stagewright::config
