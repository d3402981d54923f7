//===- Csv.cpp - minimalloc tables ----------------------------------------===//
#include "ck/Packing/Csv.h"

#include <algorithm>
#include <charconv>
#include <map>

using namespace ck;

namespace {
/// A cell as written, its value without quotes, and where it starts.
struct Cell {
  std::string raw, value;
  size_t line = 1, column = 1;
};
using Record = std::vector<Cell>;

/// Cuts text into records and cells. Line ends are \n or \r\n; a quoted cell may contain them.
class CsvReader {
public:
  explicit CsvReader(std::string_view text) : text(text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF")
      at = lineStart = 3;
  }
  bool atEnd() const { return at == text.size(); }
  Result<Record> readRecord();

private:
  Result<Cell> readCell();
  bool atLineEnd() const { return atEnd() || text[at] == '\n' || text.substr(at, 2) == "\r\n"; }

  std::string_view text;
  size_t at = 0, line = 1, lineStart = 0;
};
} // namespace

static Error errorAt(size_t line, size_t column, const std::string &message) {
  return Error{"line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message};
}
static Error errorAt(const Cell &cell, const std::string &message) { return errorAt(cell.line, cell.column, message); }

Result<Cell> CsvReader::readCell() {
  Cell cell;
  cell.line = line;
  cell.column = at - lineStart + 1;
  size_t start = at;
  if (!atEnd() && text[at] == '"') {
    for (++at;; ++at) {
      if (atEnd())
        return errorAt(cell, "this quoted cell is never closed");
      if (text[at] == '"') {
        ++at;
        if (atEnd() || text[at] != '"')
          break;
      } else if (text[at] == '\n') {
        ++line;
        lineStart = at + 1;
      }
      cell.value += text[at];
    }
    if (!atLineEnd() && text[at] != ',')
      return errorAt(line, at - lineStart + 1, "expected ',' or the end of the line after a quoted cell");
  } else {
    while (!atLineEnd() && text[at] != ',')
      cell.value += text[at++];
  }
  cell.raw = text.substr(start, at - start);
  return cell;
}

Result<Record> CsvReader::readRecord() {
  Record record;
  while (true) {
    Result<Cell> cell = readCell();
    if (!cell)
      return cell.error();
    record.push_back(std::move(*cell));
    if (atLineEnd())
      break;
    ++at; // the comma
  }
  if (!atEnd()) {
    at += text[at] == '\r' ? 2 : 1;
    ++line;
    lineStart = at;
  }
  return record;
}

static Result<int64_t> parseInteger(const Cell &cell, const std::string &column, int64_t minimum) {
  std::string_view value = cell.value;
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
    value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
    value.remove_suffix(1);
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range)
    return errorAt(cell, column + " '" + cell.value + "' does not fit in 64 bits");
  if (error != std::errc() || end != value.data() + value.size())
    return errorAt(cell, "expected an integer for " + column + ", got '" + cell.value + "'");
  if (number < minimum)
    return errorAt(cell, column + " is " + std::to_string(number) + ", expected at least " + std::to_string(minimum));
  return number;
}

/// Positions of the columns that have a meaning.
static Result<std::map<std::string, size_t>> findColumns(const Record &header) {
  std::map<std::string, size_t> columns;
  for (size_t i = 0; i < header.size(); ++i)
    for (const char *name : {"id", "lower", "upper", "size", "alignment", "gaps", "offset", "alias"})
      if (header[i].value == name && !columns.emplace(name, i).second)
        return errorAt(header[i], "column '" + header[i].value + "' appears twice");
  for (const char *name : {"id", "lower", "upper", "size"})
    if (!columns.count(name))
      return errorAt(header.front(),
                     std::string("the header has no column '") + name + "'; it must name id, lower, upper and size");
  return columns;
}

/// Reads a number at the front of `text` and drops it there.
static bool readNumber(std::string_view &text, int64_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(end - text.data());
  return error == std::errc();
}

/// Cuts the spans `gaps` out of the one range of an item: `7-8 9-10`, ascending.
static Status cutGaps(const Cell &gaps, std::vector<LiveRange> &ranges) {
  std::string_view rest = gaps.value;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty())
      break;
    LiveRange gap;
    bool parsed = readNumber(rest, gap.lower) && !rest.empty() && rest.front() == '-';
    if (parsed) {
      rest.remove_prefix(1);
      parsed = readNumber(rest, gap.upper) && (rest.empty() || rest.front() == ' ');
    }
    if (!parsed)
      return errorAt(gaps, "expected gaps such as '7-8 9-10', got '" + gaps.value + "'");
    LiveRange last = ranges.back();
    if (gap.lower > gap.upper || gap.lower < last.lower || gap.upper > last.upper)
      return errorAt(gaps, "gap " + std::to_string(gap.lower) + "-" + std::to_string(gap.upper) +
                               " does not lie within the rest of the lifetime, " + std::to_string(last.lower) + "-" +
                               std::to_string(last.upper));
    ranges.back().upper = gap.lower;
    ranges.push_back({gap.upper, last.upper});
  }
  return Status::success();
}

