//===- Types.cpp - Type expressions, dimensions, predicates ---------------===//

#include "Elaborator.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace kina::elaborate {

Type Elaborator::dtype(StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("F64", builder.getF64Type())
      .Case("F32", builder.getF32Type())
      .Case("F16", builder.getF16Type())
      .Case("BF16", builder.getBF16Type())
      .Case("I64", builder.getI64Type())
      .Case("I32", builder.getI32Type())
      .Case("I8", builder.getI8Type())
      .Case("U8", IntegerType::get(context, 8, IntegerType::Unsigned))
      .Case("Bool", builder.getI1Type())
      .Default(Type());
}

/// The integer that a module-level let is, if it is made of integer literals and of other
/// such lets. `fuel` bounds the work, for lets may need each other.
static std::optional<int64_t> constantOf(Elaborator &e, surface::GlobalOp global, unsigned &fuel);

static DimAttr constantOf(Elaborator &e, Value expr, unsigned &fuel) {
  using K = surface::BinaryKind;
  Operation *op = expr.getDefiningOp();
  if (!op || fuel == 0)
    return {};
  --fuel;
  if (auto literal = dyn_cast<surface::LiteralOp>(op))
    return literal.getKind() == surface::LiteralKind::Int ? DimAttr::getConstant(e.getContext(), literal.getInt())
                                                          : DimAttr();
  if (auto name = dyn_cast<surface::NameOp>(op)) {
    auto global = e.globalItems.find(name.getName());
    std::optional<int64_t> value =
        global == e.globalItems.end() ? std::nullopt : constantOf(e, global->second.op, fuel);
    return value ? DimAttr::getConstant(e.getContext(), *value) : DimAttr();
  }
  if (auto unary = dyn_cast<surface::UnaryOp>(op))
    return unary.getKind() == surface::UnaryKind::Neg ? negDim(constantOf(e, unary.getOperand(), fuel)) : DimAttr();
  auto binary = dyn_cast<surface::BinaryOp>(op);
  if (!binary)
    return {};
  DimAttr a = constantOf(e, binary.getLhs(), fuel), b = constantOf(e, binary.getRhs(), fuel);
  // Between integers `/` and `%` are these.
  K kind = binary.getKind();
  return combineSizes(kind == K::Div ? K::FloorDiv : kind == K::Rem ? K::Mod : kind, a, b);
}

static std::optional<int64_t> constantOf(Elaborator &e, surface::GlobalOp global, unsigned &fuel) {
  if (global.getInit().empty())
    return std::nullopt;
  auto yield = cast<surface::YieldOp>(global.getInit().front().getTerminator());
  DimAttr value = yield.getValue() ? constantOf(e, yield.getValue(), fuel) : DimAttr();
  return value ? value.getConstantValue() : std::nullopt;
}

static std::optional<int64_t> constantOf(Elaborator &e, surface::GlobalOp global) {
  unsigned fuel = 1000;
  return constantOf(e, global, fuel);
}

void Elaborator::collectShapeVars(SyntaxAttr syntax, Scope &scope, llvm::MapVector<StringRef, int64_t> &names) {
  auto inDim = [&](auto &&self, SyntaxAttr dim) -> void {
    if (dim.is(SyntaxKind::Name)) {
      auto global = globalItems.find(dim.getText());
      if (global == globalItems.end() || !constantOf(*this, global->second.op))
        names.insert({dim.getText(), 1});
    }
    for (SyntaxAttr child : dim.getChildren())
      self(self, child);
  };
  if (surface::isDim(syntax.getKind()) || surface::isPred(syntax.getKind())) {
    inDim(inDim, syntax);
    return;
  }
  switch (syntax.getKind()) {
  case SyntaxKind::TypeTensor:
    inDim(inDim, syntax.getChild(1));
    return;
  case SyntaxKind::TypeTuple:
  case SyntaxKind::TypeNamedTuple:
  case SyntaxKind::TypeMember:
  case SyntaxKind::TypeRef:
  case SyntaxKind::TypeFn:
  case SyntaxKind::Types:
    for (SyntaxAttr child : syntax.getChildren())
      collectShapeVars(child, scope, names);
    return;
  default:
    return;
  }
}

