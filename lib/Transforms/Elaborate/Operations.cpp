//===- Operations.cpp - Typing rules of the operations --------------------===//
//
// One rule per operation: it reads its arguments, checks element types, states shape
// obligations, and emits. The table at the end names them. An operation that is a
// composite of others needs no ODS entry.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

template <typename Op> static Val floatFunction(OperationCall &call) {
  Value x = call.value("x");
  if (!call.requireFloat(x))
    return Val::error();
  return Val::of(Op::create(call.e.builder, call.loc, x));
}

template <typename Op> static Val numberFunction(OperationCall &call) {
  Value x = call.value("x");
  if (!call.requireNumber(x))
    return Val::error();
  return Val::of(Op::create(call.e.builder, call.loc, x));
}

static Val gelu(OperationCall &call) {
  Value x = call.value("x");
  if (!call.requireFloat(x))
    return Val::error();
  GeluForm form = GeluForm::erf;
  if (const Val *found = call.find("form", /*positional=*/false)) {
    std::optional<GeluForm> given;
    if (found->kind == Val::Kind::Function && found->function->kind == Callable::Kind::Operation)
      given = symbolizeGeluForm(found->function->operation);
    if (!given) {
      call.error(DiagCode::K0205) << "'form' of 'gelu' is erf or tanh";
      return Val::error();
    }
    form = *given;
  }
  return Val::of(GeluOp::create(call.e.builder, call.loc, x.getType(), x, form));
}

static Val logicalNot(OperationCall &call) {
  Value x = call.value("x");
  if (!x || !call.e.restrictElement(x, kIntegers | kBool, call.loc, "'not' needs booleans or integers"))
    return Val::error();
  return Val::of(NotOp::create(call.e.builder, call.loc, x));
}

/// Reads two operands and brings them to one shape and element type.
static bool readPair(OperationCall &call, Value &a, Value &b, unsigned mask, StringRef need) {
  a = call.value("a");
  b = call.value("b");
  if (!a || !b)
    return false;
  SmallVector<Value, 2> both{a, b};
  if (failed(call.e.broadcastTogether(both, call.loc)) || !call.e.restrictElement(both[0], mask, call.loc, need))
    return false;
  a = both[0];
  b = both[1];
  return true;
}

