//===- DiagnosticPrinter.cpp - Diagnostics with source snippets -----------===//

#include "Kina/Support/DiagnosticPrinter.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace kina;
using namespace mlir;

//===----------------------------------------------------------------------===//
// What a diagnostic says
//===----------------------------------------------------------------------===//

namespace {
/// A longer note is no label.
constexpr size_t kLongestLabel = 100;
/// The calls that are shown of a chain.
constexpr size_t kMostCalls = 5;
/// The codes that the last line names.
constexpr size_t kMostCodes = 8;

/// The first place in a file that `loc` names; `calls` gets the places of the calls through
/// which it was inlined, innermost first.
FileLineColRange findFileLoc(Location loc, SmallVectorImpl<FileLineColRange> &calls) {
  if (auto range = dyn_cast<FileLineColRange>(loc))
    return range;
  if (auto name = dyn_cast<NameLoc>(loc))
    return findFileLoc(name.getChildLoc(), calls);
  if (auto opaque = dyn_cast<OpaqueLoc>(loc))
    return findFileLoc(opaque.getFallbackLocation(), calls);
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      if (FileLineColRange found = findFileLoc(inner, calls))
        return found;
    return {};
  }
  if (auto site = dyn_cast<CallSiteLoc>(loc)) {
    FileLineColRange found = findFileLoc(site.getCallee(), calls);
    SmallVector<FileLineColRange> outer;
    FileLineColRange caller = findFileLoc(site.getCaller(), outer);
    // What has no place itself is where it was called from.
    if (!found) {
      llvm::append_range(calls, outer);
      return caller;
    }
    if (caller)
      calls.push_back(caller);
    llvm::append_range(calls, outer);
    return found;
  }
  return {};
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

/// What a diagnostic is sorted by, and the text by which two are the same.
struct Key {
  bool nowhere;
  std::string file;
  unsigned line, column;
  std::string text;

  auto order() const { return std::tie(nowhere, file, line, column); }
};

Key toKey(Diagnostic &diag) {
  SmallVector<FileLineColRange> calls;
  FileLineColRange range = findFileLoc(diag.getLocation(), calls);
  Key key{!range, "", 0, 0, diag.str()};
  if (range) {
    key.file = range.getFilename().str();
    key.line = range.getStartLine();
    key.column = range.getStartColumn();
  }
  for (Diagnostic &note : diag.getNotes())
    key.text += '\n' + note.str();
  return key;
}
} // namespace

/// A diagnostic taken apart. Null ranges have no place in a file.
struct DiagnosticPrinter::Message {
  struct Note {
    StringRef kind;
    std::string text;
    FileLineColRange range;
  };
  DiagnosticSeverity severity;
  std::optional<DiagCode> code;
  std::string text;
  FileLineColRange range;
  std::vector<Note> notes;
};

DiagnosticPrinter::Message DiagnosticPrinter::read(Diagnostic &diag) {
  Message message;
  message.severity = diag.getSeverity();
  std::string full = diag.str();
  auto [code, text] = splitDiagCode(full);
  message.code = code;
  message.text = text.str();
  SmallVector<FileLineColRange> calls;
  message.range = findFileLoc(diag.getLocation(), calls);
  auto addNote = [&](StringRef text, FileLineColRange range) {
    StringRef kind = "note";
    for (StringRef other : {"help", "counterexample"})
      if (StringRef rest = text; rest.consume_front(other) && rest.consume_front(": ")) {
        kind = other;
        text = rest;
      }
    message.notes.push_back({kind, text.str(), range});
  };
  for (FileLineColRange call : ArrayRef(calls).take_front(kMostCalls))
    addNote("in this call", call);
  if (calls.size() > kMostCalls)
    addNote("and " + std::to_string(calls.size() - kMostCalls) + " calls more around it", {});
  for (Diagnostic &note : diag.getNotes()) {
    SmallVector<FileLineColRange> ignored;
    FileLineColRange range = findFileLoc(note.getLocation(), ignored);
    addNote(note.str(), range == message.range ? FileLineColRange() : range);
  }
  // The order in which they are read: what is so, an example, what to do.
  auto behind = [&](StringRef kind) {
    std::vector<Message::Note> rest;
    for (Message::Note &note : message.notes)
      if (note.kind == kind)
        rest.push_back(std::move(note));
    llvm::erase_if(message.notes, [&](const Message::Note &note) { return note.kind == kind; });
    llvm::append_range(message.notes, std::move(rest));
  };
  behind("counterexample");
  behind("help");
  return message;
}

//===----------------------------------------------------------------------===//
// The printer
//===----------------------------------------------------------------------===//

bool kina::shouldColor(StringRef mode, llvm::raw_ostream &os) {
  if (mode == "always")
    return true;
  if (mode == "never")
    return false;
  return os.has_colors();
}

