<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>CheckpointRemoval</name>
    <message>
        <source>%1 is not there any more.</source>
        <translation>%1 已不存在。</translation>
    </message>
    <message>
        <source>%1 cannot be moved to the trash (%2). Its folder may be read-only, or its disk have no trash. Nothing was deleted.</source>
        <translation>无法把 %1 移到回收站（%2）。其所在文件夹可能只读，或该磁盘没有回收站。没有删除任何内容。</translation>
    </message>
</context>
<context>
    <name>CheckpointRows</name>
    <message>
        <source>verified</source>
        <translation>已校验</translation>
    </message>
    <message>
        <source>complete, not verified</source>
        <translation>完整，未校验</translation>
    </message>
    <message>
        <source>not verified</source>
        <translation>未校验</translation>
    </message>
    <message>
        <source>from another program</source>
        <translation>来自其他程序</translation>
    </message>
    <message>
        <source>incomplete</source>
        <translation>不完整</translation>
    </message>
    <message>
        <source>truncated</source>
        <translation>被截断</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>saved</source>
        <translation>保存于</translation>
    </message>
    <message>
        <source>size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>state</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>being written: %1</source>
        <translation>正在写入：%1</translation>
    </message>
    <message>
        <source>whole</source>
        <translation>完整</translation>
    </message>
    <message>
        <source>in the checkpoint</source>
        <translation>检查点中</translation>
    </message>
    <message>
        <source>in the config</source>
        <translation>配置中</translation>
    </message>
    <message>
        <source>what will happen</source>
        <translation>将会如何</translation>
    </message>
    <message>
        <source>without a stop</source>
        <translation>不停顿</translation>
    </message>
    <message>
        <source>stopped and resumed twice</source>
        <translation>停止并恢复两次</translation>
    </message>
    <message>
        <source>outcome</source>
        <translation>结果</translation>
    </message>
</context>
<context>
    <name>Compare</name>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>died</source>
        <translation>已崩溃</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>peak GiB</source>
        <translation>峰值 GiB</translation>
    </message>
    <message>
        <source>seconds a step</source>
        <translation>每步秒数</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>FIGURES</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新次数</translation>
    </message>
    <message>
        <source>Highest peak</source>
        <translation>最高峰值</translation>
    </message>
    <message>
        <source>Mean step time</source>
        <translation>平均步时</translation>
    </message>
    <message>
        <source>Loss, mean of the last %1 updates</source>
        <translation>损失（最后 %1 次更新的均值）</translation>
    </message>
    <message>
        <source>NO SETTING DIFFERS</source>
        <translation>设置全部相同</translation>
    </message>
    <message>
        <source>SETTINGS THAT DIFFER · %1</source>
        <translation>不同的设置 · %1</translation>
    </message>
    <message>
        <source>%1 × %2 frames</source>
        <translation>%1 × %2 帧</translation>
    </message>
</context>
<context>
    <name>ComparePanel</name>
    <message>
        <source>(default)</source>
        <translation>(默认值)</translation>
    </message>
</context>
<context>
    <name>DepthEditor</name>
    <message>
        <source>Gradient checkpointing is off: every block keeps its activations.</source>
        <translation>梯度检查点已关闭：每个块都保留激活。</translation>
    </message>
    <message>
        <source>Two whole numbers are needed: double blocks, single blocks.</source>
        <translation>需要两个整数：双流块数、单流块数。</translation>
    </message>
    <message>
        <source>All %1 double and all %2 single blocks recompute in the backward pass.</source>
        <translation>全部 %1 个双流块和全部 %2 个单流块在反向传播时重新计算。</translation>
    </message>
    <message>
        <source>No block recomputes: all %1 keep their activations.</source>
        <translation>没有块重新计算：全部 %1 个块保留激活。</translation>
    </message>
    <message>
        <source>%1 and %2 recompute in the backward pass.</source>
        <translation>%1和%2在反向传播时重新计算。</translation>
    </message>
    <message>
        <source>all %1 double blocks</source>
        <translation>全部 %1 个双流块</translation>
    </message>
    <message>
        <source>%1 of %2 double blocks</source>
        <translation>%2 个双流块中的 %1 个</translation>
    </message>
    <message>
        <source>none of %1 double blocks</source>
        <translation>0/%1 个双流块</translation>
    </message>
    <message>
        <source>all %1 single blocks</source>
        <translation>全部 %1 个单流块</translation>
    </message>
    <message>
        <source>%1 of %2 single blocks</source>
        <translation>%2 个单流块中的 %1 个</translation>
    </message>
    <message>
        <source>none of %1 single blocks</source>
        <translation>0/%1 个单流块</translation>
    </message>
</context>
<context>
    <name>FixTitle</name>
    <message>
        <source>Rename to %1</source>
        <translation>改名为 %1</translation>
    </message>
    <message>
        <source>Remove it, since %1 is set too</source>
        <translation>删除它，因为已设置 %1</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>删除 %1</translation>
    </message>
    <message>
        <source>Set to %1</source>
        <translation>设为 %1</translation>
    </message>
    <message>
        <source>Set %1</source>
        <translation>设置 %1</translation>
    </message>
    <message>
        <source>Use the newest, %1</source>
        <translation>使用最新的 %1</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Keep %1</source>
        <translation>保留 %1</translation>
    </message>
    <message>
        <source>Make it %1</source>
        <translation>改为 %1</translation>
    </message>
    <message>
        <source>Enlarge the buffer to %1</source>
        <translation>把缓冲区增大到 %1</translation>
    </message>
    <message>
        <source>Shrink the buffer to %1</source>
        <translation>把缓冲区减小到 %1</translation>
    </message>
    <message>
        <source>Switch the buffer off</source>
        <translation>关闭缓冲区</translation>
    </message>
    <message>
        <source>Switch gradient checkpointing on</source>
        <translation>打开梯度检查点</translation>
    </message>
    <message>
        <source>Switch sequence parallelism on</source>
        <translation>打开序列并行</translation>
    </message>
    <message>
        <source>Switch %1 on</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>Switch %1 off</source>
        <translation>关闭 %1</translation>
    </message>
    <message>
        <source>Train text-to-video only</source>
        <translation>只训练文生视频</translation>
    </message>
</context>
<context>
    <name>Kinds</name>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>EMA</source>
        <translation>EMA</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活</translation>
    </message>
    <message>
        <source>Checkpointed inputs</source>
        <translation>检查点输入</translation>
    </message>
    <message>
        <source>Encoders</source>
        <translation>编码器</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>encode</source>
        <translation>编码</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>EMA update</source>
        <translation>EMA 更新</translation>
    </message>
    <message>
        <source>save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>pinned activations</source>
        <translation>锁页激活</translation>
    </message>
    <message>
        <source>data cache</source>
        <translation>数据缓存</translation>
    </message>
    <message>
        <source>checkpoint staging</source>
        <translation>检查点暂存</translation>
    </message>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>暂存</translation>
    </message>
    <message>
        <source>write</source>
        <translation>写入</translation>
    </message>
    <message>
        <source>flush</source>
        <translation>落盘</translation>
    </message>
    <message>
        <source>commit</source>
        <translation>提交</translation>
    </message>
    <message>
        <source>verify</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>已校验</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
</context>
<context>
    <name>Lanes</name>
    <message>
        <source>Device memory by kind</source>
        <translation>设备内存（按种类）</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>环节</translation>
    </message>
    <message>
        <source>Buckets</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>Saves</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Host memory</source>
        <translation>主机内存</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>吞吐量</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>环节</translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步用时</translation>
    </message>
    <message>
        <source>device memory, %1</source>
        <translation>设备内存，%1</translation>
    </message>
    <message>
        <source>seconds a step; bars: waiting for a save, for data</source>
        <translation>每步秒数；竖条：等待保存、等待数据</translation>
    </message>
    <message>
        <source>host memory, %1</source>
        <translation>主机内存，%1</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>clips per second</source>
        <translation>每秒片段数</translation>
    </message>
</context>
<context>
    <name>Log</name>
    <message>
        <source>training on %1, %2 (%3); %4 parameters</source>
        <translation>在 %1(%2，%3)上训练；%4 个参数</translation>
    </message>
    <message>
        <source>row %1, %2: %3 (%4 bad so far)</source>
        <translation>第 %1 行，%2：%3(目前 %4 个损坏)</translation>
    </message>
    <message>
        <source>checkpoint %1 failed: %2</source>
        <translation>检查点 %1 失败：%2</translation>
    </message>
    <message>
        <source>checkpoint %1 verified: %2 in %3, step blocked %4</source>
        <translation>检查点 %1 已校验：%2，用时 %3，训练步等待 %4</translation>
    </message>
    <message>
        <source>checkpoint %1 started</source>
        <translation>检查点 %1 开始</translation>
    </message>
    <message>
        <source>step %1  loss %2  lr %3  grad norm %4  bucket %5  %6</source>
        <translation>第 %1 步  损失 %2  学习率 %3  梯度范数 %4  分桶 %5  %6</translation>
    </message>
    <message>
        <source>  skipped: not finite</source>
        <translation>  已跳过：非有限值</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练中</translation>
    </message>
    <message>
        <source>saving the last checkpoint</source>
        <translation>正在保存最后一个检查点</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>step </source>
        <translation>步  </translation>
    </message>
    <message>
        <source>info </source>
        <translation>信息</translation>
    </message>
    <message>
        <source>warn </source>
        <translation>警告</translation>
    </message>
    <message>
        <source>error</source>
        <translation>错误</translation>
    </message>
