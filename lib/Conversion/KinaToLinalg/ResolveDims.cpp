//===- ResolveDims.cpp - Dimensions as run-time values --------------------===//
//
// An equation `dimension = size` per axis of a tensor argument, and per integer argument that
// is a shape variable, is solved for the names in it: one that is alone, then what is linear
// in one unknown, over and over. Everything is computed at the entry of the function, so that
// it dominates every use, however deeply nested; what depends on a bound name is computed at
// its use.
//
//===----------------------------------------------------------------------===//

#include "Utils.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace kina {

namespace {

class DimResolver {
public:
  explicit DimResolver(func::FuncOp function)
      : function(function), spellings(function), entry(function.getContext()), dominance(function) {
    entry.setInsertionPointToStart(&function.getBody().front());
    // New operations go before the first old one, in the order of their need.
    entry.setInsertionPoint(&function.getBody().front().front());
  }

  LogicalResult run();

private:
  /// A dimension, and where its value is found: an axis of a tensor argument, or an integer
  /// argument (axis -1).
  struct Equation {
    DimAttr dim;
    BlockArgument argument;
    int axis;
    /// The name that it defines, or "".
    StringRef defines;
    /// `dim` is `coefficient * defines + rest`.
    DimAttr coefficient, rest;
  };

  void collectEquations();
  void solve();
  bool solveFor(Equation &equation, StringRef name);
  void emitEntryChecks();

  Value emitSize(const Equation &equation);
  Value getEntryName(StringRef name);
  bool isKnownAtEntry(DimAttr dim);
  bool isKnownAtEntry(PredAttr pred);

  /// The value of a name at the operation; null after an error.
  Value getName(StringRef name, OpBuilder &builder, Operation *use);
  Value getDim(DimAttr dim, OpBuilder &builder, Operation *use);
  Value emitDim(DimAttr dim, OpBuilder &builder, Operation *use);
  /// What is computed for a dimension; `fits` becomes false if the result wraps, and stays null
  /// where none can.
  Value emitProduct(Value a, Value b, Value &fits, OpBuilder &builder);
  Value emitSum(Value a, Value b, bool subtract, Value &fits, OpBuilder &builder);
  /// A dimension that does not fit into the type in which the program computes ends the call (K0802).
  void emitRangeCheck(Value value, DimOp dim, OpBuilder &builder);
  /// A dimension that wraps ends the call (K0802).
  void emitFitCheck(Value fits, DimAttr dim, OpBuilder &builder, Operation *use);
  Value emitAtom(DimAtomAttr atom, OpBuilder &builder, Operation *use);
  Value emitPred(PredAttr pred, OpBuilder &builder, Operation *use);
  /// Tells the optimiser what was proved, if it is of a kind that helps it; computes nothing that could wrap.
  void emitFact(PredAttr pred, OpBuilder &builder, Operation *use);
  Value emitPlain(DimAttr dim, OpBuilder &builder, Operation *use);
  Value emitRelation(PredKind kind, Value a, Value b, OpBuilder &builder);
  std::string describe(const Equation &equation);
  /// `N = {2}, K = {3}`: the names that are known at `use`, with their `values`.
  std::string listNames(const NameSet &all, SmallVectorImpl<Value> &values, OpBuilder &builder, Operation *use);

  Value index(OpBuilder &builder, int64_t value) { return createIndex(builder, function.getLoc(), value); }

  func::FuncOp function;
  Spellings spellings;
  OpBuilder entry;
  DominanceInfo dominance;
  SmallVector<Equation> equations;
  llvm::StringMap<unsigned> definitions;
  llvm::StringMap<Value> names;
  llvm::DenseMap<Attribute, Value> entryDims;
  SmallVector<BindDimOp> binds;
  llvm::DenseSet<std::pair<Attribute, Type>> tested;
};

} // namespace

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