template <typename Op, unsigned mask = kNumbers> static Val binaryOperation(OperationCall &call) {
  Value a, b;
  std::string need = "'" + call.name.str() + "' needs " +
                     (mask == kFloats     ? "floats"
                      : mask == kIntegers ? "integers"
                      : mask == kNumbers  ? "numbers"
                                          : "integers or booleans");
  if (!readPair(call, a, b, mask, need))
    return Val::error();
  return Val::of(Op::create(call.e.builder, call.loc, a, b));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The axes must hold an element.
static bool requireNonEmpty(OperationCall &call, Value x, ArrayRef<int64_t> axes) {
  DimAttr zero = DimAttr::getConstant(call.e.context, 0);
  bool good = true;
  for (int64_t axis : axes) {
    DimAttr size = getShape(x.getType())[axis];
    good &= succeeded(call.e.oblige(call.loc, makeRelation(PredKind::LT, zero, size), ObligationKind::nonempty,
                                    "'" + call.name + "' needs an element along axis " + Twine(axis) +
                                        " (0-based), of size '" + call.e.spell(size) + "'"));
  }
  call.failed |= !good;
  return good;
}

template <typename Op, unsigned mask, bool nonEmpty> static Val reduction(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  bool keepdims = call.boolean("keepdims", false);
  std::optional<SmallVector<int64_t>> axes = call.axes(x.getType());
  StringRef need = mask == kFloats ? " needs floats" : mask == kBool ? " needs booleans" : " needs numbers";
  if (!axes || !call.e.restrictElement(x, mask, call.loc, "'" + call.name + "'" + need) ||
      (nonEmpty && !requireNonEmpty(call, x, *axes)))
    return Val::error();
  return Val::of(Op::create(call.e.builder, call.loc, x, *axes, keepdims));
}

/// `max(a, b)` is element-wise, `max(x, axis=1)` a reduction.
template <typename Binary, typename Reduce> static Val extremum(OperationCall &call) {
  size_t positional = llvm::count(call.keywords, "");
  if (positional >= 2 || llvm::is_contained(call.keywords, "b")) {
    Val result = binaryOperation<Binary>(call);
    // Of two dimensions it is one.
    const Val &a = call.args[0], &b = call.args[1];
    constexpr bool isMin = std::is_same_v<Binary, MinOp>;
    if (result.isScalar() && a.sym && b.sym && !isRuntime(a.sym) && !isRuntime(b.sym)) {
      result.sym = isMin ? minDims({a.sym, b.sym}) : maxDims({a.sym, b.sym});
      call.e.note(result.sym, a.sym, isMin ? "min" : "max", b.sym);
      // As arithmetic on sizes, it does not wrap, whatever type it gets.
      if (result.sym && !result.sym.isConstant() && call.e.isExactSize(a) && call.e.isExactSize(b))
        return Val::of(DimOp::create(call.e.builder, call.loc, result.getType(), result.sym), result.sym);
    }
    return result;
  }
  return reduction<Reduce, kNumbers, true>(call);
}

template <typename Op> static Val argReduction(OperationCall &call) {
  Value x = call.value("x");
  if (!call.requireNumber(x))
    return Val::error();
  bool keepdims = call.boolean("keepdims", false);
  std::optional<int64_t> axis = call.axis(x.getType());
  if (call.failed)
    return Val::error();
  OpBuilder &b = call.e.builder;
  if (!axis) {
    // Without an axis the position is in row-major order.
    if (getRank(x.getType()) == 0) {
      call.error(DiagCode::K0201) << "'" << call.name << "' needs a tensor, not a scalar";
      return Val::error();
    }
    DimAttr count = productOf(call.e.context, getShape(x.getType()));
    if (!count) {
      call.error(DiagCode::K0204) << "the number of elements leaves 64 bits";
      return Val::error();
    }
    x = ReshapeOp::create(b, call.loc, withShape(x.getType(), {count}), x, false);
    axis = 0;
  }
  if (!requireNonEmpty(call, x, {*axis}))
    return Val::error();
  Value result = Op::create(b, call.loc, x, *axis, keepdims);
  return Val::of(result, getRank(result.getType()) == 0 ? call.e.freshAtom() : DimAttr());
}

template <typename Op, unsigned mask = kFloats> static Val axisFunction(OperationCall &call) {
  Value x = call.value("x");
  if (!x || !call.e.restrictElement(x, mask, call.loc,
                                    "'" + call.name + "' needs " + (mask == kFloats ? "floats" : "numbers")))
    return Val::error();
  if (getRank(x.getType()) == 0) {
    call.error(DiagCode::K0201) << "'" << call.name << "' needs a tensor, not a scalar";
    return Val::error();
  }
  std::optional<int64_t> axis = call.axis(x.getType());
  if (call.failed)
    return Val::error();
  if (!axis)
    axis = getRank(x.getType()) - 1;
  return Val::of(Op::create(call.e.builder, call.loc, x, *axis));
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

Value reshape(Elaborator &e, Value x, ArrayRef<DimAttr> shape, Location loc) {
  if (getShape(x.getType()) == shape)
    return x;
  return ReshapeOp::create(e.builder, loc, withShape(x.getType(), shape), x, false);
}

static Val matmul(OperationCall &call) {
  Elaborator &e = call.e;
  Value a = call.value("a"), b = call.value("b");
  if (!call.requireNumber(a) || !call.requireNumber(b) || !e.unifyElements(a, b, call.loc))
    return Val::error();
  unsigned ra = getRank(a.getType()), rb = getRank(b.getType());
  if (ra == 0 || rb == 0) {
    InFlightDiagnostic diag = call.error(DiagCode::K0201);
    diag << "'@' needs tensors, not a scalar";
    attachHelp(diag) << "multiply by a scalar with '*'";
    return Val::error();
  }
  DimAttr one = DimAttr::getConstant(e.context, 1);
  SmallVector<DimAttr> sa(getShape(a.getType())), sb(getShape(b.getType()));
  // NumPy's rule for vectors: a row on the left, a column on the right, dropped again.
  if (ra == 1)
    sa.insert(sa.begin(), one);
  if (rb == 1)
    sb.push_back(one);
  DimAttr k = sa.back(), l = sb[sb.size() - 2];
  SmallVector<Value, 2> given{a, b};
  Elaborator::OperandScope operandTypes(e, given);
  std::optional<Elaborator::NoteScope> help(std::in_place, e);
  if (k != l)
    help->add(e.suggestTranspose(a, b));
  if (failed(e.oblige(call.loc, makeRelation(PredKind::EQ, k, l), ObligationKind::contraction,
                      "contracted dimensions differ: '" + e.spell(k) + "' on the left, '" + e.spell(l) +
                          "' on the right")))
    return Val::error();
  help.reset();
  a = reshape(e, a, sa, call.loc);
  b = reshape(e, b, sb, call.loc);
  if (k != l) {
    sb[sb.size() - 2] = k;
    b = ReshapeOp::create(e.builder, call.loc, withShape(b.getType(), sb), b, /*checked=*/true);
  }
  SmallVector<DimAttr> batch;
  Value product;
  if (sb.size() == 2 && sa.size() > 2) {
    // One matrix for all of the batch: a single product of the flattened rows.
    batch.assign(sa.begin(), sa.end() - 2);
    DimAttr rows = mulDims(productOf(e.context, batch), sa[sa.size() - 2]);
    if (!rows) {
      call.error(DiagCode::K0204) << "the number of rows leaves 64 bits";
      return Val::error();
    }
    product = MatmulOp::create(e.builder, call.loc, reshape(e, a, {rows, k}, call.loc), b, Value(), false, false);
  } else {
    ArrayRef<DimAttr> ba = ArrayRef(sa).drop_back(2), bb = ArrayRef(sb).drop_back(2);
    FailureOr<SmallVector<DimAttr>> common = e.broadcastShapes({ba, bb}, call.loc);
    if (failed(common))
      return Val::error();
    batch = *common;
    auto widen = [&](Value x, ArrayRef<DimAttr> shape) {
      SmallVector<DimAttr> goal(batch);
      llvm::append_range(goal, shape.take_back(2));
      return e.broadcastTo(x, goal, call.loc);
    };
    product = MatmulOp::create(e.builder, call.loc, widen(a, sa), widen(b, sb), Value(), false, false);
  }
  SmallVector<DimAttr> shape(batch);
  if (ra != 1)
    shape.push_back(sa[sa.size() - 2]);
  if (rb != 1)
    shape.push_back(sb.back());
  return Val::of(reshape(e, product, shape, call.loc));
}

static Val dot(OperationCall &call) {
  Value a = call.value("a"), b = call.value("b");
  if (!a || !b)
    return Val::error();
  for (Value operand : {a, b})
    if (getRank(operand.getType()) != 1) {
      call.error(DiagCode::K0201) << "'dot' needs two vectors, not " << call.e.spell(operand.getType());
      return Val::error();
    }
  return call.e.callOperation("matmul", {Val::of(a), Val::of(b)}, {"", ""}, {}, call.loc);
}

static Val outer(OperationCall &call) {
  Value a = call.value("a"), b = call.value("b");
  if (!call.requireNumber(a) || !call.requireNumber(b) || !call.e.unifyElements(a, b, call.loc))
    return Val::error();
  if (getRank(a.getType()) != 1 || getRank(b.getType()) != 1) {
    call.error(DiagCode::K0201) << "'outer' needs two vectors";
    return Val::error();
  }
  DimAttr one = DimAttr::getConstant(call.e.context, 1), m = getShape(a.getType())[0], n = getShape(b.getType())[0];
  Value column = reshape(call.e, a, {m, one}, call.loc);
  return Val::of(MulOp::create(call.e.builder, call.loc, call.e.broadcastTo(column, {m, n}, call.loc),
                               call.e.broadcastTo(b, {m, n}, call.loc)));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static Val select(OperationCall &call) {
  Value c = call.value("c"), a = call.value("a"), b = call.value("b");
  if (!c || !a || !b || !call.e.restrictElement(c, kBool, call.loc, "'" + call.name + "' needs a boolean mask") ||
      !call.e.unifyElements(a, b, call.loc))
    return Val::error();
  bool scalarMask = getRank(c.getType()) == 0;
  SmallVector<Value, 3> all{a, b};
  if (!scalarMask)
    all.push_back(c);
  if (failed(call.e.broadcastTogether(all, call.loc, /*sameElement=*/false)))
    return Val::error();
  return Val::of(SelectOp::create(call.e.builder, call.loc, scalarMask ? c : all[2], all[0], all[1]));
}

static Val clamp(OperationCall &call) {
  Value x = call.value("x"), lo = call.value("lo"), hi = call.value("hi");
  if (!call.requireNumber(x) || !lo || !hi)
    return Val::error();
  SmallVector<Value, 3> all{x, lo, hi};
  if (failed(call.e.broadcastTogether(all, call.loc)))
    return Val::error();
  Value low = MaxOp::create(call.e.builder, call.loc, all[0], all[1]);
  return Val::of(MinOp::create(call.e.builder, call.loc, low, all[2]));
}

static Val castTo(OperationCall &call) {
  Value x = call.value("x");
  const Val *to = call.find("to");
  if (!x)
    return Val::error();
  if (!to || to->kind != Val::Kind::DType) {
    call.error(DiagCode::K0205) << "'cast' takes a value and an element type, 'cast(x, F64)'";
    return Val::error();
  }
  Type element = call.e.elements().resolve(getElementType(x.getType()));
  // A literal that is cast takes the type at once.
  if (isa<HoleType>(element) && x.getDefiningOp<ConstantOp>())
    (void)call.e.elements().restrict(element, maskOf(to->type));
  // A size keeps its value, and is tested to fit.
  if ((maskOf(to->type) & (kI32 | kI64)) && call.e.isExactSize(call.args.front()) && x.getDefiningOp<DimOp>())
    return Val::of(DimOp::create(call.e.builder, call.loc, to->type, call.args.front().sym), call.args.front().sym);
  Value result = CastOp::create(call.e.builder, call.loc, withElementType(x.getType(), to->type), x);
  bool integer = getRank(result.getType()) == 0 && (maskOf(to->type) & kIntegers);
  // An integer keeps its value where it fits; what a size is made of must be one.
  const Val &operand = call.args.front();
  DimAttr sym = operand.sym;
  // What may not fit is another value.
  if (sym && (maskOf(to->type) & (kI8 | kU8))) {
    std::optional<int64_t> value = sym.getConstantValue();
    bool fits = value && (maskOf(to->type) == kU8 ? *value >= 0 && *value < 256 : llvm::isInt<8>(*value));
    sym = fits ? sym : DimAttr();
  }
  Val val = Val::of(result, !integer ? DimAttr() : sym ? sym : call.e.freshAtom());
  val.mayWrap = integer && sym && operand.mayWrap;
  return val;
}

template <typename Op> static Val identity(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  return Val::of(Op::create(call.e.builder, call.loc, x), call.args.front().sym);
}

static Val drop(OperationCall &call) {
  // A tuple ends with its members.
  if (Val tuple = call.args.size() == 1 ? call.e.decay(call.args.front()) : Val();
      tuple.kind == Val::Kind::Tuple && tuple.isFirstOrder()) {
    (void)call.find("x");
    SmallVector<Value> members;
    call.e.flatten(tuple, members);
    for (Value member : members)
      DropOp::create(call.e.builder, call.loc, member);
    return Val::unit();
  }
  Value x = call.value("x");
  if (!x)
    return Val::error();
  DropOp::create(call.e.builder, call.loc, x);
  return Val::unit();
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

static Val reshapeTo(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!shape)
    return Val::error();
  Elaborator &e = call.e;
  Elaborator::OperandScope operandTypes(e, x);
  DimAttr have = productOf(e.context, getShape(x.getType())), want = productOf(e.context, *shape);
  if (!have || !want) {
    call.error(DiagCode::K0204) << "the number of elements leaves 64 bits";
    return Val::error();
  }
  PredAttr same = makeRelation(PredKind::EQ, have, want);
  if (have != want && e.settle(same) != Elaborator::Truth::Proved) {
    e.spellings->addProduct(have, getShape(x.getType()));
    e.spellings->addProduct(want, *shape);
  }
  if (have != want &&
      failed(e.oblige(call.loc, same, ObligationKind::element_count,
                      "the reshape may change the number of elements, from '" + e.spell(have) + "' to '" +
                          e.spell(want) + "'")))
    return Val::error();
  if (getShape(x.getType()) == ArrayRef(*shape))
    return Val::of(x);
  return Val::of(ReshapeOp::create(e.builder, call.loc, withShape(x.getType(), *shape), x, have != want));
}

static Val transpose(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  int64_t rank = getRank(x.getType());
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (const Val *given = call.find("perm")) {
    perm.clear();
    if (given->kind == Val::Kind::List)
      for (const Val &member : given->members)
        if (std::optional<int64_t> axis = member.sym ? member.sym.getConstantValue() : std::nullopt)
          perm.push_back(*axis < 0 ? *axis + rank : *axis);
    SmallVector<int64_t> sorted(perm);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) {
      call.error(DiagCode::K0201) << "the permutation must list each of the " << rank << " axes once";
      return Val::error();
    }
  } else if (rank < 2) {
    call.error(DiagCode::K0201) << "'transpose' exchanges the last two axes; " << call.e.spell(x.getType())
                                << " has fewer";
    return Val::error();
  } else {
    std::swap(perm[rank - 1], perm[rank - 2]);
  }
  if (rank == 0)
    return Val::of(x);
  return Val::of(TransposeOp::create(call.e.builder, call.loc, x, perm));
}

static Val broadcast(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!shape)
    return Val::error();
  ArrayRef<DimAttr> from = getShape(x.getType());
  if (from.size() > shape->size()) {
    call.error(DiagCode::K0201) << call.e.spell(x.getType()) << " cannot be broadcast to a lower rank";
    return Val::error();
  }
  for (auto [dim, goal] : llvm::zip(from, ArrayRef(*shape).take_back(from.size())))
    if (!dim.isConstant(1) && dim != goal &&
        failed(call.e.oblige(
            call.loc, makeRelation(PredKind::EQ, dim, goal), ObligationKind::shapes_equal,
            "an axis of size '" + call.e.spell(dim) + "' cannot be broadcast to '" + call.e.spell(goal) + "'")))
      return Val::error();
  return Val::of(call.e.broadcastTo(x, *shape, call.loc));
}

static Val expandDims(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<int64_t> axis = call.integer("axis", /*positional=*/true);
  int64_t rank = getRank(x.getType());
  if (!axis || *axis < -rank - 1 || *axis > rank) {
    if (!call.failed)
      call.error(DiagCode::K0201) << "'expand_dims' needs an axis between " << -rank - 1 << " and " << rank;
    return Val::error();
  }
  SmallVector<DimAttr> shape(getShape(x.getType()));
  shape.insert(shape.begin() + (*axis < 0 ? *axis + rank + 1 : *axis), DimAttr::getConstant(call.e.context, 1));
  return Val::of(reshape(call.e, x, shape, call.loc));
}

static Val squeeze(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<int64_t> axis = call.axis(x.getType());
  if (!axis) {
    if (!call.failed)
      call.error(DiagCode::K0205) << "'squeeze' needs an axis";
    return Val::error();
  }
  SmallVector<DimAttr> shape(getShape(x.getType()));
  DimAttr one = DimAttr::getConstant(call.e.context, 1), size = shape[*axis];
  if (failed(call.e.oblige(call.loc, makeRelation(PredKind::EQ, size, one), ObligationKind::shapes_equal,
                           "only an axis of size 1 can be squeezed, and axis " + Twine(*axis) +
                               " (0-based) has size '" + call.e.spell(size) + "'")))
    return Val::error();
  shape.erase(shape.begin() + *axis);
  return Val::of(ReshapeOp::create(call.e.builder, call.loc, withShape(x.getType(), shape), x, size != one));
}

/// An axis that has no default.
static std::optional<int64_t> requireAxis(OperationCall &call, Type operand) {
  std::optional<int64_t> axis = call.axis(operand);
  if (!axis && !call.failed)
    call.error(DiagCode::K0205) << "'" << call.name << "' needs an axis";
  return axis;
}

/// The tensors of a list or a tuple, with one element type.
static bool readTensors(OperationCall &call, SmallVectorImpl<Value> &tensors) {
  const Val *list = call.find("xs");
  if (!list || (list->kind != Val::Kind::List && list->kind != Val::Kind::Tuple) || list->members.empty()) {
    call.error(DiagCode::K0205) << "'" << call.name << "' takes a list of tensors, '" << call.name
                                << "([a, b], axis=0)'";
    return false;
  }
  for (Val member : list->members) {
    FailureOr<Value> value = call.e.asValue(member, call.loc, "'" + call.name + "'");
    if (failed(value) || (!tensors.empty() && !call.e.unifyElements(tensors.front(), *value, call.loc))) {
      call.failed = true;
      return false;
    }
    tensors.push_back(*value);
  }
  return true;
}

/// Brings all to the shape of the first, of which `own` axes may differ.
static bool alignToFirst(OperationCall &call, MutableArrayRef<Value> tensors, std::optional<int64_t> own) {
  Type first = tensors.front().getType();
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    SmallVector<DimAttr> goal(getShape(first));
    if (own && getRank(tensor.getType()) == goal.size())
      goal[*own] = getShape(tensor.getType())[*own];
    FailureOr<Value> same = call.e.coerce(call.loc, tensor, withShape(first, goal),
                                          "tensor " + Twine(number) + " (0-based) of '" + call.name + "'");
    if (failed(same)) {
      call.failed = true;
      return false;
    }
    tensor = *same;
  }
  return true;
}