</context>
<context>
    <name>OptionWords</name>
    <message>
        <source>elements</source>
        <translation>元素</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>micro-steps</source>
        <translation>微步</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>frames</source>
        <translation>帧</translation>
    </message>
    <message>
        <source>frames per second</source>
        <translation>帧/秒</translation>
    </message>
    <message>
        <source>pixels</source>
        <translation>像素</translation>
    </message>
    <message>
        <source>probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>1024² elements</source>
        <translation>1024² 个元素</translation>
    </message>
    <message>
        <source>on or off</source>
        <translation>开或关</translation>
    </message>
    <message>
        <source>whole number</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>number</source>
        <translation>数</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>choice</source>
        <translation>选择</translation>
    </message>
    <message>
        <source>path</source>
        <translation>路径</translation>
    </message>
    <message>
        <source>list of whole numbers</source>
        <translation>整数列表</translation>
    </message>
    <message>
        <source>list of numbers</source>
        <translation>数列表</translation>
    </message>
    <message>
        <source>two counts</source>
        <translation>两个计数</translation>
    </message>
    <message>
        <source>table</source>
        <translation>表</translation>
    </message>
    <message>
        <source>names with weights</source>
        <translation>带权重的名称</translation>
    </message>
    <message>
        <source>section</source>
        <translation>分节</translation>
    </message>
    <message>
        <source>any value</source>
        <translation>任意值</translation>
    </message>
    <message>
        <source> · %1 to %2</source>
        <translation> · %1 到 %2</translation>
    </message>
    <message>
        <source> · at least %1</source>
        <translation> · 至少 %1</translation>
    </message>
    <message>
        <source>Takes effect at once.</source>
        <translation>立即生效。</translation>
    </message>
    <message>
        <source>Takes effect with the next step of a new or resumed run.</source>
        <translation>在新运行或恢复的运行的下一步生效。</translation>
    </message>
    <message>
        <source>Takes effect with the next epoch of a new or resumed run.</source>
        <translation>在新运行或恢复的运行的下一轮生效。</translation>
    </message>
    <message>
        <source>Takes effect with a new or resumed run.</source>
        <translation>在新运行或恢复的运行中生效。</translation>
    </message>
    <message>
        <source>Changes what is learned.</source>
        <translation>会改变学到的内容。</translation>
    </message>
    <message>
        <source>Does not change what is learned.</source>
        <translation>不改变学到的内容。</translation>
    </message>
    <message>
        <source>default</source>
        <translation>默认值</translation>
    </message>
</context>
<context>
    <name>PictureExport</name>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>%1 could not be written; is the folder there and writable?</source>
        <translation>无法写入 %1；请检查文件夹是否存在且可写</translation>
    </message>
</context>
<context>
    <name>RunPhase</name>
    <message>
        <source>No run</source>
        <translation>没有运行</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练中</translation>
    </message>
    <message>
        <source>Training, saving</source>
        <translation>训练中，正在保存</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
</context>
<context>
    <name>Sweep</name>
    <message>
        <source>measured: out of memory</source>
        <translation>实测：内存不足</translation>
    </message>
    <message>
        <source>measured %1 (%2 %), %3 a step</source>
        <translation>实测 %1（%2 %），每步 %3</translation>
    </message>
    <message>
        <source>Double blocks checkpointed</source>
        <translation>启用检查点的双流块</translation>
    </message>
    <message>
        <source>Single blocks checkpointed</source>
        <translation>启用检查点的单流块</translation>
    </message>
    <message>
        <source>Batch of %1 × %2 frames</source>
        <translation>%1 × %2 帧的批量</translation>
    </message>
    <message>
        <source>not planned yet</source>
        <translation>尚未规划</translation>
    </message>
    <message>
        <source>%1 at the peak, about %2 a step</source>
        <translation>峰值 %1，每步约 %2</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>Looking for the fastest values that fit…</source>
        <translation>正在寻找放得下的最快取值…</translation>
    </message>
    <message>
        <source>The planner found nothing.</source>
        <translation>规划没有找到结果。</translation>
    </message>
    <message>
        <source>The fastest that fits: %1, with %2 at the peak and about %3 a step (%4 % of the time now).</source>
        <translation>放得下的最快取值：%1，峰值 %2，每步约 %3（现在用时的 %4 %）。</translation>
    </message>
    <message>
        <source>The next faster, %1, takes %2 in bucket %3.</source>
        <translation>再快一档 %1 在分桶 %3 中需要 %2。</translation>
    </message>
    <message>
        <source>predicted GiB</source>
        <translation>预测 GiB</translation>
    </message>
    <message>
        <source>measured GiB</source>
        <translation>实测 GiB</translation>
    </message>
    <message>
        <source>deviation %</source>
        <translation>偏差 %</translation>
    </message>
    <message>
        <source>predicted s a step</source>
        <translation>预测每步秒数</translation>
    </message>
    <message>
        <source>measured s a step</source>
        <translation>实测每步秒数</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>Fastest of the %1 measured settings that fit: %2, with %3 s a step.</source>
        <translation>在 %1 个实测且放得下的设置中最快的是：%2，每步 %3 秒。</translation>
    </message>
    <message>
        <source>The chosen one took %1 % more.</source>
        <translation>所选设置多用 %1 %。</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>just now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>%1 s ago</source>
        <translation>%1 秒前</translation>
    </message>
    <message>
        <source>%1 min ago</source>
        <translation>%1 分钟前</translation>
    </message>
    <message>
        <source>%1 h ago</source>
        <translation>%1 小时前</translation>
    </message>
    <message>
        <source>%1 d ago</source>
        <translation>%1 天前</translation>
    </message>
</context>
<context>
    <name>stagewright::models::StepTableModel</name>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>seconds</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>waiting for data, s</source>
        <translation>等待数据（秒）</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>分桶</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::BucketGauges</name>
    <message numerus="yes">
        <source>and %n more bucket(s)</source>
        <translation>
            <numerusform>还有 %n 个桶</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::CheckpointActions</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Reading every byte of %1</source>
        <translation>正在读取 %1 的全部字节</translation>
    </message>
    <message>
        <source>Checking %1</source>
        <translation>正在检查 %1</translation>
    </message>
    <message>
        <source>%1: not everything agrees; see the files.</source>
        <translation>%1：有不一致之处，见文件列表。</translation>
    </message>
    <message>
        <source>%1: names, sizes, headers and shapes agree; the bytes were not read.</source>
        <translation>%1：名称、大小、文件头和形状一致；未读取内容字节。</translation>
    </message>
    <message>
        <source>%1: every byte was read and agrees.</source>
        <translation>%1：已读取全部字节，且一致。</translation>
    </message>
    <message>
        <source>%1: every byte was read and nothing is wrong, but there is no list of hashes to compare with.</source>
        <translation>%1：已读取全部字节，未发现问题，但没有可供比对的哈希列表。</translation>
    </message>
    <message>
        <source>Verifying %1 checkpoints</source>
        <translation>正在校验 %1 个检查点</translation>
    </message>
    <message>
        <source>%1 checkpoints were read whole, and agree.</source>
        <translation>已完整读取 %1 个检查点，全部一致。</translation>
    </message>
    <message>
        <source>%1 checkpoints agree; these do not: %2</source>
        <translation>%1 个检查点一致；以下不一致：%2</translation>
    </message>
    <message>
        <source>Cancelled. %1</source>
        <translation>已取消。%1</translation>
    </message>
    <message>
        <source>A rehearsal needs a stage that can be read; open one first.</source>
        <translation>演练需要一个可读取的配置；请先打开一个。</translation>
    </message>
    <message>
        <source>Rehearsing %1</source>
        <translation>正在演练 %1</translation>
    </message>
    <message>
        <source>Stopped and resumed twice: equal to training on, bit for bit.</source>
        <translation>停止并恢复两次：与连续训练逐位相同。</translation>
    </message>
    <message>
        <source>Stopped and resumed twice: not equal to training on.</source>
        <translation>停止并恢复两次：与连续训练不同。</translation>
    </message>
    <message>
        <source>Opening %1</source>
        <translation>正在打开 %1</translation>
    </message>
    <message>
        <source>Exporting %1</source>
        <translation>正在导出 %1</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Written: %1 files in %2</source>
        <translation>已写入：%2 中的 %1 个文件</translation>
    </message>
    <message>
        <source>Looking for leftovers in %1</source>
        <translation>正在 %1 中查找残留</translation>
    </message>
    <message>
        <source>Nothing is left over in %1.</source>
        <translation>%1 中没有残留。</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>还有 %1 项</translation>
    </message>
    <message>
        <source>Clean leftovers</source>
        <translation>清理残留</translation>
    </message>
    <message>
        <source>Clean</source>
        <translation>清理</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Cleaning</source>
        <translation>正在清理</translation>
    </message>
    <message>
        <source>Looking at who needs %1</source>
        <translation>正在查看谁需要 %1</translation>
    </message>
    <message>
        <source>%1 is being written; it is left alone.</source>
        <translation>%1 正在写入，不作处理。</translation>
    </message>
    <message>
        <source>Move to the trash</source>
        <translation>移到回收站</translation>
    </message>
    <message>
        <source>Move %1 to the trash?</source>
        <translation>把 %1 移到回收站？</translation>
    </message>
    <message>
        <source>A run that is going on began from it: %1.</source>
        <translation>一个进行中的运行从它开始：%1。</translation>
    </message>
    <message>
        <source>It stays in the trash until that is emptied.</source>
        <translation>它会留在回收站中，直到清空回收站。</translation>
    </message>
    <message>
        <source>I do not need it any more</source>
        <translation>我不再需要它</translation>
    </message>
    <message>
        <source>Moving %1 to the trash</source>
        <translation>正在把 %1 移到回收站</translation>
    </message>
    <message>
        <source>%1 is in the trash.</source>
        <translation>%1 已在回收站中。</translation>
    </message>
    <message>
        <source>Clean up %1 in %2?</source>
        <translation>清理 %2 中的 %1？</translation>
    </message>
    <message numerus="yes">
        <source>Cleaned: %n folder(s).</source>
        <translation>
            <numerusform>已清理：%n 个文件夹。</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 is the only whole checkpoint in its folder: without it, this training cannot be resumed at all. It is left alone.</source>
        <translation>%1 是其文件夹中唯一完整的检查点：没有它，此训练将完全无法恢复。不作处理。</translation>
    </message>
    <message>
        <source>%1 is the newest whole checkpoint in its folder, which a resume takes. It is left alone.</source>
        <translation>%1 是其文件夹中最新的完整检查点，恢复时会用到它。不作处理。</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::CheckpointsPage</name>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>Read every byte and compare it with the checkpoint&apos;s own list</source>
        <translation>读取每个字节，并与检查点自带的清单比对</translation>
    </message>
    <message>
        <source>Show the run</source>
        <translation>查看运行</translation>
    </message>
    <message>
        <source>Files of the checkpoint</source>
        <translation>检查点的文件</translation>
    </message>
    <message>
        <source>WRITTEN</source>
        <translation>写入情况</translation>
    </message>
    <message>
        <source>Choose a run or a folder on the left. Every checkpoint in it is listed with its state, and a resume can be planned before anything is loaded.</source>
        <translation>请在左侧选择一次运行或一个文件夹。其中的每个检查点都会连同状态列出，加载任何内容之前即可预览恢复方案。</translation>
    </message>
    <message>
        <source>No checkpoint here yet. A run saves one every ckpt_every steps, at its end, and when “Save now” is pressed.</source>
        <translation>这里还没有检查点。运行每隔 ckpt_every 步、在结束时以及按下“立即保存”时各保存一个。</translation>
    </message>
    <message>
        <source>FILES</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>FILES · %1</source>
        <translation>文件 · %1</translation>
    </message>
    <message>
        <source>%1 tensors</source>
        <translation>%1 个张量</translation>
    </message>
    <message>
        <source>in %1 at %2/s</source>
        <translation>用时 %1，速度 %2/s</translation>
    </message>
    <message>
        <source>a step waited %1</source>
        <translation>训练步等待 %1</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Check names, sizes and headers</source>
        <translation>检查名称、大小和文件头</translation>
    </message>
    <message>
        <source>Verify all in this folder</source>
        <translation>校验此文件夹中的全部</translation>
    </message>
    <message>
        <source>Export weights…</source>
        <translation>导出权重…</translation>
    </message>
    <message>
        <source>Clean leftovers of this folder…</source>
        <translation>清理此文件夹的残留…</translation>
    </message>
    <message>
        <source>Move to the trash…</source>
        <translation>移到回收站…</translation>
    </message>
    <message>
        <source>Reading the folder…</source>
        <translation>正在读取文件夹…</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::CompareChoice</name>
    <message>
        <source>More than %1 runs cannot be told apart: untick one first</source>
        <translation>超过 %1 个运行就无法分辨：请先取消勾选一个</translation>
    </message>
    <message>
        <source>RUNS</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Other run…</source>
        <translation>其他运行…</translation>
    </message>
    <message>
        <source>Runs to compare</source>
        <translation>要比较的运行</translation>
    </message>
    <message>
        <source>%1