void DimResolver::collectEquations() {
  auto typed = cast<FunctionType>(function->getAttrOfType<TypeAttr>(kFunctionTypeAttrName).getValue());
  MLIRContext *context = function.getContext();
  for (auto [argument, type] : llvm::zip(function.getArguments(), typed.getInputs())) {
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kDimArgAttrName))
      equations.push_back({DimAttr::getName(context, name.getValue()), argument, -1, {}, {}, {}});
    for (auto [axis, dim] : llvm::enumerate(getShape(type)))
      if (!dim.isConstant())
        equations.push_back({dim, argument, static_cast<int>(axis), {}, {}, {}});
  }
}

/// Sets coefficient and rest if the dimension is linear in the name.
bool DimResolver::solveFor(Equation &equation, StringRef name) {
  MLIRContext *context = function.getContext();
  DimAttr coefficient = DimAttr::getConstant(context, 0), rest = coefficient;
  for (DimTermAttr term : equation.dim.getTerms()) {
    DimAttr product = DimAttr::getConstant(context, term.getCoefficient());
    unsigned degree = 0;
    for (DimAtomAttr atom : term.getFactors()) {
      DimAttr factor = DimAttr::get(context, DimTermAttr::get(context, 1, atom));
      if (atom.getKind() == AtomKind::Name && atom.getName() == name) {
        ++degree;
        continue;
      }
      NameSet inside;
      collectNames(factor, inside);
      if (inside.contains(name))
        return false;
      product = mulDims(product, factor);
    }
    if (degree > 1)
      return false;
    DimAttr &part = degree ? coefficient : rest;
    part = addDims(part, product);
  }
  if (!coefficient || !rest)
    return false;
  equation.coefficient = coefficient;
  equation.rest = rest;
  return true;
}

