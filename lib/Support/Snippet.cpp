//===- Snippet.cpp - Source lines with what is underlined in them ---------===//
//
// Columns of locations count bytes; what is printed is laid out in cells of a terminal.
//
//===----------------------------------------------------------------------===//

#include "Kina/Support/Snippet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>
#include <map>
#include <set>

using llvm::StringRef;
using Colors = llvm::raw_ostream::Colors;

namespace kina {

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

SourceLines::SourceLines(std::string given) : text(std::move(given)) {
  // Neither the parsers nor editors count the mark with which some files begin.
  if (StringRef(text).starts_with(kByteOrderMark))
    text.erase(0, kByteOrderMark.size());
  starts.push_back(0);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    starts.push_back(at + 1);
}

std::optional<StringRef> SourceLines::getLine(unsigned number) const {
  if (number == 0 || number > starts.size())
    return std::nullopt;
  StringRef line = StringRef(text).drop_front(starts[number - 1]);
  line = line.take_until([](char c) { return c == '\n'; });
  line.consume_back("\r");
  return line;
}

/// The bytes of the character that `text` begins with; one where it is no UTF-8.
static size_t characterLength(StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  size_t length = llvm::getNumBytesForUTF8(*begin);
  return length <= text.size() && llvm::isLegalUTF8Sequence(begin, begin + length) ? length : 1;
}

unsigned SourceLines::getUTF16Offset(unsigned line, unsigned column) const {
  std::optional<StringRef> text = getLine(line);
  if (!text || column == 0)
    return 0;
  StringRef before = text->take_front(column - 1);
  unsigned units = 0;
  while (!before.empty()) {
    size_t length = characterLength(before);
    units += length == 4 ? 2 : 1;
    before = before.drop_front(length);
  }
  return units;
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

namespace {

/// A longer line is cut to a window of this many cells.
constexpr unsigned kWindow = 120;
/// What is looked at of a very long line, to either side, by which a window is filled whatever the
/// characters are.
constexpr size_t kMostBytes = 16 * kWindow;
constexpr unsigned kTabWidth = 4;

/// A row of cells, each with a character and a colour.
class Row {
public:
  void put(unsigned column, StringRef text, std::optional<Colors> color = std::nullopt) {
    while (!text.empty()) {
      size_t length = characterLength(text);
      if (column >= cells.size())
        cells.resize(column + 1, {" ", std::nullopt});
      cells[column++] = {text.take_front(length).str(), color};
      text = text.drop_front(length);
    }
  }
  void print(llvm::raw_ostream &os, bool colored) const {
    std::optional<Colors> now;
    size_t end = cells.size();
    while (end > 0 && cells[end - 1].text == " ")
      --end;
    for (const Cell &cell : llvm::ArrayRef(cells).take_front(end)) {
      if (colored && cell.color != now) {
        if (now)
          os.resetColor();
        if (cell.color)
          os.changeColor(*cell.color, /*Bold=*/true);
        now = cell.color;
      }
      os << cell.text;
    }
    if (now)
      os.resetColor();
    os << '\n';
  }

private:
  struct Cell {
    std::string text;
    std::optional<Colors> color;
  };
  std::vector<Cell> cells;
};

/// A source line as it is shown.
class ShownLine {
public:
  /// Lays out the bytes of [first, last), which is enough of a very long line.
  ShownLine(StringRef line, size_t first, size_t last) : first(first), columns(last - first + 1) {
    unsigned column = 0;
    for (size_t at = first; at < last;) {
      StringRef rest = line.drop_front(at);
      size_t length = characterLength(rest);
      StringRef character = rest.take_front(length);
      unsigned width = 1;
      std::string shown = character.str();
      if (character == "\t") {
        // The distance to the next stop would depend on where the editor sets them.
        width = kTabWidth;
        shown = std::string(kTabWidth, ' ');
      } else if (length == 1 && ((unsigned char)character[0] < 0x20 || character[0] == 0x7F)) {
        shown = " ";
      } else if (length == 1 && (unsigned char)character[0] >= 0x80) {
        shown = "?";
      } else if (length > 1) {
        int cells = llvm::sys::unicode::columnWidthUTF8(character);
        // What no terminal can print would disturb what stands behind it.
        if (cells < 0)
          shown = "?";
        else
          width = cells;
      }
      for (size_t byte = at; byte < std::min(at + length, last); ++byte)
        columns[byte - first] = column;
      glyphs.push_back({shown, column, width});
      column += width;
      at += length;
    }
    columns.back() = column;
  }

  unsigned getWidth() const { return columns.back(); }
  /// The cell of a byte; bytes outside count as the nearest end.
  unsigned getColumn(size_t byte) const {
    return columns[std::clamp(byte, first, first + columns.size() - 1) - first];
  }
  /// What stands in the cells of [from, to).
  std::string getText(unsigned from, unsigned to) const {
    std::string text;
    for (const Glyph &glyph : glyphs)
      if (glyph.column >= from && glyph.column + glyph.width <= to)
        text += glyph.text;
    return text;
  }

private:
  struct Glyph {
    std::string text;
    unsigned column, width;
  };
  size_t first;
  std::vector<unsigned> columns;
  std::vector<Glyph> glyphs;
};

/// A span, or the part of it that is on a line, in cells.
struct Mark {
  unsigned begin, end;
  StringRef label;
  bool primary;
};

class SnippetPrinter {
public:
  SnippetPrinter(llvm::raw_ostream &os, const SourceLines &source, const SnippetStyle &style)
      : os(os), source(source), style(style) {}

  std::vector<Span> print(llvm::ArrayRef<Span> spans);

private:
  Colors colorOf(bool primary) const { return primary ? style.primary : Colors::BLUE; }
  void startRow(const llvm::Twine &number);
  void printRow(const Row &row) { row.print(os, style.color); }
  /// The two columns in which the span of several lines is drawn.
  void putMargin(Row &row, StringRef text) {
    if (bracket)
      row.put(1, text, colorOf(true));
  }
  void printLine(unsigned number);
  void printMarks(unsigned number, llvm::ArrayRef<Mark> marks);
  unsigned textColumn() const { return bracket ? 3 : 1; }

  llvm::raw_ostream &os;
  const SourceLines &source;
  const SnippetStyle &style;
  /// The spans that begin on a line; those of the bracket have none.
  std::map<unsigned, std::vector<const Span *>> byLine;
  /// The primary span if it has several lines.
  const Span *bracket = nullptr;
  std::vector<Span> leftOver;
};

} // namespace

void SnippetPrinter::startRow(const llvm::Twine &number) {
  if (style.color)
    os.changeColor(Colors::BLUE, /*Bold=*/true);
  std::string text = number.str();
  os << ' ';
  os.indent(style.gutter - std::min<size_t>(style.gutter, text.size())) << text << " |";
  if (style.color)
    os.resetColor();
}

void printBar(llvm::raw_ostream &os, const SnippetStyle &style) {
  if (style.color)
    os.changeColor(Colors::BLUE, /*Bold=*/true);
  os.indent(style.gutter + 2) << '|';
  if (style.color)
    os.resetColor();
  os << '\n';
}

/// Underlines the marks and writes their labels, what is further right above.
void SnippetPrinter::printMarks(unsigned number, llvm::ArrayRef<Mark> marks) {
  if (marks.empty())
    return;
  unsigned text = textColumn();
  bool inside = bracket && number > bracket->range.getStartLine() && number <= bracket->range.getEndLine();
  auto start = [&] {
    Row row;
    putMargin(row, inside ? "|" : " ");
    return row;
  };
  // The shorter one lies on top, so that an operand shows within its operation.
  std::vector<Mark> drawn(marks);
  llvm::sort(drawn, [](const Mark &a, const Mark &b) {
    return std::tuple(b.end - b.begin, a.primary, a.begin) < std::tuple(a.end - a.begin, b.primary, b.begin);
  });
  Row line = start();
  for (const Mark &mark : drawn)
    line.put(text + mark.begin, std::string(mark.end - mark.begin, mark.primary ? '^' : '-'), colorOf(mark.primary));

  std::vector<Mark> labelled;
  llvm::copy_if(marks, std::back_inserter(labelled), [](const Mark &mark) { return !mark.label.empty(); });
  llvm::sort(labelled, [](const Mark &a, const Mark &b) {
    return std::tuple(b.begin, b.end, a.label) < std::tuple(a.begin, a.end, b.label);
  });
  if (!labelled.empty() && llvm::all_of(marks, [&](const Mark &mark) {
        return mark.end <= labelled[0].end && mark.begin <= labelled[0].begin;
      })) {
    line.put(text + labelled[0].end + 1, labelled[0].label, colorOf(labelled[0].primary));
    labelled.erase(labelled.begin());
  }
  startRow("");
  printRow(line);
  auto putBars = [&](Row &row, llvm::ArrayRef<Mark> waiting) {
    for (const Mark &mark : waiting)
      row.put(text + mark.begin, "|", colorOf(mark.primary));
  };
  if (!labelled.empty()) {
    Row bars = start();
    putBars(bars, labelled);
    startRow("");
    printRow(bars);
  }
  for (size_t i = 0; i < labelled.size(); ++i) {
    Row row = start();
    putBars(row, llvm::ArrayRef(labelled).drop_front(i + 1));
    row.put(text + labelled[i].begin, labelled[i].label, colorOf(labelled[i].primary));
    startRow("");
    printRow(row);
  }
}

void SnippetPrinter::printLine(unsigned number) {
  StringRef line = *source.getLine(number);
  std::vector<const Span *> spans;
  if (auto it = byLine.find(number); it != byLine.end())
    spans = it->second;

  // A long line shows what is around its most important span.
  unsigned focusColumn = 0;
  if (!spans.empty())
    focusColumn = (*std::min_element(spans.begin(), spans.end(), [](auto *a, auto *b) {
                    return std::tuple(!a->primary, a->range.getStartColumn()) <
                           std::tuple(!b->primary, b->range.getStartColumn());
                  }))->range.getStartColumn();
  else if (bracket && number == bracket->range.getStartLine())
    focusColumn = bracket->range.getStartColumn();
  else if (bracket && number == bracket->range.getEndLine())
    focusColumn = bracket->range.getEndColumn();
  size_t focus = std::min<size_t>(focusColumn > 0 ? focusColumn - 1 : 0, line.size());
  size_t first = focus > kMostBytes ? focus - kMostBytes : 0, last = std::min(line.size(), focus + kMostBytes);
  while (first > 0 && ((unsigned char)line[first] & 0xC0) == 0x80)
    --first;
  ShownLine shown(line, first, last);
  unsigned from = 0, to = shown.getWidth();
  if (to > kWindow) {
    unsigned middle = shown.getColumn(focus);
    from = middle > kWindow / 3 ? middle - kWindow / 3 : 0;
    to = std::min(to, from + kWindow);
  }
  std::string prefix = from > 0 || first > 0 ? "..." : "";
  std::string suffix = to < shown.getWidth() || last < line.size() ? "..." : "";
  auto place = [&](unsigned column) {
    return std::clamp(shown.getColumn(column ? column - 1 : 0), from, to) - from + prefix.size();
  };

  std::vector<Mark> marks;
  for (const Span *span : spans) {
    bool more = span->range.getEndLine() != span->range.getStartLine();
    unsigned cell = shown.getColumn(span->range.getStartColumn() - 1);
    if (cell < from || cell > to) {
      leftOver.push_back(*span);
      continue;
    }
    unsigned begin = place(span->range.getStartColumn());
    unsigned end = more ? place(line.rtrim().size() + 1) : place(span->range.getEndColumn());
    marks.push_back({begin, std::max(end, begin + 1), span->label, span->primary});
  }

  bool starts = bracket && number == bracket->range.getStartLine();
  bool ends = bracket && number == bracket->range.getEndLine();
  bool inside = bracket && number > bracket->range.getStartLine() && number <= bracket->range.getEndLine();
  bool leads = starts && line.take_front(bracket->range.getStartColumn() - 1).trim().empty();
  unsigned width = textColumn();
  startRow(llvm::Twine(number));
  if (inside || leads) {
    if (style.color)
      os.changeColor(colorOf(true), /*Bold=*/true);
    os << (inside ? " |" : " /");
    if (style.color)
      os.resetColor();
  }
  std::string text = prefix + shown.getText(from, to) + suffix;
  if (StringRef trimmed = StringRef(text).rtrim(); !trimmed.empty())
    os << (bracket && !inside && !leads ? "   " : " ") << trimmed;
  os << '\n';
  printMarks(number, marks);

  if (starts && !leads) {
    Row under;
    unsigned column = width + place(bracket->range.getStartColumn());
    under.put(2, std::string(column - 2, '_'), colorOf(true));
    under.put(column, "^", colorOf(true));
    startRow("");
    printRow(under);
  }
  if (ends) {
    Row under;
    unsigned last = bracket->range.getEndColumn() > 1 ? bracket->range.getEndColumn() - 1 : 1;
    unsigned column = width + place(last);
    under.put(1, "|", colorOf(true));
    under.put(2, std::string(column - 2, '_'), colorOf(true));
    under.put(column, "^", colorOf(true));
    under.put(column + 2, bracket->label, colorOf(true));
    startRow("");
    printRow(under);
  }
}

std::vector<Span> SnippetPrinter::print(llvm::ArrayRef<Span> spans) {
  std::set<unsigned> lines;
  std::vector<Span> fitting(spans.begin(), spans.end());
  for (Span &span : fitting) {
    // What ends with a line's end does not reach into the next one.
    if (span.range.getEndLine() > span.range.getStartLine() && span.range.getEndColumn() <= 1)
      if (std::optional<StringRef> before = source.getLine(span.range.getEndLine() - 1))
        span.range = mlir::FileLineColRange::get(span.range.getFilename(), span.range.getStartLine(),
                                                 span.range.getStartColumn(), span.range.getEndLine() - 1,
                                                 before->size() + 1);
    unsigned first = span.range.getStartLine(), last = span.range.getEndLine();
    if (!source.getLine(first) || span.range.getStartColumn() == 0) {
      leftOver.push_back(span);
      continue;
    }
    lines.insert(first);
    if (span.primary && !bracket && last > first && source.getLine(last)) {
      bracket = &span;
      lines.insert(first + 1);
      lines.insert(last);
    } else {
      byLine[first].push_back(&span);
    }
  }
  if (lines.empty())
    return leftOver;
  startRow("");
  os << '\n';
  unsigned previous = 0;
  for (unsigned number : lines) {
    // One line alone is shorter than what would stand for it.
    if (previous && number == previous + 2)
      printLine(previous + 1);
    else if (previous && number > previous + 1)
      os << "...\n";
    printLine(number);
    previous = number;
  }
  return leftOver;
}

std::vector<Span> printSnippet(llvm::raw_ostream &os, const SourceLines &source, llvm::ArrayRef<Span> spans,
                               const SnippetStyle &style) {
  return SnippetPrinter(os, source, style).print(spans);
}

} // namespace kina
