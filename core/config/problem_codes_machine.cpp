// Codes about the machine and its memory. Sorted.
#include "core/config/problem_code_tables.h"

namespace stagewright::config {

const std::vector<ProblemCode> &machineCodes()
{
    static const std::vector<ProblemCode> codes = {
        {"env.cannot-start", {"a program could not be started", "无法启动程序"}},
        {"env.command-line", {"the worker's command line is wrong", "工作进程的命令行有误"}},
        {"env.device", {"the device does not exist here", "本机没有该设备"}},
        {"env.device-module", {"the module for the GPU could not be used", "无法使用 GPU 模块"}},
        {"env.disk", {"the disk is too small for the checkpoints", "磁盘空间不足以存放检查点"}},
        {"env.disk-full", {"the disk is full", "磁盘已满"}},
        {"env.file-exists", {"a file that must be new is there already", "必须为新文件的文件已存在"}},
        {"env.file-too-large", {"a file is larger than such a file can be", "文件超出此类文件的大小上限"}},
        {"env.host-memory", {"the host has too little memory", "主机内存不足"}},
        {"env.io", {"reading or writing failed", "读写失败"}},
        {"env.missing-file", {"a file does not exist", "文件不存在"}},
        {"env.no-gpu", {"there is no GPU that can be used", "没有可用的 GPU"}},
        {"env.not-a-file", {"a folder stands where a file is needed", "需要文件的位置是一个文件夹"}},
        {"env.not-a-folder", {"a file stands where a folder is needed", "需要文件夹的位置是一个文件"}},
        {"env.not-empty", {"a folder that must be new is not empty", "必须为空的文件夹不为空"}},
        {"env.outputs", {"the output folder is a file", "输出文件夹实际是一个文件"}},
        {"env.path-missing", {"a file that the stage names does not exist", "配置中指定的文件不存在"}},
        {"env.permission", {"a file or folder may not be read or written", "没有读写文件或文件夹的权限"}},
        {"env.probe-failed", {"the worker did not say what the machine has", "工作进程未能报告本机情况"}},
        {"env.worker-missing", {"the worker program is missing", "缺少工作进程程序"}},
        {"env.world-size", {"the number of processes cannot be used", "进程数量不可用"}},
        {"memory.above-prediction", {"training took more than was predicted", "训练占用超过预测"}},
        {"memory.activation-buffer", {"a bucket does not fit into the activation buffer", "某个桶放不进激活缓冲区"}},
        {"memory.buffer-full", {"the activation buffer is full", "激活缓冲区已满"}},
        {"memory.buffer-oversized", {"the activation buffer is much larger than any bucket needs", "激活缓冲区远大于任何桶的需要"}},
        {"memory.buffer-size", {"the activation buffer could not be made", "无法创建激活缓冲区"}},
        {"memory.buffer-without-checkpointing", {"an activation buffer without checkpointing is not made", "未使用检查点时不创建激活缓冲区"}},
        {"memory.cannot-plan", {"the stage cannot be planned", "无法对该配置做内存规划"}},
        {"memory.checkpoint-depth", {"the checkpoint depths do not fit the model", "检查点深度与模型不符"}},
        {"memory.does-not-fit", {"a bucket does not fit on the device", "某个桶放不进该设备"}},
        {"memory.host", {"the host has too little memory for what was planned", "主机内存不足以满足规划的需要"}},
        {"memory.limit", {"the memory limit is exceeded", "超出内存上限"}},
        {"memory.no-fit", {"no setting fits into the device", "没有任何设置能放进设备"}},
        {"memory.no-ledger", {"memory cannot be counted on this device", "无法在该设备上统计内存"}},
        {"memory.offload", {"an activation could not be moved to the host", "无法把激活移到主机内存"}},
        {"memory.out-of-memory", {"the device's memory is exhausted", "设备内存耗尽"}},
        {"memory.plan-cancelled", {"planning was cancelled", "内存规划被取消"}},
        {"memory.planned-as", {"a setting was planned as something similar", "某项设置按相近的情况进行了规划"}},
        {"memory.planner-lost", {"the planning helper ended", "规划辅助进程已结束"}},
        {"memory.remedy", {"a change of settings that saves memory", "可节省内存的设置更改"}},
        {"memory.staging", {"the host has no memory left for a checkpoint's snapshot", "主机内存不足以存放检查点快照"}},
        {"memory.too-many-points", {"too many settings to sweep", "要扫描的设置组合过多"}},
    };
    return codes;
}

} // namespace stagewright::config