void DimResolver::solve() {
  collectEquations();
  auto define = [&](unsigned i, StringRef name) {
    equations[i].defines = name;
    definitions[name] = i;
  };
  // A name alone costs nothing, and an integer argument less than a size.
  for (bool integers : {true, false})
    for (auto [i, equation] : llvm::enumerate(equations)) {
      StringRef name = equation.dim.getSingleName();
      if (name.empty() || definitions.contains(name) || (equation.axis < 0) != integers)
        continue;
      solveFor(equation, name);
      define(i, name);
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [i, equation] : llvm::enumerate(equations)) {
      if (!equation.defines.empty())
        continue;
      NameSet all;
      collectNames(equation.dim, all);
      all.remove_if([&](StringRef name) { return definitions.contains(name); });
      if (all.size() != 1 || !solveFor(equation, all[0]))
        continue;
      define(i, all[0]);
      changed = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value DimResolver::emitSize(const Equation &equation) {
  Location loc = function.getLoc();
  if (equation.axis < 0)
    return emitPosition(entry, loc, equation.argument, equation.argument.getType());
  return entry.createOrFold<tensor::DimOp>(loc, equation.argument, static_cast<int64_t>(equation.axis));
}

Value DimResolver::getEntryName(StringRef name) {
  auto known = names.find(name);
  if (known != names.end())
    return known->second;
  Equation &equation = equations[definitions.lookup(name)];
  Location loc = function.getLoc();
  Value value = emitSize(equation);
  if (!equation.rest.isConstant(0))
    value = entry.createOrFold<arith::SubIOp>(loc, value, getDim(equation.rest, entry, nullptr));
  if (!equation.coefficient.isConstant(1)) {
    Value coefficient = getDim(equation.coefficient, entry, nullptr);
    // A product of sizes may be 0 in a call that the entry checks are about to refuse.
    if (!equation.coefficient.isConstant())
      coefficient = entry.createOrFold<arith::MaxSIOp>(loc, coefficient, index(entry, 1));
    value = entry.createOrFold<arith::FloorDivSIOp>(loc, value, coefficient);
  }
  names[name] = value;
  return value;
}

bool DimResolver::isKnownAtEntry(DimAttr dim) {
  NameSet all;
  collectNames(dim, all);
  return llvm::all_of(all, [&](StringRef name) { return definitions.contains(name); });
}

bool DimResolver::isKnownAtEntry(PredAttr pred) {
  NameSet all;
  collectNames(pred, all);
  return llvm::all_of(all, [&](StringRef name) { return definitions.contains(name); });
}

Value DimResolver::getName(StringRef name, OpBuilder &builder, Operation *use) {
  if (definitions.contains(name))
    return getEntryName(name);
  // Of several bindings of a name the last before the use is meant.
  for (BindDimOp bind : llvm::reverse(binds))
    if (bind.getName() == name && use && dominance.properlyDominates(bind.getOperation(), use))
      return emitPosition(builder, use->getLoc(), bind.getValue(), bind.getValue().getType());
  if (use)
    use->emitError() << "K0203: shape variable '" << name << "' cannot be computed here from the parameters";
  return {};
}

/// What holds at the entry is computed there, once for each dimension; the rest at the use.
Value DimResolver::getDim(DimAttr dim, OpBuilder &builder, Operation *use) {
  if (!isKnownAtEntry(dim))
    return emitDim(dim, builder, use);
  if (Value known = entryDims.lookup(dim))
    return known;
  Value value = emitDim(dim, entry, use);
  entryDims[dim] = value;
  return value;
}

/// Ends the call unless `fits`: sizes that were proven equal, or below others, must be so in
/// 64 bits too. The body of a structured operation has no effects, and no check.
void DimResolver::emitFitCheck(Value fits, DimAttr dim, OpBuilder &builder, Operation *use) {
  if (&builder != &entry && use->getParentOfType<linalg::LinalgOp>())
    return;
  NameSet all;
  collectNames(dim, all);
  std::string message = "the dimension " + spellings.spell(dim) + " does not fit into 64 bits";
  SmallVector<Value> values;
  if (std::string names = listNames(all, values, builder, use); !names.empty())
    message += ": " + names;
  createCheck(builder, function.getLoc(), fits, kArgumentCode, message, values);
}

/// Both, the first of which may be null.
static Value conjoin(OpBuilder &builder, Location loc, Value a, Value b) {
  return a ? builder.createOrFold<arith::AndIOp>(loc, a, b) : b;
}

void DimResolver::emitRangeCheck(Value value, DimOp dim, OpBuilder &builder) {
  auto type = dyn_cast<IntegerType>(dim.getType());
  if (!type || type.getWidth() >= 64 || getConstantIntValue(value) == 0)
    return;
  // Once for a name, at the entry; what is computed may be meant for one branch only.
  bool atEntry = !dim.getValue().getSingleName().empty() && isKnownAtEntry(dim.getValue());
  if (atEntry && !tested.insert({dim.getValue(), type}).second)
    return;
  OpBuilder at = atEntry ? entry : builder;
  if (!atEntry)
    if (auto structured = dim->getParentOfType<linalg::LinalgOp>())
      at.setInsertionPoint(structured);
  createRangeCheck(at, dim.getLoc(), value, dim.getValue(), type);
}

Value DimResolver::emitProduct(Value a, Value b, Value &fits, OpBuilder &builder) {
  Location loc = function.getLoc();
  Type i64 = builder.getI64Type();
  auto wide = arith::MulSIExtendedOp::create(builder, loc,
                                             builder.createOrFold<arith::IndexCastOp>(loc, i64, a),
                                             builder.createOrFold<arith::IndexCastOp>(loc, i64, b));
  // The upper half of a product that fits repeats the sign of the lower.
  Value bits = arith::ConstantIntOp::create(builder, loc, i64, 63);
  Value sign = arith::ShRSIOp::create(builder, loc, wide.getLow(), bits);
  fits = conjoin(builder, loc, fits,
                 arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, wide.getHigh(), sign));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), wide.getLow());
}

