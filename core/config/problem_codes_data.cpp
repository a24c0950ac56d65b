// Codes about tables, clips and batches. Sorted.
#include "core/config/problem_code_tables.h"

namespace stagewright::config {

const std::vector<ProblemCode> &dataCodes()
{
    static const std::vector<ProblemCode> codes = {
        {"data.bad-sample", {"a row of the table cannot be used", "数据表中的一行无法使用"}},
        {"data.cache", {"encodings come from a cache", "编码来自缓存"}},
        {"data.cache-damaged", {"an entry of the cache of encodings is damaged", "编码缓存中的一项已损坏"}},
        {"data.cache-missing", {"an entry of the cache of encodings is not there", "编码缓存中缺少一项"}},
        {"data.changed", {"the dataset changed since the run began", "运行开始后数据集发生了变化"}},
        {"data.column-alias", {"a column is read under another name", "某列按另一个名称读取"}},
        {"data.column-type", {"a column has another type than needed", "列的类型不符合要求"}},
        {"data.demo-failed", {"the demo clips could not be made", "无法生成演示片段"}},
        {"data.demo-folder", {"the demo folder holds other files", "演示文件夹中有其他文件"}},
        {"data.double-column", {"a column is there twice", "某一列出现了两次"}},
        {"data.dropped-rows", {"rows of the table will never train", "数据表中的一些行永远不会参与训练"}},
        {"data.empty-caption", {"a row has no caption", "某一行没有描述文字"}},
        {"data.empty-path", {"a row names no file", "某一行没有写文件路径"}},
        {"data.field-count", {"a row has more or fewer fields than the header", "某一行的字段数与表头不同"}},
        {"data.file-empty", {"a media file is empty", "媒体文件为空"}},
        {"data.file-folder", {"a folder stands where a media file is needed", "需要媒体文件的位置是一个文件夹"}},
        {"data.file-missing", {"a media file is missing", "缺少媒体文件"}},
        {"data.fractional-value", {"a whole number is needed, but the cell holds a fraction", "需要整数，但单元格是小数"}},
        {"data.infinite-value", {"a cell holds an infinite number", "单元格是无穷大"}},
        {"data.index-line", {"a line of an annotation index is wrong", "标注索引中的一行有误"}},
        {"data.missing-column", {"the table lacks a column", "数据表缺少列"}},
        {"data.missing-value", {"a cell is empty", "单元格为空"}},
        {"data.no-batch", {"no bucket has enough rows for one batch", "没有任何桶的样本足够组成一批"}},
        {"data.no-index", {"a video file was cut off or never finished", "视频文件被截断或未写完"}},
        {"data.no-such-position", {"there is no batch at the saved position", "保存的位置上没有批次"}},
        {"data.no-table", {"no table is set", "未设置数据表"}},
        {"data.no-usable-file", {"none of the files that were tried can be used", "尝试过的文件都无法使用"}},
        {"data.no-video", {"a file has no video stream", "文件中没有视频流"}},
        {"data.not-finite", {"what was encoded holds numbers that are not finite", "编码结果中有非有限数"}},
        {"data.not-media", {"a file is neither a video nor an image", "文件既不是视频也不是图像"}},
        {"data.not-text", {"the table is not a text file", "数据表不是文本文件"}},
        {"data.not-utf8", {"the table is not UTF-8", "数据表不是 UTF-8 编码"}},
        {"data.null-embedding", {"the embedding of the empty text is missing", "缺少空文本的嵌入"}},
        {"data.open-quote", {"a quote in the table is never closed", "数据表中有引号未闭合"}},
        {"data.quarantine", {"a record of bad clips is unreadable", "坏片段记录无法读取"}},
        {"data.shard-mismatch", {"caption shards do not fit the table", "描述分片与数据表不匹配"}},
        {"data.shards-missing", {"there are no caption shards", "缺少描述分片"}},
        {"data.stopped", {"reading was stopped", "读取被停止"}},
        {"data.stray-file", {"a folder of tables holds a file that is none", "数据表文件夹中有不是数据表的文件"}},
        {"data.table-differs", {"files are not what the table says", "文件与数据表的记录不一致"}},
        {"data.table-empty", {"the table has no rows", "数据表没有任何行"}},
        {"data.table-folder", {"a folder has no table in it", "文件夹中没有数据表"}},
        {"data.table-format", {"the table has no form that can be read", "数据表的格式无法读取"}},
        {"data.table-missing", {"the table does not exist", "数据表不存在"}},
        {"data.table-too-long", {"the table has too many rows", "数据表行数过多"}},
        {"data.table-unreadable", {"the table cannot be read", "无法读取数据表"}},
        {"data.timeout", {"reading took longer than allowed", "读取超时"}},
        {"data.too-large", {"decoding a clip takes more memory than allowed", "解码片段所需内存超过允许值"}},
        {"data.too-many-bad", {"too many clips in a row could not be read", "连续有太多片段无法读取"}},
        {"data.too-many-dropped", {"more rows are dropped than allowed", "被丢弃的行数超过允许值"}},
        {"data.truncated", {"a video ends before its header says", "视频比文件头所说的提前结束"}},
        {"data.unreadable", {"a media file cannot be read", "无法读取媒体文件"}},
        {"data.unreadable-value", {"a cell is no number", "单元格不是数字"}},
        {"data.utf16", {"the table is UTF-16", "数据表是 UTF-16 编码"}},
        {"data.wrong-size", {"a clip has another size than its row says", "片段尺寸与其行中所写不同"}},
    };
    return codes;
}

} // namespace stagewright::config