std::optional<DiagnosticFlags> kina::takeDiagnosticFlags(int &argc, char **argv, bool withMLIR) {
  DiagnosticFlags flags;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if (!arg.consume_front("--"))
      arg.consume_front("-");
    if (arg.consume_front("error-format=")) {
      if (arg != "text" && arg != "json" && (arg != "mlir" || !withMLIR)) {
        llvm::errs() << "--error-format is one of text, json" << (withMLIR ? ", mlir" : "") << ", not `" << arg
                     << "`\n";
        return std::nullopt;
      }
      flags.format = arg == "json"   ? DiagnosticFlags::Format::JSON
                     : arg == "mlir" ? DiagnosticFlags::Format::MLIR
                                     : DiagnosticFlags::Format::Text;
    } else if (arg == "color" || arg == "color=always" || arg == "color=never" || arg == "color=auto") {
      flags.color = arg == "color" ? "always" : arg.drop_front(6).str();
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  return flags;
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context, llvm::raw_ostream &os,
                                     DiagnosticPrinterOptions options,
                                     const llvm::SourceMgr *sources)
    : ScopedDiagnosticHandler(context), os(os), options(options), sources(sources) {
  // Colours are asked for by the options, not by what the stream is.
  if (options.color)
    os.enable_colors(true);
  setHandler([this](Diagnostic &diag) {
    errors += diag.getSeverity() == DiagnosticSeverity::Error;
    warnings += diag.getSeverity() == DiagnosticSeverity::Warning;
    if (holding)
      held.push_back(std::move(diag));
    else
      show(diag);
    return success();
  });
}

DiagnosticPrinter::~DiagnosticPrinter() {
  release();
  if (shownErrors > options.limit) {
    std::string text = "there are more errors; the first " + std::to_string(options.limit) + " are shown";
    if (options.json) {
      os << llvm::json::Value(llvm::json::Object{{"severity", "note"}, {"message", text}}) << '\n';
    } else {
      {
        Paint paint(os, options.color, severityColor(DiagnosticSeverity::Note));
        os << "note";
      }
      os << ": " << text << "\n\n";
    }
  }
  if (options.explain && !options.json && !codes.empty()) {
    SmallVector<StringRef> names = llvm::map_to_vector(codes, stringifyDiagCode);
    names.truncate(std::min(names.size(), kMostCodes));
    os << "For more information: kinac explain " << names.front();
    if (names.size() > 1)
      os << " (or " << llvm::join(ArrayRef(names).drop_front(), ", ") << (codes.size() > kMostCodes ? ", ..)" : ")");
    os << '\n';
  }
  os.flush();
}

void DiagnosticPrinter::addSource(StringRef filename, StringRef text) {
  files[filename] = std::make_unique<SourceLines>(text.str());
}

void DiagnosticPrinter::release() {
  holding = false;
  std::vector<Key> keys;
  for (Diagnostic &diag : held)
    keys.push_back(toKey(diag));
  std::vector<size_t> order(held.size());
  for (auto [index, position] : llvm::enumerate(order))
    position = index;
  // Those at one place keep the order in which they were found.
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tuple_cat(keys[a].order(), std::tuple(a)) < std::tuple_cat(keys[b].order(), std::tuple(b));
  });
  for (size_t index : order) {
    const Key &key = keys[index];
    if (told.insert(key.file + '\n' + std::to_string(key.line) + ':' + std::to_string(key.column) + '\n' + key.text)
            .second)
      show(held[index]);
  }
  held.clear();
}

void DiagnosticPrinter::show(Diagnostic &diag) {
  if (diag.getSeverity() == DiagnosticSeverity::Error && ++shownErrors > options.limit)
    return;
  Message message = read(diag);
  if (message.code && message.severity == DiagnosticSeverity::Error)
    codes.insert(*message.code);
  if (options.json)
    printJson(message);
  else
    printText(message);
  os.flush();
}