static Val concat(OperationCall &call) {
  SmallVector<Value> tensors;
  if (!readTensors(call, tensors))
    return Val::error();
  Type first = tensors.front().getType();
  if (getRank(first) == 0) {
    InFlightDiagnostic diag = call.error(DiagCode::K0201);
    diag << "'concat' needs tensors, not scalars";
    attachHelp(diag) << "'stack' makes a vector of scalars";
    return Val::error();
  }
  std::optional<int64_t> axis = requireAxis(call, first);
  if (!axis || !alignToFirst(call, tensors, axis))
    return Val::error();
  DimAttr size = DimAttr::getConstant(call.e.context, 0);
  for (Value tensor : tensors)
    size = addDims(size, getShape(tensor.getType())[*axis]);
  if (!size) {
    call.error(DiagCode::K0204) << "the size of the axis leaves 64 bits";
    return Val::error();
  }
  return Val::of(ConcatOp::create(call.e.builder, call.loc, tensors, *axis));
}

static Val stack(OperationCall &call) {
  SmallVector<Value> tensors;
  if (!readTensors(call, tensors))
    return Val::error();
  Elaborator &e = call.e;
  // The axis is one of the result's, which has one more.
  DimAttr one = DimAttr::getConstant(e.context, 1);
  SmallVector<DimAttr> shape(getShape(tensors.front().getType()));
  shape.push_back(one);
  std::optional<int64_t> axis =
      requireAxis(call, TensorType::get(getElementType(tensors.front().getType()), shape));
  if (!axis || !alignToFirst(call, tensors, std::nullopt))
    return Val::error();
  Type first = tensors.front().getType();
  // Scalars of the host; on a device they are tensors of rank 0.
  if (!isa<TensorType>(first)) {
    Type type = TensorType::get(first, DimAttr::getConstant(e.context, tensors.size()));
    return Val::of(FromElementsOp::create(e.builder, call.loc, type, tensors));
  }
  shape.assign(getShape(first).begin(), getShape(first).end());
  shape.insert(shape.begin() + *axis, one);
  for (Value &tensor : tensors)
    tensor = reshape(e, tensor, shape, call.loc);
  return Val::of(ConcatOp::create(e.builder, call.loc, tensors, *axis));
}

