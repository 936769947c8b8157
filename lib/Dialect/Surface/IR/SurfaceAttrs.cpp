//===- SurfaceAttrs.cpp - The tree of static syntax -----------------------===//
//
// Text form, verification (which children a kind has) and spelling of
// `#kina_surface.syntax`.
//
//===----------------------------------------------------------------------===//

#include "Kina/Dialect/Surface/IR/Surface.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kina::surface;

#define GET_ATTRDEF_CLASSES
#include "Kina/Dialect/Surface/IR/SurfaceAttrs.cpp.inc"

void SurfaceDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Kina/Dialect/Surface/IR/SurfaceAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Classes of kinds
//===----------------------------------------------------------------------===//

bool kina::surface::isDim(SyntaxKind kind) {
  return kind == SyntaxKind::Int || kind == SyntaxKind::Name ||
         (kind >= SyntaxKind::DimAdd && kind <= SyntaxKind::DimMax);
}

bool kina::surface::isPred(SyntaxKind kind) {
  return kind >= SyntaxKind::PredEq && kind <= SyntaxKind::PredOr;
}

bool kina::surface::isType(SyntaxKind kind) {
  switch (kind) {
  case SyntaxKind::DType:
  case SyntaxKind::TypeTensor:
  case SyntaxKind::TypeName:
  case SyntaxKind::TypeTuple:
  case SyntaxKind::TypeNamedTuple:
  case SyntaxKind::TypeFn:
    return true;
  default:
    return false;
  }
}

bool kina::surface::isLiteral(SyntaxKind kind) { return kind <= SyntaxKind::Bytes; }

bool kina::surface::isPattern(SyntaxKind kind) {
  return kind == SyntaxKind::PatternName || kind == SyntaxKind::PatternWild ||
         kind == SyntaxKind::PatternTuple;
}