%2, step %3</source>
        <translation>%1
%2，第 %3 步</translation>
    </message>
    <message>
        <source>%1 is no run&apos;s folder: it has no run.json. Choose the folder that a run made in its outputs folder</source>
        <translation>%1 不是运行文件夹：其中没有 run.json。请选择运行在输出文件夹中创建的文件夹</translation>
    </message>
    <message>
        <source>The folder of a run</source>
        <translation>运行的文件夹</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::ComparePage</name>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>By step</source>
        <translation>按步</translation>
    </message>
    <message>
        <source>By bucket</source>
        <translation>按分桶</translation>
    </message>
    <message>
        <source>Memory by kind</source>
        <translation>按类别看显存</translation>
    </message>
    <message>
        <source>As plot</source>
        <translation>图形</translation>
    </message>
    <message>
        <source>As table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Runs over one another: memory, step time and loss</source>
        <translation>叠放的运行：显存、步时和损失</translation>
    </message>
    <message>
        <source>Highest memory of each run, by kind</source>
        <translation>各运行的最高显存，按类别</translation>
    </message>
    <message>
        <source>The picture as a table</source>
        <translation>图的表格形式</translation>
    </message>
    <message>
        <source>Figures of the runs, and the settings that differ</source>
        <translation>各运行的指标及不同的设置</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Tick two or more runs on the left to lay them over one another. Runs of the open stage&apos;s outputs folder are listed; “Other run…” adds any other.</source>
        <translation>在左侧勾选两个或更多运行即可叠放比较。列表中是当前配置输出文件夹里的运行；“其他运行…”可添加任何其他运行。</translation>
    </message>
    <message>
        <source>Tick another run to compare with this one.</source>
        <translation>再勾选一个运行，与它比较。</translation>
    </message>
    <message>
        <source>Export the picture, or its table</source>
        <translation>导出图片或其表格</translation>
    </message>
    <message>
        <source>Pictures and tables (*.png *.svg *.pdf *.csv)</source>
        <translation>图片和表格 (*.png *.svg *.pdf *.csv)</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Techniques</source>
        <translation>省显存手段</translation>
    </message>
    <message>
        <source>This stage cannot be planned yet. %1</source>
        <translation>此配置尚无法规划。%1</translation>
    </message>
    <message>
        <source>Open a stage to see what each technique saves.</source>
        <translation>打开一个配置，查看每种手段能节省多少。</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::ConfigurePage</name>
    <message>
        <source>Search %1 options</source>
        <translation>搜索 %1 个选项</translation>
    </message>
    <message>
        <source>Search options</source>
        <translation>搜索选项</translation>
    </message>
    <message>
        <source>Changed only</source>
        <translation>仅显示已更改</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <source>Form</source>
        <translation>表单</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>The text cannot be read; the form shows the last state that could.</source>
        <translation>文本无法解析；表单显示的是最近一次可解析的状态。</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Another program changed the file; its text was taken.</source>
        <translation>其他程序修改了此文件；已采用其内容。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Another program changed other lines of the file; both changes are in the text now.</source>
        <translation>其他程序修改了文件的其他行；两处修改现已都在文本中。</translation>
    </message>
    <message>
        <source>Another program changed lines of the file that you changed, too.</source>
        <translation>其他程序也修改了您改过的行。</translation>
    </message>
    <message>
        <source>Take its text (undo brings yours back)</source>
        <translation>采用其内容（撤销可恢复您的内容）</translation>
    </message>
    <message>
        <source>Keep mine</source>
        <translation>保留我的</translation>
    </message>
    <message>
        <source>Show the differences</source>
        <translation>显示差异</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::DataPage</name>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
    <message>
        <source>Looking into the files: %1 of %2</source>
        <translation>正在读取文件：%1 / %2</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>Data-parallel GPUs</source>
        <translation>数据并行的 GPU 数</translation>
    </message>
    <message>
        <source>How many GPUs share the batches of an epoch</source>
        <translation>由多少块 GPU 分担一轮的批次</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Epoch that is counted</source>
        <translation>所统计的轮次</translation>
    </message>
    <message>
        <source>Probabilities draw anew in every epoch; 0 is the first</source>
        <translation>概率在每一轮重新抽取；0 为第一轮</translation>
    </message>
    <message>
        <source>original</source>
        <translation>与原版一致</translation>
    </message>
    <message>
        <source>keep rows</source>
        <translation>保留数据</translation>
    </message>
    <message>
        <source>What becomes of rows that the original loses</source>
        <translation>原版会丢弃的数据行如何处理</translation>
    </message>
    <message>
        <source>Buckets: samples, batches and what each takes</source>
        <translation>各桶的样本数、批数和开销</translation>
    </message>
    <message>
        <source>Rows that do not train, by reason</source>
        <translation>不参与训练的数据行（按原因）</translation>
    </message>
    <message>
        <source>Rows of the chosen bucket or reason</source>
        <translation>所选桶或原因的数据行</translation>
    </message>
    <message>
        <source>probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Probability to try</source>
        <translation>试用的概率</translation>
    </message>
    <message>
        <source>How likely a sample that fits is kept, 0 to 1; or a pair: (keep, hand on to the next shorter bucket)</source>
        <translation>符合条件的样本被保留的概率，0 到 1；也可以是一对：(保留, 转给下一个更短的桶)</translation>
    </message>
    <message>
        <source>batch per GPU</source>
        <translation>每 GPU 批大小</translation>
    </message>
    <message>
        <source>Batch size to try</source>
        <translation>试用的批大小</translation>
    </message>
    <message>
        <source>Put into the stage</source>
        <translation>写入配置</translation>
    </message>
    <message>
        <source>Forget</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Hide aspects</source>
        <translation>隐藏宽高比</translation>
    </message>
    <message>
        <source>Every aspect</source>
        <translation>显示各宽高比</translation>
    </message>
    <message>
        <source>Search file or caption</source>
        <translation>搜索文件或描述</translation>
    </message>
    <message>
        <source>Hide pictures</source>
        <translation>隐藏图片</translation>
    </message>
    <message>
        <source>Pictures</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Use the new table</source>
        <translation>使用新数据表</translation>
    </message>
    <message>
        <source>Open a stage to see its data: Ctrl+O, or the demo stage with Ctrl+K.</source>
        <translation>打开一个配置即可查看其数据：Ctrl+O，或按 Ctrl+K 打开演示配置。</translation>
    </message>
    <message>
        <source>This stage names no table yet. Set dataset.data_path in Configure to a .csv, .parquet or .json table of clips and captions.</source>
        <translation>此配置尚未指定数据表。请在“配置”中把 dataset.data_path 设为包含视频和描述的 .csv、.parquet 或 .json 数据表。</translation>
    </message>
    <message>
        <source>Reading %1…</source>
        <translation>正在读取 %1…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Find out from the files</source>
        <translation>从文件中获取</translation>
    </message>
    <message>
        <source>Opens every file, measures frames, size and rate, and writes a new table beside this one</source>
        <translation>逐个打开文件，测量帧数、尺寸和帧率，并在旁边写出新数据表</translation>
    </message>
    <message>
        <source>%1 was written with the numbers of %2 rows.</source>
        <translation>已写出 %1，包含 %2 行的数值。</translation>
    </message>
    <message>
        <source>%1 files cannot be read, the first: %2</source>
        <translation>%1 个文件无法读取，第一个：%2</translation>
    </message>
    <message>
        <source>%1 of samples never train</source>
        <translation>%1 的样本永远不会参与训练</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行数</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>参与训练</translation>
    </message>
    <message>
        <source>Batches</source>
        <translation>批数</translation>
    </message>
    <message>
        <source>%1 per GPU</source>
        <translation>每 GPU %1</translation>
    </message>
    <message>
        <source>Steps an epoch</source>
        <translation>每轮步数</translation>
    </message>
    <message>
        <source>of %1 batches</source>
        <translation>每步 %1 批</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>未抽中</translation>
    </message>
    <message>
        <source>Counted in %1 ms</source>
        <translation>统计用时 %1 毫秒</translation>
    </message>
    <message>
        <source>Looking for the rows…</source>
        <translation>正在查找数据行…</translation>
    </message>
    <message>
        <source>Choose a bucket or a reason to see its rows</source>
        <translation>选择一个桶或原因以查看其数据行</translation>
    </message>
    <message>
        <source>left over at the epoch&apos;s end</source>
        <translation>轮末剩余</translation>
    </message>
    <message>
        <source>%1: %2 rows</source>
        <translation>%1：%2 行</translation>
    </message>
    <message>
        <source>%1: %2 of %3 rows</source>
        <translation>%1：%3 行中的 %2 行</translation>
    </message>
    <message>
        <source>Export these rows</source>
        <translation>导出这些数据行</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>数据表 (*.csv)</translation>
    </message>
    <message>
        <source>Encoding into %1: starting…</source>
        <translation>正在编码到 %1：启动中…</translation>
    </message>
    <message>
        <source>Encoding into %1: %2 of %3 entries, %4 written</source>
        <translation>正在编码到 %1：%2 / %3 项，已写入 %4</translation>
    </message>
    <message>
        <source>; %1 cannot be made</source>
        <translation>；%1 项无法生成</translation>
    </message>
    <message>
        <source>Looking at the encodings in %1…</source>
        <translation>正在查看 %1 中的编码…</translation>
    </message>
    <message>
        <source>Encode the rest</source>
        <translation>编码其余部分</translation>
    </message>
    <message>
        <source>Encodes what is missing with a worker; training reads it instead of decoding and encoding</source>
        <translation>由工作进程编码缺少的部分；训练时直接读取，无需解码和编码</translation>
    </message>
    <message>
        <source>Encodings in %1: %2 of the first epoch&apos;s %3 entries are there</source>
        <translation>%1 中的编码：第一轮的 %3 项已有 %2 项</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::DataWords</name>
    <message>
        <source>%1 ✕</source>
        <translation>%1 ✕</translation>
    </message>
    <message>
        <source>does not fit on the device</source>
        <translation>设备装不下</translation>
    </message>
    <message>
        <source>unreadable number</source>
        <translation>数字无法读取</translation>
    </message>
    <message>
        <source>number of frames missing</source>
        <translation>缺少帧数</translation>
    </message>
    <message>
        <source>impossible frame rate</source>
        <translation>帧率不合理</translation>
    </message>
    <message>
        <source>too small</source>
        <translation>尺寸太小</translation>
    </message>
    <message>
        <source>too short</source>
        <translation>太短</translation>
    </message>
    <message>
        <source>too short once thinned out</source>
        <translation>抽帧后太短</translation>
    </message>
    <message>
        <source>no bucket for images</source>
        <translation>没有图像桶</translation>
    </message>
    <message>
        <source>not drawn in this epoch</source>
        <translation>本轮未抽中</translation>
    </message>
    <message>
        <source>A cell of these rows is no number; mend the table.</source>
        <translation>这些行中有单元格不是数字，请修正数据表。</translation>
    </message>
    <message>
        <source>num_frames is empty; a probe of the files can fill it.</source>
        <translation>num_frames 为空；可以通过读取文件来补全。</translation>
    </message>
    <message>
        <source>fps is infinite; mend the table.</source>
        <translation>fps 为无穷大，请修正数据表。</translation>
    </message>
    <message>
        <source>Fewer than 80 % of the pixels of the smallest resolution; a smaller resolution would keep them.</source>
        <translation>像素不足最小分辨率的 80 %；增加更小的分辨率即可保留。</translation>
    </message>
    <message>
        <source>Fewer frames than every bucket of their resolution; a bucket with fewer frames would keep them.</source>
        <translation>帧数少于其分辨率下的所有桶；增加帧数更少的桶即可保留。</translation>
    </message>
    <message>
        <source>Long enough, but not at fps_max; a higher fps_max, a shorter bucket or data_policy keep would keep them.</source>
        <translation>原本够长，但按 fps_max 抽帧后不够；提高 fps_max、增加更短的桶或把 data_policy 设为 keep 即可保留。</translation>
    </message>
    <message>
        <source>No resolution has a bucket of one frame; one would keep them.</source>
        <translation>没有任何分辨率设有单帧桶；增加一个即可保留。</translation>
    </message>
    <message>
        <source>They fit, and the probabilities of their buckets said no; another epoch draws anew.</source>
        <translation>它们符合条件，但按桶的概率未被抽中；下一轮会重新抽取。</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>桶</translation>
    </message>
    <message>
        <source>size</source>
        <translation>尺寸</translation>
    </message>
    <message>
        <source>probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本</translation>
    </message>
    <message>
        <source>batches</source>
        <translation>批数</translation>
    </message>
    <message>
        <source>left over</source>
        <translation>剩余</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>%1 images</source>
        <translation>%1 图像</translation>
    </message>
    <message>
        <source>%1 × %2 frames</source>
        <translation>%1 × %2 帧</translation>
    </message>
    <message numerus="yes">
        <source>%n aspect(s)</source>
        <translation>
            <numerusform>%n 种宽高比</numerusform>
        </translation>
    </message>
    <message>
        <source>why rows are left out</source>
        <translation>未训练的原因</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行数</translation>
    </message>
    <message>
        <source>share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>left over at the epoch&apos;s end</source>
        <translation>轮末剩余</translation>
    </message>
    <message>
        <source>They fill no batch, or the last batches fill no round of ranks; the same rows in every epoch, unless draws change the buckets. data_policy keep fills such batches.</source>
        <translation>它们凑不成一批，或最后几批不够所有进程各一批；除非抽取改变了分桶，每轮都是同样的数据行。把 data_policy 设为 keep 会补满这样的批次。</translation>
    </message>
    <message>
        <source>As tried %1 of the rows train (%2 in the stage), %3 steps an epoch (%4)</source>
        <translation>按试用值有 %1 的数据行参与训练（配置中为 %2），每轮 %3 步（%4）</translation>
    </message>
    <message>
        <source>As the original, %1 rows fewer would train</source>
        <translation>与原版一致时会少训练 %1 行</translation>
    </message>
    <message>
        <source>The original would train on as many rows</source>
        <translation>原版会训练同样多的数据行</translation>
    </message>
    <message>
        <source>keep would train on %1 rows more, showing %2 places twice</source>
        <translation>设为 keep 会多训练 %1 行，其中 %2 个位置重复</translation>
    </message>
    <message>
        <source>keep would train on no more rows</source>
        <translation>设为 keep 也不会多训练数据行</translation>
    </message>
    <message>
        <source>%1 samples fill no batch, so an epoch leaves them out</source>
        <translation>%1 个样本凑不成一批，因此每轮会被留下</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::EndingCard</name>
    <message>
        <source>The stage could not be trained</source>
        <translation>此阶段无法训练</translation>
    </message>
    <message>
        <source>The data could not be used</source>
        <translation>数据无法使用</translation>
    </message>
    <message>
        <source>The checkpoint could not be loaded</source>
        <translation>检查点无法加载</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>Reading or writing failed</source>
        <translation>读写失败</translation>
    </message>
    <message>
        <source>The worker died</source>
        <translation>训练进程意外终止</translation>
    </message>
    <message>
        <source>The run ended with an error</source>
        <translation>运行出错而结束</translation>
    </message>
    <message>
        <source>last step %1</source>
        <translation>最后一步 %1</translation>
    </message>
    <message>
        <source>bucket %1 × %2 frames, batch %3</source>
        <translation>分桶 %1 × %2 帧，批量 %3</translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation>退出码 %1</translation>
    </message>
    <message>
        <source>Resume from %1</source>
        <translation>从 %1 恢复</translation>
    </message>
    <message>
        <source>Open the run&apos;s folder</source>
        <translation>打开运行文件夹</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::ExportDialog</name>
    <message>
        <source>Round fp32 to bf16</source>
        <translation>把 fp32 舍入为 bf16</translation>
    </message>
    <message>
        <source>Cut into shards of</source>
        <translation>切分为分片，每片</translation>
    </message>
    <message>
        <source>It is stored for</source>
        <translation>其存储方式适用于</translation>
    </message>
    <message>
        <source>Export weights</source>
        <translation>导出权重</translation>
    </message>
    <message>
        <source>Export from %1</source>
        <translation>从 %1 导出</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>布局</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Write to</source>
        <translation>写入到</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>the model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>the EMA</source>
        <translation>EMA</translation>
    </message>
    <message>
        <source>the fp32 master weights</source>
        <translation>fp32 主权重</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>保持原样</translation>
    </message>
    <message>
        <source>for Flux: projections fused, neighbours rotate</source>
        <translation>用于 Flux：投影合并，相邻维旋转</translation>
    </message>
    <message>
        <source>for Open-Sora: projections separate, halves rotate</source>
        <translation>用于 Open-Sora：投影分开，前后两半旋转</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Flux: neighbours rotate</source>
        <translation>Flux：相邻维旋转</translation>
    </message>
    <message>
        <source>Open-Sora: halves rotate</source>
        <translation>Open-Sora：前后两半旋转</translation>
    </message>
    <message>
        <source>Name a file, or a folder for shards.</source>
        <translation>请指定一个文件；分片时指定一个文件夹。</translation>
    </message>
    <message>
        <source>No file says in which rotary order its weights are: say what this checkpoint is stored for.</source>
        <translation>没有文件说明权重的旋转顺序：请说明此检查点是按哪种方式存储的。</translation>
    </message>
    <message>
        <source>The file must be new; it is written beside its place first. The checkpoint is only read.</source>
        <translation>必须是新文件；会先写在目标位置旁边。检查点只会被读取。</translation>
    </message>
    <message>
        <source>Write the weights to</source>
        <translation>把权重写入到</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::GroupList</name>
    <message>
        <source>Groups of options</source>
        <translation>选项分组</translation>
    </message>
    <message>
        <source>%1: %2 changed, %3 errors, %4 warnings</source>
        <translation>%1：%2 项已更改，%3 个错误，%4 个警告</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::LogView</name>
    <message>
        <source>LOG</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation>搜索日志</translation>
    </message>
    <message>
        <source>Lowest level shown</source>
        <translation>显示的最低级别</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Info and above</source>
        <translation>信息及以上</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>警告和错误</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>运行日志</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::MemoryPage</name>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>This stage</source>
        <translation>此阶段</translation>
    </message>
    <message>
        <source>What each setting costs</source>
        <translation>各设置的代价</translation>
    </message>
    <message>
        <source>Device to plan for</source>
        <translation>规划所针对的设备</translation>
    </message>
    <message>
        <source>Plan for the device here, or for a GPU that is elsewhere</source>
        <translation>为本机设备或别处的 GPU 做规划</translation>
    </message>
    <message>
        <source>Open a stage to see what it will take: Ctrl+O, or the demo stage with Ctrl+K.</source>
        <translation>打开一个阶段即可查看其内存需求：Ctrl+O，或用 Ctrl+K 打开演示阶段。</translation>
    </message>
    <message>
        <source>The device here: %1</source>
        <translation>本机设备：%1</translation>
    </message>
    <message>
        <source>This stage cannot be planned yet. %1</source>
        <translation>此阶段暂时无法规划。%1</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>The planner&apos;s answer holds no bucket.</source>
        <translation>规划结果中没有分桶。</translation>
    </message>
    <message>
        <source>Export the picture, or its table</source>
        <translation>导出图片或其表格</translation>
    </message>
    <message>
        <source>Pictures and tables (*.png *.svg *.pdf *.csv)</source>
        <translation>图片和表格 (*.png *.svg *.pdf *.csv)</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::PlacesPanel</name>
    <message>
        <source>PLACES</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Runs and folders</source>
        <translation>运行和文件夹</translation>
    </message>
    <message>
        <source>no runs yet</source>
        <translation>还没有运行</translation>
    </message>
    <message>
        <source>Recent folders</source>
        <translation>最近的文件夹</translation>
    </message>
    <message>
        <source>A run, a checkpoint, or any folder with checkpoints</source>
        <translation>一次运行、一个检查点，或任何含检查点的文件夹</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::PlanPanel</name>
    <message>
        <source>%1 × %2 frames, batch %3</source>
        <translation>%1 × %2 帧，批量 %3</translation>
    </message>
    <message>
        <source>As table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>As plot</source>
        <translation>图形</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>AT THE PEAK</source>
        <translation>峰值时</translation>
    </message>
    <message>
        <source>HOST MEMORY</source>
        <translation>主机内存</translation>
    </message>
    <message>
        <source>Predicted memory by bucket</source>
        <translation>各分桶的预测内存</translation>
    </message>
    <message>
        <source>Predicted memory by bucket, as a table</source>
        <translation>各分桶的预测内存（表格）</translation>
    </message>
    <message>
        <source>%1 of %2 on %3</source>
        <translation>%3 上 %1 / %2</translation>
    </message>
    <message>
        <source>Fits: %1, give or take %2 %</source>
        <translation>放得下：%1，误差 ±%2 %</translation>
    </message>
    <message>
        <source>Does not fit: %1; %2 of %3 buckets are too large</source>
        <translation>放不下：%1；%3 个分桶中有 %2 个过大</translation>
    </message>
    <message>
        <source>Worst bucket: %1. Planned in %2. The band: %3.</source>
        <translation>最大的分桶：%1。规划用时 %2。误差来源：%3。</translation>
    </message>
    <message>
        <source>%1 ✕ does not fit</source>
        <translation>%1 ✕ 放不下</translation>
    </message>
    <message>
        <source>%1 available</source>
        <translation>可用 %1</translation>
    </message>
    <message>
        <source>%1: activation buffer %2, snapshots for saves %3, clips that wait %4</source>
        <translation>%1：激活缓冲区 %2，保存快照 %3，等待的片段 %4</translation>
    </message>
    <message>
        <source>allocator and context %1</source>
        <translation>分配器和上下文 %1</translation>
    </message>
    <message>
        <source>%1 of block %2</source>
        <translation>第 %2 块的%1</translation>
    </message>
    <message>
        <source>%1: %2 in %3, about %4 a step</source>
        <translation>%1：%2，出现在%3，每步约 %4</translation>
    </message>
    <message>
        <source>; activation buffer filled with %1</source>
        <translation>；激活缓冲区占用 %1</translation>
    </message>
    <message numerus="yes">
        <source>; %n block(s) find no room in the activation buffer</source>
        <translation>
            <numerusform>；%n 个块在激活缓冲区中放不下</numerusform>
        </translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>GiB on the device</source>
        <translation>设备内存 GiB</translation>
    </message>
    <message>
        <source>allocator, context</source>
        <translation>分配器、上下文</translation>
    </message>
    <message>
        <source>seconds a step</source>
        <translation>每步秒数</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>%1: %2, %3</source>
        <translation>%1：%2，%3</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::ResumePanel</name>
    <message>
        <source>What a resume would do</source>
        <translation>恢复将执行的操作</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Weights only</source>
        <translation>仅权重</translation>
    </message>
    <message>
        <source>A new training that begins with these weights: optimizer, EMA, schedule and data position start afresh</source>
        <translation>以这些权重开始一次新训练：优化器、EMA、学习率调度和数据位置重新开始</translation>
    </message>
    <message>
        <source>Without the data position</source>
        <translation>不恢复数据位置</translation>
    </message>
    <message>
        <source>The data order starts again at its beginning; everything else continues</source>
        <translation>数据顺序从头开始；其余部分继续</translation>
    </message>
    <message>
        <source>Resume from %1</source>
        <translation>从 %1 恢复</translation>
    </message>
    <message>
        <source>Compared with the stage that is open. Nothing is changed until all of it loads.</source>
        <translation>与当前打开的阶段对比。全部加载成功之前不会改变任何内容。</translation>
    </message>
    <message>
        <source>A resume with the stage that is open is not possible; the lines in red say why.</source>
        <translation>无法以当前打开的阶段恢复；红色行说明原因。</translation>
    </message>
    <message>
        <source>Rehearse</source>
        <translation>演练</translation>
    </message>
    <message>
        <source>Trains a few steps in a throw-away folder, once at a stretch and once with two stops, and says whether both end alike</source>
        <translation>在临时文件夹中训练几步，一次连续进行，一次停顿两次，并说明两者结果是否相同</translation>
    </message>
    <message>
        <source>Back to the plan</source>
        <translation>返回恢复计划</translation>
    </message>
    <message>
        <source>The data of the stage that is open cannot be read, so they are compared by their path only: %1</source>
        <translation>无法读取当前配置的数据，因此只按路径比较：%1</translation>
    </message>
    <message>
        <source>A rehearsal in a throw-away folder, which is gone again. The checkpoint and its run were only read.</source>
        <translation>在临时文件夹中的演练，该文件夹已删除。检查点及其运行只被读取。</translation>
    </message>
    <message>
        <source>In which rotary order are these weights?</source>
        <translation>这些权重采用哪种旋转顺序？</translation>
    </message>
    <message>
        <source>No file says it. Flux and what was trained from it: neighbours rotate. Open-Sora 2.0 as shipped: halves rotate. Where the model of this stage has the other one, the weights are converted.</source>
        <translation>没有文件说明。Flux 及由其训练而来的：相邻维旋转。Open-Sora 2.0 发布版：前后两半旋转。若此配置的模型采用另一种，权重会被转换。</translation>
    </message>
    <message>
        <source>Flux</source>
        <translation>Flux</translation>
    </message>
    <message>
        <source>Open-Sora</source>
        <translation>Open-Sora</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::RowListModel</name>
    <message>
        <source>row</source>
        <translation>行</translation>
    </message>
    <message>
        <source>file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>caption</source>
        <translation>描述</translation>
    </message>
    <message>
        <source>why</source>
        <translation>原因</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::RunFigures</name>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Step time</source>
        <translation>每步用时</translation>
    </message>
    <message>
        <source>Clips/s</source>
        <translation>片段/秒</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Waiting for data</source>
        <translation>等待数据</translation>
    </message>
    <message>
        <source>Remaining</source>
        <translation>剩余时间</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>共 %1</translation>
    </message>
    <message>
        <source>%1 skipped</source>
        <translation>跳过 %1 步</translation>
    </message>
    <message>
        <source>%1 %2 %</source>
        <translation>%1 %2 %</translation>
    </message>
    <message>
        <source>in step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Predicted peak</source>
        <translation>预测峰值</translation>
    </message>
    <message>
        <source>± %1 %</source>
        <translation>± %1 %</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::RunPage</name>
    <message>
        <source>No run is shown</source>
        <translation>没有显示运行</translation>
    </message>
    <message>
        <source>Launch trains the stage that is open. Earlier runs are found with Ctrl+K, or on the Checkpoints page.</source>
        <translation>“启动”将训练当前打开的阶段。以往的运行可用 Ctrl+K 或在检查点页查找。</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Save now</source>
        <translation>立即保存</translation>
    </message>
    <message>
        <source>Follow newest ✓</source>
        <translation>跟随最新 ✓</translation>
    </message>
    <message>
        <source>Follow newest</source>
        <translation>跟随最新</translation>
    </message>
    <message>
        <source>Whole run</source>
        <translation>整次运行</translation>
    </message>
    <message>
        <source>As table</source>
        <translation>显示为表格</translation>
    </message>
    <message>
        <source>As plot</source>
        <translation>显示为图</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Steps of the run</source>
        <translation>运行的各步</translation>
    </message>
    <message>
        <source>The run did not start</source>
        <translation>运行未能启动</translation>
    </message>
    <message>
        <source>A save is under way</source>
        <translation>正在保存</translation>
    </message>
    <message>
        <source>The worker lives but gives no sign of life: it may be suspended, stuck in a driver, or its disk may be full.</source>
        <translation>训练进程仍在，但没有响应：可能被挂起、卡在驱动中，或磁盘已满。</translation>
    </message>
    <message>
        <source>Export the plot</source>
        <translation>导出图</translation>
    </message>
    <message>
        <source>Picture (*.png);;Vector picture (*.pdf *.svg);;Table (*.csv)</source>
        <translation>图片 (*.png);;矢量图 (*.pdf *.svg);;表格 (*.csv)</translation>
    </message>
    <message>
        <source>Step %1 took %2 in bucket %3 × %4 frames, batch %5: more than the %6 that were predicted, give or take %7 %. Later plans on this machine know it.</source>
        <translation>第 %1 步在桶 %3 × %4 帧、批大小 %5 中占用 %2：超过预测的 %6（误差 ±%7 %）。本机以后的规划会考虑到这一点。</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::RunSidePanel</name>
    <message>
        <source>LANES</source>
        <translation>图道</translation>
    </message>
    <message>
        <source>ACTIVATION BUFFER</source>
        <translation>激活缓冲区</translation>
    </message>
    <message>
        <source>THIS STEP</source>
        <translation>本步</translation>
    </message>
    <message>
        <source>DATA</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>CHECKPOINTS</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Open in Checkpoints</source>
        <translation>在检查点页打开</translation>
    </message>
    <message>
        <source>%1 of %2 · %3 blocks</source>
        <translation>%1 / %2 · %3 个块</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>failed: %1</source>
        <translation>失败：%1</translation>
    </message>
    <message>
        <source>verified</source>
        <translation>已校验</translation>
    </message>
    <message>
        <source>committed</source>
        <translation>已提交</translation>
    </message>
    <message>
        <source>RUN</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>%1 clips could not be used, the last in row %2</source>
        <translation>%1 个片段无法使用，最近一个在第 %2 行</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>PEAK OF EACH BUCKET</source>
        <translation>各桶峰值</translation>
    </message>
    <message>
        <source>predicted %1, so %2 %</source>
        <translation>预测 %1，偏差 %2 %</translation>
    </message>
    <message>
        <source>at most %1 so far, of any bucket</source>
        <translation>各桶至今最多 %1</translation>
    </message>
    <message>
        <source>%1 blocks · copies stall %2 ms an update, %3 % of it</source>
        <translation>%1 个块 · 每次更新因拷贝停顿 %2 毫秒，占 %3 %</translation>
    </message>
    <message numerus="yes">
        <source>%n block(s) had no room and stayed on the device</source>
        <translation>
            <numerusform>%n 个块放不下，留在设备上</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::pages::SweepChoices</name>
    <message>
        <source>Across</source>
        <translation>横轴</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>纵轴</translation>
    </message>
    <message>
        <source>Bucket</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>Setting across</source>
        <translation>横轴设置</translation>
    </message>
    <message>
        <source>Setting up</source>
        <translation>纵轴设置</translation>
    </message>
    <message>
        <source>Bucket to plan</source>
        <translation>要规划的分桶</translation>
    </message>
    <message>
        <source>Values across</source>
        <translation>横轴取值</translation>
    </message>
    <message>
        <source>Values up</source>
        <translation>纵轴取值</translation>
    </message>
    <message>
        <source>Values to try, separated by commas; empty: as proposed</source>
        <translation>要尝试的值，用逗号分隔；留空则用建议值</translation>
    </message>
    <message>
        <source>the worst</source>
        <translation>最大的</translation>
    </message>
    <message>
        <source>all of them</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>nothing: a curve</source>
        <translation>无：一条曲线</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::SweepPanel</name>
    <message>
        <source>Find the largest that fits</source>
        <translation>寻找放得下的最大值</translation>
    </message>
    <message>
        <source>The fastest values of these settings with which every bucket fits the device</source>
        <translation>使每个分桶都放得进设备的最快取值</translation>
    </message>
    <message>
        <source>As table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>As plot</source>
        <translation>图形</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Use these values</source>
        <translation>使用这些值</translation>
    </message>
    <message>
        <source>Use what fits</source>
        <translation>使用放得下的值</translation>
    </message>
    <message>
        <source>%1 points are more than anybody can look at: give fewer values</source>
        <translation>%1 个点太多，无法查看：请减少取值</translation>
    </message>
    <message>
        <source>Use planned values</source>
        <translation>使用规划的值</translation>
    </message>
    <message>
        <source>%1: set; undo takes it back</source>
        <translation>%1：已设置；可撤销</translation>
    </message>
    <message numerus="yes">
        <source>Measuring; %n more point(s) wait</source>
        <translation>
            <numerusform>正在实测；还有 %n 个点等待</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 settings planned in %2</source>
        <translation>已规划 %1 组设置，用时 %2</translation>
    </message>
    <message>
        <source>%1 of %2 settings planned…</source>
        <translation>已规划 %1 / %2 组设置…</translation>
    </message>
    <message>
        <source>Waiting for the plan of the stage…</source>
        <translation>正在等待阶段的规划…</translation>
    </message>
    <message>
        <source>Line: predicted. Circles: measured. Choose a point in the table to use it.</source>
        <translation>线：预测。圆圈：实测。在表格中选择一个点即可使用。</translation>
    </message>
    <message>
        <source>As it is: %1</source>
        <translation>当前：%1</translation>
    </message>
    <message>
        <source>Stop measuring</source>
        <translation>停止实测</translation>
    </message>
    <message>
        <source>Measure this point</source>
        <translation>实测此点</translation>
    </message>
    <message>
        <source>Measure the curve</source>
        <translation>实测整条曲线</translation>
    </message>
    <message>
        <source>Trains a few updates in a worker that is thrown away</source>
        <translation>在一次性的工作进程中训练几步</translation>
    </message>
    <message>
        <source>Only this machine can be measured: choose the device here</source>
        <translation>只能实测本机：请选择本机设备</translation>
    </message>
    <message>
        <source>Cells: the peak in %1. Hatched: does not fit. Framed, and the line of step times: the fastest at its memory. Dot: the stage as it is. Click a cell to choose it.</source>
        <translation>格子里是峰值（%1）。斜线：放不下。加框及步时图中的线：该显存下最快的。圆点：当前配置。点击格子即可选中。</translation>
    </message>
    <message>
        <source>Measure the grid</source>
        <translation>测量整个网格</translation>
    </message>
    <message>
        <source>More than %1 points would be as many short runs: give fewer values</source>
        <translation>超过 %1 个点就要进行同样多次短运行：请减少取值</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::SweepPictures</name>
    <message>
        <source>Predicted peak over two settings</source>
        <translation>两个设置下的预测峰值</translation>
    </message>
    <message>
        <source>Predicted peak against one setting</source>
        <translation>一个设置下的预测峰值</translation>
    </message>
    <message>
        <source>Step time against memory</source>
        <translation>每步用时与内存</translation>
    </message>
    <message>
        <source>Which line is drawn thick</source>
        <translation>突出显示哪条线</translation>
    </message>
    <message>
        <source>Predicted points, as a table</source>
        <translation>预测点（表格）</translation>
    </message>
    <message>
        <source>At the peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>s a step</source>
        <translation>每步秒数</translation>
    </message>
    <message>
        <source>%1 available</source>
        <translation>可用 %1</translation>
    </message>