static Val split(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<SmallVector<DimAttr>> sizes = call.shape("sizes", "'sizes'");
  std::optional<int64_t> axis;
  if (!sizes || !(axis = requireAxis(call, x.getType())))
    return Val::error();
  Elaborator &e = call.e;
  SmallVector<DimAttr> starts{DimAttr::getConstant(e.context, 0)};
  for (DimAttr size : *sizes)
    starts.push_back(addDims(starts.back(), size));
  DimAttr sum = starts.pop_back_val(), extent = getShape(x.getType())[*axis];
  if (!sum) {
    call.error(DiagCode::K0204) << "the sum of the sizes leaves 64 bits";
    return Val::error();
  }
  if (failed(e.oblige(call.loc, makeRelation(PredKind::EQ, sum, extent), ObligationKind::element_count,
                      "the sizes of the split add up to '" + e.spell(sum) + "', but axis " + Twine(*axis) +
                          " (0-based) has size '" + e.spell(extent) + "'")))
    return Val::error();
  Type index = e.builder.getIndexType();
  SmallVector<Value> offsets(getRank(x.getType()),
                             DimOp::create(e.builder, call.loc, index, DimAttr::getConstant(e.context, 0)));
  SmallVector<Attribute> box(getShape(x.getType()));
  std::vector<Val> parts;
  for (auto [start, size] : llvm::zip(starts, *sizes)) {
    offsets[*axis] = DimOp::create(e.builder, call.loc, index, start);
    box[*axis] = size;
    parts.push_back(Val::of(SliceOp::create(e.builder, call.loc, getBoxType(x.getType(), box, {}), x, offsets,
                                            e.builder.getArrayAttr(box), ArrayRef<int64_t>(), /*in_bounds=*/true)));
  }
  return Val::tuple(std::move(parts));
}

/// A box of a tensor that is filled with the value.
static Val pad(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  Elaborator &e = call.e;
  ArrayRef<DimAttr> shape = getShape(x.getType());
  if (shape.empty()) {
    call.error(DiagCode::K0201) << "'pad' needs a tensor, not a scalar";
    return Val::error();
  }
  SmallVector<DimAttr> ends[2];
  const StringRef keywords[] = {"low", "high"};
  std::string example = "[" + llvm::join(SmallVector<StringRef>(shape.size(), "1"), ", ") + "]";
  for (auto [end, keyword] : llvm::zip(ends, keywords)) {
    const Val *found = call.find(keyword);
    if (!found) {
      call.error(DiagCode::K0205) << "'pad' needs '" << keyword << "', a list of a size for each axis such as " << example;
      return Val::error();
    }
    if (found->isError())
      return Val::error();
    Location loc = e.locationOf(*found, call.loc);
    if (found->kind != Val::Kind::List) {
      InFlightDiagnostic diag = e.report(loc, DiagCode::K0206, "'" + keyword + "' of 'pad' is a list of a size for each "
                                                               "axis, not " + e.spell(*found));
      attachHelp(diag) << "what is added before and behind the elements is given apart: 'pad(x, " << example << ", "
                       << example << ")'";
      return Val::error();
    }
    FailureOr<SmallVector<DimAttr>> given = e.asShape(*found, call.loc);
    if (failed(given))
      return Val::error();
    if (given->size() != shape.size()) {
      InFlightDiagnostic diag = call.error(DiagCode::K0201);
      diag << "'" << keyword << "' of 'pad' has " << e.spellCount(given->size(), "size", "sizes") << ", but "
           << e.spell(x.getType()) << " has " << e.spellCount(shape.size(), "axis", "axes");
      attachHelp(diag) << "give one for each axis, such as " << example;
      return Val::error();
    }
    end = *given;
  }
  Value fill = call.optionalValue("value");
  if (call.failed)
    return Val::error();
  if (!fill)
    fill = e.constant(getElementType(x.getType()), 0, call.loc);
  if (!e.unifyElements(x, fill, call.loc))
    return Val::error();
  if (getRank(fill.getType()) != 0) {
    call.error(DiagCode::K0206) << "'pad' repeats a scalar, not " << e.spell(fill.getType());
    return Val::error();
  }
  SmallVector<DimAttr> padded;
  SmallVector<Value> offsets;
  for (auto [size, low, high] : llvm::zip(shape, ends[0], ends[1])) {
    padded.push_back(addDims(addDims(low, size), high));
    if (!padded.back()) {
      call.error(DiagCode::K0204) << "a padded size leaves 64 bits";
      return Val::error();
    }
    offsets.push_back(DimOp::create(e.builder, call.loc, e.builder.getIndexType(), low));
  }
  Value around = e.broadcastTo(fill, padded, call.loc, getPlacement(x.getType()));
  return Val::of(UpdateOp::create(e.builder, call.loc, around.getType(), x, around, offsets,
                                  e.builder.getArrayAttr(SmallVector<Attribute>(shape)), ArrayRef<int64_t>(),
                                  /*in_bounds=*/true));
}

static Val flip(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  std::optional<int64_t> axis = requireAxis(call, x.getType());
  return axis ? Val::of(FlipOp::create(call.e.builder, call.loc, x, *axis)) : Val::error();
}

