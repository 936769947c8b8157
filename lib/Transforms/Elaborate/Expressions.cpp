//===- Expressions.cpp - Expressions and statements -----------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Literals and sizes
//===----------------------------------------------------------------------===//

Val Elaborator::literalInt(int64_t value, Location loc) {
  Type hole = elementTypes.fresh(kNumbers, kI32);
  Value constant = ConstantOp::create(builder, loc, hole, builder.getI64IntegerAttr(value));
  return Val::of(constant, DimAttr::getConstant(context, value));
}

Val Elaborator::literalFloat(double value, Location loc) {
  Type hole = elementTypes.fresh(kFloats, kF32);
  return Val::of(ConstantOp::create(builder, loc, hole, builder.getF64FloatAttr(value)));
}

Val Elaborator::literalBool(bool value, Location loc) {
  return Val::of(ConstantOp::create(builder, loc, builder.getI1Type(), builder.getBoolAttr(value)));
}

Val Elaborator::dimValue(DimAttr dim, Location loc) {
  if (std::optional<int64_t> constant = dim.getConstantValue())
    return literalInt(*constant, loc);
  return Val::of(DimOp::create(builder, loc, elementTypes.fresh(kNumbers, kI32), dim), dim);
}

bool isRuntime(DimAttr dim) {
  NameSet names;
  collectNames(dim, names);
  return llvm::any_of(names, [](StringRef name) { return name.starts_with("%"); });
}

DimAttr Elaborator::asDim(const Val &val, Location loc) {
  if (val.isError())
    return {};
  loc = locationOf(val, loc);
  if (val.overflows) {
    report(loc, DiagCode::K0204, "this size leaves 64 bits or divides by zero");
    return {};
  }
  if (!isHostScalar(val) || !val.sym || !elementTypes.restrict(getElementType(val.getType()), kIntegers)) {
    if (val.isScalar() && getElementType(val.getType()).isIndex() && val.sym)
      return val.sym;
    InFlightDiagnostic diag = report(loc, DiagCode::K0206, "a size must be an integer, not " + spell(val));
    if (val.isValue())
      (void)attachInteger(diag, val.value);
    return {};
  }
  if (isRuntime(val.sym)) {
    InFlightDiagnostic diag =
        report(loc, DiagCode::K0207, "this size depends on a value that is known only at run time");
    attachHelp(diag) << "give it a name with 'let dim K = ...;' and use K";
    return {};
  }
  return val.sym;
}

DimAttr Elaborator::asSize(const Val &val, Location loc) {
  DimAttr dim = asDim(val, loc);
  if (!dim)
    return {};
  if (std::optional<int64_t> size = dim.getConstantValue(); size && *size < 0) {
    report(locationOf(val, loc), DiagCode::K0206, "a size cannot be negative");
    return {};
  }
  return succeeded(obligeSize(dim, locationOf(val, loc))) ? dim : DimAttr();
}

FailureOr<SmallVector<DimAttr>> Elaborator::asShape(const Val &val, Location loc) {
  if (val.isError())
    return failure();
  if (val.kind != Val::Kind::List)
    return report(locationOf(val, loc), DiagCode::K0206,
                  "a shape is a list of sizes such as [B, 3], not " + spell(val));
  SmallVector<DimAttr> shape;
  for (const Val &member : val.members) {
    DimAttr dim = asSize(member, loc);
    if (!dim)
      return failure();
    shape.push_back(dim);
  }
  return shape;
}

bool Elaborator::dividesSafely(DimAttr dim) {
  llvm::SetVector<DimAttr> divisors;
  collectDivisors(dim, divisors);
  return llvm::all_of(divisors, [&](DimAttr divisor) {
    return settle(makeRelation(PredKind::LE, DimAttr::getConstant(context, 1), divisor)) == Truth::Proved;
  });
}

bool Elaborator::isExactSize(const Val &val) {
  if (!val.isScalar() || !val.sym || val.mayWrap || isRuntime(val.sym) || !dividesSafely(val.sym))
    return false;
  // What was computed is a size only if it is an integer for sure: `N / 2` may still become a float.
  Operation *op = val.value.getDefiningOp();
  if (isa_and_nonnull<DimOp, ConstantOp>(op))
    return true;
  // Arithmetic on constants alone wraps as any other does.
  return !val.sym.isConstant() && (val.getType().isIndex() || !(elementTypes.allowed(val.getType()) & ~kIntegers));
}

Value Elaborator::asIndex(const Val &val, Location loc) {
  if (val.sym && !isRuntime(val.sym) && dividesSafely(val.sym))
    return DimOp::create(builder, loc, builder.getIndexType(), val.sym);
  return CastOp::create(builder, loc, builder.getIndexType(), val.value);
}

//===----------------------------------------------------------------------===//
// Element types and broadcasting
//===----------------------------------------------------------------------===//

/// Of a scalar on the host, which may meet tensors anywhere, null.
static PlacementAttr placeOf(Value value) {
  return isa<TensorType>(value.getType()) ? getPlacement(value.getType()) : PlacementAttr();
}

bool Elaborator::restrictElement(Value value, unsigned mask, Location loc, const Twine &what) {
  if (elementTypes.restrict(getElementType(value.getType()), mask))
    return true;
  report(loc, DiagCode::K0202, what + ", not " + spell(value.getType()));
  return false;
}

bool Elaborator::unifyElements(Value a, Value b, Location loc) {
  Type x = getElementType(a.getType()), y = getElementType(b.getType());
  if (elementTypes.unify(x, y))
    return true;
  InFlightDiagnostic diag = report(loc, DiagCode::K0202, "element types differ: " + spell(x) + " and " + spell(y));
  for (Value value : {a, b})
    if (Value expr = expressions.lookup(value); expr && expr.getLoc() != loc)
      diag.attachNote(expr.getLoc()) << spell(value.getType());
  attachCast(diag, a, b);
  return false;
}

