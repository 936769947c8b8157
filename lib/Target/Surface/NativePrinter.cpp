//===- NativePrinter.cpp - Surface operations in native form --------------===//
//
// Parentheses stand where the grammar needs them: an expression is printed for a place
// that takes a least binding strength. Strengths and places follow ParserExpr.cpp.
//
//===----------------------------------------------------------------------===//

#include "Printers.h"

#include "Kina/Target/Surface/Export.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace kina::surface;
using namespace mlir;
using llvm::StringRef;

namespace {

/// Binding strengths, loosest first.
enum Strength : unsigned {
  // The equation of a check: nothing but its parentheses takes it.
  Equation,
  // Whatever stands between commas and brackets: also what ends in a block.
  Any,
  Cons,
  Or,
  And,
  Not,
  Comparison,
  Sum,
  Product,
  Prefix,
  Power,
  Bang,
  Postfix,
  // What postfix operators follow directly.
  Primary,
};

struct Infix {
  StringRef text;
  Strength strength;
};

Infix infixOf(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Add:
    return {"+", Sum};
  case BinaryKind::Sub:
    return {"-", Sum};
  case BinaryKind::Mul:
    return {"*", Product};
  case BinaryKind::Div:
    return {"/", Product};
  case BinaryKind::Rem:
    return {"%", Product};
  case BinaryKind::MatMul:
    return {"@", Product};
  case BinaryKind::FloorDiv:
    return {"floordiv", Product};
  case BinaryKind::CeilDiv:
    return {"ceildiv", Product};
  case BinaryKind::Mod:
    return {"mod", Product};
  case BinaryKind::Pow:
    return {"**", Power};
  case BinaryKind::Eq:
    return {"==", Comparison};
  case BinaryKind::Ne:
    return {"!=", Comparison};
  case BinaryKind::Lt:
    return {"<", Comparison};
  case BinaryKind::Le:
    return {"<=", Comparison};
  case BinaryKind::Gt:
    return {">", Comparison};
  case BinaryKind::Ge:
    return {">=", Comparison};
  case BinaryKind::And:
    return {"and", And};
  case BinaryKind::Or:
    return {"or", Or};
  case BinaryKind::Cons:
    return {"::", Cons};
  case BinaryKind::EqSign:
    return {"=", Equation};
  case BinaryKind::Divides:
    return {"|", Equation};
  }
  llvm_unreachable("all kinds handled");
}

Strength strengthOf(Operation *op) {
  if (isLeastInteger(op))
    return Prefix;
  return llvm::TypeSwitch<Operation *, Strength>(op)
      .Case<IfOp, WhileOp, ForOp, HandleOp, LambdaOp, BlockOp, SliceOp, PlaceOp>(
          [](auto) { return Any; })
      // Its arguments are side by side: what follows would be taken for one.
      .Case([](FoldLeftOp) { return Any; })
      .Case([](BinaryOp binary) { return infixOf(binary.getKind()).strength; })
      .Case([](UnaryOp unary) {
        switch (unary.getKind()) {
        case UnaryKind::Not:
          return Not;
        case UnaryKind::Bang:
          return Bang;
        default:
          return Prefix;
        }
      })
      .Case<CallOp, FieldOp, IndexOp>([](auto) { return Postfix; })
      .Default([](Operation *) { return Primary; });
}

class NativePrinter {
public:
  explicit NativePrinter(llvm::raw_ostream &os) : os(os) {}

  void item(Operation &op) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](FnOp fn) { printFn(fn); })
        .Case([&](GlobalOp global) {
          decorators(global.getDecorators());
          os << "let " << global.getName().getText();
          type(global.getType());
          if (YieldOp yield = yieldOf(global.getInit())) {
            os << " = ";
            value(yield.getValue());
          }
          os << ";\n";
        })
        .Case([&](EffectOp effect) {
          os << "effect " << effect.getName().getText() << " :";
          for (SyntaxAttr operation : syntaxRange(effect.getOperations()))
            os << "\n  | " << spell(operation);
          os << '\n';
        })
        .Case([&](ImportOp import) { os << "import \"" << import.getPath() << "\";\n"; })
        .Case([&](TypeAliasOp alias) {
          os << "type " << alias.getName().getText();
          shapeVars(alias.getShapeVars());
          os << " = " << spell(alias.getType()) << ";\n";
        });
  }

  void expression(Value operand) { value(operand); }