</context>
<context>
    <name>stagewright::pages::TechniquesPanel</name>
    <message>
        <source>half of the blocks checkpointed</source>
        <translation>一半块使用检查点</translation>
    </message>
    <message>
        <source>all blocks checkpointed</source>
        <translation>全部块使用检查点</translation>
    </message>
    <message>
        <source>their inputs in host memory</source>
        <translation>其输入放在主机内存</translation>
    </message>
    <message>
        <source>half the batch</source>
        <translation>批大小减半</translation>
    </message>
    <message>
        <source>none, in fp32</source>
        <translation>无，fp32</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>What each technique saves and costs</source>
        <translation>每种手段的节省与代价</translation>
    </message>
    <message>
        <source>Time of a clip against memory</source>
        <translation>每个片段的时间与内存</translation>
    </message>
    <message>
        <source>At the peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>s a clip</source>
        <translation>秒/片段</translation>
    </message>
    <message>
        <source>Trains a few updates with each, in a worker that is thrown away</source>
        <translation>各用一个临时工作进程训练几次更新</translation>
    </message>
    <message>
        <source>Grey: predicted. Coloured: measured on this machine. Saved and lost are against the first line, measured where it is measured.</source>
        <translation>灰色：预测。彩色：本机实测。节省与损失均相对第一行，有实测时按实测。</translation>
    </message>
    <message>
        <source>Stop measuring</source>
        <translation>停止测量</translation>
    </message>
    <message>
        <source>Measure on this machine</source>
        <translation>在本机测量</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>Bucket %1 of the open stage. Measuring: %2 of %3 are done.</source>
        <translation>当前配置的桶 %1。正在测量：已完成 %2 / %3。</translation>
    </message>
    <message>
        <source>Bucket %1 of the open stage, the one that takes most: each technique alone and with the others.</source>
        <translation>当前配置中占用最多的桶 %1：每种手段单独及组合使用。</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>technique</source>
        <translation>手段</translation>
    </message>
    <message>
        <source>predicted peak</source>
        <translation>预测峰值</translation>
    </message>
    <message>
        <source>measured peak</source>
        <translation>实测峰值</translation>
    </message>
    <message>
        <source>memory saved</source>
        <translation>节省内存</translation>
    </message>
    <message>
        <source>saved, %</source>
        <translation>节省，%</translation>
    </message>
    <message>
        <source>time lost</source>
        <translation>时间损失</translation>
    </message>