FailureOr<SmallVector<DimAttr>> Elaborator::broadcastShapes(ArrayRef<ArrayRef<DimAttr>> shapes, Location loc) {
  size_t rank = 0;
  for (ArrayRef<DimAttr> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<DimAttr> result(rank, DimAttr::getConstant(context, 1));
  bool bad = false;
  for (ArrayRef<DimAttr> shape : shapes)
    for (auto [i, dim] : llvm::enumerate(shape)) {
      size_t axis = rank - shape.size() + i;
      DimAttr &goal = result[axis];
      if (dim == goal || dim.isConstant(1))
        continue;
      if (goal.isConstant(1)) {
        goal = dim;
        continue;
      }
      bad |= failed(oblige(loc, makeRelation(PredKind::EQ, goal, dim), ObligationKind::shapes_equal,
                           "shapes differ at axis " + Twine(axis) + " (0-based): '" + spell(goal) + "' and '" +
                               spell(dim) + "'"));
    }
  if (bad)
    return failure();
  return result;
}

Value Elaborator::broadcastTo(Value value, ArrayRef<DimAttr> shape, Location loc, PlacementAttr place) {
  ArrayRef<DimAttr> from = getShape(value.getType());
  PlacementAttr here = getPlacement(value.getType());
  if (placeOf(value) || !place)
    place = here;
  if (from == shape && here == place)
    return value;
  // Sizes that are equal only by facts are converted first.
  SmallVector<DimAttr> aligned(from);
  for (auto [dim, goal] : llvm::zip(aligned, shape.take_back(from.size())))
    if (!dim.isConstant(1))
      dim = goal;
  if (ArrayRef<DimAttr>(aligned) != from)
    value = ReshapeOp::create(builder, loc, withShape(value.getType(), aligned), value, /*checked=*/true);
  if (ArrayRef<DimAttr>(aligned) == shape && here == place)
    return value;
  Type type = TensorType::get(context, getElementType(value.getType()), shape, place);
  return BroadcastOp::create(builder, loc, type, value);
}

LogicalResult Elaborator::broadcastTogether(MutableArrayRef<Value> values, Location loc, bool sameElement) {
  if (sameElement)
    for (Value value : values.drop_front())
      if (!unifyElements(values.front(), value, loc))
        return failure();
  if (failed(requireOnePlace(values, loc)))
    return failure();
  OperandScope operandTypes(*this, values);
  NoteScope help(*this);
  if (values.size() == 2)
    help.add(suggestTrailingAxes(values[0], values[1]));
  SmallVector<ArrayRef<DimAttr>> shapes;
  PlacementAttr place;
  for (Value value : values) {
    shapes.push_back(getShape(value.getType()));
    if (PlacementAttr own = placeOf(value))
      place = own;
  }
  FailureOr<SmallVector<DimAttr>> shape = broadcastShapes(shapes, loc);
  if (failed(shape))
    return failure();
  for (Value &value : values)
    value = broadcastTo(value, *shape, loc, place);
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Val Elaborator::decay(Val val) {
  if (val.kind != Val::Kind::Tuple || !val.isLoop)
    return val;
  for (const Val &member : llvm::drop_begin(val.members))
    if (!member.isScalar()) {
      val.isLoop = false;
      return val;
    }
  return val.members.empty() ? Val::unit() : val.members.front();
}

Val Elaborator::listToTensor(const Val &list, Location loc) {
  // Rows of a nested list have one length.
  SmallVector<Value> elements;
  SmallVector<DimAttr> shape;
  auto collect = [&](auto &&self, const Val &val, unsigned depth) -> bool {
    if (val.isError())
      return false;
    if (val.kind == Val::Kind::List) {
      DimAttr size = DimAttr::getConstant(context, val.members.size());
      if (shape.size() == depth) {
        if (!elements.empty()) {
          report(loc, DiagCode::K0201, "rows of a tensor literal have different ranks");
          return false;
        }
        shape.push_back(size);
      }
      if (shape[depth] != size) {
        report(loc, DiagCode::K0201, "rows of a tensor literal have different lengths");
        return false;
      }
      return llvm::all_of(val.members, [&](const Val &member) { return self(self, member, depth + 1); });
    }
    if (!isHostScalar(val)) {
      report(loc, DiagCode::K0206, "an element of a tensor literal is a scalar, not " + spell(val));
      return false;
    }
    if (depth != shape.size()) {
      report(loc, DiagCode::K0201, "rows of a tensor literal have different ranks");
      return false;
    }
    if (!elements.empty() && !unifyElements(elements.front(), val.value, loc))
      return false;
    elements.push_back(val.value);
    return true;
  };
  if (!collect(collect, list, 0))
    return Val::error();
  if (elements.empty()) {
    report(loc, DiagCode::K0206, "an empty list is no tensor");
    return Val::error();
  }
  Type type = TensorType::get(elements.front().getType(), shape);
  return Val::of(FromElementsOp::create(builder, loc, type, elements));
}

FailureOr<Value> Elaborator::asValue(Val &val, Location loc, const Twine &what) {
  if (val.isError())
    return failure();
  val = decay(std::move(val));
  if (val.kind == Val::Kind::List)
    val = listToTensor(val, loc);
  if (val.isError())
    return failure();
  if (!val.isValue()) {
    InFlightDiagnostic diag = report(loc, DiagCode::K0206, what + " needs a tensor or scalar, not " + spell(val));
    if (val.kind == Val::Kind::Ref)
      attachHelp(diag) << "'!' reads a ref; 'ref' takes no more than an operand, so parentheses may be missing";
    return diag;
  }
  return val.value;
}

LogicalResult Elaborator::checkDeclared(Val &val, const Ty &type, Location loc, const Twine &what) {
  if (val.isError())
    return failure();
  switch (type.kind) {
  case Ty::Kind::Unknown:
    return success();
  case Ty::Kind::Function: {
    if (val.kind != Val::Kind::Function)
      return report(loc, DiagCode::K0206, what + " is " + spell(val) + ", but a function is declared");
    std::optional<size_t> count = arity(*val.function);
    if (count && *count != type.arity)
      return report(loc, DiagCode::K0205,
                    what + " is a function of " + Twine(*count) + " parameters, but one of " + Twine(type.arity) +
                        " is declared");
    if (!type.borrows.empty()) {
      val.function = std::make_shared<Callable>(*val.function);
      llvm::append_range(val.function->borrows, type.borrows);
    }
    return success();
  }
  case Ty::Kind::Unit:
    if (val.kind != Val::Kind::Unit)
      return report(loc, DiagCode::K0206, what + " is " + spell(val) + ", but () is declared");
    return success();
  case Ty::Kind::Value: {
    FailureOr<Value> value = asValue(val, loc, what);
    if (failed(value))
      return failure();
    if (type.type.isIndex()) {
      DimAttr dim = asDim(val, loc);
      return success(static_cast<bool>(dim));
    }
    value = coerce(loc, *value, placedLike(type, value->getType()), what);
    if (failed(value))
      return failure();
    for (PredAttr pred : type.preds)
      if (failed(oblige(loc, pred, ObligationKind::check,
                        "the type of " + what + " says '" + spell(pred) + "', which may fail here")))
        return failure();
    val.value = *value;
    return success();
  }
  case Ty::Kind::Tuple: {
    // A tuple type takes all states of a loop, unless it can only be the type of the first.
    if (!type.names.empty() || (val.members.size() == 1 && type.members.size() != 1))
      val = decay(std::move(val));
    if (val.kind != Val::Kind::Tuple || val.members.size() != type.members.size() || val.names != type.names)
      return report(loc, DiagCode::K0206,
                    what + " is " + spell(val) + ", but " +
                        (type.names.empty() ? "a tuple of " + std::to_string(type.members.size()) : spell(type)) +
                        " is declared");
    val.isLoop = false;
    bool bad = false;
    for (auto [index, member] : llvm::enumerate(val.members))
      bad |= failed(checkDeclared(member, type.members[index], loc,
                                  what + " at member " +
                                      (type.names.empty() ? std::to_string(index) : "'" + type.names[index] + "'")));
    return failure(bad);
  }
  }
  llvm_unreachable("all kinds handled");
}

void Elaborator::nameTensors(const Val &val, const Twine &name, bool alias) {
  if (val.isValue() && isa<TensorType>(val.getType()))
    addSourceName(val.value, name.str(), alias);
  for (auto [index, member] : llvm::enumerate(val.members))
    nameTensors(member, name + "." + (val.names.empty() ? Twine(index) : Twine(val.names[index])), alias);
}

void Elaborator::lend(const Val &val) {
  if (val.isValue() && isa<TensorType>(val.getType()))
    if (auto result = dyn_cast<OpResult>(val.value))
      setBorrowed(result);
  for (const Val &member : val.members)
    lend(member);
}

LogicalResult Elaborator::checkPattern(SyntaxAttr pattern) {
  llvm::StringMap<Location> bound;
  auto check = [&](auto &&self, SyntaxAttr part) -> LogicalResult {
    if (part.is(SyntaxKind::PatternName)) {
      auto [first, fresh] = bound.try_emplace(part.getText(), part.getLocation());
      if (fresh)
        return success();
      InFlightDiagnostic diag =
          report(part.getLocation(), DiagCode::K0114, "'" + part.getText() + "' is bound twice by this pattern");
      diag.attachNote(first->second) << "bound here first";
      attachHelp(diag) << "what is not needed is '_'";
      return diag;
    }
    bool bad = false;
    for (SyntaxAttr child : part.getChildren())
      bad |= failed(self(self, child));
    return failure(bad);
  };
  return check(check, pattern);
}

LogicalResult Elaborator::bindPattern(SyntaxAttr pattern, Val val, Scope &scope) {
  switch (pattern.getKind()) {
  case SyntaxKind::PatternWild:
    return success();
  case SyntaxKind::PatternName: {
    val = decay(std::move(val));
    if (val.kind == Val::Kind::List && !val.members.empty() && !val.isError())
      val = listToTensor(val, pattern.getLocation());
    nameTensors(val, pattern.getText(), /*alias=*/true);
    scope.names[pattern.getText().str()] = std::move(val);
    return success();
  }
  default:
    break;
  }
  bool error = val.isError();
  if (!error && (val.kind != Val::Kind::Tuple || val.members.size() != pattern.getChildren().size())) {
    report(pattern.getLocation(), DiagCode::K0205,
           "the pattern takes " + Twine(pattern.getChildren().size()) + " values, but the value is " + spell(val));
    error = true;
  }
  for (auto [index, child] : llvm::enumerate(pattern.getChildren()))
    (void)bindPattern(child, error ? Val::error() : val.members[index], scope);
  return failure(error);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What a loop's decorators say; an error on anything but a loop.
FailureOr<CheckpointAttr> Elaborator::loopCheckpoint(ArrayAttr decorators, Value expr) {
  CheckpointAttr checkpoint;
  for (SyntaxAttr decorator : surface::syntaxRange(decorators)) {
    if (decorator.getText() != "checkpoint")
      return report(decorator.getLocation(), DiagCode::K0111,
                    "unknown decorator '@" + decorator.getText() + "' here; only @checkpoint may stand before a loop");
    if (!expr.getDefiningOp<surface::WhileOp>() && !expr.getDefiningOp<surface::ForOp>())
      return report(decorator.getLocation(), DiagCode::K0206, "'@checkpoint' stands before a loop or a function");
    FailureOr<CheckpointAttr> one = elaborateCheckpoint(decorator);
    if (failed(one))
      return failure();
    checkpoint = *one;
  }
  return checkpoint;
}

/// Whether a scope inside `outer` binds the name.
static bool isBoundInside(StringRef name, const Scope *scope, const Scope *outer) {
  for (; scope != outer; scope = scope->parent.get())
    if (scope->names.count(name.str()))
      return true;
  return false;
}

Val Elaborator::evaluateBlock(Region &region, const ScopePtr &outer, bool wantsTuple, ArrayRef<StringRef> states) {
  llvm::SaveAndRestore<bool> reads(readsEquations, false);
  ScopePtr scope = states.empty() ? outer : std::make_shared<Scope>(outer, current);
  auto withCheckpoint = [&](Value expr, ArrayAttr decorators) -> Val {
    FailureOr<CheckpointAttr> checkpoint = loopCheckpoint(decorators, expr);
    if (failed(checkpoint))
      return Val::error();
    if (auto loop = expr.getDefiningOp<surface::WhileOp>())
      return evaluateWhile(loop, scope, *checkpoint);
    if (auto loop = expr.getDefiningOp<surface::ForOp>())
      return evaluateFor(loop, scope, *checkpoint);
    return evaluate(expr, scope);
  };
  bool bad = false;
  for (Operation &op : region.front()) {
    Location loc = op.getLoc();
    // A function sees what was bound before it.
    auto bindsAnew = [&] {
      if (scope->closed)
        scope = std::make_shared<Scope>(scope, current);
    };
    if (auto let = dyn_cast<surface::LetOp>(op)) {
      Val val = withCheckpoint(let.getValue(), let.getDecoratorsAttr());
      if (let.getTypeAttr() && !val.isError()) {
        FailureOr<Ty> type = elaborateType(let.getTypeAttr(), *scope);
        if (failed(type)) {
          val = Val::error();
        } else {
          if (type->kind != Ty::Kind::Tuple)
            val = decay(std::move(val));
          if (failed(checkDeclared(val, *type, let.getValue().getLoc(), "the value")))
            val = Val::error();
        }
      }
      bindsAnew();
      bad |= failed(checkPattern(let.getPattern()));
      bad |= failed(bindPattern(let.getPattern(), std::move(val), *scope));
    } else if (auto letDim = dyn_cast<surface::LetDimOp>(op)) {
      StringRef name = letDim.getName().getText();
      Val val = evaluate(letDim.getValue(), scope);
      bindsAnew();
      FailureOr<Value> value = asValue(val, loc, "'let dim'");
      // What uses the name of a bad one stays silent.
      if (failed(value)) {
        scope->names[name.str()] = Val::error();
        bad = true;
        continue;
      }
      val = toHost(val, loc, DiagCode::K0206, "what 'let dim' binds");
      if (val.isError()) {
        scope->names[name.str()] = Val::error();
        bad = true;
        continue;
      }
      value = val.value;
      if (!isHostScalar(val) || !elementTypes.restrict(getElementType(val.getType()), kIntegers)) {
        scope->names[name.str()] = Val::error();
        report(loc, DiagCode::K0206, "'let dim' needs an integer scalar, not " + spell(val));
        bad = true;
        continue;
      }
      bool visible = false;
      for (Scope *s = scope.get(); s; s = s->parent.get())
        visible |= s->dims.count(name.str()) != 0;
      if (visible) {
        report(letDim.getName().getLocation(), DiagCode::K0114,
               "shape variable '" + name + "' exists already in '" + current->name + "'");
        bad = true;
        continue;
      }
      // A body that is elaborated in place more than once binds a new size every time.
      std::string unique = name.str();
      for (unsigned count = 1; current->shapeVars.count(unique); ++count)
        unique = name.str() + "." + std::to_string(count);
      StringAttr bound = builder.getStringAttr(unique);
      BindDimOp::create(builder, loc, bound, isExactSize(val) ? asIndex(val, loc) : *value);
      current->shapeVars.insert({bound.getValue(), 1});
      DimAttr dim = DimAttr::getName(context, bound.getValue());
      scope->dims[name.str()] = dim;
      if (isExactSize(val))
        addFact(makeRelation(PredKind::EQ, dim, val.sym));
    } else if (auto assume = dyn_cast<surface::AssumeOp>(op)) {
      PredAttr pred = elaboratePred(assume.getPred(), *scope);
      bad |= !pred;
      if (!pred)
        continue;
      AssumeOp::create(builder, loc, pred, /*trusted=*/true);
      addFact(pred);
    } else if (auto check = dyn_cast<surface::CheckOp>(op)) {
      Val val;
      {
        llvm::SaveAndRestore<bool> reads(readsEquations, true);
        val = evaluate(check.getCond(), scope);
      }
      FailureOr<Value> value = asValue(val, loc, "'check'");
      if (failed(value)) {
        bad = true;
        continue;
      }
      val = toHost(val, loc, DiagCode::K0206, "what 'check' tests");
      if (val.isError()) {
        bad = true;
        continue;
      }
      value = val.value;
      if (!isHostScalar(val) || !elementTypes.unify(val.getType(), builder.getI1Type())) {
        report(loc, DiagCode::K0206, "'check' needs a boolean scalar, not " + spell(val));
        bad = true;
        continue;
      }
      // Without a text a predicate of sizes is proved; what says more is tested.
      StringAttr text = check.getMessageAttr();
      if (val.pred && !text) {
        bad |= failed(oblige(loc, val.pred, ObligationKind::check, "this check may fail"));
        continue;
      }
      if (val.pred && settle(val.pred) == Truth::Proved)
        continue;
      CheckOp::create(builder, loc, *value, text ? text : builder.getStringAttr(""));
      if (PredAttr fact = val.pred ? val.pred : val.implied) {
        AssumeOp::create(builder, loc, fact, /*trusted=*/false);
        addFact(fact);
      }
    } else if (auto statement = dyn_cast<surface::DoOp>(op)) {
      bad |= withCheckpoint(statement.getValue(), statement.getDecoratorsAttr()).isError();
    } else if (auto assignment = dyn_cast<surface::AssignOp>(op)) {
      bad |= failed(assign(assignment, scope));
    } else if (auto yield = dyn_cast<surface::YieldOp>(op)) {
      if (!yield.getValue()) {
        if (bad)
          return Val::error();
        if (llvm::none_of(states, [&](StringRef name) { return isBoundInside(name, scope.get(), outer.get()); }))
          return Val::unit();
        std::vector<Val> next;
        for (StringRef name : states)
          next.push_back(lookup(name, loc, scope));
        return next.size() == 1 ? next.front() : Val::tuple(std::move(next));
      }
      Val val = withCheckpoint(yield.getValue(), yield.getDecoratorsAttr());
      if (val.kind == Val::Kind::List)
        val = listToTensor(val, loc);
      return wantsTuple ? val : decay(std::move(val));
    }
  }
  return Val::error();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Whether arithmetic on the value leaves its type's range before a tensor's size does.
static bool isNarrow(ElementTypes &elements, Value value) {
  return !(elements.allowed(getElementType(value.getType())) & ~(kI8 | kU8));
}

Val Elaborator::unary(surface::UnaryKind kind, Val a, Location loc) {
  if (kind == surface::UnaryKind::Ref)
    return makeRef(std::move(a), loc);
  if (kind == surface::UnaryKind::Bang && a.kind == Val::Kind::Ref)
    return deref(a, loc);
  FailureOr<Value> value = asValue(a, loc, "the operator");
  if (failed(value))
    return Val::error();
  switch (kind) {
  case surface::UnaryKind::Neg: {
    if (!restrictElement(*value, kNumbers, loc, "'-' needs a number"))
      return Val::error();
    // A literal stays one.
    if (auto constant = value->getDefiningOp<ConstantOp>()) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return Val::of(ConstantOp::create(builder, loc, constant.getType(),
                                          FloatAttr::get(number.getType(), -number.getValueAsDouble())));
      if (a.sym && a.sym.isConstant() && *a.sym.getConstantValue() != INT64_MIN)
        return Val::of(
            ConstantOp::create(builder, loc, constant.getType(), builder.getI64IntegerAttr(-*a.sym.getConstantValue())),
            negDim(a.sym));
    }
    if (DimAttr size = isExactSize(a) ? negDim(a.sym) : DimAttr())
      return Val::of(DimOp::create(builder, loc, value->getType(), size), size);
    Val result = Val::of(NegOp::create(builder, loc, *value), a.sym ? negDim(a.sym) : DimAttr());
    result.overflows = a.overflows || (a.sym && !result.sym);
    result.mayWrap = a.mayWrap || isNarrow(elementTypes, result.value);
    return result;
  }
  case surface::UnaryKind::Not:
  case surface::UnaryKind::Bang: {
    if (!restrictElement(*value, kBool, loc, "'not' needs a boolean"))
      return Val::error();
    Val result = Val::of(NotOp::create(builder, loc, *value));
    result.pred = a.pred ? makeNot(a.pred) : PredAttr();
    return result;
  }
  case surface::UnaryKind::Ref:
    break;
  }
  llvm_unreachable("all kinds handled");
}

/// What follows if both are true, `and` being known to hold.
static PredAttr impliedByBoth(const Val &a, const Val &b) {
  SmallVector<PredAttr> parts;
  for (const Val *val : {&a, &b})
    if (PredAttr part = val->pred ? val->pred : val->implied)
      parts.push_back(part);
  return parts.empty() ? PredAttr() : makeAnd(parts);
}

Val Elaborator::memberwise(surface::BinaryKind kind, const Val &a, const Val &b, Location loc) {
  using K = surface::BinaryKind;
  if (a.isError() || b.isError())
    return Val::error();
  bool left = a.kind == Val::Kind::Tuple, right = b.kind == Val::Kind::Tuple;
  if (left && right && (a.members.size() != b.members.size() || a.names != b.names)) {
    report(loc, DiagCode::K0206, "arithmetic on tuples needs the same members, not " + spell(a) + " and " + spell(b));
    return Val::error();
  }
  if (left || right) {
    Val result = left ? a : b;
    result.isLoop = false;
    for (auto [index, member] : llvm::enumerate(result.members)) {
      member = memberwise(kind, left ? a.members[index] : a, right ? b.members[index] : b, loc);
      if (member.isError())
        return member;
    }
    return result;
  }
  if (a.kind == Val::Kind::Unit || b.kind == Val::Kind::Unit) {
    if (kind == K::Mul || kind == K::Div)
      return Val::unit();
    if (b.kind == Val::Kind::Unit || kind == K::Add)
      return b.kind == Val::Kind::Unit ? a : b;
  }
  return binary(kind, a, b, loc);
}

DimAttr combineSizes(surface::BinaryKind kind, DimAttr a, DimAttr b) {
  using K = surface::BinaryKind;
  switch (kind) {
  case K::Add:
    return addDims(a, b);
  case K::Sub:
    return subDims(a, b);
  case K::Mul:
    return mulDims(a, b);
  case K::FloorDiv:
    return floorDivDims(a, b);
  case K::CeilDiv:
    return ceilDivDims(a, b);
  case K::Mod:
    return modDims(a, b);
  default:
    return {};
  }
}

/// How the operator is written between sizes.
static StringRef symbolOf(surface::BinaryKind kind) {
  using K = surface::BinaryKind;
  switch (kind) {
  case K::Add:
    return "+";
  case K::Sub:
    return "-";
  case K::Mul:
    return "*";
  case K::Div:
  case K::FloorDiv:
    return "floordiv";
  case K::CeilDiv:
    return "ceildiv";
  default:
    return "mod";
  }
}

Val Elaborator::binary(surface::BinaryKind kind, Val a, Val b, Location loc) {
  using K = surface::BinaryKind;
  if (kind == K::Cons)
    return cons(a, b, loc);
  bool isArithmetic = kind == K::Add || kind == K::Sub || kind == K::Mul || kind == K::Div;
  if (isArithmetic && (!a.names.empty() || !b.names.empty()))
    return memberwise(kind, a, b, loc);
  FailureOr<Value> left = asValue(a, loc, "the operator");
  if (failed(left))
    return Val::error();
  FailureOr<Value> right = asValue(b, loc, "the operator");
  if (failed(right))
    return Val::error();
  if (kind == K::MatMul)
    return callOperation("matmul", {a, b}, {"", ""}, {}, loc);
  // `x ** 2` is a product; other powers are a function.
  if (kind == K::Pow && b.sym && b.sym.isConstant(2) && right->getDefiningOp<ConstantOp>()) {
    if (!restrictElement(*left, kNumbers, loc, "'**' needs numbers"))
      return Val::error();
    if (a.sym)
      return binary(K::Mul, a, a, loc);
    return Val::of(SquareOp::create(builder, loc, *left));
  }
  if (kind == K::Divides)
    return binary(K::EqSign, binary(K::Mod, b, a, loc), literalInt(0, loc), loc);
  SmallVector<Value, 2> operands{*left, *right};
  if (failed(broadcastTogether(operands, loc)))
    return Val::error();
  Value x = operands[0], y = operands[1];
  bool isComparison = kind == K::Eq || kind == K::Ne || kind == K::Lt || kind == K::Le || kind == K::Gt ||
                      kind == K::Ge || kind == K::EqSign;
  bool isLogic = kind == K::And || kind == K::Or;
  if (isLogic) {
    if (!restrictElement(x, kBool, loc, kind == K::And ? "'and' needs booleans" : "'or' needs booleans"))
      return Val::error();
  } else if (kind != K::Eq && kind != K::Ne && kind != K::EqSign) {
    if (!restrictElement(x, kNumbers, loc, isComparison ? "an order needs numbers" : "arithmetic needs numbers"))
      return Val::error();
  }
  bool symbolic = a.sym && b.sym;
  // Sums and products are exact modulo the type's width, and so exact where they are known
  // to lie within a tensor; a quotient is so only of an exact value.
  auto isExact = [](const Val &val) { return !isRuntime(val.sym) || !val.sym.getSingleName().empty(); };
  bool divides = kind == K::Div || kind == K::Rem || kind == K::FloorDiv || kind == K::CeilDiv || kind == K::Mod;
  // Arithmetic on sizes is a size, which does not wrap. (`/` on what may become a float is none.)
  if (symbolic && !(a.sym.isConstant() && b.sym.isConstant()) && !isComparison && !isLogic) {
    DimAttr size = combineSizes(kind, a.sym, b.sym);
    if (size && isExactSize(a) && isExactSize(b) && dividesSafely(size)) {
      note(size, a.sym, symbolOf(kind), b.sym);
      return Val::of(DimOp::create(builder, loc, x.getType(), size), size);
    }
  }
  auto integer = [&](Value value, DimAttr (*combine)(DimAttr, DimAttr)) {
    Val result = Val::of(value, symbolic ? combine(a.sym, b.sym) : DimAttr());
    note(result.sym, a.sym, symbolOf(kind), b.sym);
    result.overflows = (symbolic && !result.sym) || a.overflows || b.overflows;
    result.mayWrap = a.mayWrap || b.mayWrap || isNarrow(elementTypes, value) ||
                     (symbolic && divides && (!isExact(a) || !isExact(b)));
    return result;
  };
  switch (kind) {
  case K::Add:
    return integer(AddOp::create(builder, loc, x, y), addDims);
  case K::Sub:
    return integer(SubOp::create(builder, loc, x, y), subDims);
  case K::Mul:
    return integer(MulOp::create(builder, loc, x, y), mulDims);
  case K::Div:
    return integer(DivOp::create(builder, loc, x, y), floorDivDims);
  case K::Rem:
    return integer(ModOp::create(builder, loc, x, y), modDims);
  case K::FloorDiv:
  case K::CeilDiv:
  case K::Mod: {
    if (!restrictElement(x, kIntegers, loc, "integer division needs integers"))
      return Val::error();
    if (kind == K::FloorDiv)
      return integer(DivOp::create(builder, loc, x, y), floorDivDims);
    if (kind == K::Mod)
      return integer(ModOp::create(builder, loc, x, y), modDims);
    Value negative = NegOp::create(builder, loc, x);
    Value quotient = DivOp::create(builder, loc, negative, y);
    return integer(NegOp::create(builder, loc, quotient), ceilDivDims);
  }
  case K::Pow:
    return Val::of(PowOp::create(builder, loc, x, y));
  case K::And:
  case K::Or: {
    Val result = Val::of(kind == K::And ? AndOp::create(builder, loc, x, y).getResult()
                                        : OrOp::create(builder, loc, x, y).getResult());
    if (a.pred && b.pred)
      result.pred = kind == K::And ? makeAnd({a.pred, b.pred}) : makeOr({a.pred, b.pred});
    else if (kind == K::And)
      result.implied = impliedByBoth(a, b);
    return result;
  }
  default:
    break;
  }
  CmpPredicate predicate = kind == K::Ne   ? CmpPredicate::ne
                           : kind == K::Lt ? CmpPredicate::lt
                           : kind == K::Le ? CmpPredicate::le
                           : kind == K::Gt ? CmpPredicate::gt
                           : kind == K::Ge ? CmpPredicate::ge
                                           : CmpPredicate::eq;
  // `N / 2 < 3` compares integers.
  auto isQuotient = [&](const Val &val) {
    return symbolic && !isRuntime(val.sym) && isa_and_nonnull<DivOp, ModOp>(val.value.getDefiningOp());
  };
  if (isQuotient(a) || isQuotient(b))
    (void)elementTypes.restrict(x.getType(), kIntegers);
  bool exact = symbolic && isExactSize(a) && isExactSize(b);
  if (exact && !(a.sym.isConstant() && b.sym.isConstant())) {
    x = asIndex(a, loc);
    y = asIndex(b, loc);
  }
  Val result = Val::of(CmpOp::create(builder, loc, predicate, x, y));
  if (exact) {
    bool swap = kind == K::Gt || kind == K::Ge;
    PredKind relation = kind == K::Ne                      ? PredKind::NE
                        : (kind == K::Lt || kind == K::Gt) ? PredKind::LT
                        : (kind == K::Le || kind == K::Ge) ? PredKind::LE
                                                           : PredKind::EQ;
    result.pred = swap ? makeRelation(relation, b.sym, a.sym) : makeRelation(relation, a.sym, b.sym);
    StringRef op = relation == PredKind::EQ   ? "="
                   : relation == PredKind::NE ? "!="
                   : relation == PredKind::LT ? (swap ? ">" : "<")
                                              : (swap ? ">=" : "<=");
    note(result.pred, a.sym, op, b.sym);
  }
  return result;
}

/// Whether evaluating the operation early can neither fail nor be seen.
static bool isHarmless(Operation &op) {
  return isa<ConstantOp, DimOp, CmpOp, NotOp, AndOp, OrOp, NegOp, AddOp, SubOp, MulOp, AbsOp, IsNanOp, IsFiniteOp>(
             op) &&
         getRank(op.getResult(0).getType()) == 0;
}

Val Elaborator::shortCircuit(surface::BinaryOp op, const ScopePtr &scope) {
  bool isAnd = op.getKind() == surface::BinaryKind::And;
  Location loc = op.getLoc();
  Val a = evaluate(op.getLhs(), scope);
  if (a.isError() || !a.isScalar())
    return binary(op.getKind(), a, evaluate(op.getRhs(), scope), loc);
  if (!restrictElement(a.value, kBool, loc, isAnd ? "'and' needs booleans" : "'or' needs booleans"))
    return Val::error();
  // The right side is evaluated only if it decides. One that can neither fail nor be
  // seen is evaluated anyway, which spares the branch.
  auto branch = IfOp::create(builder, loc, TypeRange{builder.getI1Type()}, a.value);
  Block *evaluated = &branch.getThenRegion().emplaceBlock(), *decided = &branch.getElseRegion().emplaceBlock();
  if (!isAnd)
    std::swap(evaluated, decided);
  Val b;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(evaluated);
    // What the left side says holds on the right; what the right side checks holds nowhere else.
    size_t facts = current->facts.size();
    if (PredAttr fact = !isAnd && a.pred ? makeNot(a.pred) : !isAnd ? PredAttr() : a.pred ? a.pred : a.implied)
      addFact(fact);
    b = evaluate(op.getRhs(), scope);
    current->facts.resize(facts);
    FailureOr<Value> value = asValue(b, loc, isAnd ? "'and'" : "'or'");
    if (failed(value) || !isHostScalar(b) || !elementTypes.restrict(b.getType(), kBool)) {
      if (succeeded(value))
        report(loc, DiagCode::K0206, "a scalar boolean and " + spell(b) + " cannot be joined by 'and' or 'or'");
      discard(branch);
      return Val::error();
    }
  }
  Val result;
  if (llvm::all_of(*evaluated, isHarmless)) {
    Block *block = branch->getBlock();
    block->getOperations().splice(branch->getIterator(), evaluated->getOperations());
    branch.erase();
    return binary(op.getKind(), a, b, loc);
  }
  OpBuilder inner(evaluated, evaluated->end());
  YieldOp::create(inner, loc, b.value);
  inner.setInsertionPointToEnd(decided);
  Value known = ConstantOp::create(inner, loc, builder.getI1Type(), builder.getBoolAttr(!isAnd));
  YieldOp::create(inner, loc, known);
  result = Val::of(branch.getResult(0));
  if (a.pred && b.pred)
    result.pred = isAnd ? makeAnd({a.pred, b.pred}) : makeOr({a.pred, b.pred});
  else if (isAnd)
    result.implied = impliedByBoth(a, b);
  return result;
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

FailureOr<Elaborator::Box> Elaborator::subscriptsToBox(Value base, ArrayRef<Val> subscripts, Location whole,
                                                       ArrayRef<Location> locs) {
  Type operand = base.getType();
  ArrayRef<DimAttr> shape = getShape(operand);
  if (llvm::any_of(subscripts, [](const Val &sub) { return sub.isError(); }))
    return failure();
  if (subscripts.size() > shape.size())
    return report(whole, DiagCode::K0201,
                  "there are " + Twine(subscripts.size()) + " subscripts, but " + spell(operand) + " has " +
                      spellCount(shape.size(), "axis", "axes"));
  Box box;
  Location loc = whole;
  DimAttr zero = DimAttr::getConstant(context, 0), one = DimAttr::getConstant(context, 1);
  // A bound that is a dimension is an obligation; one that is a number or a run-time value
  // is tested when executed, unless it is known to hold or to fail.
  bool mayWrap = false;
  auto bound = [&](DimAttr low, DimAttr high, unsigned axis, const Twine &what, bool tested = false) -> LogicalResult {
    if (tested || mayWrap || isRuntime(low) || isRuntime(high)) {
      Truth truth = settle(makeRelation(PredKind::LE, low, high));
      box.inBounds &= truth == Truth::Proved && !mayWrap;
      if (truth != Truth::Refuted || isRuntime(low) || isRuntime(high))
        return success();
    }
    return oblige(loc, makeRelation(PredKind::LE, low, high), ObligationKind::bounds,
                  what + " of axis " + Twine(axis) + " (0-based), of size '" + spell(shape[axis]) + "'");
  };
  bool bad = false;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (axis >= subscripts.size()) {
      box.offsets.push_back(DimOp::create(builder, whole, builder.getIndexType(), zero));
      box.sizes.push_back(extent);
      continue;
    }
    loc = axis < locs.size() ? locs[axis] : whole;
    const Val sub = toHost(subscripts[axis], loc, DiagCode::K0206, "a subscript");
    if (sub.isError())
      return failure();
    if (sub.kind == Val::Kind::Slice) {
      const Val lo = toHost(sub.members[0], locationOf(sub.members[0], loc), DiagCode::K0206, "a slice bound"),
                hi = toHost(sub.members[1], locationOf(sub.members[1], loc), DiagCode::K0206, "a slice bound");
      auto scalar = [&](const Val &val) -> bool {
        if (val.kind == Val::Kind::Unit)
          return true;
        if (val.isError())
          return false;
        if (val.overflows) {
          report(loc, DiagCode::K0204, "a slice bound leaves 64 bits or divides by zero");
          return false;
        }
        if (!isHostScalar(val) || !val.sym || !elementTypes.restrict(getElementType(val.getType()), kIntegers)) {
          InFlightDiagnostic diag = report(locationOf(val, loc), DiagCode::K0206,
                                           "a slice bound is an integer scalar, not " + spell(val));
          if (val.isValue())
            (void)attachInteger(diag, val.value);
          return false;
        }
        return true;
      };
      if (!scalar(lo) || !scalar(hi)) {
        bad = true;
        continue;
      }
      DimAttr low = lo.kind == Val::Kind::Unit ? zero : lo.sym, high = hi.kind == Val::Kind::Unit ? extent : hi.sym;
      for (auto [dim, given] : {std::pair(low, &lo), std::pair(high, &hi)})
        if (std::optional<int64_t> value = dim.getConstantValue();
            value && *value < 0 && given->kind != Val::Kind::Unit) {
          InFlightDiagnostic diag =
              report(locationOf(*given, loc), DiagCode::K0307, "a slice bound cannot be negative");
          if (DimAttr spelled = addDims(extent, dim))
            attachHelp(diag) << "counted from the end, this bound is '" << spell(spelled) << "'";
          bad = true;
        }
      DimAttr size = subDims(high, low);
      if (!size) {
        report(loc, DiagCode::K0204, "a slice bound leaves 64 bits");
        bad = true;
      }
      if (bad)
        continue;
      if (isRuntime(size)) {
        InFlightDiagnostic diag =
            report(loc, DiagCode::K0207,
                   "the size of this slice at axis " + Twine(axis) + " (0-based) is known only at run time");
        attachHelp(diag) << "bind it with 'let dim K = ...;' and slice with [a:a + K]";
        bad = true;
        continue;
      }
      mayWrap = lo.mayWrap || hi.mayWrap;
      bad |= failed(obligeDivisors(size, loc));
      bad |= failed(bound(zero, low, axis, "a slice may start before the first element"));
      bad |= failed(bound(high, extent, axis, "a slice may end behind the last element"));
      bad |= failed(bound(zero, size, axis, "the end may lie before the start in a slice"));
      box.offsets.push_back(lo.kind == Val::Kind::Unit ? DimOp::create(builder, loc, builder.getIndexType(), zero)
                                                       : asIndex(lo, loc));
      box.sizes.push_back(size);
      continue;
    }
    if (!isHostScalar(sub) || !elementTypes.restrict(getElementType(sub.getType()), kIntegers)) {
      InFlightDiagnostic diag =
          report(loc, DiagCode::K0206, "a subscript is an integer scalar or a slice, not " + spell(sub));
      if (sub.isValue())
        attachSubscript(diag, base, sub.value);
      bad = true;
      continue;
    }
    if (sub.sym && sub.sym.isConstant() && *sub.sym.getConstantValue() < 0) {
      InFlightDiagnostic diag = report(loc, DiagCode::K0307, "an index cannot be negative");
      if (DimAttr spelled = addDims(extent, sub.sym))
        attachHelp(diag) << "counted from the end, write '" << spell(spelled) << "'";
      bad = true;
      continue;
    }
    DimAttr position = sub.sym ? sub.sym : freshAtom();
    if (!addDims(position, one)) {
      report(loc, DiagCode::K0204, "an index leaves 64 bits");
      bad = true;
      continue;
    }
    mayWrap = sub.mayWrap;
    bad |= failed(bound(zero, position, axis, "an index may lie before the first element"));
    bad |= failed(
        bound(addDims(position, one), extent, axis, "an index may lie behind the last element", position.isConstant()));
    box.offsets.push_back(asIndex(sub, loc));
    box.sizes.push_back(one);
    box.dropped.push_back(axis);
  }
  if (bad)
    return failure();
  return box;
}

Val Elaborator::index(const Val &given, ArrayRef<Val> subscripts, Location loc, ArrayRef<Location> locs) {
  Val base = given;
  FailureOr<Value> operand = asValue(base, loc, "a subscript");
  if (failed(operand))
    return Val::error();
  if (base.isScalar()) {
    report(loc, DiagCode::K0201, "a scalar has no axes to index");
    return Val::error();
  }
  FailureOr<Box> box = subscriptsToBox(*operand, subscripts, loc, locs);
  if (failed(box))
    return Val::error();
  Type type = getBoxType(operand->getType(), box->sizes, box->dropped);
  Value result = SliceOp::create(builder, loc, type, *operand, box->offsets, builder.getArrayAttr(box->sizes),
                                 box->dropped, box->inBounds);
  bool integer = getRank(type) == 0 && !(elementTypes.allowed(getElementType(type)) & ~kIntegers);
  return Val::of(result, integer ? freshAtom() : DimAttr());
}

/// How what other languages have as a member of a tensor is written here.
static void attachMember(Elaborator &e, InFlightDiagnostic &diag, const Val &base, surface::FieldOp field) {
  StringRef member = field.getMember();
  Type type = base.getType();
  if (member == "shape" && getRank(type) > 0)
    attachHelp(diag) << "a size has a name or is a number: here they are " << e.spellShape(getShape(type));
  else if (member == "dtype")
    attachHelp(diag) << "the element type is known where the program is written: here it is '"
                     << e.spell(getElementType(type)) << "'";
  else if (StringRef help = foreignNameHelp(member); !help.empty())
    attachHelp(diag) << help;
  else if (std::string text = e.sourceOf(base.value); findOperation(member) && !text.empty())
    attachHelp(diag) << "an operation is called: '" << text << '.' << member << "()'";
}

/// Reports `x[:, None]`, by which other languages add an axis.
static LogicalResult checkNewAxes(Elaborator &e, surface::IndexOp op, const Val &base, const ScopePtr &scope) {
  auto addsAxis = [&](Value sub) {
    auto name = sub.getDefiningOp<surface::NameOp>();
    return name && llvm::is_contained({"None", "newaxis"}, name.getName()) &&
           e.lookup(name.getName(), name.getLoc(), scope, /*silent=*/true).isError();
  };
  auto found = llvm::find_if(op.getSubscripts(), addsAxis);
  if (found == op.getSubscripts().end() || !base.isValue())
    return success();
  InFlightDiagnostic diag = e.report((*found).getLoc(), DiagCode::K0206, "a subscript adds no axis");
  ArrayRef<DimAttr> have = getShape(base.getType());
  SmallVector<DimAttr> shape;
  for (Value sub : op.getSubscripts()) {
    auto slice = sub.getDefiningOp<surface::SliceOp>();
    if (addsAxis(sub)) {
      shape.push_back(DimAttr::getConstant(e.getContext(), 1));
    } else if (slice && !slice.getLo() && !slice.getHi() && !have.empty()) {
      shape.push_back(have.front());
      have = have.drop_front();
    } else {
      attachHelp(diag) << "an axis of size 1 is added with 'reshape'";
      return diag;
    }
  }
  llvm::append_range(shape, have);
  std::string text = e.sourceOf(base.value);
  attachHelp(diag) << "write 'reshape(" << (text.empty() ? ".." : text) << ", " << e.spellShape(shape) << ")'";
  return diag;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Expressions and calls nest no deeper than this, which the pass's stack has room for.
static constexpr unsigned kMaxDepth = 10000;

Val Elaborator::evaluate(Value expr, const ScopePtr &scope) {
  if (exhausted)
    return Val::error();
  if (depth >= kMaxDepth) {
    report(expr.getLoc(), DiagCode::K0107,
           "expressions and the functions they call nest more than " + Twine(kMaxDepth) + " deep here");
    exhausted = true;
    return Val::error();
  }
  llvm::SaveAndRestore<unsigned> nested(depth, depth + 1);
  Val val = evaluateOperation(expr, scope);
  // An integer from anywhere can be computed with, as an unknown.
  val.expr = expr;
  if (val.isValue())
    expressions[val.value] = expr;
  if (val.isScalar() && !val.sym && !val.overflows && (elementTypes.allowed(getElementType(val.getType())) & kIntegers))
    val.sym = freshAtom();
  return val;
}

Val Elaborator::evaluateOperation(Value expr, const ScopePtr &scope) {
  Operation *op = expr.getDefiningOp();
  Location loc = op->getLoc();
  auto evaluateAll = [&](auto &&range) {
    std::vector<Val> vals;
    for (Value value : range)
      vals.push_back(evaluate(value, scope));
    return vals;
  };
  return TypeSwitch<Operation *, Val>(op)
      .Case([&](surface::LiteralOp literal) -> Val {
        switch (literal.getKind()) {
        case surface::LiteralKind::Int:
          return literalInt(literal.getInt(), loc);
        case surface::LiteralKind::Float:
          return literalFloat(literal.getFloat(), loc);
        case surface::LiteralKind::Bool:
          return literalBool(literal.getBool(), loc);
        case surface::LiteralKind::String:
          break;
        }
        report(loc, DiagCode::K0206, "a string is no value");
        return Val::error();
      })
      .Case([&](surface::NameOp name) { return lookup(name.getName(), loc, scope); })
      .Case([&](surface::DTypeOp type) {
        Val val;
        val.kind = Val::Kind::DType;
        val.type = dtype(type.getDtype());
        return val;
      })
      .Case([&](surface::UnitOp) { return Val::unit(); })
      .Case([&](surface::PlaceOp place) -> Val {
        FailureOr<PlacementAttr> attr = elaboratePlace(place.getPlace(), *scope);
        if (failed(attr))
          return Val::error();
        Val val;
        val.kind = Val::Kind::Place;
        val.place = *attr;
        return val;
      })
      .Case([&](surface::TypeExprOp typeExpr) -> Val {
        FailureOr<Ty> type = elaborateType(typeExpr.getType(), *scope);
        if (failed(type))
          return Val::error();
        Val val;
        val.kind = Val::Kind::TypeExpr;
        val.type = type->type;
        return val;
      })
      .Case([&](surface::TupleOp tuple) -> Val {
        if (readsEquations && tuple.getNamesAttr() && tuple.getMembers().size() == 1)
          return binary(surface::BinaryKind::Eq, lookup(cast<StringAttr>(tuple.getNamesAttr()[0]).getValue(), loc, scope),
                        evaluate(tuple.getMembers()[0], scope), loc);
        SmallVector<std::string> names;
        if (ArrayAttr given = tuple.getNamesAttr())
          for (auto name : given.getAsRange<StringAttr>()) {
            if (llvm::is_contained(names, name.getValue())) {
              report(loc, DiagCode::K0114, "member '" + name.getValue() + "' is given twice");
              return Val::error();
            }
            names.push_back(name.str());
          }
        std::vector<Val> members = evaluateAll(tuple.getMembers());
        for (Val &member : members) {
          member = decay(std::move(member));
          if (member.kind == Val::Kind::List)
            member = listToTensor(member, loc);
          if (member.isError())
            return Val::error();
        }
        Val val = Val::tuple(std::move(members));
        val.names = std::move(names);
        return val;
      })
      .Case([&](surface::ListOp list) -> Val {
        Val val;
        val.kind = Val::Kind::List;
        val.members = evaluateAll(list.getElements());
        if (llvm::any_of(val.members, [](const Val &member) { return member.isError(); }))
          return Val::error();
        return val;
      })
      .Case([&](surface::SliceOp slice) {
        Val val;
        val.kind = Val::Kind::Slice;
        val.members.push_back(slice.getLo() ? evaluate(slice.getLo(), scope) : Val::unit());
        val.members.push_back(slice.getHi() ? evaluate(slice.getHi(), scope) : Val::unit());
        return val;
      })
      .Case([&](surface::UnaryOp unaryOp) {
        return unary(unaryOp.getKind(), evaluate(unaryOp.getOperand(), scope), loc);
      })
      .Case([&](surface::BinaryOp binaryOp) -> Val {
        if (binaryOp.getKind() == surface::BinaryKind::And || binaryOp.getKind() == surface::BinaryKind::Or)
          return shortCircuit(binaryOp, scope);
        Val a = evaluate(binaryOp.getLhs(), scope);
        Val b = evaluate(binaryOp.getRhs(), scope);
        return binary(binaryOp.getKind(), std::move(a), std::move(b), loc);
      })
      .Case([&](surface::CallOp callOp) { return evaluateCall(callOp, scope); })
      .Case([&](surface::FieldOp field) -> Val {
        Val base = evaluate(field.getBase(), scope);
        if (base.isError())
          return base;
        if (std::optional<unsigned> position = field.getIndex()) {
          if (base.kind == Val::Kind::Tuple && *position < base.members.size())
            return base.members[*position];
          report(loc, DiagCode::K0206, spell(base) + " has no member " + Twine(*position));
          return Val::error();
        }
        if (auto member = llvm::find(base.names, field.getMember()); member != base.names.end())
          return base.members[member - base.names.begin()];
        InFlightDiagnostic diag =
            report(loc, DiagCode::K0206, spell(base) + " has no member '" + field.getMember() + "'");
        if (base.isValue())
          attachMember(*this, diag, base, field);
        if (std::optional<std::string> close = nearest(field.getMember(), base.names))
          attachHelp(diag) << "did you mean '" << *close << "'?";
        return Val::error();
      })
      .Case([&](surface::IndexOp indexOp) {
        Val base = evaluate(indexOp.getBase(), scope);
        if (failed(checkNewAxes(*this, indexOp, base, scope)))
          return Val::error();
        SmallVector<Location> locs = llvm::map_to_vector(indexOp.getSubscripts(), [](Value sub) { return sub.getLoc(); });
        return index(base, evaluateAll(indexOp.getSubscripts()), loc, locs);
      })
      .Case([&](surface::IfOp ifOp) { return evaluateIf(ifOp, scope); })
      .Case([&](surface::WhileOp loop) { return evaluateWhile(loop, scope, {}); })
      .Case([&](surface::ForOp loop) { return evaluateFor(loop, scope, {}); })
      .Case([&](surface::LambdaOp lambda) {
        auto callable = std::make_shared<Callable>(Callable::Kind::Lambda, loc);
        callable->lambda = lambda;
        callable->scope = scope;
        for (Scope *s = scope.get(); s && !s->closed; s = s->parent.get())
          s->closed = true;
        llvm::StringSet<> seen;
        for (SyntaxAttr param : surface::syntaxRange(lambda.getParamsAttr()))
          if (!seen.insert(param.getText()).second) {
            report(param.getLocation(), DiagCode::K0114, "parameter '" + param.getText() + "' is declared twice");
            return Val::error();
          }
        return Val::of(std::move(callable));
      })
      .Case([&](surface::BlockOp block) {
        return evaluateBlock(block.getBody(), std::make_shared<Scope>(scope, current));
      })
      .Case([&](surface::PerformOp perform) { return evaluatePerform(perform, scope); })
      .Case([&](surface::HandleOp handle) { return evaluateHandle(handle, scope); })
      .Case([&](surface::FoldLeftOp fold) { return foldLeft(fold, scope); });
}

} // namespace kina::elaborate