static Status parseRow(const Record &row, const std::map<std::string, size_t> &columns, PackTable &table) {
  auto cell = [&](const char *name) -> const Cell & { return row[columns.at(name)]; };
  auto optional = [&](const char *name) -> const Cell * {
    auto column = columns.find(name);
    return column == columns.end() || row[column->second].value.empty() ? nullptr : &row[column->second];
  };
  PackItem item;
  item.name = cell("id").value;
  if (item.name.empty())
    return errorAt(cell("id"), "the id is empty");
  Result<int64_t> lower = parseInteger(cell("lower"), "lower", INT64_MIN);
  if (!lower)
    return lower.error();
  Result<int64_t> upper = parseInteger(cell("upper"), "upper", INT64_MIN);
  if (!upper)
    return upper.error();
  if (*upper < *lower)
    return errorAt(cell("upper"), "'" + item.name + "' ends at " + std::to_string(*upper) + ", before it begins at " +
                                      std::to_string(*lower));
  Result<int64_t> size = parseInteger(cell("size"), "size", 0);
  if (!size)
    return size.error();
  item.size = *size;
  if (const Cell *alignment = optional("alignment")) {
    Result<int64_t> value = parseInteger(*alignment, "alignment", 1);
    if (!value)
      return value.error();
    item.alignment = *value;
  }
  if (const Cell *offset = optional("offset")) {
    Result<int64_t> value = parseInteger(*offset, "offset", 0);
    if (!value)
      return value.error();
    item.pinned = *value;
  }
  item.ranges = {{*lower, *upper}};
  if (const Cell *gaps = optional("gaps"))
    if (Status status = cutGaps(*gaps, item.ranges); !status)
      return status;
  table.items.push_back(std::move(item));
  return Status::success();
}

/// Resolves the cells of column `alias`, which may name later rows.
static Status linkAliases(const std::vector<Cell> &aliases, const std::map<std::string, size_t> &rowOf,
                          PackTable &table) {
  for (size_t i = 0; i < aliases.size(); ++i) {
    if (aliases[i].value.empty())
      continue;
    auto row = rowOf.find(aliases[i].value);
    if (row == rowOf.end())
      return errorAt(aliases[i], "there is no buffer with the id '" + aliases[i].value + "'");
    table.items[i].alias = row->second;
  }
  return Status::success();
}

Result<PackTable> ck::parsePackCsv(std::string_view text) {
  CsvReader reader(text);
  if (reader.atEnd())
    return errorAt(1, 1, "the table is empty; expected the header id,lower,upper,size");
  Result<Record> header = reader.readRecord();
  if (!header)
    return header.error();
  auto columns = findColumns(*header);
  if (!columns)
    return columns.error();
  PackTable table;
  for (const Cell &cell : *header)
    table.header.push_back(cell.value == "offset" ? cell.value : cell.raw);
  std::map<std::string, size_t> lineOf, rowOf;
  std::vector<Cell> aliases;
  while (!reader.atEnd()) {
    Result<Record> row = reader.readRecord();
    if (!row)
      return row.error();
    if (row->size() == 1 && row->front().raw.empty())
      continue; // an empty line
    if (row->size() != header->size())
      return errorAt(row->size() > header->size() ? (*row)[header->size()] : row->back(),
                     "expected " + std::to_string(header->size()) + " cells as in the header, got " +
                         std::to_string(row->size()));
    if (Status status = parseRow(*row, *columns, table); !status)
      return status.error();
    const Cell &id = (*row)[columns->at("id")];
    auto [entry, isNew] = lineOf.emplace(id.value, id.line);
    if (!isNew)
      return errorAt(id, "id '" + id.value + "' is already that of line " + std::to_string(entry->second));
    rowOf[id.value] = table.rows.size();
    if (columns->count("alias"))
      aliases.push_back((*row)[columns->at("alias")]);
    std::vector<std::string> &cells = table.rows.emplace_back();
    for (Cell &cell : *row)
      cells.push_back(std::move(cell.raw));
  }
  if (columns->count("alias"))
    if (Status status = linkAliases(aliases, rowOf, table); !status)
      return status.error();
  return table;
}

std::string ck::printPackCsv(const PackTable &table, const std::vector<int64_t> &offsets) {
  auto named = std::find(table.header.begin(), table.header.end(), "offset");
  size_t column = named - table.header.begin();
  std::string text;
  auto print = [&](std::vector<std::string> cells, const std::string &offset) {
    if (column == cells.size())
      cells.push_back(offset);
    else
      cells[column] = offset;
    for (size_t i = 0; i < cells.size(); ++i)
      text += (i ? "," : "") + cells[i];
    text += '\n';
  };
  print(table.header, "offset");
  for (size_t i = 0; i < table.rows.size(); ++i)
    print(table.rows[i], std::to_string(offsets[i]));
  return text;
}