Value DimResolver::emitSum(Value a, Value b, bool subtract, Value &fits, OpBuilder &builder) {
  Location loc = function.getLoc();
  Value sum = subtract ? builder.createOrFold<arith::SubIOp>(loc, a, b)
                       : builder.createOrFold<arith::AddIOp>(loc, a, b);
  // A size less a constant is always in range.
  if (getConstantIntValue(sum) || (subtract && getConstantIntValue(b)))
    return sum;
  // a + b is not below a exactly if b is not negative; for a - b likewise with -b.
  using P = arith::CmpIPredicate;
  Value zero = index(builder, 0);
  Value isLess = arith::CmpIOp::create(builder, loc, P::slt, sum, a);
  Value mustBeLess = arith::CmpIOp::create(builder, loc, subtract ? P::sgt : P::slt, b, zero);
  fits = conjoin(builder, loc, fits, arith::CmpIOp::create(builder, loc, P::eq, isLess, mustBeLess));
  return sum;
}

Value DimResolver::emitDim(DimAttr dim, OpBuilder &builder, Operation *use) {
  if (std::optional<int64_t> constant = dim.getConstantValue())
    return index(builder, *constant);
  // One check for all the steps: each of its own would name every size again.
  Value sum, fits;
  for (DimTermAttr term : dim.getTerms()) {
    int64_t coefficient = term.getCoefficient();
    // Subtract rather than add a negative, but only what has a positive counterpart.
    bool subtract = sum && coefficient < 0 && coefficient != INT64_MIN;
    int64_t factor = subtract ? -coefficient : coefficient;
    Value product;
    for (DimAtomAttr atom : term.getFactors()) {
      Value value = emitAtom(atom, builder, use);
      if (!value)
        return {};
      product = product ? emitProduct(product, value, fits, builder) : value;
    }
    if (!product)
      product = index(builder, factor);
    else if (factor != 1)
      product = emitProduct(product, index(builder, factor), fits, builder);
    if (!sum)
      sum = product;
    else
      sum = emitSum(sum, product, subtract, fits, builder);
  }
  if (fits)
    emitFitCheck(fits, dim, builder, use);
  return sum;
}

Value DimResolver::emitAtom(DimAtomAttr atom, OpBuilder &builder, Operation *use) {
  if (atom.getKind() == AtomKind::Name)
    return getName(atom.getName(), builder, use);
  Location loc = function.getLoc();
  SmallVector<Value> args;
  for (DimAttr arg : atom.getArgs()) {
    args.push_back(getDim(arg, builder, use));
    if (!args.back())
      return {};
  }
  switch (atom.getKind()) {
  case AtomKind::FloorDiv:
    // A divisor is at least 1 where the quotient is used; at the entry it is computed whether
    // it is used or not.
    if (!atom.getArgs()[1].isConstant())
      args[1] = builder.createOrFold<arith::MaxSIOp>(loc, args[1], index(builder, 1));
    return builder.createOrFold<arith::FloorDivSIOp>(loc, args[0], args[1]);
  case AtomKind::Min:
  case AtomKind::Max: {
    Value result = args.front();
    for (Value arg : llvm::drop_begin(args))
      result = atom.getKind() == AtomKind::Min ? builder.createOrFold<arith::MinSIOp>(loc, result, arg)
                                               : builder.createOrFold<arith::MaxSIOp>(loc, result, arg);
    return result;
  }
  case AtomKind::Name:
    break;
  }
  llvm_unreachable("handled above");
}

Value DimResolver::emitRelation(PredKind kind, Value a, Value b, OpBuilder &builder) {
  using P = arith::CmpIPredicate;
  P predicate = kind == PredKind::EQ ? P::eq : kind == PredKind::NE ? P::ne : kind == PredKind::LE ? P::sle : P::slt;
  return builder.createOrFold<arith::CmpIOp>(function.getLoc(), predicate, a, b);
}

