//===- Effects.cpp - Effects, handlers, variables -------------------------===//
//
// A function that performs effects is elaborated in place where it is called, so each
// perform ends up in the body of the handle that answers it, or in the function that is
// reported for it. The case of an operation whose signature has shape variables is, like
// any function over them, elaborated for every size that is performed.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void collectTypes(const Ty &type, SmallVectorImpl<Type> &types) {
  if (type.kind == Ty::Kind::Value)
    types.push_back(type.type);
  for (const Ty &member : type.members)
    collectTypes(member, types);
}

/// The effect of reverse mode, which differentiable operations perform.
static bool isRecordVJP(StringRef effect, StringRef operation) {
  return effect == "ReverseModeAD" && operation == "RecordVJP";
}

/// Declares `RecordVJP : (Tensor -> Tensor) -> unit`: `Tensor` is the store of all
/// cotangents.
static void declareRecordVJP(Elaborator &e, SyntaxAttr syntax) {
  auto isName = [](SyntaxAttr type, StringRef name) { return type.is(SyntaxKind::TypeName) && type.getText() == name; };
  SyntaxAttr payload = syntax.getChild(0);
  if (!payload.is(SyntaxKind::TypeFn) || payload.getChild(0).getChildren().size() != 1 ||
      !isName(payload.getChild(0).getChild(0), "Tensor") || !isName(payload.getChild(1), "Tensor") ||
      !isName(syntax.getChild(1), "unit")) {
    e.report(syntax.getLocation(), DiagCode::K0206,
             "'RecordVJP' of 'ReverseModeAD' has the type (Tensor -> Tensor) -> unit");
    return;
  }
  OpBuilder &builder = e.getBuilder();
  Type store = CotangentsType::get(e.getContext()), pullback = builder.getFunctionType({store}, {store});
  OperationOp::create(builder, syntax.getLocation(), syntax.getText(), builder.getFunctionType({pullback}, {}),
                      ArrayAttr());
}

void Elaborator::declareEffect(surface::EffectOp op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  StringRef name = op.getName().getText();
  auto effect = EffectOp::create(builder, op.getLoc(), name, StringAttr());
  effects.push_back(effect);
  builder.createBlock(&effect.getBody());
  for (SyntaxAttr syntax : surface::syntaxRange(op.getOperationsAttr())) {
    auto operation = std::make_unique<EffectOperation>();
    operation->effect = name.str();
    FunctionItem &signature = operation->signature;
    signature.name = syntax.getText().str();
    if (auto known = effectOperations.find(signature.name); known != effectOperations.end()) {
      report(syntax.getLocation(), DiagCode::K0114,
             "'" + signature.name + "' is an operation of the effect '" + known->second->effect + "' already");
      continue;
    }
    SyntaxAttr payload = syntax.getChild(0), result = syntax.getChild(1);
    if (isRecordVJP(name, signature.name)) {
      declareRecordVJP(*this, syntax);
      signature.params.push_back({"0", Ty(), false, payload.getLocation()});
      signature.result = Ty();
      signature.result->kind = Ty::Kind::Unit;
      effectOperations[signature.name] = std::move(operation);
      continue;
    }
    Scope scope(moduleScope, nullptr);
    for (SyntaxAttr type : {payload, result}) {
      collectShapeVars(type, *moduleScope, signature.shapeVars);
      collectPlaceVars(type, signature.placeVars);
    }
    for (StringRef var : signature.placeVars)
      scope.places[var.str()] = PlacementAttr::get(context, var, "", 0);
    SmallVector<Attribute> vars;
    for (auto &[var, least] : signature.shapeVars) {
      scope.dims[var.str()] = DimAttr::getName(context, var);
      vars.push_back(ShapeVarAttr::get(context, var, least));
    }
    FailureOr<Ty> takes = elaborateType(payload, scope), gives = elaborateType(result, scope);
    if (failed(takes) || failed(gives)) {
      operation->failed = true;
      effectOperations[signature.name] = std::move(operation);
      continue;
    }
    // Several arguments are a tuple, none is ().
    if (takes->kind == Ty::Kind::Tuple)
      for (auto [index, member] : llvm::enumerate(takes->members))
        signature.params.push_back({std::to_string(index), member, false, payload.getLocation()});
    else if (takes->kind != Ty::Kind::Unit)
      signature.params.push_back({"0", *takes, false, payload.getLocation()});
    signature.result = *gives;
    SmallVector<Type> inputs, results;
    for (const Param &param : signature.params)
      collectTypes(param.type, inputs);
    collectTypes(*gives, results);
    OperationOp::create(builder, syntax.getLocation(), signature.name, builder.getFunctionType(inputs, results),
                        vars.empty() ? ArrayAttr() : builder.getArrayAttr(vars));
    effectOperations[signature.name] = std::move(operation);
  }
}

