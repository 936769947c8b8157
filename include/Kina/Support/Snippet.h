//===- Snippet.h - Source lines with what is underlined in them -*- C++ -*-===//

#ifndef KINA_SUPPORT_SNIPPET_H
#define KINA_SUPPORT_SNIPPET_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace kina {

/// What some editors begin a file with; in UTF-8 it says nothing.
inline constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

/// A source text, by lines.
class SourceLines {
public:
  explicit SourceLines(std::string text);
  /// Line `number`, from 1, without its end; nothing if the text has no such line.
  std::optional<llvm::StringRef> getLine(unsigned number) const;
  /// The UTF-16 units in front of a column (from 1, in bytes) of a line, as the Language Server
  /// Protocol counts.
  unsigned getUTF16Offset(unsigned line, unsigned column) const;

private:
  std::string text;
  std::vector<size_t> starts;
};

/// A place in a file, and what is said of it there.
struct Span {
  mlir::FileLineColRange range;
  std::string label;
  bool primary = false;
};

struct SnippetStyle {
  bool color = false;
  /// Of the primary span.
  llvm::raw_ostream::Colors primary = llvm::raw_ostream::RED;
  /// Cells that line numbers take.
  unsigned gutter = 1;
};

/// Prints the lines of one file that the spans are on, each span underlined and labelled; the
/// first one is never left out. Returns the others that found no room.
std::vector<Span> printSnippet(llvm::raw_ostream &os, const SourceLines &source, llvm::ArrayRef<Span> spans,
                               const SnippetStyle &style);

/// The bar of a snippet without a line, by which notes are set off.
void printBar(llvm::raw_ostream &os, const SnippetStyle &style);

} // namespace kina

#endif