</context>
<context>
    <name>stagewright::plots::OverlayPlot</name>
    <message>
        <source>peak device memory, %1</source>
        <translation>设备显存峰值，%1</translation>
    </message>
    <message>
        <source>seconds a step</source>
        <translation>每步秒数</translation>
    </message>
    <message>
        <source>loss, smoothed over about 20 steps</source>
        <translation>损失（约 20 步平滑）</translation>
    </message>
    <message>
        <source>mean loss</source>
        <translation>平均损失</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>bucket</source>
        <translation>分桶</translation>
    </message>
    <message>
        <source>%1 a step</source>
        <translation>每步 %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>损失 %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>stagewright::plots::RunPlot</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Run plot</source>
        <translation>运行图</translation>
    </message>
    <message>
        <source>worker %1</source>
        <translation>训练进程 %1</translation>
    </message>
    <message>
        <source>limit %1 GiB ↑</source>
        <translation>上限 %1 GiB ↑</translation>
    </message>
    <message>
        <source>step %1 · %2</source>
        <translation>第 %1 步 · %2</translation>
    </message>
    <message>
        <source> of %1</source>
        <translation> / %1</translation>
    </message>
    <message>
        <source>%1%2 at this moment</source>
        <translation>此刻 %1%2</translation>
    </message>
    <message>
        <source>%1%2, the step&apos;s peak</source>
        <translation>%1%2，本步峰值</translation>
    </message>
    <message>
        <source>%1 × %2 frames, %3×%4, batch %5</source>
        <translation>%1 × %2 帧，%3×%4，批量 %5</translation>
    </message>
    <message>
        <source>loss %1 · lr %2 · grad norm %3</source>
        <translation>损失 %1 · 学习率 %2 · 梯度范数 %3</translation>
    </message>
    <message>
        <source>%1 a step · %2 clips/s · waited %3 for data</source>
        <translation>每步 %1 · %2 片段/秒 · 等待数据 %3</translation>
    </message>
    <message>
        <source>save: %1</source>
        <translation>保存：%1</translation>
    </message>
    <message>
        <source>host: worker %1</source>
        <translation>主机：训练进程 %1</translation>
    </message>
    <message>
        <source>No step yet.</source>
        <translation>还没有训练步。</translation>
    </message>
    <message>
        <source>Step %1 at %2: loss %3, peak device memory %4.</source>
        <translation>第 %1 步，时间 %2：损失 %3，设备内存峰值 %4。</translation>
    </message>
    <message>
        <source>%1 cannot be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>limit %1 GiB</source>
        <translation>上限 %1 GiB</translation>
    </message>
    <message>
        <source>waited %1 for a save</source>
        <translation>等待保存 %1</translation>
    </message>
    <message>
        <source>%1 predicted for its peak, give or take %2 %</source>
        <translation>预测其峰值 %1，误差 ±%2 %</translation>
    </message>
    <message>
        <source>Predicted: %1.</source>
        <translation>预测：%1。</translation>
    </message>
    <message>
        <source>%1; dashed: predicted peak</source>
        <translation>%1；虚线：预测峰值</translation>
    </message>