EffectOperation *Elaborator::findEffectOperation(StringRef name, Location loc) {
  if (auto it = effectOperations.find(name); it != effectOperations.end())
    return it->second->failed ? nullptr : it->second.get();
  if (!isNewlyUnknown(name))
    return nullptr;
  InFlightDiagnostic diag = report(loc, DiagCode::K0112, "no effect has an operation '" + name + "'");
  SmallVector<std::string> candidates;
  for (auto &entry : effectOperations)
    candidates.push_back(entry.first);
  if (std::optional<std::string> close = nearest(name, candidates))
    attachHelp(diag) << "did you mean '" << *close << "'?";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// perform
//===----------------------------------------------------------------------===//

Val Elaborator::evaluatePerform(surface::PerformOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  EffectOperation *operation = findEffectOperation(op.getOpName(), loc);
  std::vector<Val> args;
  SmallVector<std::pair<std::string, Val>, 2> extra;
  bool bad = !operation, named = false;
  for (auto [index, arg] : llvm::enumerate(op.getArgs())) {
    Val val = decay(evaluate(arg, scope));
    bad |= val.isError();
    // Variables of the signature have names, values have none.
    StringRef keyword = op.getKeywordsAttr() ? cast<StringAttr>(op.getKeywordsAttr()[index]).getValue() : "";
    if (keyword.empty()) {
      args.push_back(std::move(val));
      continue;
    }
    named |= operation && !operation->signature.shapeVars.count(keyword) &&
             !operation->signature.placeVars.contains(keyword);
    extra.push_back({keyword.str(), std::move(val)});
  }
  if (bad)
    return Val::error();
  FunctionItem &signature = operation->signature;
  if (isRecordVJP(operation->effect, signature.name)) {
    report(loc, DiagCode::K0206, "'RecordVJP' is performed by the operations that are differentiated only");
    return Val::error();
  }
  size_t count = signature.params.size();
  // A tuple stands for its members, () for none.
  if (args.size() == 1 && count != 1 && (args[0].kind == Val::Kind::Tuple || args[0].kind == Val::Kind::Unit)) {
    std::vector<Val> members = args[0].members;
    args = std::move(members);
  }
  if (args.size() != count || named) {
    report(loc, DiagCode::K0205,
           "'" + signature.name + "' is performed with " + Twine(count) + (count == 1 ? " value" : " values") +
               (named ? Twine(", which have no names") : ", not " + Twine(args.size())));
    return Val::error();
  }
  SmallVector<Ty> types = llvm::map_to_vector(signature.params, [](const Param &param) { return param.type; });
  SmallVector<Leaf> leaves;
  FailureOr<DictionaryAttr> subst = matchArguments(signature, types, args, extra, leaves, loc);
  if (failed(subst))
    return Val::error();
  SmallVector<Value> payload;
  for (Leaf &leaf : leaves) {
    Type expected = substituted(leaf.declared, *subst, loc, leaf.what);
    FailureOr<Value> value = expected ? coerce(loc, leaf.arg->value, expected, leaf.what) : FailureOr<Value>(failure());
    bad |= failed(value);
    payload.push_back(succeeded(value) ? *value : Value());
  }
  bad |= failed(obligeClauses(signature, *subst, loc));
  SmallVector<Type> declared, results;
  collectTypes(*signature.result, declared);
  for (Type type : declared) {
    results.push_back(substituted(type, *subst, loc, "what '" + signature.name + "' resumes with"));
    bad |= !results.back();
  }
  if (bad)
    return Val::error();
  auto symbol = SymbolRefAttr::get(context, operation->effect, {FlatSymbolRefAttr::get(context, signature.name)});
  auto perform = PerformOp::create(builder, loc, results, symbol, payload, ValueRange(), ValueRange(), TagAttr());
  performed[perform] = *subst;
  ValueRange values = perform.getResults();
  return fill(*signature.result, values);
}

//===----------------------------------------------------------------------===//
// handle
//===----------------------------------------------------------------------===//

namespace {
/// A case as it is written.
struct Case {
  SyntaxAttr syntax;
  Region *region;
  EffectOperation *operation;
};
} // namespace

/// One of the types of several values: none, the one, a tuple.
static Type joinTypes(MLIRContext *context, TypeRange types) {
  return types.empty() ? Type(NoneType::get(context)) : types.size() == 1 ? types[0] : TupleType::get(context, types);
}

/// Where the value of the region is written, in the innermost braces around it.
static Location getValueLoc(Region &source) {
  Operation *end = source.front().getTerminator();
  auto block = end->getNumOperands() == 1 ? end->getOperand(0).getDefiningOp<surface::BlockOp>() : nullptr;
  return block ? getValueLoc(block.getBody()) : end->getLoc();
}

Val Elaborator::evaluateHandle(surface::HandleOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  SyntaxAttr returnCase;
  Region *returnRegion = nullptr;
  SmallVector<Case> cases;
  bool bad = false;
  for (auto [syntax, region] : llvm::zip(surface::syntaxRange(op.getCasesAttr()), op.getCaseRegions())) {
    auto twice = [&](SyntaxAttr first) {
      InFlightDiagnostic diag =
          report(syntax.getLocation(), DiagCode::K0114,
                 syntax.is(SyntaxKind::ReturnCase) ? Twine("this handler has two 'return' cases")
                                                   : "this handler has two cases for '" + syntax.getText() + "'");
      diag.attachNote(first.getLocation()) << "the first one";
      bad = true;
    };
    if (syntax.is(SyntaxKind::ReturnCase)) {
      if (returnCase)
        twice(returnCase);
      returnCase = syntax;
      returnRegion = &region;
      continue;
    }
    EffectOperation *operation = findEffectOperation(syntax.getText(), syntax.getLocation());
    bad |= !operation;
    if (!operation)
      continue;
    for (Case &other : cases)
      if (other.operation == operation)
        twice(other.syntax);
    size_t names = syntax.getChild(0).getChildren().size(), count = operation->signature.params.size();
    if (names != count) {
      report(syntax.getLocation(), DiagCode::K0205,
             "'" + syntax.getText() + "' is performed with " + Twine(count) + (count == 1 ? " value" : " values") +
                 ", but this case names " + Twine(names));
      bad = true;
    }
    cases.push_back({syntax, &region, operation});
  }
  if (bad)
    return Val::error();
  for (Case &one : cases)
    if (isRecordVJP(one.operation->effect, one.operation->signature.name)) {
      if (cases.size() == 1)
        return evaluateReverseHandle(op, op.getBody(), returnCase, returnRegion, one.syntax, *one.region, scope);
      InFlightDiagnostic diag = report(one.syntax.getLocation(), DiagCode::K0601,
                                       "this handler is not lowered: it has cases besides 'RecordVJP'");
      attachHelp(diag) << "handle the other operations in a handler of their own";
      return Val::error();
    }

  // Results and cases are known when the body is.
  auto draft = HandleOp::create(builder, loc, TypeRange(), builder.getArrayAttr({}), TagAttr(), /*casesCount=*/0);
  size_t facts = current->facts.size(), outerVars = current->shapeVars.size();
  auto drop = [&] {
    current->facts.resize(facts);
    discard(draft);
    return Val::error();
  };
  /// Evaluates a region of the handler; what is known in it is not known behind it.
  auto inRegion = [&](Region &target, TypeRange arguments, Region &source, const ScopePtr &inner, bool wantsTuple,
                      auto bind) {
    builder.createBlock(&target, {}, arguments, SmallVector<Location>(arguments.size(), loc));
    bind(target.getArguments(), *inner);
    Val val = evaluateBlock(source, inner, wantsTuple);
    current->facts.resize(facts);
    return val;
  };
  auto leaves = [&](const Val &val, Region &source, StringRef what) {
    Location at = getValueLoc(source);
    if (val.isError())
      return false;
    if (!val.isFirstOrder()) {
      report(at, escapeCode(val),
             what + " gives " + spell(val) + ", but only tensors, scalars and tuples of them can leave it");
      return false;
    }
    auto boundInside = [&](StringRef name) {
      return llvm::any_of(llvm::drop_begin(current->shapeVars, outerVars),
                          [&](auto &var) { return var.first == name; });
    };
    return succeeded(requireKnownSizes(val, boundInside, at, what));
  };
  OpBuilder::InsertionGuard guard(builder);
  Val body = inRegion(draft.getBody(), {}, op.getBody(), std::make_shared<Scope>(scope, current), false,
                      [](ValueRange, Scope &) {});
  if (!leaves(body, op.getBody(), "the handled expression"))
    return drop();
  SmallVector<Value> yielded;
  flatten(body, yielded);
  YieldOp::create(builder, getValueLoc(op.getBody()), yielded);

  // Without a return case the value is the body's.
  Val result;
  auto returned = std::make_shared<Scope>(scope, current);
  auto bindReturned = [&](ValueRange values, Scope &inner) {
    result = rebuild(body, values);
    if (returnCase) {
      nameTensors(result, returnCase.getText(), /*alias=*/false);
      inner.names[returnCase.getText().str()] = result;
    }
  };
  SmallVector<Type> bodyTypes(ValueRange(yielded).getTypes());
  if (returnCase)
    result = inRegion(draft.getReturnRegion(), bodyTypes, *returnRegion, returned, body.kind == Val::Kind::Tuple,
                      bindReturned);
  else {
    builder.createBlock(&draft.getReturnRegion(), {}, bodyTypes, SmallVector<Location>(bodyTypes.size(), loc));
    bindReturned(draft.getReturnRegion().getArguments(), *returned);
  }
  if (!leaves(result, returnRegion ? *returnRegion : op.getBody(), "the 'return' case"))
    return drop();
  SmallVector<Value> results;
  flatten(result, results);
  YieldOp::create(builder, returnRegion ? getValueLoc(*returnRegion) : loc, results);
  SmallVector<Type> resultTypes(ValueRange(results).getTypes());

  // An operation over sizes has a case for each that is performed; one without has one.
  SmallVector<PerformOp> open;
  collectOpenPerforms(draft.getBody(), open);
  SmallVector<Attribute> operations;
  std::vector<std::unique_ptr<Region>> regions;
  for (Case &one : cases) {
    FunctionItem &signature = one.operation->signature;
    auto symbol = SymbolRefAttr::get(context, one.operation->effect, {FlatSymbolRefAttr::get(context, signature.name)});
    struct Instance {
      SmallVector<Type> payload, resumed;
      DictionaryAttr subst;
    };
    SmallVector<Instance> instances;
    for (PerformOp perform : open)
      if (perform.getPerformedAttr() == symbol)
        if (DictionaryAttr subst = performed.lookup(perform);
            llvm::none_of(instances, [&](Instance &known) { return known.subst == subst; }))
          instances.push_back(
              {SmallVector<Type>(perform.getPayload().getTypes()), SmallVector<Type>(perform.getResultTypes()), subst});
    if (instances.empty() && signature.shapeVars.empty() && signature.placeVars.empty()) {
      Instance generic;
      for (const Param &param : signature.params)
        collectTypes(param.type, generic.payload);
      collectTypes(*signature.result, generic.resumed);
      generic.subst = builder.getDictionaryAttr({});
      instances.push_back(generic);
    }
    for (Instance &instance : instances) {
      auto inner = std::make_shared<Scope>(scope, current);
      bindVariables(*inner, instance.subst);
      Val continuation;
      continuation.kind = Val::Kind::Continuation;
      continuation.continuation = std::make_shared<Continuation>(Continuation{one.operation, instance.subst, result});
      SmallVector<Type> arguments(instance.payload);
      arguments.push_back(ContType::get(context, joinTypes(context, instance.resumed), resultTypes));
      regions.push_back(std::make_unique<Region>(draft));
      auto bind = [&](ValueRange values, Scope &names) {
        continuation.value = values.back();
        for (auto [name, param] : llvm::zip(one.syntax.getChild(0).getChildren(), signature.params)) {
          Val &val = names.names[name.getText().str()] = fill(param.type, values);
          nameTensors(val, name.getText(), /*alias=*/false);
        }
        names.names[one.syntax.getChild(1).getText().str()] = continuation;
      };
      Val val = inRegion(*regions.back(), arguments, *one.region, inner, result.kind == Val::Kind::Tuple, bind);
      Location at = getValueLoc(*one.region);
      if (!leaves(val, *one.region, "the case of '" + signature.name + "'"))
        return drop();
      if (!sameStructure(val, result)) {
        report(at, DiagCode::K0402,
               "the case of '" + signature.name + "' gives " + spell(val) + ", but the handler's value is " +
                   spell(result));
        return drop();
      }
      SmallVector<Value> given;
      if (failed(coerceLeaves(val, result, at, "the value of the case of '" + signature.name + "'", DiagCode::K0402,
                              given)))
        return drop();
      YieldOp::create(builder, at, given);
      operations.push_back(symbol);
    }
  }
  builder.setInsertionPoint(draft);
  auto handle = HandleOp::create(builder, loc, resultTypes, builder.getArrayAttr(operations), TagAttr(),
                                 static_cast<unsigned>(regions.size()));
  handle.getBody().takeBody(draft.getBody());
  handle.getReturnRegion().takeBody(draft.getReturnRegion());
  for (auto [target, source] : llvm::zip(handle.getCases(), regions))
    target.takeBody(*source);
  discard(draft);
  ValueRange values = handle.getResults();
  return rebuild(result, values);
}

Val Elaborator::resume(const Val &val, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc) {
  Continuation &continuation = *val.continuation;
  FunctionItem &signature = continuation.operation->signature;
  auto withSizes = [&](auto &&self, Ty type) -> Ty {
    if (type.kind == Ty::Kind::Value)
      type.type = substitute(type.type, continuation.subst);
    for (Ty &member : type.members)
      member = self(self, std::move(member));
    return type;
  };
  Ty type = withSizes(withSizes, *signature.result);
  size_t count = type.kind == Ty::Kind::Unit ? 0 : type.kind == Ty::Kind::Tuple ? type.members.size() : 1;
  // What it resumes with is one value, which may be a tuple, or its members.
  Val given;
  if (args.size() == 1 && (count == 1 || args[0].kind == Val::Kind::Tuple || args[0].kind == Val::Kind::Unit))
    given = args[0];
  else
    given = args.empty() ? Val::unit() : Val::tuple(std::vector<Val>(args));
  if ((args.size() != 1 && args.size() != count) ||
      llvm::any_of(keywords, [](const std::string &keyword) { return !keyword.empty(); })) {
    report(loc, DiagCode::K0205,
           "'" + signature.name + "' is resumed with " + Twine(count) + (count == 1 ? " value" : " values") +
               (args.size() == count ? Twine(", which have no names") : ", not " + Twine(args.size())));
    return Val::error();
  }
  if (failed(checkDeclared(given, type, loc, "what '" + signature.name + "' is resumed with")))
    return Val::error();
  SmallVector<Value> values, results;
  flatten(given, values);
  flatten(continuation.result, results);
  auto op = ResumeOp::create(builder, loc, ValueRange(results).getTypes(), val.value, values);
  ValueRange all = op.getResults();
  return rebuild(continuation.result, all);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Val Elaborator::makeRef(Val init, Location loc) {
  init = decay(std::move(init));
  if (init.kind == Val::Kind::List && init.members.empty()) {
    init.kind = Val::Kind::Tape;
    Val val;
    val.kind = Val::Kind::Ref;
    val.list = std::make_shared<Val>(init);
    return val;
  }
  if (init.kind == Val::Kind::List)
    init = listToTensor(init, loc);
  if (init.isError())
    return init;
  if (!init.isFirstOrder()) {
    report(loc, escapeCode(init), "a ref holds a tensor, a scalar or a tuple of them, not " + spell(init));
    return Val::error();
  }
  SmallVector<Value> leaves, refs;
  flatten(init, leaves);
  for (Value leaf : leaves)
    refs.push_back(RefOp::create(builder, loc, leaf));
  Val val;
  val.kind = Val::Kind::Ref;
  ValueRange values(refs);
  val.members.push_back(rebuild(init, values));
  return val;
}

Val Elaborator::deref(const Val &ref, Location loc) {
  if (ref.list)
    return *ref.list;
  SmallVector<Value> refs, leaves;
  flatten(ref, refs);
  for (Value one : refs)
    leaves.push_back(DerefOp::create(builder, loc, cast<RefType>(one.getType()).getValueType(), one));
  ValueRange values(leaves);
  return rebuild(ref.members.front(), values);
}

LogicalResult Elaborator::assign(surface::AssignOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  StringRef name = op.getName().getText();
  Val ref = lookup(name, op.getName().getLocation(), scope);
  Val val = decay(evaluate(op.getValue(), scope));
  if (val.kind == Val::Kind::List)
    val = listToTensor(val, loc);
  if (ref.isError() || val.isError())
    return failure();
  if (ref.kind != Val::Kind::Ref) {
    InFlightDiagnostic diag = report(op.getName().getLocation(), DiagCode::K0206,
                                     "':=' assigns to a ref, but '" + name + "' is " + spell(ref));
    attachHelp(diag) << "declare it with 'let " << name << " = ref ...;'";
    return failure();
  }
  if (ref.list && val.kind == Val::Kind::Tape) {
    if (!recording || val.reverse.get() != recording)
      return report(loc, DiagCode::K0206,
                    "a list is assigned to by the case of 'RecordVJP' only, which adds its pullback");
    *ref.list = val;
    return success();
  }
  if (ref.list || !val.isFirstOrder())
    return report(op.getValue().getLoc(), escapeCode(val),
                  ref.list ? "'" + name + "' holds a list of pullbacks, not " + spell(val)
                           : "a ref holds a tensor, a scalar or a tuple of them, not " + spell(val));
  const Val &held = ref.members.front();
  if (!sameStructure(val, held))
    return report(op.getValue().getLoc(), DiagCode::K0504,
                  "'" + name + "' holds another kind of value than " + spell(val));
  SmallVector<Value> refs, leaves;
  flatten(held, refs);
  flatten(val, leaves);
  bool bad = false;
  for (auto [one, value] : llvm::zip(refs, leaves)) {
    FailureOr<Value> same =
        coerce(loc, value, cast<RefType>(one.getType()).getValueType(), "the value of '" + name + "'", DiagCode::K0504);
    bad |= failed(same);
    if (succeeded(same))
      AssignOp::create(builder, loc, one, *same);
  }
  return failure(bad);
}

//===----------------------------------------------------------------------===//
// The handler of reverse mode in the user's words
//===----------------------------------------------------------------------===//

Val Elaborator::evaluateReverseHandle(surface::HandleOp op, Region &body, SyntaxAttr returnCase, Region *returnRegion,
                                      SyntaxAttr recordCase, Region &recordRegion, const ScopePtr &scope) {
  Location loc = op.getLoc();
  auto notLowered = [&](Location at, const Twine &why, const Twine &help) {
    InFlightDiagnostic diag = report(at, DiagCode::K0601, "this handler is not lowered: " + why);
    attachHelp(diag) << help.str();
    return Val::error();
  };
  Value handled = cast<surface::YieldOp>(body.front().getTerminator()).getValue();
  auto call = handled ? handled.getDefiningOp<surface::CallOp>() : surface::CallOp();
  if (!call || call.getArgs().size() != 1 || !llvm::all_of(body.front(), [](Operation &inner) {
        return !isa<surface::LetOp, surface::DoOp, surface::AssignOp>(inner);
      }))
    return notLowered(loc, "the derivative is that of a call with one argument",
                      "write 'handle f(x) with {..}', where x may be a tuple");
  auto reverse = std::make_shared<ReverseHandle>();
  Val callee = evaluate(call.getCallee(), scope), argument = decay(evaluate(call.getArgs()[0], scope));
  if (argument.kind == Val::Kind::List)
    argument = listToTensor(argument, loc);
  if (callee.isError() || argument.isError())
    return Val::error();
  if (callee.kind != Val::Kind::Function || !argument.isFirstOrder()) {
    report(loc, DiagCode::K0206, "what is differentiated is a function of tensors, scalars or tuples of them");
    return Val::error();
  }
  auto isFloat = [&](Value value) { return elementTypes.restrict(getElementType(value.getType()), kFloats); };
  // What is differentiated in has a name of its own.
  SmallVector<Value> point;
  flatten(argument, point);
  bool any = false;
  for (Value &leaf : point)
    if (isFloat(leaf)) {
      leaf = WatchOp::create(builder, loc, leaf);
      any = true;
    }
  if (!any) {
    report(loc, DiagCode::K0603, "the argument is " + spell(argument) + ", which has no derivative");
    return Val::error();
  }
  ValueRange watched(point);
  reverse->point = rebuild(argument, watched);

  auto store = CotangentsType::get(context);
  auto draft = HandleOp::create(builder, loc, TypeRange(), builder.getArrayAttr({}), TagAttr(), /*casesCount=*/0);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&draft.getBody());
  Val value = decay(this->call(callee.function, {reverse->point}, {""}, loc));
  if (!value.isError() && !value.isFirstOrder()) {
    report(loc, escapeCode(value),
           "what is differentiated gives tensors, scalars and tuples of them, not " + spell(value));
    value = Val::error();
  }
  if (value.isError()) {
    discard(draft);
    return value;
  }
  SmallVector<Value> leaves, seeded, ones;
  flatten(value, leaves);
  YieldOp::create(builder, loc, leaves);
  SmallVector<Type> types(ValueRange(leaves).getTypes());
  builder.createBlock(&draft.getReturnRegion(), {}, types, SmallVector<Location>(types.size(), loc));
  for (BlockArgument leaf : draft.getReturnRegion().getArguments())
    if (isFloat(leaf)) {
      seeded.push_back(leaf);
      ones.push_back(callOperation("ones_like", {Val::of(leaf)}, {""}, {}, loc).value);
    }
  SmallVector<Value> ends(draft.getReturnRegion().getArguments());
  ends.push_back(SeedOp::create(builder, loc, store, seeded, ones));
  YieldOp::create(builder, loc, ends);
  types.push_back(store);
  builder.setInsertionPoint(draft);
  auto symbol = SymbolRefAttr::get(context, "ReverseModeAD", {FlatSymbolRefAttr::get(context, "RecordVJP")});
  auto handle = HandleOp::create(builder, loc, types, builder.getArrayAttr({symbol}), TagAttr::get(context, nextTag++),
                                 /*casesCount=*/1);
  handle.getBody().takeBody(draft.getBody());
  handle.getReturnRegion().takeBody(draft.getReturnRegion());
  discard(draft);
  reverse->handle = handle;
  ValueRange results = handle.getResults().drop_back();
  reverse->value = rebuild(value, results);

  // The case: the pullback goes on a list, and the rest runs. What reverse mode then
  // does with the list is its own handler's case.
  auto inner = std::make_shared<Scope>(scope, current);
  Val pullback, continuation;
  pullback.kind = Val::Kind::Pullback;
  pullback.reverse = reverse;
  continuation.kind = Val::Kind::Continuation;
  continuation.continuation = std::make_shared<Continuation>(
      Continuation{findEffectOperation("RecordVJP", loc), builder.getDictionaryAttr({}), reverse->value});
  Type vjp = builder.getFunctionType({store}, {store});
  SmallVector<Type> plain(TypeRange(types).drop_back());
  Region written;
  Block *block = builder.createBlock(&written, {}, {ContType::get(context, builder.getNoneType(), plain)}, {loc});
  continuation.value = block->getArgument(0);
  inner->names[recordCase.getChild(0).getChild(0).getText().str()] = pullback;
  inner->names[recordCase.getChild(1).getText().str()] = continuation;
  llvm::SaveAndRestore<ReverseHandle *> saved(recording, reverse.get());
  Val answer = evaluateBlock(recordRegion, inner);
  SmallVector<Value> answered;
  if (!answer.isError())
    flatten(answer, answered);
  IRRewriter rewriter(context);
  (void)runRegionDCE(rewriter, written);
  bool resumesOnly = !answer.isError() && block->getOperations().size() == 1 && isa<ResumeOp>(block->front()) &&
                     llvm::equal(block->front().getResults(), answered);
  written.dropAllReferences();
  written.getBlocks().clear();
  if (answer.isError())
    return answer;
  builder.setInsertionPointAfter(handle);
  if (!resumesOnly)
    return notLowered(recordCase.getLocation(),
                      "the case of 'RecordVJP' does more than to keep the pullback and resume",
                      "write '{ tape := " + recordCase.getChild(0).getChild(0).getText() + " :: !tape; " +
                          recordCase.getChild(1).getText() + "(()) }'");
  types.back() = store;
  auto whole = ContType::get(context, builder.getNoneType(), types);
  Block *record = builder.createBlock(&handle.getCases().front(), {}, {vjp, whole}, {loc, loc});
  auto resumed = ResumeOp::create(builder, loc, types, record->getArgument(1), ValueRange());
  SmallVector<Value> after(resumed.getResults());
  after.back() = PullOp::create(builder, loc, store, record->getArgument(0), after.back());
  YieldOp::create(builder, loc, after);
  builder.setInsertionPointAfter(handle);
  if (!returnCase)
    return reverse->value;
  auto returned = std::make_shared<Scope>(scope, current);
  returned->names[returnCase.getText().str()] = reverse->value;
  return evaluateBlock(*returnRegion, returned, value.kind == Val::Kind::Tuple);
}

Val Elaborator::cons(const Val &head, const Val &tail, Location loc) {
  if (head.isError() || tail.isError())
    return Val::error();
  bool isTape = tail.kind == Val::Kind::Tape || (tail.kind == Val::Kind::List && tail.members.empty());
  if (head.kind != Val::Kind::Pullback || !isTape || tail.reverse) {
    report(loc, DiagCode::K0206,
           "'::' puts a pullback in front of the list of those before it, not " + spell(head) + " in front of " +
               (tail.reverse ? "a longer list" : spell(tail)));
    return Val::error();
  }
  Val val;
  val.kind = Val::Kind::Tape;
  val.reverse = head.reverse;
  return val;
}

Val Elaborator::pull(const Val &pullback, ArrayRef<Val> args, Location loc) {
  if (args.size() != 1 || args[0].kind != Val::Kind::Cotangents || args[0].reverse != pullback.reverse ||
      args[0].pulled) {
    report(loc, DiagCode::K0601,
           "this handler is not lowered: a pullback takes the cotangents that the one after it gave, in a 'fold_left'");
    return Val::error();
  }
  Val val = args[0];
  val.pulled = true;
  return val;
}

Val Elaborator::foldLeft(surface::FoldLeftOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  Val function = evaluate(op.getFunction(), scope), start = decay(evaluate(op.getStart(), scope)),
      list = evaluate(op.getList(), scope);
  if (function.isError() || start.isError() || list.isError())
    return Val::error();
  if (function.kind != Val::Kind::Function || list.kind != Val::Kind::Tape) {
    report(loc, DiagCode::K0206,
           "'fold_left' takes a function, a value and a list of pullbacks, not " + spell(function) + ", " +
               spell(start) + " and " + spell(list));
    return Val::error();
  }
  if (!list.reverse)
    return start;
  ReverseHandle &reverse = *list.reverse;
  auto notLowered = [&](const Twine &why) {
    report(loc, DiagCode::K0601, "this handler is not lowered: " + why);
    return Val::error();
  };
  Val store, pullback;
  store.kind = Val::Kind::Cotangents;
  pullback.kind = Val::Kind::Pullback;
  store.reverse = pullback.reverse = list.reverse;
  Val step = call(function.function, {store, pullback}, {"", ""}, loc);
  if (step.isError())
    return step;
  if (step.kind != Val::Kind::Cotangents || !step.pulled)
    return notLowered("the function of 'fold_left' applies the pullback, as '(fun g vjp -> vjp g)' does");
  if (std::exchange(reverse.folded, true))
    return notLowered("its list of pullbacks is folded twice");
  if (!sameStructure(start, reverse.value))
    return notLowered("'fold_left' starts with " + spell(start) + ", but the cotangents are those of " +
                      spell(reverse.value));
  // The cotangents to begin with belong into the handle's return region.
  SmallVector<Value> starts, ends;
  flatten(reverse.value, ends);
  if (failed(coerceLeaves(start, reverse.value, loc, "the cotangent", DiagCode::K0301, starts)))
    return Val::error();
  HandleOp handle = reverse.handle;
  Block &last = handle.getReturnRegion().front();
  auto seed = last.getTerminator()->getOperands().back().getDefiningOp<SeedOp>();
  IRMapping mapping;
  mapping.map(handle.getResults().drop_back(), last.getArguments());
  OpBuilder inner(seed);
  auto move = [&](auto &&self, Value value) -> bool {
    Operation *def = value.getDefiningOp();
    if (mapping.contains(value) || !def || def->getBlock() != handle->getBlock() || def->isBeforeInBlock(handle))
      return mapping.contains(value) || value.getParentRegion()->isAncestor(handle->getParentRegion());
    if (def == handle || def->getNumRegions() || !isMemoryEffectFree(def) ||
        !llvm::all_of(def->getOperands(), [&](Value operand) { return self(self, operand); }))
      return false;
    inner.clone(*def, mapping);
    return true;
  };
  unsigned next = 0;
  for (auto [end, value] : llvm::zip(ends, starts)) {
    if (!(elementTypes.allowed(getElementType(end.getType())) & kFloats))
      continue;
    if (!move(move, value))
      return notLowered("the cotangent to begin with is computed where the handler cannot");
    seed.getCotangentsMutable().slice(next++, 1).assign(mapping.lookupOrDefault(value));
  }
  // The result is read at what is differentiated in; members without a derivative are ().
  auto read = [&](auto &&self, const Val &val) -> Val {
    if (val.isValue())
      return val.value.getDefiningOp<WatchOp>()
                 ? Val::of(CotangentOfOp::create(builder, loc, val.value, handle.getResults().back()))
                 : Val::unit();
    Val result = val;
    for (Val &member : result.members)
      member = self(self, member);
    return result;
  };
  return read(read, reverse.point);
}

//===----------------------------------------------------------------------===//
// Where effects may be
//===----------------------------------------------------------------------===//

LogicalResult Elaborator::requireNoEffects(Region &region, const Twine &where) {
  SmallVector<PerformOp> open;
  collectOpenPerforms(region, open);
  auto forbid = [&](Operation *op, StringRef what) {
    InFlightDiagnostic diag = report(op->getLoc(), DiagCode::K0206, what + " cannot stand in " + where);
    attachHelp(diag) << "write it into the body, and carry what the condition needs as a state";
    return failure();
  };
  if (!open.empty())
    return forbid(open.front(), "'perform'");
  Operation *found = nullptr;
  region.walk([&](Operation *op) {
    auto assign = dyn_cast<AssignOp>(op);
    bool outside = (assign && !region.isAncestor(assign.getRef().getParentRegion())) ||
                   (isa<ResumeOp>(op) && !region.isAncestor(op->getOperand(0).getParentRegion()));
    if (!found && outside)
      found = op;
  });
  return found ? forbid(found, isa<AssignOp>(found) ? "':='" : "a call of the continuation") : success();
}

LogicalResult Elaborator::recordEffects(FunctionItem &item) {
  SmallVector<PerformOp> open;
  collectOpenPerforms(item.function.getBody(), open);
  ArrayAttr row = item.op.getEffectsAttr();
  bool bad = false;
  for (PerformOp perform : open) {
    std::string name = perform.getPerformed().getRootReference().getValue().str();
    if (llvm::is_contained(item.effects, name))
      continue;
    item.effects.push_back(name);
    bool declared =
        row && llvm::any_of(surface::syntaxRange(row), [&](SyntaxAttr effect) { return effect.getText() == name; });
    if (declared || (!row && !item.exported))
      continue;
    InFlightDiagnostic diag =
        report(perform.getLoc(), DiagCode::K0601, "effect '" + name + "' is performed without a handler");
    attachHelp(diag) << "handle it, or declare it: '" << item.name << "' needs the effect row '! {" << name << "}'";
    bad = true;
  }
  if (!item.effects.empty() && item.hasCustomVjp)
    bad |= failed(report(item.op.getName().getLocation(), DiagCode::K0206,
                         "'" + item.name + "' has a rule of its own, so it handles the effects that it performs"));
  SmallVector<Attribute> names;
  for (const std::string &name : item.effects)
    names.push_back(FlatSymbolRefAttr::get(context, name));
  if (!names.empty())
    item.function.setEffectsAttr(builder.getArrayAttr(names));
  return failure(bad);
}

} // namespace kina::elaborate