Value DimResolver::emitPred(PredAttr pred, OpBuilder &builder, Operation *use) {
  Location loc = function.getLoc();
  if (!pred.getDims().empty()) {
    Value a = getDim(pred.getDims()[0], builder, use), b = getDim(pred.getDims()[1], builder, use);
    if (!a || !b)
      return {};
    return emitRelation(pred.getKind(), a, b, builder);
  }
  SmallVector<Value> parts;
  for (PredAttr part : pred.getPreds()) {
    parts.push_back(emitPred(part, builder, use));
    if (!parts.back())
      return {};
  }
  Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  if (pred.getKind() == PredKind::Not)
    return builder.createOrFold<arith::XOrIOp>(loc, parts[0], yes);
  bool isAnd = pred.getKind() == PredKind::And;
  Value result = isAnd ? yes : arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false)).getResult();
  for (Value part : parts)
    result = isAnd ? builder.createOrFold<arith::AndIOp>(loc, result, part)
                   : builder.createOrFold<arith::OrIOp>(loc, result, part);
  return result;
}

//===----------------------------------------------------------------------===//
// Checks at the entry
//===----------------------------------------------------------------------===//

/// `argument `x` has size {0} at axis 1`, or for an integer `argument `n` is {0}`.
std::string DimResolver::describe(const Equation &equation) {
  unsigned number = equation.argument.getArgNumber();
  std::string what = "argument " + std::to_string(number);
  if (auto name = function.getArgAttrOfType<StringAttr>(number, kNameArgAttrName))
    what = "argument `" + name.getValue().str() + "`";
  if (equation.axis >= 0)
    return what + " has size {0} at axis " + std::to_string(equation.axis);
  return what + " is {0}";
}

std::string DimResolver::listNames(const NameSet &all, SmallVectorImpl<Value> &values, OpBuilder &builder,
                                   Operation *use) {
  std::string text;
  for (StringRef name : all)
    if (Value value = getName(name, builder, use)) {
      // Of a name that is bound more than once the source has the part before the dot.
      text += (text.empty() ? "" : ", ") + name.split('.').first.str() + " = {" + std::to_string(values.size()) + "}";
      values.push_back(value);
    }
  return text;
}

void DimResolver::emitEntryChecks() {
  // What is wrong with an argument is told at its parameter.
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return entry.createOrFold<arith::CmpIOp>(function.getLoc(), predicate, a, b);
  };
  for (const Equation &equation : equations) {
    // What defines its name holds by itself, unless something had to be divided.
    if (!equation.defines.empty() && equation.coefficient.isConstant(1))
      continue;
    if (!isKnownAtEntry(equation.dim))
      continue;
    SmallVector<Value> values{emitSize(equation), getDim(equation.dim, entry, nullptr)};
    Value fits = compare(arith::CmpIPredicate::eq, values[0], values[1]);
    NameSet all;
    collectNames(equation.dim, all);
    std::string message = describe(equation) + ", expected {1} = `" + spellings.spell(equation.dim) + "` (";
    message += listNames(all, values, entry, nullptr) + ")";
    createCheck(entry, equation.argument.getLoc(), fits, kArgumentCode, message, values);
  }
  if (auto vars = function->getAttrOfType<ArrayAttr>(kShapeVarsAttrName))
    for (auto var : vars.getAsRange<ShapeVarAttr>()) {
      if (!definitions.contains(var.getName()))
        continue;
      Value value = getEntryName(var.getName());
      Location loc = equations[definitions.lookup(var.getName())].argument.getLoc();
      createCheck(entry, loc, compare(arith::CmpIPredicate::sge, value, index(entry, var.getLeast())),
                  kArgumentCode,
                  "`" + var.getName() + "` is {0}, but must be at least " + Twine(var.getLeast()), value);
    }
  if (auto clauses = function->getAttrOfType<ArrayAttr>(kRequiresAttrName))
    for (auto clause : clauses.getAsRange<ClauseAttr>()) {
      if (clause.getMode() == ClauseMode::Trusted || !isKnownAtEntry(clause.getPred()))
        continue;
      NameSet all;
      collectNames(clause.getPred(), all);
      SmallVector<Value> values;
      std::string text = clause.getText().empty() ? spellings.spell(clause.getPred()) : clause.getText().str();
      std::string message = "`" + function.getSymName().str() + "` requires " + text;
      if (!all.empty())
        message += ", but " + listNames(all, values, entry, nullptr);
      Value holds = emitPred(clause.getPred(), entry, nullptr);
      createCheck(entry, clause.getLoc(), holds, kRequiresCode, message, values);
    }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// The value of a constant, a name, or `name mod c`, which is `name - c * (name floordiv c)`: what cannot wrap, and