/// Each element n times, one behind the other: repeated along an axis of its own, which then
/// becomes one with the element's.
static Val repeatInterleave(OperationCall &call) {
  Value x = call.value("x");
  const Val *count = call.find("n");
  if (!x)
    return Val::error();
  if (!count) {
    call.error(DiagCode::K0205) << "'repeat_interleave' needs the number of repetitions, "
                                << "'repeat_interleave(x, n, axis)'";
    return Val::error();
  }
  DimAttr n = call.e.asSize(*count, call.loc);
  std::optional<int64_t> axis;
  if (!n || !(axis = requireAxis(call, x.getType()))) {
    call.failed = true;
    return Val::error();
  }
  SmallVector<DimAttr> shape(getShape(x.getType())), repeated(shape);
  repeated[*axis] = mulDims(shape[*axis], n);
  if (!repeated[*axis]) {
    call.error(DiagCode::K0204) << "the size of the axis leaves 64 bits";
    return Val::error();
  }
  shape.insert(shape.begin() + *axis + 1, DimAttr::getConstant(call.e.context, 1));
  x = reshape(call.e, x, shape, call.loc);
  shape[*axis + 1] = n;
  return Val::of(reshape(call.e, call.e.broadcastTo(x, shape, call.loc), repeated, call.loc));
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// The element type from `zeros<F64>(..)`, or an open one.
static Type elementArgument(OperationCall &call, unsigned mask, unsigned preferred) {
  Type given = call.typeArgument;
  call.typeArgument = {};
  if (given && !(maskOf(given) & mask)) {
    call.error(DiagCode::K0202) << "'" << call.name << "' cannot make " << call.e.spell(given);
    return {};
  }
  return given ? given : call.e.elements().fresh(mask, preferred);
}

Value Elaborator::constant(Type element, double number, Location loc) {
  int64_t integer = static_cast<int64_t>(number);
  TypedAttr attr = isa<FloatType>(element)  ? cast<TypedAttr>(FloatAttr::get(element, number))
                   : isa<HoleType>(element) ? cast<TypedAttr>(builder.getI64IntegerAttr(integer))
                                            : cast<TypedAttr>(IntegerAttr::get(element, integer));
  return ConstantOp::create(builder, loc, element, attr);
}

template <int value> static Val filled(OperationCall &call) {
  Type element = elementArgument(call, kAnyElement, kF32);
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!element || !shape)
    return Val::error();
  return Val::of(call.e.broadcastTo(call.e.constant(element, value, call.loc), *shape, call.loc));
}

static Val fill(OperationCall &call) {
  Type element = elementArgument(call, kAnyElement, kF32);
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  Value v = call.value("v");
  if (!element || !shape || !v)
    return Val::error();
  if (getRank(v.getType()) != 0 || !call.e.elements().unify(getElementType(v.getType()), element)) {
    call.error(DiagCode::K0206) << "'fill' repeats a scalar of the element type, not " << call.e.spell(v.getType());
    return Val::error();
  }
  return Val::of(call.e.broadcastTo(v, *shape, call.loc));
}

template <int value> static Val filledLike(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  return Val::of(call.e.broadcastTo(call.e.constant(getElementType(x.getType()), value, call.loc),
                                    getShape(x.getType()), call.loc, getPlacement(x.getType())));
}

static Val fullLike(OperationCall &call) {
  Value x = call.value("x"), v = call.value("v");
  if (!x || !v || !call.e.unifyElements(x, v, call.loc))
    return Val::error();
  if (getRank(v.getType()) != 0) {
    call.error(DiagCode::K0206) << "'full_like' repeats a scalar, not " << call.e.spell(v.getType());
    return Val::error();
  }
  return Val::of(call.e.broadcastTo(v, getShape(x.getType()), call.loc, getPlacement(x.getType())));
}

static Val iota(OperationCall &call) {
  Type element = elementArgument(call, kNumbers, kI32);
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!element || !shape)
    return Val::error();
  if (shape->empty()) {
    call.error(DiagCode::K0201) << "'iota' needs an axis to count along";
    return Val::error();
  }
  Type type = TensorType::get(element, *shape);
  std::optional<int64_t> axis = call.axis(type);
  if (call.failed)
    return Val::error();
  if (!axis && shape->size() > 1) {
    call.error(DiagCode::K0205) << "'iota' needs 'axis=', the axis to count along";
    return Val::error();
  }
  return Val::of(IotaOp::create(call.e.builder, call.loc, type, axis.value_or(0)));
}

/// Row and column numbers of a matrix shape.
static std::pair<Value, Value> positions(Elaborator &e, ArrayRef<DimAttr> shape, PlacementAttr place, Location loc) {
  Type type = getTensorOrScalar(e.builder.getI64Type(), shape, place);
  Value row = IotaOp::create(e.builder, loc, type, shape.size() - 2);
  Value column = IotaOp::create(e.builder, loc, type, shape.size() - 1);
  return {row, column};
}

static Val eye(OperationCall &call) {
  Type element = elementArgument(call, kAnyElement, kF32);
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!element || !shape)
    return Val::error();
  if (shape->size() == 1)
    shape->push_back(shape->front());
  if (shape->size() != 2) {
    call.error(DiagCode::K0201) << "'eye' makes a matrix, from [N] or [N, M]";
    return Val::error();
  }
  Elaborator &e = call.e;
  auto [row, column] = positions(e, *shape, PlacementAttr::getHost(e.context), call.loc);
  Value diagonal = CmpOp::create(e.builder, call.loc, CmpPredicate::eq, row, column);
  Value one = e.broadcastTo(e.constant(element, 1, call.loc), *shape, call.loc);
  Value zero = e.broadcastTo(e.constant(element, 0, call.loc), *shape, call.loc);
  return Val::of(SelectOp::create(e.builder, call.loc, diagonal, one, zero));
}

/// Keeps one side of the k-th diagonal of the last two axes.
template <bool lower> static Val triangle(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  ArrayRef<DimAttr> shape = getShape(x.getType());
  std::optional<int64_t> k = call.integer("k", /*positional=*/true);
  if (call.failed)
    return Val::error();
  if (k && (*k > INT32_MAX || *k < INT32_MIN)) {
    call.error(DiagCode::K0204) << "'" << call.name << "' counts diagonals up to " << INT32_MAX;
    return Val::error();
  }
  if (shape.size() < 2) {
    call.error(DiagCode::K0201) << "'" << call.name << "' needs a matrix, not " << call.e.spell(x.getType());
    return Val::error();
  }
  Elaborator &e = call.e;
  PlacementAttr place = getPlacement(x.getType());
  auto [row, column] = positions(e, shape, place, call.loc);
  Value shift =
      e.broadcastTo(e.constant(e.builder.getI64Type(), static_cast<double>(k.value_or(0)), call.loc), shape, call.loc, place);
  Value edge = AddOp::create(e.builder, call.loc, row, shift);
  Value keep = CmpOp::create(e.builder, call.loc, lower ? CmpPredicate::le : CmpPredicate::ge, column, edge);
  Value zero = e.broadcastTo(e.constant(getElementType(x.getType()), 0, call.loc), shape, call.loc, place);
  return Val::of(SelectOp::create(e.builder, call.loc, keep, x, zero));
}