void Elaborator::note(Attribute made, DimAttr a, StringRef op, DimAttr b) {
  // Of a function that is elaborated at its call the names stand for sizes of the caller, who
  // did not write what would come of it.
  if (!made || isInCallee)
    return;
  if (auto pred = dyn_cast<PredAttr>(made))
    spellings->addRelation(pred, a, op, b);
  else if (op == "min" || op == "max")
    spellings->addCall(cast<DimAttr>(made), op, a, b);
  else
    spellings->addInfix(cast<DimAttr>(made), a, op, b);
}

DimAttr Elaborator::elaborateDim(SyntaxAttr syntax, Scope &scope) {
  auto binaryDim = [&](StringRef op, llvm::function_ref<DimAttr(DimAttr, DimAttr)> combine) -> DimAttr {
    DimAttr a = elaborateDim(syntax.getChild(0), scope), b = elaborateDim(syntax.getChild(1), scope);
    if (!a || !b)
      return {};
    DimAttr result = combine(a, b);
    if (!result)
      report(syntax.getLocation(), DiagCode::K0204,
             "'" + surface::spell(syntax) + "' leaves 64 bits or divides by zero");
    note(result, a, op, b);
    return result;
  };
  switch (syntax.getKind()) {
  case SyntaxKind::Int: {
    std::optional<int64_t> value = syntax.getIntValue();
    if (!value) {
      report(syntax.getLocation(), DiagCode::K0204, "'" + syntax.getText() + "' does not fit in 64 bits");
      return {};
    }
    return DimAttr::getConstant(context, *value);
  }
  case SyntaxKind::Name: {
    StringRef name = syntax.getText();
    for (Scope *s = &scope; s; s = s->parent.get()) {
      if (auto dim = s->dims.find(name); dim != s->dims.end())
        return dim->second;
      if (auto val = s->names.find(name); val != s->names.end()) {
        if (val->second.isError())
          return {}; // reported
        if (val->second.sym || val->second.overflows || val->second.isScalar())
          return asDim(val->second, syntax.getLocation());
      }
    }
    if (auto global = globalItems.find(name); global != globalItems.end())
      if (std::optional<int64_t> value = constantOf(*this, global->second.op))
        return DimAttr::getConstant(context, *value);
    if (!isNewlyUnknown(name))
      return {};
    InFlightDiagnostic diag = report(syntax.getLocation(), DiagCode::K0113, "unknown shape variable '" + name + "'");
    SmallVector<std::string> candidates;
    for (Scope *s = &scope; s; s = s->parent.get())
      for (auto &entry : s->dims)
        candidates.push_back(entry.first);
    if (auto close = nearest(name, candidates))
      attachHelp(diag) << "there is a shape variable '" << *close << "'";
    else if (!scope.context && declaring)
      attachHelp(diag) << "a size that no type of the signature has is declared, 'fn " << declaring->name << "<" << name
                       << ">(..)'";
    return {};
  }
  case SyntaxKind::DimAdd:
    return binaryDim("+", addDims);
  case SyntaxKind::DimSub:
    return binaryDim("-", subDims);
  case SyntaxKind::DimMul:
    return binaryDim("*", mulDims);
  case SyntaxKind::DimFloorDiv:
    return binaryDim("floordiv", floorDivDims);
  case SyntaxKind::DimCeilDiv:
    return binaryDim("ceildiv", ceilDivDims);
  case SyntaxKind::DimMod:
    return binaryDim("mod", modDims);
  case SyntaxKind::DimMin:
    return binaryDim("min", [](DimAttr a, DimAttr b) { return minDims({a, b}); });
  case SyntaxKind::DimMax:
    return binaryDim("max", [](DimAttr a, DimAttr b) { return maxDims({a, b}); });
  default:
    report(syntax.getLocation(), DiagCode::K0206, "'" + surface::spell(syntax) + "' is no size");
    return {};
  }
}