</context>
<context>
    <name>stagewright::session::DataSession</name>
    <message>
        <source>Change buckets</source>
        <translation>修改分桶</translation>
    </message>
    <message>
        <source>%1 has a value of the wrong type</source>
        <translation>%1 的值类型不正确</translation>
    </message>
</context>
<context>
    <name>stagewright::session::DeviceInfo</name>
    <message>
        <source>CPU · %1 threads</source>
        <translation>CPU · %1 线程</translation>
    </message>
</context>
<context>
    <name>stagewright::session::LongTask</name>
    <message>
        <source>%1: no sign of life for %2 s, so this window no longer waits. The disk may not answer; look at it, then try again.</source>
        <translation>%1：已有 %2 秒没有响应，窗口不再等待。磁盘可能没有应答；请检查后重试。</translation>
    </message>
</context>
<context>
    <name>stagewright::session::StageSession</name>
    <message>
        <source>Unsaved edits of an older version of the file</source>
        <translation>针对旧版文件的未保存修改</translation>
    </message>
    <message>
        <source>The file changed on disk since your unsaved edits. Redo brings your version back.</source>
        <translation>自您未保存的修改以来，磁盘上的文件已变化。重做可恢复您的版本。</translation>
    </message>
    <message>
        <source>Unsaved edits from last time are back. Undo still knows them.</source>
        <translation>已恢复上次未保存的修改，仍可撤销。</translation>
    </message>
    <message>
        <source>Change %1</source>
        <translation>更改 %1</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>重置 %1</translation>
    </message>
    <message>
        <source>Fix all that have one answer</source>
        <translation>修复所有只有一种解法的问题</translation>
    </message>
    <message>
        <source>Take the version on disk</source>
        <translation>采用磁盘上的版本</translation>
    </message>
    <message>
        <source>Unsaved edits from last time</source>
        <translation>上次未保存的修改</translation>
    </message>
    <message>
        <source>The file changed on disk since your unsaved edits; both are in the text now. Undo takes your edits out.</source>
        <translation>自您未保存的修改以来，磁盘上的文件已变化；两者现已都在文本中。撤销可去掉您的修改。</translation>
    </message>
    <message>
        <source>Merge the change of another program</source>
        <translation>合并其他程序的修改</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::BoolEditor</name>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::BucketEditor</name>
    <message>
        <source>add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Batch per GPU</source>
        <translation>每 GPU 批量</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>New bucket</source>
        <translation>新分桶</translation>
    </message>
    <message>
        <source>frames</source>
        <translation>帧</translation>
    </message>
    <message>
        <source>resolution</source>
        <translation>分辨率</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Buckets: resolutions down, frames across</source>
        <translation>分桶：纵向为分辨率，横向为帧数</translation>
    </message>
    <message>
        <source>No bucket yet: add a resolution such as 256px and a frame count.</source>
        <translation>还没有分桶：请添加分辨率（例如 256px）和帧数。</translation>
    </message>
    <message>
        <source>Batch per GPU; with %1 accumulated micro-steps an update sees %1 times as many clips of each GPU.</source>
        <translation>批量按每个 GPU 计；累积 %1 个微步，每次更新每个 GPU 处理 %1 倍的片段。</translation>
    </message>
    <message>
        <source>Batch per GPU; the global batch is that times the number of GPUs.</source>
        <translation>批量按每个 GPU 计；全局批量为其乘以 GPU 数。</translation>
    </message>
    <message>
        <source>%1 × %2 frames</source>
        <translation>%1 × %2 帧</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::BucketGridModel</name>
    <message>
        <source>%1 × %2 frames: no bucket. Enter or double-click adds one.</source>
        <translation>%1 × %2 帧：没有分桶。按回车或双击可添加。</translation>
    </message>
    <message>
        <source>%1 × %2 frames: batch %3 per GPU, probability %4</source>
        <translation>%1 × %2 帧：每 GPU 批量 %3，概率 %4</translation>
    </message>
    <message numerus="yes">
        <source>%n frame(s)</source>
        <translation>
            <numerusform>%n 帧</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>stagewright::settings::BufferEditor</name>
    <message>
        <source>elements = &lt;b&gt;%1&lt;/b&gt; pinned, per process</source>
        <translation>个元素 = &lt;b&gt;%1&lt;/b&gt; 锁页内存，每个进程</translation>
    </message>
    <message>
        <source>elements; off. Sizes such as “12 GiB” are understood</source>
        <translation>个元素；已关闭。也可填写“12 GiB”这样的大小</translation>
    </message>
    <message>
        <source>this machine has %1 of %2 free now</source>
        <translation>本机现有 %1 可用，共 %2</translation>
    </message>
    <message>
        <source>A number of elements such as 6 * 1024**3, or a size such as 12 GiB.</source>
        <translation>元素个数（例如 6 * 1024**3），或大小（例如 12 GiB）。</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::ChoiceEditor</name>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::ComparePanel</name>
    <message>
        <source>Compare with</source>
        <translation>对比对象</translation>
    </message>
    <message>
        <source>Another file…</source>
        <translation>其他文件…</translation>
    </message>
    <message>
        <source>Take all</source>
        <translation>全部采用</translation>
    </message>
    <message>
        <source>Take selected</source>
        <translation>采用所选</translation>
    </message>
    <message>
        <source>Open a copy of its config</source>
        <translation>打开其配置的副本</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>The file as saved: %1</source>
        <translation>已保存的文件：%1</translation>
    </message>
    <message>
        <source>Base: %1</source>
        <translation>基础文件：%1</translation>
    </message>
    <message>
        <source>Preset: %1</source>
        <translation>预设：%1</translation>
    </message>
    <message>
        <source>File: %1</source>
        <translation>文件：%1</translation>
    </message>
    <message>
        <source>Run: %1 (%2, step %3)</source>
        <translation>运行：%1(%2，第 %3 步)</translation>
    </message>
    <message>
        <source>Run: %1 (%2)</source>
        <translation>运行：%1(%2)</translation>
    </message>
    <message>
        <source>Option</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>This stage</source>
        <translation>此阶段</translation>
    </message>
    <message>
        <source>With the preset</source>
        <translation>采用预设后</translation>
    </message>
    <message>
        <source>There</source>
        <translation>对方</translation>
    </message>
    <message>
        <source>The stage already is as the preset would make it.</source>
        <translation>此阶段已与预设一致。</translation>
    </message>
    <message>
        <source>No difference.</source>
        <translation>没有差异。</translation>
    </message>
    <message numerus="yes">
        <source>%n difference(s)</source>
        <translation>
            <numerusform>%n 处差异</numerusform>
        </translation>
    </message>
    <message>
        <source>Apply the preset</source>
        <translation>应用预设</translation>
    </message>
    <message>
        <source>Change %1</source>
        <translation>更改 %1</translation>
    </message>
    <message>
        <source>Take from %1</source>
        <translation>采用 %1 的值</translation>
    </message>
    <message>
        <source>Compare with a stage</source>
        <translation>与另一阶段对比</translation>
    </message>
    <message>
        <source>Stages (*.py *.yaml *.yml);;All files (*)</source>
        <translation>阶段 (*.py *.yaml *.yml);;所有文件 (*)</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::DepthEditor</name>
    <message>
        <source>all blocks</source>
        <translation>全部块</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::DepthStrip</name>
    <message>
        <source>Checkpointed blocks</source>
        <translation>启用检查点的块</translation>
    </message>
    <message>
        <source>%1 of %2 double blocks, %3 of %4 single blocks</source>
        <translation>双流块 %1/%2，单流块 %3/%4</translation>
    </message>
    <message>
        <source>double block %1</source>
        <translation>双流块 %1</translation>
    </message>
    <message>
        <source>single block %1</source>
        <translation>单流块 %1</translation>
    </message>
    <message>
        <source>recomputed in the backward pass</source>
        <translation>反向传播时重新计算</translation>
    </message>
    <message>
        <source>keeps its activations</source>
        <translation>保留激活</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::HelpPanel</name>
    <message>
        <source>COMES FROM</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Fix all that have one answer</source>
        <translation>修复所有只有一种解法的问题</translation>
    </message>
    <message>
        <source>Nothing is wrong with this stage.</source>
        <translation>此阶段没有问题。</translation>
    </message>
    <message>
        <source>Choose an option to read about it</source>
        <translation>选择一个选项以查看说明</translation>
    </message>
    <message>
        <source>Not used here: %1.</source>
        <translation>此处不使用：%1。</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>PROBLEMS</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>PROBLEMS (%1)</source>
        <translation>问题(%1)</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>另有 %1 个</translation>
    </message>
    <message>
        <source>BELONGS TOGETHER</source>
        <translation>相关选项</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::LiteralEditor</name>
    <message>
        <source>not set</source>
        <translation>未设置</translation>
    </message>
    <message>
        <source>Not a value in Python&apos;s spelling. Examples: 8, 1e-5, 25 * 1024**3, (8, 100).</source>
        <translation>不是 Python 写法的值。例如：8、1e-5、25 * 1024**3、(8, 100)。</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::OptionForm</name>
    <message>
        <source>No option matches. Clear the search or switch “Changed only” off.</source>
        <translation>没有匹配的选项。请清除搜索或关闭“仅显示已更改”。</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::OptionRow</name>
    <message>
        <source>Take this setting out of the file: the base file&apos;s value or the default counts again</source>
        <translation>从文件中移除此设置：恢复使用基础文件的值或默认值</translation>
    </message>
    <message>
        <source>Reset %1</source>
        <translation>重置 %1</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::PathEditor</name>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
