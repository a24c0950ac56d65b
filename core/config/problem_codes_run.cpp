// Codes about runs and the programs that talk about them. Sorted.
#include "core/config/problem_code_tables.h"

namespace stagewright::config {

const std::vector<ProblemCode> &runCodes()
{
    static const std::vector<ProblemCode> codes = {
        {"run.autoencoder", {"the autoencoder loses detail", "自编码器会损失细节"}},
        {"run.bad-identity", {"a run's identity cannot be read", "无法读取运行的标识"}},
        {"run.bad-lease", {"a run's lease cannot be read", "无法读取运行的租约文件"}},
        {"run.bad-message", {"a message of the other program cannot be read", "无法读取对方程序的消息"}},
        {"run.bad-name", {"a run's name cannot be used", "运行名称不可用"}},
        {"run.bad-record", {"a record of a run's history cannot be read", "无法读取运行历史中的记录"}},
        {"run.command-failed", {"the worker could not obey a command", "工作进程无法执行命令"}},
        {"run.command-line", {"the command line is wrong", "命令行有误"}},
        {"run.connection-closed", {"the connection to the run was closed", "与运行的连接已关闭"}},
        {"run.device", {"which device is used, and why", "使用了哪个设备及原因"}},
        {"run.encoder-lost", {"the worker that encodes into a cache is gone", "为缓存编码的工作进程已消失"}},
        {"run.failed", {"a run ended with an error", "运行因错误结束"}},
        {"run.file-exists", {"the file to be written exists", "要写入的文件已存在"}},
        {"run.folder-occupied", {"the run's folder belongs to another run", "运行文件夹属于另一个运行"}},
        {"run.frame-too-large", {"a message is larger than allowed", "消息超出允许的大小"}},
        {"run.history-lost", {"a part of the history could not be written", "部分历史未能写入"}},
        {"run.history-recovered", {"the history is written again", "历史记录恢复写入"}},
        {"run.loss-scale", {"the loss scale was changed", "损失缩放系数已调整"}},
        {"run.no-answer", {"the run did not answer", "运行没有应答"}},
        {"run.no-condition-fits", {"no condition fits a clip", "没有适合该片段的条件"}},
        {"run.no-name-left", {"no free name was found for the run", "没有可用的运行名称"}},
        {"run.no-private-folder", {"there is no private folder for the socket", "没有存放套接字的私有文件夹"}},
        {"run.no-socket", {"the run's socket cannot be used", "无法使用运行的套接字"}},
        {"run.not-built-yet", {"the stage needs a part that cannot train yet", "配置需要目前还不能训练的部分"}},
        {"run.not-finite", {"loss or gradient norm is not finite", "损失或梯度范数不是有限数"}},
        {"run.not-found", {"there is no such run", "没有该运行"}},
        {"run.not-our-protocol", {"another program listens on the socket", "套接字上是另一个程序"}},
        {"run.not-yours", {"the run belongs to another user", "该运行属于其他用户"}},
        {"run.open-window", {"an accumulation window is open at the end", "结束时仍有未完成的累积窗口"}},
        {"run.other-version", {"the run speaks another version", "运行使用另一个协议版本"}},
        {"run.over", {"the run is over", "运行已结束"}},
        {"run.refused", {"the worker refused", "工作进程拒绝了请求"}},
        {"run.resumed", {"what was resumed", "续训了什么"}},
        {"run.saving-after-failure", {"the state before a failure is saved", "保存失败之前的状态"}},
        {"run.signal", {"a signal ended the run", "运行被信号终止"}},
        {"run.silent", {"a run did not report within the time allowed", "运行在规定时间内没有报告"}},
        {"run.socket-path-too-long", {"the socket's path is too long", "套接字路径过长"}},
        {"run.socket-taken", {"another run uses the socket", "套接字被另一个运行占用"}},
        {"run.stopped", {"the run was stopped", "运行已停止"}},
        {"run.too-many-viewers", {"too many viewers are attached", "连接的查看器过多"}},
        {"run.two-weight-sources", {"weights come from a checkpoint and from a file", "权重同时来自检查点和文件"}},
        {"run.unexpected", {"something failed that should not", "发生了不应出现的错误"}},
        {"run.unknown-event", {"an event is of a kind that this version does not know", "事件类型未知于此版本"}},
    };
    return codes;
}

} // namespace stagewright::config
