//===- FunctionOps.cpp - Functions, calls, module-level values ------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "Kina/Dialect/Kina/IR/KinaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kina {

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  SMLoc at = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                               getFunctionTypeAttrName(result.name), buildType,
                                               getArgAttrsAttrName(result.name),
                                               getResAttrsAttrName(result.name)))
    return failure();
  // An attribute of the wrong kind would be lost in silence when it becomes a property.
  return verifyInherentAttrs(result.name, result.attributes,
                             [&] { return parser.emitError(at) << "'" << result.name << "' op "; });
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

SmallVector<StringRef> FuncOp::getShapeVarNames() {
  SmallVector<StringRef> names;
  if (ArrayAttr vars = getShapeVarsAttr())
    for (auto var : vars.getAsRange<ShapeVarAttr>())
      names.push_back(var.getName());
  return names;
}

/// A name that is bound in the body means one size wherever it is seen.
static LogicalResult verifyBinds(FuncOp function, const llvm::SetVector<StringRef> &declared) {
  llvm::DenseMap<Block *, llvm::StringSet<>> bound;
  WalkResult result = function.walk([&](BindDimOp bind) -> WalkResult {
    StringRef name = bind.getName();
    // Names that begin with '%' are those of run-time scalars during elaboration.
    if (name.empty() || name.starts_with("%"))
      return bind.emitOpError() << "'" << name << "' is no name of a size";
    if (declared.contains(name))
      return bind.emitOpError() << "'" << name << "' is a shape variable of @" << function.getSymName() << " already";
    if (!bound[bind->getBlock()].insert(name).second)
      return bind.emitOpError() << "'" << name << "' is bound twice in this block";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult FuncOp::verify() {
  llvm::SetVector<StringRef> declared;
  if (ArrayAttr vars = getShapeVarsAttr())
    for (Attribute attribute : vars) {
      auto var = dyn_cast<ShapeVarAttr>(attribute);
      if (!var)
        return emitOpError() << "'shape_vars' must hold #kina.var attributes, not " << attribute;
      if (!declared.insert(var.getName()))
        return emitOpError() << "shape variable '" << var.getName() << "' is declared twice";
    }
  auto checkNames = [&](const NameSet &names, const Twine &where) -> LogicalResult {
    for (StringRef name : names)
      if (!declared.contains(name))
        return emitOpError() << "shape variable '" << name << "' of " << where << " is not in 'shape_vars'";
    return success();
  };
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    NameSet names;
    collectNames(type, names);
    if (failed(checkNames(names, "argument " + Twine(index))))
      return failure();
    if (auto dim = getArgAttrOfType<StringAttr>(index, kDimArgAttrName)) {
      if (!isa<IndexType, IntegerType>(type))
        return emitOpError() << "argument " << index << " has '" << kDimArgAttrName
                             << "' but is no integer";
      if (!declared.contains(dim.getValue()))
        return emitOpError() << "shape variable '" << dim.getValue() << "' of argument " << index
                             << " is not in 'shape_vars'";
    }
  }
  if (ArrayAttr clauses = getPreconditionsAttr())
    for (Attribute attribute : clauses) {
      auto clause = dyn_cast<ClauseAttr>(attribute);
      if (!clause)
        return emitOpError() << "'preconditions' must hold #kina.clause attributes, not " << attribute;
      NameSet names;
      collectNames(clause.getPred(), names);
      if (failed(checkNames(names, "'preconditions'")))
        return failure();
    }
  if (ArrayAttr effects = getEffectsAttr())
    for (Attribute attribute : effects)
      if (!isa<FlatSymbolRefAttr>(attribute))
        return emitOpError() << "'effects' must hold symbol references, not " << attribute;
  return verifyBinds(*this, declared);
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  ArrayRef<Type> expected = function.getResultTypes();
  if (expected.size() != getNumOperands())
    return emitOpError() << "returns " << getNumOperands() << " values, but @" << function.getSymName()
                         << " has " << expected.size() << " results";
  for (auto [index, types] : llvm::enumerate(llvm::zip(expected, getOperandTypes())))
    if (std::get<0>(types) != std::get<1>(types))
      return emitOpError() << "value " << index << " has type " << std::get<1>(types) << ", but @"
                           << function.getSymName() << " returns " << std::get<0>(types);
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void substituteIn(Operation *root, DimLookup lookup, llvm::function_ref<PlacementAttr(StringRef)> places) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](TensorType type) -> std::pair<Type, WalkResult> {
    Type replaced = substitute(type, lookup, places);
    return {replaced ? replaced : type, WalkResult::skip()};
  });
  replacer.addReplacement([&](DimAttr dim) -> Attribute { return substitute(dim, lookup); });
  replacer.addReplacement([&](PredAttr pred) -> Attribute { return substitute(pred, lookup); });
  replacer.addReplacement([&](PlacementAttr place) -> Attribute {
    PlacementAttr given = place.isVariable() ? places(place.getName()) : PlacementAttr();
    return given ? given : place;
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  root->walk([](Operation *op) {
    bool isCopy = isa<CopyToDeviceOp, CopyToHostOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType();
    if (!isCopy && (!isa<BroadcastOp>(op) || isa<TensorType>(op->getResult(0).getType())))
      return;
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  });
}

/// Adds the variables for places in the types, in order of appearance.
static void collectPlaces(TypeRange types, llvm::SetVector<StringRef> &names) {
  for (Type type : types)
    if (PlacementAttr place = getPlacement(type); place.isVariable())
      names.insert(place.getName());
}

/// Finds the callee and checks that the substitution covers its shape variables and
/// makes its parameter types those of the operands. Returns null after an error.
static FuncOp checkCallee(Operation *op, FlatSymbolRefAttr callee, ValueRange operands, DictionaryAttr subst,
                          SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FuncOp>(op, callee);
  if (!function) {
    op->emitOpError() << "'" << callee.getValue() << "' is no kina.func";
    return {};
  }
  for (StringRef name : function.getShapeVarNames())
    if (!subst.getAs<DimAttr>(name)) {
      op->emitOpError() << "'subst' gives no dimension for shape variable '" << name << "' of @"
                        << callee.getValue();
      return {};
    }
  ArrayRef<Type> inputs = function.getArgumentTypes();
  llvm::SetVector<StringRef> places;
  collectPlaces(inputs, places);
  collectPlaces(function.getResultTypes(), places);
  for (StringRef name : places)
    if (!subst.getAs<PlacementAttr>(name)) {
      op->emitOpError() << "'subst' gives no place for the variable '" << name << "' of @" << callee.getValue();
      return {};
    }
  if (inputs.size() != operands.size()) {
    op->emitOpError() << "has " << operands.size() << " operands, but @" << callee.getValue() << " takes "
                      << inputs.size();
    return {};
  }
  for (auto [index, input] : llvm::enumerate(inputs)) {
    Type expected = substitute(input, subst);
    if (expected != operands[index].getType()) {
      InFlightDiagnostic error = op->emitOpError();
      error << "operand " << index << " has type " << operands[index].getType() << ", but @"
            << callee.getValue() << " takes ";
      if (expected)
        error << expected;
      else
        error << "a dimension that overflows or is negative";
      return {};
    }
  }
  return function;
}

static LogicalResult checkResults(Operation *op, StringRef callee, TypeRange actual, ArrayRef<Type> expected) {
  if (actual.size() != expected.size())
    return op->emitOpError() << "has " << actual.size() << " results, but @" << callee << " gives "
                             << expected.size() << " here";
  for (auto [index, types] : llvm::enumerate(llvm::zip(actual, expected)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError() << "result " << index << " has type " << std::get<0>(types) << ", but @" << callee
                               << " gives " << std::get<1>(types) << " here";
  return success();
}

/// The callee's result types under the substitution; fails after an error.
static FailureOr<SmallVector<Type>> substitutedResults(Operation *op, FuncOp callee, DictionaryAttr subst) {
  SmallVector<Type> types;
  for (auto [index, type] : llvm::enumerate(callee.getResultTypes())) {
    types.push_back(substitute(type, subst));
    if (!types.back())
      return op->emitOpError() << "result " << index << " of @" << callee.getSymName()
                               << " has here a dimension that overflows or is negative";
  }
  return types;
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FuncOp callee = checkCallee(*this, getCalleeAttr(), getOperands(), getSubst(), symbols);
  if (!callee)
    return failure();
  FailureOr<SmallVector<Type>> results = substitutedResults(*this, callee, getSubst());
  if (failed(results))
    return failure();
  return checkResults(*this, getCallee(), getResultTypes(), *results);
}

/// Checks `wrt`: in range, sorted, of float type. Appends the operand types it names.
static LogicalResult checkWrt(Operation *op, ArrayRef<int64_t> wrt, ValueRange operands,
                              SmallVectorImpl<Type> &types) {
  int64_t previous = -1;
  for (int64_t index : wrt) {
    if (index <= previous)
      return op->emitOpError() << "'wrt' must be increasing";
    if (index >= static_cast<int64_t>(operands.size()))
      return op->emitOpError() << "'wrt' names operand " << index << " of " << operands.size();
    if (!hasTangent(operands[index].getType()))
      return op->emitOpError() << "'wrt' names operand " << index << " of type " << operands[index].getType()
                               << ", which has no derivative";
    types.push_back(operands[index].getType());
    previous = index;
  }
  return success();
}

LogicalResult GradOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FuncOp callee = checkCallee(*this, getCalleeAttr(), getInputs(), getSubst(), symbols);
  if (!callee)
    return failure();
  FailureOr<SmallVector<Type>> results = substitutedResults(*this, callee, getSubst());
  if (failed(results))
    return failure();
  if (results->empty() || getRank(results->front()) != 0 || !hasTangent(results->front()))
    return emitOpError() << "needs a function whose first result is a float scalar";
  SmallVector<Type> expected;
  if (getValue())
    expected = *results;
  if (failed(checkWrt(*this, getWrt(), getInputs(), expected)))
    return failure();
  return checkResults(*this, getCallee(), getResultTypes(), expected);
}

LogicalResult VJPOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FuncOp callee = checkCallee(*this, getCalleeAttr(), getInputs(), getSubst(), symbols);
  if (!callee)
    return failure();
  FailureOr<SmallVector<Type>> results = substitutedResults(*this, callee, getSubst());
  if (failed(results))
    return failure();
  SmallVector<Type> seeds = llvm::filter_to_vector(*results, hasTangent);
  if (!llvm::equal(seeds, getCotangents().getTypes()))
    return emitOpError() << "needs one cotangent of its type per float result of @" << getCallee();
  SmallVector<Type> expected;
  if (getValue())
    expected = *results;
  if (failed(checkWrt(*this, getWrt(), getInputs(), expected)))
    return failure();
  return checkResults(*this, getCallee(), getResultTypes(), expected);
}

LogicalResult JVPOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FuncOp callee = checkCallee(*this, getCalleeAttr(), getInputs(), getSubst(), symbols);
  if (!callee)
    return failure();
  SmallVector<Type> inputs;
  if (failed(checkWrt(*this, getWrt(), getInputs(), inputs)))
    return failure();
  if (!llvm::equal(inputs, getTangents().getTypes()))
    return emitOpError() << "needs one tangent of its type per operand in 'wrt'";
  FailureOr<SmallVector<Type>> results = substitutedResults(*this, callee, getSubst());
  if (failed(results))
    return failure();
  SmallVector<Type> expected;
  if (getValue())
    expected = *results;
  llvm::append_range(expected, llvm::make_filter_range(*results, hasTangent));
  return checkResults(*this, getCallee(), getResultTypes(), expected);
}

//===----------------------------------------------------------------------===//
// Module-level values
//===----------------------------------------------------------------------===//

LogicalResult GlobalOp::verify() {
  if (getInit().empty())
    return success();
  auto yield = dyn_cast<YieldOp>(getInit().front().getTerminator());
  if (!yield || yield.getNumOperands() != 1 || yield.getOperand(0).getType() != getType())
    return emitOpError() << "must yield one value of type " << getType();
  return success();
}

LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getNameAttr());
  if (!global)
    return emitOpError() << "'" << getName() << "' is no kina.global";
  if (global.getType() != getResult().getType())
    return emitOpError() << "has type " << getResult().getType() << ", but the global has " << global.getType();
  return success();
}

DictionaryAttr solveSubstitution(FuncOp function, TypeRange types) {
  SmallVector<NamedAttribute> entries;
  for (StringRef name : function.getShapeVarNames()) {
    DimAttr found;
    for (auto [input, type] : llvm::zip(function.getArgumentTypes(), types))
      if (getRank(input) == getRank(type))
        for (auto [dim, actual] : llvm::zip(getShape(input), getShape(type)))
          if (!found && dim.getSingleName() == name)
            found = actual;
    if (!found)
      return {};
    entries.emplace_back(StringAttr::get(function.getContext(), name), found);
  }
  llvm::StringSet<> places;
  for (auto [input, type] : llvm::zip(function.getArgumentTypes(), types))
    if (PlacementAttr place = getPlacement(input); place.isVariable() && places.insert(place.getName()).second)
      entries.emplace_back(StringAttr::get(function.getContext(), place.getName()), getPlacement(type));
  auto subst = DictionaryAttr::get(function.getContext(), entries);
  for (auto [input, type] : llvm::zip(function.getArgumentTypes(), types))
    if (substitute(input, subst) != type)
      return {};
  return subst;
}

} // namespace kina