const SourceLines *DiagnosticPrinter::getSource(StringRef name) {
  auto it = files.find(name);
  if (it != files.end())
    return it->second.get();
  std::unique_ptr<SourceLines> lines;
  if (sources)
    for (unsigned id = 1; id <= sources->getNumBuffers() && !lines; ++id) {
      const llvm::MemoryBuffer *source = sources->getMemoryBuffer(id);
      if (source->getBufferIdentifier() == name)
        lines = std::make_unique<SourceLines>(source->getBuffer().str());
    }
  if (!lines)
    if (auto file = llvm::MemoryBuffer::getFile(name))
      lines = std::make_unique<SourceLines>((*file)->getBuffer().str());
  return (files[name] = std::move(lines)).get();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void DiagnosticPrinter::printText(const Message &message) {
  // One gutter for the diagnostic and its notes, so that the bars align.
  SnippetStyle style{options.color, severityColor(message.severity), 1};
  auto widen = [&](FileLineColRange range) {
    if (range)
      style.gutter = std::max(style.gutter, digits(range.getEndLine()));
  };
  widen(message.range);
  for (const Message::Note &note : message.notes)
    widen(note.range);

  auto printHead = [&](StringRef kind, std::optional<DiagCode> code, StringRef text, llvm::raw_ostream::Colors color) {
    {
      Paint paint(os, options.color, color);
      os << kind;
      if (code)
        os << '[' << stringifyDiagCode(*code) << ']';
    }
    os << ": " << text << '\n';
  };
  /// The lines of one file; what found no room comes back.
  auto printLines = [&](ArrayRef<Span> spans) -> std::vector<Span> {
    FileLineColRange range = spans.front().range;
    {
      Paint paint(os, options.color, llvm::raw_ostream::BLUE);
      os.indent(style.gutter + 1) << "--> ";
    }
    os << range.getFilename().getValue() << ':' << range.getStartLine();
    if (range.getStartColumn())
      os << ':' << range.getStartColumn();
    os << '\n';
    if (const SourceLines *source = getSource(range.getFilename().getValue()))
      return printSnippet(os, *source, spans, style);
    return std::vector<Span>(spans.drop_front());
  };

  printHead(severityName(message.severity), message.code, message.text, style.primary);
  std::vector<const Message::Note *> below, apart;
  std::vector<Span> spans;
  if (message.range)
    spans.push_back({message.range, "", /*primary=*/true});
  for (const Message::Note &note : message.notes) {
    if (!note.range)
      below.push_back(&note);
    else if (message.range && note.kind == "note" && note.range.getFilename() == message.range.getFilename() &&
             note.text.size() <= kLongestLabel && !StringRef(note.text).contains('\n'))
      spans.push_back({note.range, note.text, /*primary=*/false});
    else
      apart.push_back(&note);
  }
  std::vector<Span> leftOver;
  if (!spans.empty()) {
    leftOver = printLines(spans);
    if (!below.empty() && getSource(message.range.getFilename().getValue()))
      printBar(os, style);
  }
  for (const Message::Note *note : below) {
    {
      Paint paint(os, options.color, llvm::raw_ostream::BLUE);
      os.indent(style.gutter + 2) << "= ";
    }
    {
      Paint paint(os, options.color, severityColor(DiagnosticSeverity::Note));
      os << note->kind;
    }
    os << ": ";
    // Further lines stand below the first one.
    for (char c : note->text) {
      os << c;
      if (c == '\n')
        os.indent(style.gutter + 6 + note->kind.size());
    }
    os << '\n';
  }
  llvm::raw_ostream::Colors noteColor = severityColor(DiagnosticSeverity::Note);
  style.primary = noteColor;
  for (const Span &span : leftOver) {
    // The diagnostic's own place, if it has no column.
    if (span.primary)
      continue;
    printHead("note", std::nullopt, span.label, noteColor);
    printLines(Span{span.range, "", /*primary=*/true});
  }
  for (const Message::Note *note : apart) {
    printHead(note->kind, std::nullopt, note->text, noteColor);
    printLines(Span{note->range, "", /*primary=*/true});
  }
  os << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

void DiagnosticPrinter::printJson(const Message &message) {
  llvm::json::OStream json(os);
  auto writeText = [&](StringRef name, StringRef text) { json.attribute(name, llvm::json::fixUTF8(text)); };
  auto writePlace = [&](FileLineColRange range) {
    if (!range)
      return;
    StringRef file = range.getFilename().getValue();
    writeText("file", file);
    const SourceLines *source = getSource(file);
    auto position = [&](StringRef name, unsigned line, unsigned column) {
      json.attributeObject(name, [&] {
        json.attribute("line", int64_t(line ? line - 1 : 0));
        json.attribute("character",
                       int64_t(source ? source->getUTF16Offset(line, column) : column ? column - 1 : 0));
      });
    };
    json.attributeObject("range", [&] {
      position("start", range.getStartLine(), range.getStartColumn());
      position("end", range.getEndLine(), range.getEndColumn());
    });
    json.attribute("line", int64_t(range.getStartLine()));
    json.attribute("column", int64_t(range.getStartColumn()));
    json.attribute("end_line", int64_t(range.getEndLine()));
    json.attribute("end_column", int64_t(range.getEndColumn()));
  };
  auto writeNotes = [&](StringRef name, StringRef kind) {
    if (llvm::none_of(message.notes, [&](const Message::Note &note) { return !note.range && note.kind == kind; }))
      return;
    json.attributeArray(name, [&] {
      for (const Message::Note &note : message.notes)
        if (!note.range && note.kind == kind)
          json.value(llvm::json::fixUTF8(note.text));
    });
  };
  json.object([&] {
    json.attribute("severity", severityName(message.severity));
    if (message.code)
      json.attribute("code", stringifyDiagCode(*message.code));
    writeText("message", message.text);
    writePlace(message.range);
    writeNotes("notes", "note");
    writeNotes("counterexamples", "counterexample");
    writeNotes("help", "help");
    if (llvm::any_of(message.notes, [](const Message::Note &note) { return bool(note.range); }))
      json.attributeArray("related", [&] {
        for (const Message::Note &note : message.notes)
          if (note.range)
            json.object([&] {
              json.attribute("kind", note.kind);
              writeText("message", note.text);
              writePlace(note.range);
            });
      });
  });
  os << '\n';
}