static bool isTypeOrRef(SyntaxKind kind) { return isType(kind) || kind == SyntaxKind::TypeRef; }

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult SyntaxAttr::verify(function_ref<InFlightDiagnostic()> emitError, SyntaxKind kind,
                                 StringRef text, ArrayRef<SyntaxAttr> children,
                                 LocationAttr loc) {
  if (!loc)
    return emitError() << "a syntax node has a location";

  // Text stands where the node names or spells something.
  bool wantsText = isLiteral(kind) ? kind != SyntaxKind::String : false;
  switch (kind) {
  case SyntaxKind::DType:
  case SyntaxKind::TypeName:
  case SyntaxKind::TypeMember:
  case SyntaxKind::Place:
  case SyntaxKind::PatternName:
  case SyntaxKind::Param:
  case SyntaxKind::ShapeVar:
  case SyntaxKind::State:
  case SyntaxKind::ReturnCase:
  case SyntaxKind::EffectCase:
  case SyntaxKind::EffectOp:
  case SyntaxKind::Decorator:
  case SyntaxKind::Keyword:
    wantsText = true;
    break;
  default:
    break;
  }
  if (wantsText && text.empty())
    return emitError() << "a node of kind '" << stringifySyntaxKind(kind) << "' has a text";
  if (!wantsText && !text.empty() && kind != SyntaxKind::String)
    return emitError() << "a node of kind '" << stringifySyntaxKind(kind) << "' has no text";

  auto fail = [&](StringRef children) -> LogicalResult {
    return emitError() << "the children of '" << stringifySyntaxKind(kind) << "' are " << children;
  };
  auto each = [&](function_ref<bool(SyntaxKind)> test) {
    return llvm::all_of(children, [&](SyntaxAttr c) { return test(c.getKind()); });
  };
  auto is = [](SyntaxKind wanted) {
    return [wanted](SyntaxKind kind) { return kind == wanted; };
  };
  size_t n = children.size();
  auto kindOf = [&](unsigned i) { return children[i].getKind(); };

  switch (kind) {
  case SyntaxKind::Name:
  case SyntaxKind::Int:
  case SyntaxKind::Float:
  case SyntaxKind::String:
  case SyntaxKind::Bool:
  case SyntaxKind::Bytes:
  case SyntaxKind::DType:
  case SyntaxKind::PatternName:
  case SyntaxKind::PatternWild:
  case SyntaxKind::ReturnCase:
    return n == 0 ? success() : fail("none");
  case SyntaxKind::DimAdd:
  case SyntaxKind::DimSub:
  case SyntaxKind::DimMul:
  case SyntaxKind::DimFloorDiv:
  case SyntaxKind::DimCeilDiv:
  case SyntaxKind::DimMod:
  case SyntaxKind::DimMin:
  case SyntaxKind::DimMax:
  case SyntaxKind::PredEq:
  case SyntaxKind::PredNe:
  case SyntaxKind::PredLt:
  case SyntaxKind::PredLe:
  case SyntaxKind::PredGt:
  case SyntaxKind::PredGe:
    return n == 2 && each(isDim) ? success() : fail("two dimensions");
  case SyntaxKind::PredDivides:
    return n == 2 && kindOf(0) == SyntaxKind::Int && isDim(kindOf(1))
               ? success()
               : fail("an integer and a dimension");
  case SyntaxKind::PredNot:
    return n == 1 && each(isPred) ? success() : fail("one predicate");
  case SyntaxKind::PredAnd:
  case SyntaxKind::PredOr:
    return n == 2 && each(isPred) ? success() : fail("two predicates");
  case SyntaxKind::TypeTensor:
    return n >= 3 && n <= 4 &&
                   (kindOf(0) == SyntaxKind::DType || kindOf(0) == SyntaxKind::Name) &&
                   kindOf(1) == SyntaxKind::Dims && kindOf(2) == SyntaxKind::Preds &&
                   (n == 3 || kindOf(3) == SyntaxKind::Place)
               ? success()
               : fail("an element type, dimensions, predicates and perhaps a place");
  case SyntaxKind::TypeName:
    return each([](SyntaxKind k) { return isDim(k) || k == SyntaxKind::DType; })
               ? success()
               : fail("dimensions and element types");
  case SyntaxKind::TypeTuple:
    return each(isType) ? success() : fail("types");
  case SyntaxKind::TypeNamedTuple:
    return each(is(SyntaxKind::TypeMember)) ? success() : fail("members");
  case SyntaxKind::TypeMember:
  case SyntaxKind::TypeRef:
    return n == 1 && each(isType) ? success() : fail("one type");
  case SyntaxKind::TypeFn:
    return n == 3 && kindOf(0) == SyntaxKind::Types && isType(kindOf(1)) &&
                   kindOf(2) == SyntaxKind::Effects
               ? success()
               : fail("parameter types, a result type and effects");
  case SyntaxKind::Dims:
    return each(isDim) ? success() : fail("dimensions");
  case SyntaxKind::Preds:
    return each(isPred) ? success() : fail("predicates");
  case SyntaxKind::Types:
    return each(isTypeOrRef) ? success() : fail("types");
  case SyntaxKind::Effects:
    return each(is(SyntaxKind::Name)) ? success() : fail("names");
  case SyntaxKind::Place:
    return n == 0 || (n == 2 && kindOf(0) == SyntaxKind::Name && kindOf(1) == SyntaxKind::Int)
               ? success()
               : fail("none, or a name and an integer");
  case SyntaxKind::PatternTuple:
    return each(isPattern) ? success() : fail("patterns");
  case SyntaxKind::Param:
    return n == 0 || (n <= 2 && isTypeOrRef(kindOf(0)) && (n == 1 || isLiteral(kindOf(1))))
               ? success()
               : fail("at most a type and a literal");
  case SyntaxKind::ShapeVar:
    return n == 0 ||
                   (n == 1 && (kindOf(0) == SyntaxKind::Int || kindOf(0) == SyntaxKind::Name))
               ? success()
               : fail("none, an integer or a name");
  case SyntaxKind::State:
    return n == 0 || (n == 1 && each(isType)) ? success() : fail("at most a type");
  case SyntaxKind::EffectCase:
    return n == 2 && kindOf(0) == SyntaxKind::PatternTuple &&
                   kindOf(1) == SyntaxKind::PatternName &&
                   llvm::all_of(children[0].getChildren(),
                                [](SyntaxAttr c) { return c.is(SyntaxKind::PatternName); })
               ? success()
               : fail("the payload's names and the continuation's");
  case SyntaxKind::EffectOp:
    return n == 2 && each(isType) ? success() : fail("two types");
  case SyntaxKind::Decorator:
    return each([](SyntaxKind k) { return isLiteral(k) || k == SyntaxKind::Keyword; })
               ? success()
               : fail("literals and keywords");
  case SyntaxKind::Keyword:
    return n == 1 && each(isLiteral) ? success() : fail("one literal");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Text form
//===----------------------------------------------------------------------===//

static void printNode(AsmPrinter &printer, SyntaxAttr node) {
  printer << stringifySyntaxKind(node.getKind());
  if (!node.getText().empty() || node.is(SyntaxKind::String)) {
    printer << ' ';
    printer.printString(node.getText());
  }
  if (!node.getChildren().empty()) {
    printer << " [";
    llvm::interleaveComma(node.getChildren(), printer.getStream(),
                          [&](SyntaxAttr child) { printNode(printer, child); });
    printer << ']';
  }
  if (!isa<UnknownLoc>(node.getLoc())) {
    printer << ' ';
    printer.printAttribute(node.getLoc());
  }
}

/// Nesting that text may have; deeper trees are not built by the parser either.
static constexpr unsigned kDepthLimit = 4096;

static SyntaxAttr parseNode(AsmParser &parser, unsigned depth) {
  SMLoc start = parser.getCurrentLocation();
  if (depth > kDepthLimit) {
    parser.emitError(start) << "syntax nodes are nested too deeply";
    return {};
  }
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<SyntaxKind> kind = symbolizeSyntaxKind(keyword);
  if (!kind) {
    parser.emitError(start) << "unknown kind of syntax '" << keyword << "'";
    return {};
  }
  std::string text;
  (void)parser.parseOptionalString(&text);
  SmallVector<SyntaxAttr> children;
  if (succeeded(parser.parseOptionalLSquare())) {
    do {
      SyntaxAttr child = parseNode(parser, depth + 1);
      if (!child)
        return {};
      children.push_back(child);
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseRSquare())
      return {};
  }
  LocationAttr loc = UnknownLoc::get(parser.getContext());
  Attribute written;
  OptionalParseResult hasLoc = parser.parseOptionalAttribute(written);
  if (hasLoc.has_value()) {
    if (failed(*hasLoc))
      return {};
    loc = dyn_cast<LocationAttr>(written);
    if (!loc) {
      parser.emitError(start) << "expected a location behind a syntax node";
      return {};
    }
  }
  return parser.getChecked<SyntaxAttr>(start, parser.getContext(), *kind, text, children, loc);
}

Attribute SyntaxAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SyntaxAttr node = parseNode(parser, 0);
  if (!node || parser.parseGreater())
    return {};
  return node;
}

void SyntaxAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printNode(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Values and spelling
//===----------------------------------------------------------------------===//

std::optional<int64_t> SyntaxAttr::getIntValue() const {
  if (is(SyntaxKind::Int)) {
    int64_t value;
    if (getText().getAsInteger(10, value))
      return std::nullopt;
    return value;
  }
  if (!is(SyntaxKind::Bytes))
    return std::nullopt;
  StringRef text = getText();
  uint64_t unit;
  if (text.consume_back("KiB"))
    unit = uint64_t(1) << 10;
  else if (text.consume_back("MiB"))
    unit = uint64_t(1) << 20;
  else if (text.consume_back("GiB"))
    unit = uint64_t(1) << 30;
  else
    return std::nullopt;
  uint64_t count;
  if (text.getAsInteger(10, count) || count > uint64_t(INT64_MAX) / unit)
    return std::nullopt;
  return int64_t(count * unit);
}

std::optional<double> SyntaxAttr::getFloatValue() const {
  double value;
  if ((!is(SyntaxKind::Float) && !is(SyntaxKind::Int)) || getText().getAsDouble(value))
    return std::nullopt;
  return value;
}

/// Binding strength of a spelled dimension or predicate: an operand that binds looser
/// than its place is parenthesised.
static unsigned strengthOf(SyntaxKind kind) {
  switch (kind) {
  case SyntaxKind::PredOr:
    return 1;
  case SyntaxKind::PredAnd:
    return 2;
  case SyntaxKind::PredNot:
    return 3;
  case SyntaxKind::DimAdd:
  case SyntaxKind::DimSub:
    return 5;
  case SyntaxKind::DimMul:
  case SyntaxKind::DimFloorDiv:
  case SyntaxKind::DimCeilDiv:
  case SyntaxKind::DimMod:
    return 6;
  default:
    return isPred(kind) ? 4 : 7;
  }
}

namespace {
class Speller {
public:
  explicit Speller(llvm::raw_ostream &os) : os(os) {}

  void spell(SyntaxAttr node, unsigned least = 0) {
    bool paren = strengthOf(node.getKind()) < least;
    if (paren)
      os << '(';
    spellBare(node);
    if (paren)
      os << ')';
  }

  /// An effect row behind a result type would belong to the arrow in it.
  void resultType(SyntaxAttr type, bool rowFollows) {
    bool paren = rowFollows && type.is(SyntaxKind::TypeFn) && type.getChild(2).getChildren().empty();
    os << (paren ? "(" : "");
    spell(type);
    os << (paren ? ")" : "");
  }

private:
  void list(ArrayRef<SyntaxAttr> nodes) {
    llvm::interleaveComma(nodes, os, [&](SyntaxAttr n) { spell(n); });
  }

  void infix(SyntaxAttr node, StringRef op) {
    unsigned strength = strengthOf(node.getKind());
    bool relation = strength == 4;
    spell(node.getChild(0), relation ? 5 : strength);
    os << ' ' << op << ' ';
    spell(node.getChild(1), relation ? 5 : strength + 1);
  }

  void spellBare(SyntaxAttr node) {
    switch (node.getKind()) {
    case SyntaxKind::String:
      os << '"' << node.getText() << '"';
      return;
    case SyntaxKind::DimAdd:
      return infix(node, "+");
    case SyntaxKind::DimSub:
      return infix(node, "-");
    case SyntaxKind::DimMul:
      spell(node.getChild(0), 6);
      os << '*';
      spell(node.getChild(1), 7);
      return;
    case SyntaxKind::DimFloorDiv:
      return infix(node, "floordiv");
    case SyntaxKind::DimCeilDiv:
      return infix(node, "ceildiv");
    case SyntaxKind::DimMod:
      return infix(node, "mod");
    case SyntaxKind::DimMin:
    case SyntaxKind::DimMax:
      os << (node.is(SyntaxKind::DimMin) ? "min(" : "max(");
      list(node.getChildren());
      os << ')';
      return;
    case SyntaxKind::PredEq:
      return infix(node, "=");
    case SyntaxKind::PredNe:
      return infix(node, "!=");
    case SyntaxKind::PredLt:
      return infix(node, "<");
    case SyntaxKind::PredLe:
      return infix(node, "<=");
    case SyntaxKind::PredGt:
      return infix(node, ">");
    case SyntaxKind::PredGe:
      return infix(node, ">=");
    case SyntaxKind::PredDivides:
      return infix(node, "|");
    case SyntaxKind::PredNot:
      os << "not ";
      spell(node.getChild(0), 3);
      return;
    case SyntaxKind::PredAnd:
      return infix(node, "and");
    case SyntaxKind::PredOr:
      return infix(node, "or");
    case SyntaxKind::TypeTensor:
      os << "tensor<";
      spell(node.getChild(0));
      os << ", [";
      list(node.getChild(1).getChildren());
      os << ']';
      if (!node.getChild(2).getChildren().empty()) {
        os << ", {";
        list(node.getChild(2).getChildren());
        os << '}';
      }
      if (node.getChildren().size() == 4) {
        os << ", ";
        spell(node.getChild(3));
      }
      os << '>';
      return;
    case SyntaxKind::TypeName:
      os << node.getText();
      if (!node.getChildren().empty()) {
        os << '<';
        list(node.getChildren());
        os << '>';
      }
      return;
    case SyntaxKind::TypeTuple:
    case SyntaxKind::TypeNamedTuple:
    case SyntaxKind::PatternTuple:
      os << '(';
      list(node.getChildren());
      os << (node.getChildren().size() == 1 ? ",)" : ")");
      return;
    case SyntaxKind::TypeMember:
      os << node.getText() << ": ";
      spell(node.getChild(0));
      return;
    case SyntaxKind::TypeFn:
      os << "fn(";
      list(node.getChild(0).getChildren());
      os << ") -> ";
      resultType(node.getChild(1), !node.getChild(2).getChildren().empty());
      if (!node.getChild(2).getChildren().empty()) {
        os << " ! {";
        list(node.getChild(2).getChildren());
        os << '}';
      }
      return;
    case SyntaxKind::TypeRef:
      os << '&';
      spell(node.getChild(0));
      return;
    case SyntaxKind::Place:
      os << '@' << node.getText();
      if (!node.getChildren().empty())
        os << ':' << node.getChild(0).getText() << '(' << node.getChild(1).getText() << ')';
      return;
    case SyntaxKind::PatternWild:
      os << '_';
      return;
    case SyntaxKind::Param:
    case SyntaxKind::State:
      os << node.getText();
      if (!node.getChildren().empty()) {
        os << ": ";
        spell(node.getChild(0));
      }
      if (node.getChildren().size() == 2) {
        os << " = ";
        spell(node.getChild(1));
      }
      return;
    case SyntaxKind::ShapeVar:
      os << node.getText();
      if (!node.getChildren().empty()) {
        os << (node.getChild(0).is(SyntaxKind::Int) ? " >= " : ": ");
        spell(node.getChild(0));
      }
      return;
    case SyntaxKind::EffectOp:
      os << node.getText() << " : ";
      spell(node.getChild(0));
      os << " -> ";
      spell(node.getChild(1));
      return;
    case SyntaxKind::Decorator:
      os << '@' << node.getText();
      if (!node.getChildren().empty()) {
        os << '(';
        list(node.getChildren());
        os << ')';
      }
      return;
    case SyntaxKind::Keyword:
      os << node.getText() << '=';
      spell(node.getChild(0));
      return;
    case SyntaxKind::Dims:
    case SyntaxKind::Preds:
    case SyntaxKind::Types:
    case SyntaxKind::Effects:
      return list(node.getChildren());
    case SyntaxKind::EffectCase:
      os << node.getText() << '(';
      list(node.getChild(0).getChildren());
      os << "), ";
      spell(node.getChild(1));
      return;
    case SyntaxKind::ReturnCase:
      os << "return(" << node.getText() << ')';
      return;
    default:
      os << node.getText();
    }
  }

  llvm::raw_ostream &os;
};
} // namespace

std::string kina::surface::spell(SyntaxAttr syntax) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Speller(os).spell(syntax);
  return text;
}

std::string kina::surface::spellResultType(SyntaxAttr type, bool rowFollows) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Speller(os).resultType(type, rowFollows);
  return text;
}