/// A vector on the diagonal of a matrix, or the diagonal of a matrix.
static Val diag(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  Elaborator &e = call.e;
  SmallVector<DimAttr> shape(getShape(x.getType()));
  if (shape.size() != 1 && shape.size() != 2) {
    call.error(DiagCode::K0201) << "'diag' needs a vector or a matrix, not " << e.spell(x.getType());
    return Val::error();
  }
  bool isVector = shape.size() == 1;
  if (isVector) {
    DimAttr size = shape[0], one = DimAttr::getConstant(e.context, 1);
    shape.push_back(size);
    x = e.broadcastTo(reshape(e, x, {size, one}, call.loc), shape, call.loc);
  } else if (shape[0] != shape[1]) {
    // Behind the shorter side there is no diagonal.
    DimAttr size = minDims({shape[0], shape[1]}), zero = DimAttr::getConstant(e.context, 0);
    Value start = DimOp::create(e.builder, call.loc, e.builder.getIndexType(), zero);
    shape.assign(2, size);
    x = SliceOp::create(e.builder, call.loc, withShape(x.getType(), shape), x, ValueRange{start, start},
                        e.builder.getArrayAttr({size, size}), ArrayRef<int64_t>(), /*in_bounds=*/true);
  }
  PlacementAttr place = getPlacement(x.getType());
  auto [row, column] = positions(e, shape, place, call.loc);
  Value diagonal = CmpOp::create(e.builder, call.loc, CmpPredicate::eq, row, column);
  Value zero = e.broadcastTo(e.constant(getElementType(x.getType()), 0, call.loc), shape, call.loc, place);
  Value kept = SelectOp::create(e.builder, call.loc, diagonal, x, zero);
  if (isVector)
    return Val::of(kept);
  if (!call.requireNumber(kept))
    return Val::error();
  return Val::of(SumOp::create(e.builder, call.loc, kept, ArrayRef<int64_t>{1}, false));
}

