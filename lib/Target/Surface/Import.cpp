//===- Import.cpp - The translation --import-kina -------------------------===//

#include "Kina/Target/Surface/Import.h"
#include "Kina/Support/DeepStack.h"
#include "Parser.h"

#include "Kina/Support/Snippet.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SourceMgr.h"

using namespace kina;
using namespace kina::surface;
using namespace mlir;

/// The offset of the first byte that no text has, or npos.
static size_t findBadByte(StringRef text) {
  for (size_t at = 0; at < text.size();) {
    unsigned char c = text[at];
    if (c == 0)
      return at;
    if (c < 0x80) {
      ++at;
      continue;
    }
    auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data()) + at;
    auto *end = reinterpret_cast<const llvm::UTF8 *>(text.data()) + text.size();
    if (!llvm::isLegalUTF8Sequence(begin, end))
      return at;
    at += llvm::getNumBytesForUTF8(c);
  }
  return StringRef::npos;
}

static OwningOpRef<ModuleOp> parseSource(StringRef text, StringRef filename,
                                         MLIRContext *context, bool onlyStructure,
                                         bool keepGoing = false) {
  context->loadDialect<SurfaceDialect>();
  size_t marked = text.consume_front(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (text.size() >= Token::kNoComment) {
    emitError(FileLineColLoc::get(context, filename, 1, 1), DiagCode::K0110,
              "the input has more than 4 GiB");
    return {};
  }
  if (size_t bad = findBadByte(text); bad != StringRef::npos) {
    StringRef before = text.take_front(bad);
    unsigned line = before.count('\n') + 1;
    unsigned column = bad - (before.rfind('\n') + 1) + 1;
    emitError(FileLineColRange::get(StringAttr::get(context, filename), line, column, column + 1),
              DiagCode::K0110)
        << "the input is not text: "
        << (text[bad] == '\0' ? "a NUL byte" : "invalid UTF-8") << " at offset " << bad + marked;
    return {};
  }
  Parser parser(text, filename, context, onlyStructure);
  OwningOpRef<ModuleOp> module(
      ModuleOp::create(FileLineColRange::get(context, filename, 1, 1)));
  LogicalResult parsed = failure();
  runOnDeepStack([&] { parsed = parser.parseModule(*module); });
  if (failed(parsed) && !keepGoing)
    return {};
  return module;
}

OwningOpRef<ModuleOp> kina::importKinaSource(StringRef text, StringRef filename,
                                             MLIRContext *context, bool keepGoing) {
  return parseSource(text, filename, context, /*onlyStructure=*/false, keepGoing);
}

void kina::registerImportKinaTranslation() {
  static TranslateToMLIRRegistration registration(
      "import-kina", "translate Kina source to the surface dialect",
      [](llvm::SourceMgr &sources, MLIRContext *context) -> OwningOpRef<Operation *> {
        const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
        return importKinaSource(buffer->getBuffer(), buffer->getBufferIdentifier(), context);
      },
      [](DialectRegistry &registry) { registry.insert<SurfaceDialect>(); });
}

void kina::registerKinaSyntaxCheck() {
  static TranslateRegistration registration(
      "kina-syntax-check", "print whether each part of the input parses",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
         MLIRContext *context) {
        context->loadDialect<SurfaceDialect>();
        ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
        StringRef rest = sources->getMemoryBuffer(sources->getMainFileID())->getBuffer();
        while (!rest.empty()) {
          auto [part, tail] = rest.split("%%%%%%%%%%\n");
          rest = tail;
          OwningOpRef<ModuleOp> module = parseSource(part, "part", context, /*onlyStructure=*/true);
          os << (!module ? "error" : failed(verify(*module)) ? "invalid" : "ok") << '\n';
        }
        return success();
      });
}