</context>
<context>
    <name>stagewright::settings::StageTextEditor</name>
    <message>
        <source>Text of the stage</source>
        <translation>阶段的文本</translation>
    </message>
</context>
<context>
    <name>stagewright::shell::CommandPalette</name>
    <message>
        <source>Find anything</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>An option, a page or a command</source>
        <translation>选项、页面或命令</translation>
    </message>
    <message>
        <source>Matches</source>
        <translation>匹配项</translation>
    </message>
</context>
<context>
    <name>stagewright::shell::MainWindow</name>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>Making the demo dataset…</source>
        <translation>正在生成演示数据集…</translation>
    </message>
    <message>
        <source>Open a stage</source>
        <translation>打开阶段</translation>
    </message>
    <message>
        <source>Stages (*.py *.yaml *.yml);;All files (*)</source>
        <translation>阶段 (*.py *.yaml *.yml);;所有文件 (*)</translation>
    </message>
    <message>
        <source>A run is going on; stop it first</source>
        <translation>有运行正在进行；请先停止</translation>
    </message>
    <message>
        <source>This stage has problems that must be mended first</source>
        <translation>此阶段有问题，必须先修复</translation>
    </message>
    <message>
        <source>Still reading the stage; try again in a moment</source>
        <translation>仍在读取阶段；请稍后再试</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Open a stage…</source>
        <translation>打开阶段…</translation>
    </message>
    <message>
        <source>Open the demo stage</source>
        <translation>打开演示阶段</translation>
    </message>
    <message>
        <source>Save the stage</source>
        <translation>保存阶段</translation>
    </message>
    <message>
        <source>Mend every problem that has one answer</source>
        <translation>修复所有只有一种解法的问题</translation>
    </message>
    <message>
        <source>Save a checkpoint now</source>
        <translation>立即保存检查点</translation>
    </message>
    <message>
        <source>Stop after this step, with a save</source>
        <translation>本步后保存并停止</translation>
    </message>
    <message>
        <source>Run %1</source>
        <translation>运行 %1</translation>
    </message>
    <message>
        <source>Training goes on</source>
        <translation>训练仍在继续</translation>
    </message>
    <message>
        <source>The run %1 is still training. It goes on without this window, which finds it again at the next start.</source>
        <translation>运行 %1 仍在训练。关闭窗口后训练会继续，下次启动时会重新找到它。</translation>
    </message>
    <message>
        <source>Close, keep training</source>
        <translation>关闭窗口，继续训练</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>留下</translation>
    </message>
    <message>
        <source>%1: done; launch again to train with it</source>
        <translation>%1：已应用；再次启动即可使用</translation>
    </message>