PredAttr Elaborator::elaboratePred(SyntaxAttr syntax, Scope &scope) {
  auto relation = [&](PredKind kind, StringRef op, bool swap = false) -> PredAttr {
    DimAttr a = elaborateDim(syntax.getChild(0), scope), b = elaborateDim(syntax.getChild(1), scope);
    PredAttr pred = swap ? makeRelation(kind, b, a) : makeRelation(kind, a, b);
    note(pred, a, op, b);
    return pred;
  };
  switch (syntax.getKind()) {
  case SyntaxKind::PredEq:
    return relation(PredKind::EQ, "=");
  case SyntaxKind::PredNe:
    return relation(PredKind::NE, "!=");
  case SyntaxKind::PredLt:
    return relation(PredKind::LT, "<");
  case SyntaxKind::PredLe:
    return relation(PredKind::LE, "<=");
  case SyntaxKind::PredGt:
    return relation(PredKind::LT, ">", /*swap=*/true);
  case SyntaxKind::PredGe:
    return relation(PredKind::LE, ">=", /*swap=*/true);
  case SyntaxKind::PredDivides: {
    DimAttr divisor = elaborateDim(syntax.getChild(0), scope), dim = elaborateDim(syntax.getChild(1), scope);
    DimAttr rest = modDims(dim, divisor);
    if (divisor && dim && !rest)
      report(syntax.getLocation(), DiagCode::K0204, "'" + surface::spell(syntax) + "' divides by zero");
    return rest ? makeRelation(PredKind::EQ, rest, DimAttr::getConstant(context, 0)) : PredAttr();
  }
  case SyntaxKind::PredNot:
    return makeNot(elaboratePred(syntax.getChild(0), scope));
  case SyntaxKind::PredAnd:
  case SyntaxKind::PredOr: {
    PredAttr a = elaboratePred(syntax.getChild(0), scope), b = elaboratePred(syntax.getChild(1), scope);
    return syntax.is(SyntaxKind::PredAnd) ? makeAnd({a, b}) : makeOr({a, b});
  }
  default:
    report(syntax.getLocation(), DiagCode::K0206, "'" + surface::spell(syntax) + "' is no predicate");
    return {};
  }
}

FailureOr<Ty> Elaborator::elaborateType(SyntaxAttr syntax, Scope &scope, StringRef paramName) {
  Ty ty;
  auto members = [&](auto &&children) -> LogicalResult {
    for (SyntaxAttr child : children) {
      FailureOr<Ty> member = elaborateType(child, scope);
      if (failed(member))
        return failure();
      ty.members.push_back(*member);
    }
    return success();
  };
  switch (syntax.getKind()) {
  case SyntaxKind::DType:
    ty.kind = Ty::Kind::Value;
    ty.type = dtype(syntax.getText());
    return ty;
  case SyntaxKind::TypeRef:
    return elaborateType(syntax.getChild(0), scope, paramName);
  case SyntaxKind::TypeTensor: {
    SyntaxAttr name = syntax.getChild(0);
    Type element = name.is(SyntaxKind::DType) ? dtype(name.getText()) : elementVariable(name.getText(), scope);
    if (!element) {
      InFlightDiagnostic diag =
          report(name.getLocation(), DiagCode::K0111, "unknown element type '" + name.getText() + "'");
      attachHelp(diag) << "a variable for one is declared, 'fn f<" << name.getText() << ": float>(..)'";
      return diag;
    }
    SmallVector<DimAttr> shape;
    bool bad = false;
    for (SyntaxAttr child : syntax.getChild(1).getChildren()) {
      DimAttr dim = elaborateDim(child, scope);
      if (dim && dim.isConstant() && *dim.getConstantValue() < 0) {
        report(child.getLocation(), DiagCode::K0206, "a size cannot be negative");
        bad = true;
      }
      bad |= !dim;
      shape.push_back(dim);
    }
    if (bad)
      return failure();
    PlacementAttr place = PlacementAttr::getHost(context);
    if (syntax.getChildren().size() > 3) {
      FailureOr<PlacementAttr> given = elaboratePlace(syntax.getChild(3), scope);
      if (failed(given))
        return failure();
      place = *given;
      ty.placed = true;
    }
    ty.kind = Ty::Kind::Value;
    ty.type = getTensorOrScalar(element, shape, place);
    // A signature's predicates are clauses of the function.
    if (scope.context)
      for (SyntaxAttr child : syntax.getChild(2).getChildren()) {
        PredAttr pred = elaboratePred(child, scope);
        if (!pred)
          return failure();
        ty.preds.push_back(pred);
      }
    return ty;
  }
  case SyntaxKind::TypeNamedTuple: {
    ty.kind = Ty::Kind::Tuple;
    bool bad = false;
    for (SyntaxAttr child : syntax.getChildren()) {
      if (llvm::is_contained(ty.names, child.getText())) {
        report(child.getLocation(), DiagCode::K0114, "member '" + child.getText() + "' is declared twice");
        bad = true;
      }
      ty.names.push_back(child.getText().str());
    }
    if (bad || failed(members(llvm::map_range(syntax.getChildren(), [](SyntaxAttr child) { return child.getChild(0); }))))
      return failure();
    return ty;
  }
  case SyntaxKind::TypeTuple:
    ty.kind = syntax.getChildren().empty() ? Ty::Kind::Unit : Ty::Kind::Tuple;
    if (failed(members(syntax.getChildren())))
      return failure();
    return ty;
  case SyntaxKind::TypeFn:
    ty.kind = Ty::Kind::Function;
    ty.arity = syntax.getChild(0).getChildren().size();
    for (auto [index, parameter] : llvm::enumerate(syntax.getChild(0).getChildren()))
      if (parameter.is(SyntaxKind::TypeRef))
        ty.borrows.push_back(index);
    return ty;
  case SyntaxKind::TypeName:
    if (syntax.getText() == "unit") {
      ty.kind = Ty::Kind::Unit;
      return ty;
    }
    if (syntax.getText() == "Index") {
      if (paramName.empty())
        return report(syntax.getLocation(), DiagCode::K0206, "'Index' is a type of parameters only");
      ty.kind = Ty::Kind::Value;
      ty.type = builder.getIndexType();
      ty.indexName = paramName.str();
      return ty;
    }
    if (syntax.getText() == "Tensor")
      return report(syntax.getLocation(), DiagCode::K0115,
                    "the type 'Tensor' belongs to handlers of ReverseModeAD, which are not built");
    if (Type element = elementVariable(syntax.getText(), scope)) {
      ty.kind = Ty::Kind::Value;
      ty.type = element;
      return ty;
    }
    if (!isNewlyUnknown(syntax.getText()))
      return failure();
    {
      InFlightDiagnostic diag =
          report(syntax.getLocation(), DiagCode::K0111, "unknown type '" + syntax.getText() + "'");
      if (StringRef help = foreignNameHelp(syntax.getText()); !help.empty())
        attachHelp(diag) << help;
      return diag;
    }
  default:
    return report(syntax.getLocation(), DiagCode::K0206, "'" + surface::spell(syntax) + "' is no type");
  }
}