static Val oneHot(OperationCall &call) {
  Type element = elementArgument(call, kAnyElement, kF32);
  Value i = call.value("i");
  const Val *classes = call.find("C");
  if (!element || !i || !call.e.restrictElement(i, kIntegers, call.loc, "'one_hot' needs integers"))
    return Val::error();
  if (!classes) {
    call.error(DiagCode::K0205) << "'one_hot' needs the number of classes, 'one_hot(i, C)'";
    return Val::error();
  }
  DimAttr size = call.e.asSize(*classes, call.loc);
  if (!size) {
    call.failed = true;
    return Val::error();
  }
  SmallVector<DimAttr> shape(getShape(i.getType()));
  shape.push_back(size);
  return Val::of(OneHotOp::create(call.e.builder, call.loc, getTensorOrScalar(element, shape, getPlacement(i.getType())), i));
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

static Val gather(OperationCall &call) {
  Value x = call.value("x"), i = call.value("i");
  if (!x || !i || !call.e.restrictElement(i, kIntegers, call.loc, "'gather' needs integer positions"))
    return Val::error();
  std::optional<int64_t> axis = call.axis(x.getType());
  if (call.failed)
    return Val::error();
  if (getRank(x.getType()) == 0) {
    call.error(DiagCode::K0201) << "'gather' needs a tensor, not a scalar";
    return Val::error();
  }
  // One position is a gather of one, without its axis.
  Elaborator &e = call.e;
  if (getRank(i.getType()) == 0) {
    DimAttr one = DimAttr::getConstant(e.context, 1);
    SmallVector<DimAttr> shape(getShape(x.getType()));
    shape.erase(shape.begin() + axis.value_or(0));
    Value list = e.broadcastTo(i, {one}, call.loc);
    Value taken = GatherOp::create(e.builder, call.loc, x, list, axis.value_or(0));
    return Val::of(reshape(e, taken, shape, call.loc));
  }
  return Val::of(GatherOp::create(e.builder, call.loc, x, i, axis.value_or(0)));
}

/// Checks operand and indices against each other in every axis but one.
static bool alignAlong(OperationCall &call, Value x, Value &i, int64_t axis) {
  ArrayRef<DimAttr> want = getShape(x.getType());
  SmallVector<DimAttr> have(getShape(i.getType()));
  if (want.size() != have.size()) {
    call.error(DiagCode::K0201) << "'" << call.name << "' needs positions of rank " << want.size() << ", not "
                                << have.size();
    return false;
  }
  SmallVector<DimAttr> goal(want);
  goal[axis] = have[axis];
  FailureOr<Value> same =
      call.e.coerce(call.loc, i, withShape(i.getType(), goal), "the positions of '" + call.name + "'");
  call.failed |= failed(same);
  if (failed(same))
    return false;
  i = *same;
  return true;
}

static Val takeAlong(OperationCall &call) {
  Value x = call.value("x"), i = call.value("i");
  if (!x || !i || !call.e.restrictElement(i, kIntegers, call.loc, "'take_along' needs integer positions"))
    return Val::error();
  std::optional<int64_t> axis = call.axis(x.getType());
  if (!axis) {
    if (!call.failed)
      call.error(DiagCode::K0205) << "'take_along' needs 'axis='";
    return Val::error();
  }
  if (!alignAlong(call, x, i, *axis))
    return Val::error();
  return Val::of(TakeAlongOp::create(call.e.builder, call.loc, x, i, *axis));
}

static Val scatterAdd(OperationCall &call) {
  Value x = call.value("x"), i = call.value("i"), v = call.value("v");
  if (!call.requireNumber(x) || !i || !v || !call.e.unifyElements(x, v, call.loc) ||
      !call.e.restrictElement(i, kIntegers, call.loc, "'scatter_add' needs integer positions"))
    return Val::error();
  std::optional<int64_t> axis = call.axis(x.getType());
  if (call.failed)
    return Val::error();
  auto tensor = dyn_cast<TensorType>(x.getType());
  if (!tensor) {
    call.error(DiagCode::K0201) << "'scatter_add' needs a tensor, not a scalar";
    return Val::error();
  }
  int64_t at = axis.value_or(0);
  SmallVector<DimAttr> shape(tensor.getShape().take_front(at));
  llvm::append_range(shape, getShape(i.getType()));
  llvm::append_range(shape, tensor.getShape().drop_front(at + 1));
  FailureOr<Value> values = call.e.coerce(call.loc, v, withShape(tensor, shape), "the values of 'scatter_add'");
  if (failed(values))
    return Val::error();
  return Val::of(ScatterAddOp::create(call.e.builder, call.loc, x, i, *values, at));
}

static Val update(OperationCall &call) {
  Value x = call.value("x");
  const Val *subs = call.find("at");
  Value v = call.value("v");
  if (!x || !v)
    return Val::error();
  if (!subs || subs->kind != Val::Kind::List || getRank(x.getType()) == 0) {
    call.error(DiagCode::K0205) << "'update' takes a tensor, subscripts and a value: update(x, [t, :], v)";
    return Val::error();
  }
  Elaborator &e = call.e;
  FailureOr<Elaborator::Box> box = e.subscriptsToBox(x, subs->members, call.loc);
  if (failed(box))
    return Val::error();
  Type type = getBoxType(x.getType(), box->sizes, box->dropped);
  if (!e.unifyElements(x, v, call.loc))
    return Val::error();
  if (getRank(v.getType()) == 0 && getRank(type) > 0)
    v = e.broadcastTo(v, getShape(type), call.loc, getPlacement(type));
  FailureOr<Value> value = e.coerce(call.loc, v, type, "the value of 'update'");
  if (failed(value))
    return Val::error();
  return Val::of(UpdateOp::create(e.builder, call.loc, x.getType(), *value, x, box->offsets,
                                  e.builder.getArrayAttr(box->sizes), box->dropped, box->inBounds));
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

static Val layerNorm(OperationCall &call) {
  Value x = call.value("x"), g = call.value("g"), b = call.value("b");
  double eps = call.number("eps", 1e-5);
  if (!call.requireFloat(x) || !g || !b)
    return Val::error();
  if (getRank(x.getType()) == 0) {
    call.error(DiagCode::K0201) << "'layernorm' needs a tensor, not a scalar";
    return Val::error();
  }
  if (!(eps >= 0) || std::isinf(eps)) {
    call.error(DiagCode::K0206) << "'eps' of 'layernorm' is a number of at least 0";
    return Val::error();
  }
  int64_t last = getRank(x.getType()) - 1;
  Type row = withShape(x.getType(), getShape(x.getType())[last]);
  FailureOr<Value> scale = call.e.coerce(call.loc, g, row, "the scale 'g' of 'layernorm'");
  FailureOr<Value> bias = call.e.coerce(call.loc, b, row, "the bias 'b' of 'layernorm'");
  if (failed(scale) || failed(bias) || !requireNonEmpty(call, x, {last}))
    return Val::error();
  return Val::of(
      LayerNormOp::create(call.e.builder, call.loc, x, *scale, *bias, call.e.builder.getF64FloatAttr(eps)));
}

/// One integer for both axes of an image, or two, none less than `least`.
static SmallVector<int64_t> imagePair(OperationCall &call, StringRef keyword, int64_t fallback, int64_t least) {
  SmallVector<int64_t> values = call.integers(keyword).value_or(SmallVector<int64_t>{fallback});
  if (values.size() == 1)
    values.push_back(values.front());
  auto isAllowed = [&](int64_t value) { return value >= least && value <= kMaxConvolutionAttribute; };
  if (!call.failed && (values.size() != 2 || !llvm::all_of(values, isAllowed)))
    call.error(DiagCode::K0206) << "'" << keyword << "' of '" << call.name << "' is an integer or two, from " << least
                                << " to " << kMaxConvolutionAttribute;
  return values;
}

static Val conv2d(OperationCall &call) {
  Elaborator &e = call.e;
  Value x = call.value("x"), w = call.value("w");
  SmallVector<int64_t> stride = imagePair(call, "stride", 1, 1), padding = imagePair(call, "padding", 0, 0),
                       dilation = imagePair(call, "dilation", 1, 1);
  int64_t groups = call.integer("groups").value_or(1);
  if (call.failed || !call.requireFloat(x) || !call.requireFloat(w) || !e.unifyElements(x, w, call.loc))
    return Val::error();
  if (groups < 1 || groups > kMaxConvolutionAttribute) {
    call.error(DiagCode::K0206) << "'groups' of 'conv2d' is an integer from 1 to " << kMaxConvolutionAttribute;
    return Val::error();
  }
  if (getRank(x.getType()) != 4 || getRank(w.getType()) != 4) {
    call.error(DiagCode::K0201) << "'conv2d' takes images [B, C, H, W] and kernels [O, C floordiv groups, KH, KW], not "
                                << e.spell(x.getType()) << " and " << e.spell(w.getType());
    return Val::error();
  }
  SmallVector<DimAttr> image(getShape(x.getType())), kernel(getShape(w.getType()));
  auto number = [&](int64_t value) { return DimAttr::getConstant(e.context, value); };
  auto overflows = [&]() {
    call.error(DiagCode::K0204) << "a size of 'conv2d' leaves 64 bits";
    return Val::error();
  };
  // One relation says both that the groups divide the channels and that the kernel fits them.
  DimAttr channels = mulDims(number(groups), kernel[1]), rest = modDims(kernel[0], number(groups));
  if (!channels || !rest)
    return overflows();
  bool good = succeeded(
      e.oblige(call.loc, makeRelation(PredKind::EQ, image[1], channels), ObligationKind::contraction,
               "the images have '" + e.spell(image[1]) + "' channels, but the kernels take '" +
                   e.spell(kernel[1]) + "' of each of " + Twine(groups) + (groups == 1 ? " group" : " groups")));
  good &= succeeded(e.oblige(call.loc, makeRelation(PredKind::EQ, rest, number(0)), ObligationKind::shapes_equal,
                             "'" + e.spell(kernel[0]) + "' output channels may not divide into " + Twine(groups) +
                                 " groups"));
  SmallVector<DimAttr> shape{image[0], kernel[0]};
  for (unsigned axis : {0, 1}) {
    DimAttr size = image[axis + 2], taps = kernel[axis + 2];
    DimAttr span = addDims(mulDims(number(dilation[axis]), subDims(taps, number(1))), number(1));
    DimAttr padded = addDims(size, number(2 * padding[axis]));
    shape.push_back(getConvolvedSize(size, taps, stride[axis], padding[axis], dilation[axis]));
    if (!span || !padded || !shape.back())
      return overflows();
    good &= requireNonEmpty(call, w, {axis + 2});
    good &= succeeded(e.oblige(call.loc, makeRelation(PredKind::LE, span, padded), ObligationKind::bounds,
                               "the kernel, of size '" + e.spell(span) + "', may exceed axis " + Twine(axis + 2) +
                                   " (0-based) of the padded images, of size '" + e.spell(padded) + "'"));
  }
  if (!good)
    return Val::error();
  // What the obligations say becomes a part of the shapes.
  image[1] = channels;
  kernel[0] = subDims(kernel[0], rest);
  x = e.broadcastTo(x, image, call.loc);
  w = e.broadcastTo(w, kernel, call.loc);
  SmallVector<DimAttr> computed(shape);
  computed[1] = kernel[0];
  Value y = Conv2dOp::create(e.builder, call.loc, withShape(x.getType(), computed), x, w, stride, padding, dilation,
                             groups);
  return Val::of(e.broadcastTo(y, shape, call.loc));
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Reads key, counter and shape, and draws.
template <typename Op, unsigned mask, unsigned preferred> static Val draw(OperationCall &call) {
  Type element = elementArgument(call, mask, preferred);
  Value key = call.value("key"), counter = call.value("counter");
  std::optional<SmallVector<DimAttr>> shape = call.shape("dims");
  if (!element || !key || !counter || !shape)
    return Val::error();
  Elaborator &e = call.e;
  for (Value word : {key, counter})
    if (getRank(word.getType()) != 0 || !e.elements().restrict(getElementType(word.getType()), kI64)) {
      call.error(DiagCode::K0206) << "'" << call.name << "' takes a key and a counter of type I64, not "
                                  << e.spell(word.getType());
      return Val::error();
    }
  if (!productOf(e.context, *shape)) {
    call.error(DiagCode::K0204) << "the number of elements leaves 64 bits";
    return Val::error();
  }
  Type type = getTensorOrScalar(element, *shape, PlacementAttr::getHost(e.context));
  Value result = Op::create(e.builder, call.loc, type, key, counter);
  return Val::of(result, shape->empty() && mask == (kI32 | kI64) ? e.freshAtom() : DimAttr());
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// The copy at the place; an integer scalar becomes one that is known when executed.
template <typename Op> static Val copyTo(OperationCall &call, Value x, PlacementAttr place) {
  Type type = getTensorOrScalar(getElementType(x.getType()), getShape(x.getType()), place);
  Value copy = Op::create(call.e.builder, call.loc, type, x);
  bool isInteger = !isa<TensorType>(type) && (call.e.elements().allowed(type) & kIntegers);
  return Val::of(copy, isInteger ? call.e.freshAtom() : DimAttr());
}

static Val copyToDevice(OperationCall &call) {
  Value x = call.value("x");
  const Val *place = call.find("place");
  if (!x)
    return Val::error();
  if (!place || place->kind != Val::Kind::Place || place->place.isHost()) {
    call.error(DiagCode::K0205) << "'copy_to_device' takes a value and a device: copy_to_device(x, @cuda:global(0))";
    return Val::error();
  }
  if (PlacementAttr from = getPlacement(x.getType());
      !call.e.isSamePlace(from, PlacementAttr::getHost(call.e.context))) {
    call.error(DiagCode::K0401) << "'copy_to_device' takes a value on the host, not at '" << call.e.spell(from) << "'";
    return Val::error();
  }
  return copyTo<CopyToDeviceOp>(call, x, place->place);
}

static Val copyToHost(OperationCall &call) {
  Value x = call.value("x");
  if (!x)
    return Val::error();
  if (getPlacement(x.getType()).isHost()) {
    call.error(DiagCode::K0401) << "'copy_to_host' takes a tensor on a device, not on the host";
    return Val::error();
  }
  return copyTo<CopyToHostOp>(call, x, PlacementAttr::getHost(call.e.context));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Entry {
  StringRef name;
  OperationRule rule;
};
} // namespace

static constexpr Entry table[] = {
    {"abs", numberFunction<AbsOp>},
    {"acos", floatFunction<AcosOp>},
    {"all", reduction<AllOp, kBool, false>},
    {"any", reduction<AnyOp, kBool, false>},
    {"argmax", argReduction<ArgMaxOp>},
    {"argmin", argReduction<ArgMinOp>},
    {"asin", floatFunction<AsinOp>},
    {"atan", floatFunction<AtanOp>},
    {"atan2", binaryOperation<Atan2Op, kFloats>},
    {"bit_and", binaryOperation<AndOp, kIntegers>},
    {"bit_or", binaryOperation<OrOp, kIntegers>},
    {"bit_xor", binaryOperation<XorOp, kIntegers>},
    {"broadcast", broadcast},
    {"cast", castTo},
    {"ceil", floatFunction<CeilOp>},
    {"clamp", clamp},
    {"concat", concat},
    {"conv2d", conv2d},
    {"copy", identity<CopyOp>},
    {"copy_to_device", copyToDevice},
    {"copy_to_host", copyToHost},
    {"cos", floatFunction<CosOp>},
    {"cosh", floatFunction<CoshOp>},
    {"cumsum", axisFunction<CumsumOp, kNumbers>},
    {"detach", identity<DetachOp>},
    {"diag", diag},
    {"dot", dot},
    {"drop", drop},
    {"einsum", einsum},
    {"erf", floatFunction<ErfOp>},
    {"exp", floatFunction<ExpOp>},
    {"expand_dims", expandDims},
    {"expm1", floatFunction<Expm1Op>},
    {"eye", eye},
    {"fill", fill},
    {"flip", flip},
    {"floor", floatFunction<FloorOp>},
    {"full_like", fullLike},
    {"gather", gather},
    {"gelu", gelu},
    {"iota", iota},
    {"isfinite", floatFunction<IsFiniteOp>},
    {"isnan", floatFunction<IsNanOp>},
    {"layernorm", layerNorm},
    {"log", floatFunction<LogOp>},
    {"log1p", floatFunction<Log1pOp>},
    {"log_sigmoid", floatFunction<LogSigmoidOp>},
    {"log_softmax", axisFunction<LogSoftmaxOp>},
    {"logsumexp", reduction<LogSumExpOp, kFloats, false>},
    {"matmul", matmul},
    {"max", extremum<MaxOp, ReduceMaxOp>},
    {"mean", reduction<MeanOp, kFloats, true>},
    {"min", extremum<MinOp, ReduceMinOp>},
    {"neg", numberFunction<NegOp>},
    {"norm", reduction<NormOp, kFloats, false>},
    {"normal", draw<NormalOp, kFloats, kF32>},
    {"not", logicalNot},
    {"one_hot", oneHot},
    {"ones", filled<1>},
    {"ones_like", filledLike<1>},
    {"outer", outer},
    {"pad", pad},
    {"prod", reduction<ProdOp, kNumbers, false>},
    {"random_bits", draw<RandomBitsOp, kI32 | kI64, kI32>},
    {"relu", floatFunction<ReluOp>},
    {"repeat_interleave", repeatInterleave},
    {"reshape", reshapeTo},
    {"round", floatFunction<RoundOp>},
    {"rsqrt", floatFunction<RsqrtOp>},
    {"scatter_add", scatterAdd},
    {"select", select},
    {"shift_left", binaryOperation<ShiftLeftOp, kIntegers>},
    {"shift_right", binaryOperation<ShiftRightOp, kIntegers>},
    {"sigmoid", floatFunction<SigmoidOp>},
    {"sign", numberFunction<SignOp>},
    {"silu", floatFunction<SiluOp>},
    {"sin", floatFunction<SinOp>},
    {"sinh", floatFunction<SinhOp>},
    {"softmax", axisFunction<SoftmaxOp>},
    {"softplus", floatFunction<SoftplusOp>},
    {"split", split},
    {"sqrt", floatFunction<SqrtOp>},
    {"square", numberFunction<SquareOp>},
    {"squeeze", squeeze},
    {"stack", stack},
    {"sum", reduction<SumOp, kNumbers, false>},
    {"take_along", takeAlong},
    {"tan", floatFunction<TanOp>},
    {"tanh", floatFunction<TanhOp>},
    {"transpose", transpose},
    {"tril", triangle<true>},
    {"triu", triangle<false>},
    {"uniform", draw<UniformOp, kFloats, kF32>},
    {"update", update},
    {"var", reduction<VarOp, kFloats, true>},
    {"where", select},
    {"zeros", filled<0>},
    {"zeros_like", filledLike<0>},
};
static_assert(std::ranges::is_sorted(table, {}, [](const Entry &entry) { return std::string_view(entry.name); }),
              "the table of operations is sorted by name");

OperationRule findOperation(StringRef name) {
  const Entry *it = llvm::partition_point(table, [&](const Entry &entry) { return entry.name < name; });
  return it != std::end(table) && it->name == name ? it->rule : nullptr;
}

ArrayRef<StringRef> operationNames() {
  static const SmallVector<StringRef> names = llvm::map_to_vector(table, [](const Entry &entry) { return entry.name; });
  return names;
}

bool isKnownLater(StringRef name) {
  static const StringRef later[] = {"argsort",
                                    "avg_pool",
                                    "cholesky",
                                    "eigh",
                                    "fixed_point",
                                    "logdet",
                                    "max_pool",
                                    "nonzero",
                                    "print",
                                    "qr",
                                    "solve",
                                    "sort",
                                    "svd",
                                    "top_k",
                                    "triangular_solve"};
  return llvm::is_contained(later, name);
}

} // namespace kina::elaborate