</context>
<context>
    <name>stagewright::shell::Rail</name>
    <message>
        <source>Configure</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s) must be mended before launch</source>
        <translation>
            <numerusform>启动前必须修复 %n 个问题</numerusform>
        </translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
</context>
<context>
    <name>stagewright::shell::StatusBar</name>
    <message>
        <source>Light colours</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark colours</source>
        <translation>深色</translation>
    </message>
    <message numerus="yes">
        <source>%n problem(s)</source>
        <translation>
            <numerusform>%n 个问题</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hint(s)</source>
        <translation>
            <numerusform>%n 条提示</numerusform>
        </translation>
    </message>
    <message>
        <source>Host %1 of %2</source>
        <translation>主机内存 %1 / %2</translation>
    </message>
</context>
<context>
    <name>stagewright::shell::TopBar</name>
    <message>
        <source>No stage</source>
        <translation>没有阶段</translation>
    </message>
    <message>
        <source>%1
Open another stage (Ctrl+O)</source>
        <translation>%1
打开其他阶段 (Ctrl+O)</translation>
    </message>
    <message>
        <source>Open a stage (Ctrl+O)</source>
        <translation>打开阶段 (Ctrl+O)</translation>
    </message>
    <message>
        <source>— edited</source>
        <translation>— 已修改</translation>
    </message>
    <message>
        <source>base: %1</source>
        <translation>基于：%1</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>Find anything   Ctrl K</source>
        <translation>查找   Ctrl K</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Train this stage (Ctrl+Return)</source>
        <translation>训练此阶段 (Ctrl+回车)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop after this step, with a save</source>
        <translation>本步后保存并停止</translation>
    </message>
    <message>
        <source>Stop after this step</source>
        <translation>本步后停止</translation>
    </message>
    <message>
        <source>Stop at once</source>
        <translation>立即停止</translation>
    </message>
    <message>
        <source> · step %1</source>
        <translation> · 第 %1 步</translation>
    </message>
    <message>
        <source> of %1</source>
        <translation> / %1</translation>
    </message>
    <message>
        <source>Safe to stop</source>
        <translation>可安全停止</translation>
    </message>
    <message>
        <source>Saving, wait</source>
        <translation>正在保存，请稍候</translation>
    </message>
</context>
</TS>
