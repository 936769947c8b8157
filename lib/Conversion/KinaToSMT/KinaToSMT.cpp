//===- KinaToSMT.cpp - Predicates over sizes as SMT-LIB -------------------===//

#include "Kina/Conversion/KinaToSMT.h"
#include "mlir/Dialect/SMT/IR/SMTOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Target/SMTLIB/ExportSMTLIB.h"

using namespace mlir;

namespace kina {

namespace {

/// Emits each attribute once.
class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &builder, const SMTQuestion &question) : builder(builder) {
    for (auto [index, name] : llvm::enumerate(question.names)) {
      auto constant = smt::DeclareFunOp::create(builder, smt::IntType::get(builder.getContext()),
                                                builder.getStringAttr(SMTEncoder::getSymbol(name, index)));
      names[name] = constant.getResult();
    }
  }

  Value number(int64_t value) {
    // The attribute is signed, one bit more than needed keeps the sign of the least number.
    return smt::IntConstantOp::create(
        builder, builder.getIntegerAttr(builder.getIntegerType(65, /*isSigned=*/true), llvm::APInt(65, value, true)));
  }

  Value emit(DimAtomAttr atom) {
    if (atom.getKind() == AtomKind::Name)
      return names.lookup(atom.getName());
    auto [it, inserted] = known.try_emplace(atom);
    if (!inserted)
      return it->second;
    SmallVector<Value> args;
    for (DimAttr arg : atom.getArgs())
      args.push_back(emit(arg));
    Value result = args[0];
    for (Value next : llvm::drop_begin(args)) {
      if (atom.getKind() == AtomKind::FloorDiv) {
        // SMT-LIB rounds down for a positive divisor, and others do not occur.
        if (!atom.getArgs()[1].isConstant())
          assertTrue(compare(smt::IntPredicate::ge, next, number(1)));
        result = smt::IntDivOp::create(builder, result, next);
        continue;
      }
      auto predicate = atom.getKind() == AtomKind::Min ? smt::IntPredicate::le : smt::IntPredicate::ge;
      result = smt::IteOp::create(builder, compare(predicate, result, next), result, next);
    }
    return known[atom] = result;
  }

  Value emit(DimAttr dim) {
    auto [it, inserted] = known.try_emplace(dim);
    if (!inserted)
      return it->second;
    SmallVector<Value> sum;
    for (DimTermAttr term : dim.getTerms()) {
      SmallVector<Value> product;
      if (term.getCoefficient() != 1 || term.getFactors().empty())
        product.push_back(number(term.getCoefficient()));
      for (DimAtomAttr atom : term.getFactors())
        product.push_back(emit(atom));
      sum.push_back(product.size() == 1 ? product[0] : smt::IntMulOp::create(builder, product).getResult());
    }
    Value result = sum.empty()       ? number(0)
                   : sum.size() == 1 ? sum[0]
                                     : smt::IntAddOp::create(builder, sum).getResult();
    return known[dim] = result;
  }

  Value emit(PredAttr pred) {
    SmallVector<Value> args;
    for (DimAttr dim : pred.getDims())
      args.push_back(emit(dim));
    for (PredAttr part : pred.getPreds())
      args.push_back(emit(part));
    switch (pred.getKind()) {
    case PredKind::EQ:
      return smt::EqOp::create(builder, args[0], args[1]);
    case PredKind::NE:
      return smt::DistinctOp::create(builder, args[0], args[1]);
    case PredKind::LE:
      return compare(smt::IntPredicate::le, args[0], args[1]);
    case PredKind::LT:
      return compare(smt::IntPredicate::lt, args[0], args[1]);
    case PredKind::And:
      return smt::AndOp::create(builder, args);
    case PredKind::Or:
      return smt::OrOp::create(builder, args);
    case PredKind::Not:
      return smt::NotOp::create(builder, args[0]);
    }
    llvm_unreachable("all kinds handled");
  }

  Value emitNot(Value value) { return smt::NotOp::create(builder, value); }
  void assertTrue(Value value) { smt::AssertOp::create(builder, value); }
  void assertAtLeast(StringRef name, int64_t least) {
    assertTrue(compare(smt::IntPredicate::ge, names.lookup(name), number(least)));
  }

private:
  Value compare(smt::IntPredicate predicate, Value a, Value b) {
    return smt::IntCmpOp::create(builder, predicate, a, b);
  }

  ImplicitLocOpBuilder &builder;
  llvm::DenseMap<StringRef, Value> names;
  llvm::DenseMap<Attribute, Value> known;
};

} // namespace

SMTEncoder::SMTEncoder() : context(MLIRContext::Threading::DISABLED) { context.loadDialect<smt::SMTDialect>(); }

std::string SMTEncoder::getSymbol(StringRef name, size_t index) {
  // Letters and digits are a symbol by themselves; the index tells the others apart.
  std::string symbol;
  static constexpr StringRef reserved[] = {"abs", "and", "as",  "assert", "distinct", "div", "exists", "false", "forall", "ite",
                                           "let", "match", "mod", "not",    "or",       "par", "true",   "xor"};
  bool plain = !name.empty() && !llvm::isDigit(name[0]) && !llvm::is_contained(reserved, name);
  for (char c : name) {
    bool isPlain = llvm::isAlnum(c);
    plain &= isPlain;
    symbol += isPlain ? c : '.';
  }
  return plain ? symbol : "v" + symbol + "." + std::to_string(index);
}

OwningOpRef<ModuleOp> SMTEncoder::encode(const SMTQuestion &question) {
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  ImplicitLocOpBuilder builder(loc, &context);
  builder.setInsertionPointToEnd(module->getBody());
  auto solver = smt::SolverOp::create(builder, TypeRange(), ValueRange());
  builder.setInsertionPointToEnd(&solver.getBodyRegion().emplaceBlock());
  Emitter emitter(builder, question);
  for (auto [name, least] : llvm::zip_equal(question.names, question.least))
    if (least != INT64_MIN)
      emitter.assertAtLeast(name, least);
  for (PredAttr fact : question.facts)
    emitter.assertTrue(emitter.emit(fact));
  if (question.goal)
    emitter.assertTrue(emitter.emitNot(emitter.emit(question.goal)));
  auto check = smt::CheckOp::create(builder, TypeRange());
  for (Region &region : check->getRegions()) {
    OpBuilder inner(&context);
    inner.setInsertionPointToEnd(&region.emplaceBlock());
    smt::YieldOp::create(inner, loc);
  }
  smt::YieldOp::create(builder);
  return module;
}

std::string SMTEncoder::toSMTLIB(const SMTQuestion &question) {
  OwningOpRef<ModuleOp> module = encode(question);
  std::string text;
  llvm::raw_string_ostream os(text);
  smt::SMTEmissionOptions options;
  options.inlineSingleUseValues = true;
  if (failed(smt::exportSMTLIB(*module, os, options)))
    return {};
  // The exporter closes the scope of a solver, which would take back what was asserted before
  // a reader of the text has asked for it.
  if (size_t end = text.rfind("(reset)"); end != std::string::npos)
    text.resize(end);
  return text;
}

} // namespace kina
