//===- Effects.cpp - Effects, handlers, variables -------------------------===//
//
// A function that performs effects is elaborated in place where it is called, so each
// perform ends up in the body of the handle that answers it, or in the function that is
// reported for it. The case of an operation whose signature has shape variables is, like
// any function over them, elaborated for every size that is performed.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// The types of the leaves, in order.
static void collectTypes(const Ty &type, SmallVectorImpl<Type> &types) {
  if (type.kind == Ty::Kind::Value)
    types.push_back(type.type);
  for (const Ty &member : type.members)
    collectTypes(member, types);
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
    for (SyntaxAttr type : {payload, result})
      collectShapeVars(type, *moduleScope, signature.shapeVars);
    Scope scope(moduleScope, nullptr);
    SmallVector<Attribute> vars;
    for (auto &[var, least] : signature.shapeVars) {
      scope.dims[var.str()] = DimAttr::getName(context, var);
      vars.push_back(ShapeVarAttr::get(context, var, least));
    }
    FailureOr<Ty> takes = elaborateType(payload, scope), gives = elaborateType(result, scope);
    if (failed(takes) || failed(gives))
      continue;
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
    return it->second.get();
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
  bool bad = !operation;
  for (Value arg : op.getArgs()) {
    args.push_back(decay(evaluate(arg, scope)));
    bad |= args.back().isError();
  }
  if (bad)
    return Val::error();
  FunctionItem &signature = operation->signature;
  size_t count = signature.params.size();
  // A tuple stands for its members, () for none.
  if (args.size() == 1 && count != 1 && (args[0].kind == Val::Kind::Tuple || args[0].kind == Val::Kind::Unit)) {
    std::vector<Val> members = args[0].members;
    args = std::move(members);
  }
  if (args.size() != count || op.getKeywords()) {
    report(loc, DiagCode::K0205,
           "'" + signature.name + "' is performed with " + Twine(count) + (count == 1 ? " value" : " values") +
               (args.size() == count ? Twine(", which have no names") : ", not " + Twine(args.size())));
    return Val::error();
  }
  SmallVector<Ty> types = llvm::map_to_vector(signature.params, [](const Param &param) { return param.type; });
  SmallVector<Leaf> leaves;
  FailureOr<DictionaryAttr> subst = matchArguments(signature, types, args, {}, leaves, loc);
  if (failed(subst))
    return Val::error();
  SmallVector<Value> payload;
  for (Leaf &leaf : leaves) {
    Type expected = substituted(leaf.declared, *subst, loc, leaf.what);
    FailureOr<Value> value = expected ? coerce(loc, leaf.arg->value, expected, leaf.what) : FailureOr<Value>(failure());
    bad |= failed(value);
    payload.push_back(succeeded(value) ? *value : Value());
  }
  SmallVector<Type> declared, results;
  collectTypes(*signature.result, declared);
  for (Type type : declared) {
    results.push_back(substituted(type, *subst, loc, "what '" + signature.name + "' resumes with"));
    bad |= !results.back();
  }
  if (bad)
    return Val::error();
  auto symbol = SymbolRefAttr::get(context, operation->effect, {FlatSymbolRefAttr::get(context, signature.name)});
  auto perform =
      PerformOp::create(builder, loc, results, symbol, payload, ValueRange(), ValueRange(), TagAttr());
  performed[perform] = *subst;
  ValueRange values = perform.getResults();
  return fill(*this, *signature.result, values);
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

  // Results and cases are known when the body is.
  auto draft = HandleOp::create(builder, loc, TypeRange(), builder.getArrayAttr({}), TagAttr(), /*casesCount=*/0);
  size_t facts = current->facts.size(), outerVars = current->shapeVars.size();
  auto drop = [&] {
    current->facts.resize(facts);
    draft.erase();
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
    Location at = source.front().getTerminator()->getLoc();
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
  YieldOp::create(builder, loc, yielded);

  // Without a return case the value is the body's.
  Val result;
  auto returned = std::make_shared<Scope>(scope, current);
  auto bindReturned = [&](ValueRange values, Scope &inner) {
    result = rebuild(body, values);
    if (returnCase)
      inner.names[returnCase.getText().str()] = result;
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
  YieldOp::create(builder, loc, results);
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
          instances.push_back({SmallVector<Type>(perform.getPayload().getTypes()),
                               SmallVector<Type>(perform.getResultTypes()), subst});
    if (instances.empty() && signature.shapeVars.empty()) {
      Instance generic;
      for (const Param &param : signature.params)
        collectTypes(param.type, generic.payload);
      collectTypes(*signature.result, generic.resumed);
      generic.subst = builder.getDictionaryAttr({});
      instances.push_back(generic);
    }
    for (Instance &instance : instances) {
      auto inner = std::make_shared<Scope>(scope, current);
      for (NamedAttribute var : instance.subst)
        inner->dims[var.getName().str()] = cast<DimAttr>(var.getValue());
      Val continuation;
      continuation.kind = Val::Kind::Continuation;
      continuation.continuation =
          std::make_shared<Continuation>(Continuation{one.operation, instance.subst, result});
      SmallVector<Type> arguments(instance.payload);
      arguments.push_back(ContType::get(context, joinTypes(context, instance.resumed), resultTypes));
      regions.push_back(std::make_unique<Region>(draft));
      auto bind = [&](ValueRange values, Scope &names) {
        continuation.value = values.back();
        for (auto [name, param] : llvm::zip(one.syntax.getChild(0).getChildren(), signature.params))
          names.names[name.getText().str()] = fill(*this, param.type, values);
        names.names[one.syntax.getChild(1).getText().str()] = continuation;
      };
      Val val = inRegion(*regions.back(), arguments, *one.region, inner, result.kind == Val::Kind::Tuple, bind);
      Location at = one.region->front().getTerminator()->getLoc();
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
      YieldOp::create(builder, loc, given);
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
  draft.erase();
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
  if (!val.isFirstOrder())
    return report(op.getValue().getLoc(), escapeCode(val),
                  "a ref holds a tensor, a scalar or a tuple of them, not " + spell(val));
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
    bool declared = row && llvm::any_of(surface::syntaxRange(row),
                                        [&](SyntaxAttr effect) { return effect.getText() == name; });
    if (declared || (!row && !item.exported))
      continue;
    InFlightDiagnostic diag =
        report(perform.getLoc(), DiagCode::K0601, "effect '" + name + "' is performed without a handler");
    attachHelp(diag) << "handle it, or declare it: '" << item.name << "' needs the effect row '! {" << name << "}'";
    bad = true;
  }
  return failure(bad);
}

} // namespace kina::elaborate