FailureOr<CheckpointAttr> Elaborator::elaborateCheckpoint(SyntaxAttr decorator) {
  ArrayRef<SyntaxAttr> children = decorator.getChildren();
  if (children.empty())
    return CheckpointAttr::get(context, "auto", 0);
  auto bad = [&](SyntaxAttr where, const Twine &message) -> FailureOr<CheckpointAttr> {
    InFlightDiagnostic diag = report(where.getLocation(), DiagCode::K0205, message);
    attachHelp(diag) << "write '@checkpoint', '@checkpoint(sqrt)', or one of k=, levels=, slots=, budget= with a number";
    return failure();
  };
  if (children.size() != 1)
    return bad(children[1], "'@checkpoint' takes one argument, not " + Twine(children.size()));
  SyntaxAttr child = children.front();
  if (child.is(SyntaxKind::Name) && child.getText() == "sqrt")
    return CheckpointAttr::get(context, "sqrt", 0);
  if (!child.is(SyntaxKind::Keyword))
    return bad(child, "'@checkpoint' does not take '" + surface::spell(child) + "'");
  StringRef kind = child.getText();
  if (!llvm::is_contained({"k", "levels", "slots", "budget"}, kind))
    return bad(child, "'@checkpoint' takes no '" + kind + "'");
  SyntaxAttr given = child.getChild(0);
  std::optional<int64_t> value = given.getIntValue();
  if (!value)
    return bad(given, "'" + kind + "' of '@checkpoint' is an integer, not '" + surface::spell(given) + "'");
  if (*value < 1)
    return report(given.getLocation(), DiagCode::K0205,
                  "'" + kind + "' of '@checkpoint' is at least 1, not " + Twine(*value));
  return CheckpointAttr::get(context, kind, *value);
}

} // namespace kina::elaborate