private:
  //===--- Pieces ------------------------------------------------------------===//

  void list(ArrayAttr nodes) {
    llvm::interleaveComma(syntaxRange(nodes), os, [&](SyntaxAttr node) { os << spell(node); });
  }

  void decorators(std::optional<ArrayAttr> nodes) {
    for (SyntaxAttr node : syntaxRange(nodes.value_or(ArrayAttr())))
      os << spell(node) << ' ';
  }

  void shapeVars(std::optional<ArrayAttr> nodes) {
    if (!nodes)
      return;
    os << '<';
    list(*nodes);
    os << '>';
  }

  void type(std::optional<SyntaxAttr> syntax) {
    if (syntax)
      os << ": " << spell(*syntax);
  }

  void newline() { os << '\n' << std::string(std::min(indent, 60u), ' '); }

  /// The value of a region that has an expression only.
  void regionValue(Region &region) {
    YieldOp yield = yieldOf(region);
    value(yield ? yield.getValue() : Value());
  }

  //===--- Items and statements ------------------------------------------------===//

  void printFn(FnOp fn) {
    for (SyntaxAttr node : syntaxRange(fn.getDecorators().value_or(ArrayAttr())))
      os << spell(node) << '\n';
    os << "fn " << fn.getName().getText();
    shapeVars(fn.getShapeVars());
    os << '(';
    list(fn.getParams());
    os << ')';
    if (std::optional<SyntaxAttr> result = fn.getReturnType())
      os << " -> " << spellResultType(*result, fn.getEffects().has_value());
    if (fn.getEffects()) {
      os << " ! {";
      list(*fn.getEffects());
      os << '}';
    }
    if (fn.getRequiresClauses()) {
      os << "\n    requires ";
      list(*fn.getRequiresClauses());
    }
    os << ' ';
    block(fn.getBody(), /*mayInline=*/false);
    os << '\n';
  }

  /// `{ .. }`; on one line if it may and holds one short expression.
  void block(Region &region, bool mayInline = true) {
    if (region.empty() || region.front().empty()) {
      os << "{ }";
      return;
    }
    YieldOp yield = yieldOf(region);
    bool statements = llvm::any_of(region.front().without_terminator(),
                                   [](Operation &op) { return op.getNumResults() == 0; });
    if (!statements && (!yield || !yield.getValue())) {
      os << "{ }";
      return;
    }
    constexpr size_t inlineOps = 8;
    bool isShort = llvm::hasNItemsOrLess(region.front(), inlineOps) &&
                   llvm::all_of(region.front(), [](Operation &op) { return !op.getNumRegions(); });
    if (mayInline && isShort && !statements) {
      os << "{ ";
      statement(yield);
      os << " }";
      return;
    }
    os << '{';
    indent += 2;
    for (Operation &op : region.front()) {
      if (op.getNumResults() != 0 || (&op == yield.getOperation() && !yield.getValue()))
        continue;
      newline();
      statement(&op);
    }
    indent -= 2;
    newline();
    os << '}';
  }

  void statement(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LetOp let) {
          decorators(let.getDecorators());
          os << "let " << spell(let.getPattern());
          type(let.getType());
          os << " = ";
          value(let.getValue());
          os << ';';
        })
        .Case([&](LetDimOp let) {
          os << "let dim " << let.getName().getText() << " = ";
          value(let.getValue());
          os << ';';
        })
        .Case([&](AssumeOp assume) { os << "assume " << spell(assume.getPred()) << ';'; })
        .Case([&](CheckOp check) {
          os << "check ";
          condition(check.getCond(), Or);
          if (check.getMessage())
            os << ", \"" << *check.getMessage() << '"';
          os << ';';
        })
        .Case([&](DoOp stmt) {
          decorators(stmt.getDecorators());
          value(stmt.getValue());
          os << ';';
        })
        .Case([&](AssignOp assign) {
          os << assign.getName().getText() << " := ";
          value(assign.getValue());
          os << ';';
        })
        .Case([&](YieldOp yield) {
          decorators(yield.getDecorators());
          value(yield.getValue());
        });
  }

  //===--- Expressions ---------------------------------------------------------===//

  /// The condition of a check, where equations and divisors stand without parentheses at
  /// the level of comparisons.
  void condition(Value operand, unsigned least) {
    Operation *op = operand.getDefiningOp();
    auto binary = dyn_cast<BinaryOp>(op);
    if (binary && llvm::is_contained({BinaryKind::Or, BinaryKind::And}, binary.getKind())) {
      Infix infix = infixOf(binary.getKind());
      if (infix.strength >= least) {
        condition(binary.getLhs(), infix.strength);
        os << ' ' << infix.text << ' ';
        condition(binary.getRhs(), infix.strength + 1);
        return;
      }
    } else if (auto unary = dyn_cast<UnaryOp>(op); unary && unary.getKind() == UnaryKind::Not) {
      os << "not ";
      condition(unary.getOperand(), Not);
      return;
    } else if (binary && infixOf(binary.getKind()).strength == Equation) {
      value(binary.getLhs(), Sum);
      os << ' ' << infixOf(binary.getKind()).text << ' ';
      value(binary.getRhs(), Sum);
      return;
    }
    value(operand, least);
  }

  void value(Value operand, unsigned least = Any) {
    if (!operand)
      return;
    Operation *op = operand.getDefiningOp();
    bool paren = strengthOf(op) < least;
    if (paren)
      os << '(';
    bare(op, paren);
    if (paren)
      os << ')';
  }

  void values(OperandRange operands) {
    llvm::interleaveComma(operands, os, [&](Value operand) { value(operand); });
  }

  void arguments(OperandRange args, std::optional<ArrayAttr> keywords) {
    os << '(';
    llvm::interleaveComma(llvm::zip(args, keywordsOf(keywords, args.size())), os, [&](auto pair) {
      auto [arg, keyword] = pair;
      if (!keyword.empty())
        os << keyword << '=';
      value(arg);
    });
    os << ')';
  }

  /// What a postfix operator stands behind; a number would take a dot into itself.
  void base(Value operand) {
    auto literal = operand.getDefiningOp<LiteralOp>();
    bool number = literal && (literal.getKind() == LiteralKind::Int ||
                              literal.getKind() == LiteralKind::Float);
    if (!number)
      return value(operand, Postfix);
    os << '(';
    value(operand);
    os << ')';
  }

  /// An argument of `fold_left`.
  void atom(Value operand) {
    Operation *op = operand.getDefiningOp();
    auto isName = [](Operation *op) { return isa_and_present<NameOp>(op); };
    auto unary = dyn_cast<UnaryOp>(op);
    auto literal = dyn_cast<LiteralOp>(op);
    auto empty = dyn_cast<ListOp>(op);
    bool plain = isName(op) || isa<UnitOp>(op) || (empty && empty.getElements().empty()) ||
                 (unary && unary.getKind() == UnaryKind::Bang &&
                  isName(unary.getOperand().getDefiningOp())) ||
                 (literal && !isLeastInteger(op) &&
                  (literal.getKind() == LiteralKind::Int ||
                   literal.getKind() == LiteralKind::Float));
    if (plain)
      return value(operand);
    os << '(';
    value(operand);
    os << ')';
  }

  void states(ArrayAttr nodes, OperandRange inits) {
    os << " [";
    llvm::interleaveComma(llvm::zip(syntaxRange(nodes), inits), os, [&](auto pair) {
      os << spell(std::get<0>(pair)) << " = ";
      value(std::get<1>(pair));
    });
    os << "] ";
  }

  void bare(Operation *op, bool paren) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LiteralOp literal) {
          if (literal.getKind() == LiteralKind::String)
            os << '"' << literal.getString() << '"';
          else
            os << literal.getSpelling();
        })
        .Case([&](NameOp name) { os << name.getName(); })
        .Case([&](DTypeOp dtype) { os << dtype.getDtype(); })
        .Case([&](UnitOp) { os << "()"; })
        .Case([&](PlaceOp place) { os << spell(place.getPlace()); })
        .Case([&](TypeExprOp type) { os << spell(type.getType()); })
        .Case([&](TupleOp tuple) {
          os << '(';
          llvm::interleaveComma(
              llvm::zip(tuple.getMembers(),
                        keywordsOf(tuple.getNames(), tuple.getMembers().size())),
              os, [&](auto pair) {
                auto [member, name] = pair;
                if (!name.empty())
                  os << name << " = ";
                value(member);
              });
          os << (tuple.getMembers().size() == 1 && !tuple.getNames() ? ",)" : ")");
        })
        .Case([&](ListOp list) {
          os << '[';
          values(list.getElements());
          os << ']';
        })
        .Case([&](SliceOp slice) {
          value(slice.getLo());
          os << ':';
          value(slice.getHi());
        })
        .Case([&](UnaryOp unary) { printUnary(unary); })
        .Case([&](BinaryOp binary) { printBinary(binary, paren); })
        .Case([&](CallOp call) {
          base(call.getCallee());
          if (call.getTypeArgument())
            os << '<' << spell(*call.getTypeArgument()) << '>';
          arguments(call.getArgs(), call.getKeywords());
        })
        .Case([&](FieldOp field) {
          base(field.getBase());
          os << '.' << field.getMember();
        })
        .Case([&](IndexOp index) {
          base(index.getBase());
          os << '[';
          values(index.getSubscripts());
          os << ']';
        })
        .Case([&](PerformOp perform) {
          os << "perform " << perform.getOpName();
          arguments(perform.getArgs(), perform.getKeywords());
        })
        .Case([&](FoldLeftOp fold) {
          os << "fold_left ";
          atom(fold.getFunction());
          os << ' ';
          atom(fold.getStart());
          os << ' ';
          atom(fold.getList());
        })
        .Case([&](IfOp op) { printIf(op); })
        .Case([&](WhileOp loop) {
          os << "while (";
          regionValue(loop.getCond());
          os << ')';
          states(loop.getStates(), loop.getInits());
          block(loop.getBody());
        })
        .Case([&](ForOp loop) {
          os << "for (" << loop.getVar().getText() << " in ";
          value(loop.getLo());
          os << " .. ";
          value(loop.getHi());
          os << ')';
          states(loop.getStates(), loop.getInits());
          block(loop.getBody());
        })
        .Case([&](HandleOp handle) {
          os << "handle ";
          regionValue(handle.getBody());
          os << " with {";
          indent += 2;
          for (auto [node, region] :
               llvm::zip(syntaxRange(handle.getCases()), handle.getCaseRegions())) {
            newline();
            os << spell(node) << " => ";
            regionValue(region);
            os << ',';
          }
          indent -= 2;
          newline();
          os << '}';
        })
        .Case([&](LambdaOp lambda) {
          os << "fn(";
          list(lambda.getParams());
          os << ')';
          if (lambda.getReturnType())
            os << " -> " << spell(*lambda.getReturnType());
          os << ' ';
          block(lambda.getBody());
        })
        .Case([&](BlockOp op) { block(op.getBody()); });
  }

  void printUnary(UnaryOp unary) {
    switch (unary.getKind()) {
    case UnaryKind::Neg:
      os << '-';
      return value(unary.getOperand(), Prefix);
    case UnaryKind::Not:
      os << "not ";
      return value(unary.getOperand(), Not);
    case UnaryKind::Bang:
      os << '!';
      return value(unary.getOperand(), Bang);
    case UnaryKind::Ref:
      os << "ref ";
      return value(unary.getOperand(), Prefix);
    }
  }

  void printBinary(BinaryOp binary, bool paren) {
    Infix infix = infixOf(binary.getKind());
    unsigned left = infix.strength, right = infix.strength + 1;
    switch (infix.strength) {
    case Equation:
      // `(a = b)` would be a tuple with a named member.
      left = paren && binary.getLhs().getDefiningOp<NameOp>() ? Primary + 1 : unsigned(Sum);
      right = Sum;
      break;
    case Comparison:
      left = right = Sum;
      break;
    case Cons:
      left = Or;
      right = Cons;
      break;
    case Power:
      left = Bang;
      right = Power;
      break;
    default:
      break;
    }
    value(binary.getLhs(), left);
    os << ' ' << infix.text << ' ';
    if (infix.strength == Power)
      return exponent(binary.getRhs());
    value(binary.getRhs(), right);
  }

  /// The right operand of `**` may carry minus signs.
  void exponent(Value operand) {
    auto unary = operand.getDefiningOp<UnaryOp>();
    if (!unary || unary.getKind() != UnaryKind::Neg)
      return value(operand, Power);
    os << '-';
    exponent(unary.getOperand());
  }

  void printIf(IfOp op) {
    os << "if (";
    value(op.getCond());
    os << ") ";
    block(op.getThenRegion());
    Region &otherwise = op.getElseRegion();
    if (otherwise.empty())
      return;
    os << " else ";
    auto inner = isExprRegion(otherwise) ? yieldOf(otherwise).getValue().getDefiningOp<IfOp>() : IfOp();
    if (inner)
      printIf(inner);
    else
      block(otherwise);
  }

  llvm::raw_ostream &os;
  unsigned indent = 0;
};

} // namespace

std::string kina::surface::printNative(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  NativePrinter printer(os);
  for (Operation &op : *module.getBody()) {
    os << (text.empty() ? "" : "\n");
    printer.item(op);
  }
  return text;
}

std::string kina::spellExpression(Value expression) {
  std::string text;
  llvm::raw_string_ostream os(text);
  NativePrinter(os).expression(expression);
  return text;
}