/// what the optimiser finds again in the trip count of a loop. Null for others.
Value DimResolver::emitPlain(DimAttr dim, OpBuilder &builder, Operation *use) {
  if (dim.isConstant() || !dim.getSingleName().empty())
    return getDim(dim, builder, use);
  for (DimTermAttr term : dim.getTerms())
    for (DimAtomAttr atom : term.getFactors()) {
      if (atom.getKind() != AtomKind::FloorDiv || atom.getArgs()[0].getSingleName().empty() ||
          !atom.getArgs()[1].isConstant() || dim != modDims(atom.getArgs()[0], atom.getArgs()[1]))
        continue;
      Value number = getDim(atom.getArgs()[0], builder, use), divisor = getDim(atom.getArgs()[1], builder, use);
      if (!number || !divisor)
        return {};
      Location loc = use->getLoc();
      Value quotient = builder.createOrFold<arith::FloorDivSIOp>(loc, number, divisor);
      return builder.createOrFold<arith::SubIOp>(loc, number, builder.createOrFold<arith::MulIOp>(loc, divisor, quotient));
    }
  return {};
}

void DimResolver::emitFact(PredAttr pred, OpBuilder &builder, Operation *use) {
  if (pred.getKind() == PredKind::And) {
    for (PredAttr part : pred.getPreds())
      emitFact(part, builder, use);
    return;
  }
  if (pred.getDims().empty())
    return;
  Value a = emitPlain(pred.getDims()[0], builder, use), b = emitPlain(pred.getDims()[1], builder, use);
  if (a && b)
    rt::AssumeOp::create(builder, use->getLoc(), emitRelation(pred.getKind(), a, b, builder));
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

LogicalResult DimResolver::run() {
  solve();
  SmallVector<Operation *> users;
  function.walk([&](Operation *op) {
    if (auto bind = dyn_cast<BindDimOp>(op))
      binds.push_back(bind);
    if (isa<DimOp, BindDimOp, AssumeOp>(op))
      users.push_back(op);
  });
  if (function.isPublic())
    emitEntryChecks();

  for (Operation *op : users) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto dim = dyn_cast<DimOp>(op)) {
      Value value = getDim(dim.getValue(), builder, op);
      if (!value)
        return failure();
      emitRangeCheck(value, dim, builder);
      value = emitCast(builder, loc, value, builder.getIndexType(), dim.getType());
      dim.replaceAllUsesWith(value);
    } else if (auto assume = dyn_cast<AssumeOp>(op)) {
      if (!assume.getTrusted()) {
        if (!op->getParentOfType<linalg::LinalgOp>())
          emitFact(assume.getPred(), builder, op);
        continue;
      }
      Value holds = emitPred(assume.getPred(), builder, op);
      if (!holds)
        return failure();
      NameSet all;
      collectNames(assume.getPred(), all);
      SmallVector<Value> values;
      std::string names = listNames(all, values, builder, op);
      createCheck(builder, loc, holds, kRequiresCode,
                  "assumed " + spellings.spell(assume.getPred()) + ", but " + (names.empty() ? "it is false" : names), values);
    } else if (auto bind = dyn_cast<BindDimOp>(op)) {
      Value size = emitPosition(builder, loc, bind.getValue(), bind.getValue().getType());
      Value ok = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, size, index(builder, 1));
      createCheck(builder, loc, ok, kRequiresCode,
                  "dimension " + bind.getName().split('.').first + " is {0}, but must be at least 1", size);
    }
  }
  for (Operation *op : users)
    op->erase();
  return success();
}

LogicalResult resolveDims(func::FuncOp function) {
  if (function.isExternal() || !function->hasAttr(kFunctionTypeAttrName))
    return success();
  return DimResolver(function).run();
}

} // namespace kina
