//===- DiagnosticPrinter.cpp - Diagnostics with source snippets -----------===//

#include "Kina/Support/DiagnosticPrinter.h"
#include "Kina/Support/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace kina;
using namespace mlir;

namespace {
/// A longer source line is cut to a window of this many bytes around the range.
constexpr size_t kWindow = 120;

/// The first place in a file that `loc` names.
FileLineColRange findFileLoc(Location loc) {
  FileLineColRange found;
  loc->walk([&](Location inner) {
    found = dyn_cast<FileLineColRange>(inner);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "";
}

llvm::raw_ostream::Colors severityColor(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return llvm::raw_ostream::RED;
  case DiagnosticSeverity::Warning:
    return llvm::raw_ostream::YELLOW;
  default:
    return llvm::raw_ostream::CYAN;
  }
}

/// Colours what is written while it lives.
class Paint {
public:
  Paint(llvm::raw_ostream &os, bool on, llvm::raw_ostream::Colors color) : os(os), on(on) {
    if (on)
      os.changeColor(color, /*Bold=*/true);
  }
  ~Paint() {
    if (on)
      os.resetColor();
  }

private:
  llvm::raw_ostream &os;
  bool on;
};

unsigned digits(unsigned number) { return std::to_string(number).size(); }

/// Cells that `text` takes, a code point being one.
size_t width(StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// Control characters and what is no UTF-8 would disturb the carets or the terminal.
std::string printable(StringRef text) {
  std::string out = text.str();
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(out.data());
  bool legal = llvm::isLegalUTF8String(&begin, begin + out.size());
  for (char &c : out)
    if ((unsigned char)c < 0x20 || c == 0x7F)
      c = ' ';
    else if (!legal && (unsigned char)c >= 0x80)
      c = '?';
  return out;
}
} // namespace

bool kina::shouldColor(StringRef mode, llvm::raw_ostream &os) {
  if (mode == "always")
    return true;
  if (mode == "never")
    return false;
  return os.has_colors();
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context, llvm::raw_ostream &os,
                                     DiagnosticPrinterOptions options,
                                     const llvm::SourceMgr *sources)
    : ScopedDiagnosticHandler(context), os(os), options(options), sources(sources) {
  setHandler([this](Diagnostic &diag) {
    errors += diag.getSeverity() == DiagnosticSeverity::Error;
    warnings += diag.getSeverity() == DiagnosticSeverity::Warning;
    if (this->options.json)
      printJson(diag);
    else
      printText(diag);
    this->os.flush();
    return success();
  });
}

void DiagnosticPrinter::addSource(StringRef filename, StringRef text) {
  files[filename] = llvm::MemoryBuffer::getMemBufferCopy(text, filename);
}

std::optional<StringRef> DiagnosticPrinter::getLine(FileLineColRange range) {
  StringRef name = range.getFilename().getValue();
  auto it = files.find(name);
  if (it == files.end()) {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    if (sources)
      for (unsigned id = 1; id <= sources->getNumBuffers() && !buffer; ++id) {
        const llvm::MemoryBuffer *source = sources->getMemoryBuffer(id);
        if (source->getBufferIdentifier() == name)
          buffer = llvm::MemoryBuffer::getMemBuffer(source->getMemBufferRef(),
                                                    /*RequiresNullTerminator=*/false);
      }
    if (!buffer)
      if (auto file = llvm::MemoryBuffer::getFile(name))
        buffer = std::move(*file);
    it = files.try_emplace(name, std::move(buffer)).first;
  }
  if (!it->second || range.getStartLine() == 0)
    return std::nullopt;
  StringRef text = it->second->getBuffer();
  for (unsigned line = 1; line < range.getStartLine(); ++line) {
    size_t end = text.find('\n');
    if (end == StringRef::npos)
      return std::nullopt;
    text = text.drop_front(end + 1);
  }
  return text.take_until([](char c) { return c == '\n' || c == '\r'; });
}

void DiagnosticPrinter::printSnippet(FileLineColRange range, unsigned gutter) {
  auto blue = llvm::raw_ostream::BLUE;
  {
    Paint paint(os, options.color, blue);
    os.indent(gutter + 1) << "--> ";
  }
  os << range.getFilename().getValue() << ':' << range.getStartLine();
  if (range.getStartColumn())
    os << ':' << range.getStartColumn();
  os << '\n';
  std::optional<StringRef> line = getLine(range);
  if (!line || range.getStartColumn() == 0)
    return;

  size_t begin = std::min<size_t>(range.getStartColumn() - 1, line->size());
  size_t end = range.getEndLine() == range.getStartLine() ? range.getEndColumn() - 1 : line->size();
  end = std::clamp(end, begin, line->size());

  StringRef prefix, suffix;
  StringRef shown = *line;
  if (shown.size() > kWindow) {
    size_t from = begin > kWindow / 3 ? begin - kWindow / 3 : 0;
    while (from > 0 && (shown[from] & 0xC0) == 0x80)
      --from;
    size_t to = std::min(shown.size(), from + kWindow);
    while (to < shown.size() && (shown[to] & 0xC0) == 0x80)
      ++to;
    prefix = from > 0 ? "..." : "";
    suffix = to < shown.size() ? "..." : "";
    shown = shown.slice(from, to);
    begin -= from;
    end = std::min(end - from, shown.size());
  }

  auto bar = [&](const Twine &number) {
    Paint paint(os, options.color, blue);
    os << ' ';
    std::string text = number.str();
    os.indent(gutter - text.size()) << text << " |";
  };
  bar("");
  os << '\n';
  bar(Twine(range.getStartLine()));
  std::string clean = printable(shown);
  shown = clean;
  std::string row = (" " + prefix + shown + suffix).str();
  os << StringRef(row).rtrim() << '\n';
  bar("");
  os << ' ';
  os.indent(prefix.size() + width(shown.take_front(begin)));
  {
    Paint paint(os, options.color, llvm::raw_ostream::RED);
    size_t carets = std::max<size_t>(1, width(shown.slice(begin, end)));
    os << std::string(carets, '^');
  }
  os << '\n';
}

void DiagnosticPrinter::printText(Diagnostic &diag) {
  std::string text = diag.str();
  auto [code, message] = splitDiagCode(text);
  FileLineColRange range = findFileLoc(diag.getLocation());

  // One gutter for the diagnostic and its notes, so that the bars align.
  unsigned gutter = range ? digits(range.getStartLine()) : 1;
  for (Diagnostic &note : diag.getNotes())
    if (FileLineColRange at = findFileLoc(note.getLocation()))
      gutter = std::max(gutter, digits(at.getStartLine()));

  {
    Paint paint(os, options.color, severityColor(diag.getSeverity()));
    os << severityName(diag.getSeverity());
    if (code)
      os << '[' << stringifyDiagCode(*code) << ']';
  }
  os << ": " << message << '\n';
  if (range)
    printSnippet(range, gutter);

  // Notes at the diagnostic's own place belong to its snippet.
  SmallVector<Diagnostic *> elsewhere;
  for (Diagnostic &note : diag.getNotes()) {
    FileLineColRange at = findFileLoc(note.getLocation());
    if (at && at != range) {
      elsewhere.push_back(&note);
      continue;
    }
    std::string noteText = note.str();
    StringRef rest = noteText;
    bool help = rest.consume_front("help: ");
    os.indent(gutter + 2) << "= ";
    os << (help ? "help: " : "note: ") << rest << '\n';
  }
  for (Diagnostic *note : elsewhere) {
    std::string noteText = note->str();
    StringRef rest = noteText;
    bool help = rest.consume_front("help: ");
    {
      Paint paint(os, options.color, severityColor(DiagnosticSeverity::Note));
      os << (help ? "help" : "note");
    }
    os << ": " << rest << '\n';
    printSnippet(findFileLoc(note->getLocation()), gutter);
  }
  os << '\n';
}

void DiagnosticPrinter::printJson(Diagnostic &diag) {
  llvm::json::OStream json(os);
  auto where = [&](Location loc) {
    FileLineColRange range = findFileLoc(loc);
    if (!range)
      return;
    json.attribute("file", range.getFilename().getValue());
    json.attribute("line", int64_t(range.getStartLine()));
    json.attribute("column", int64_t(range.getStartColumn()));
    json.attribute("end_line", int64_t(range.getEndLine()));
    json.attribute("end_column", int64_t(range.getEndColumn()));
  };
  json.object([&] {
    std::string text = diag.str();
    auto [code, message] = splitDiagCode(text);
    json.attribute("severity", severityName(diag.getSeverity()));
    if (code)
      json.attribute("code", stringifyDiagCode(*code));
    json.attribute("message", llvm::json::fixUTF8(message));
    where(diag.getLocation());
    json.attributeArray("notes", [&] {
      for (Diagnostic &note : diag.getNotes())
        json.object([&] {
          std::string noteText = note.str();
          StringRef rest = noteText;
          json.attribute("kind", rest.consume_front("help: ") ? "help" : "note");
          json.attribute("message", llvm::json::fixUTF8(rest));
          where(note.getLocation());
        });
    });
  });
  os << '\n';
}
