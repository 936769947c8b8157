//===- Calls.cpp - Calls of functions, closures, operations ---------------===//

#include "Elaborator.h"
#include "Kina/Target/Surface/Export.h"

using namespace mlir;

namespace kina::elaborate {

/// Bounds of elaboration in place: functions that make new functions for themselves could
/// go on for ever, and a chain of functions that call the one before twice doubles with
/// each link.
static constexpr unsigned kMaxInlineDepth = 1000, kMaxInlined = 100000;

Val Elaborator::evaluateCall(surface::CallOp op, const ScopePtr &scope) {
  Location loc = op.getLoc();
  SyntaxAttr typeSyntax = op.getTypeArgumentAttr();
  std::vector<Val> args;
  SmallVector<std::string> keywords;
  // The callee: a method's object is its first argument.
  Val callee;
  StringRef calleeName;
  Operation *calleeOp = op.getCallee().getDefiningOp();
  if (auto field = dyn_cast<surface::FieldOp>(calleeOp); field && !field.getIndex()) {
    Val base = evaluate(field.getBase(), scope);
    if (base.isError())
      return base;
    calleeName = field.getMember();
    if (base.kind == Val::Kind::TypeExpr) {
      if (calleeName != "broadcast" || op.getArgs().size() != 1) {
        report(loc, DiagCode::K0206, "a tensor type has only '.broadcast(dims)', which makes ones");
        return Val::error();
      }
      Val shape = evaluate(op.getArgs()[0], scope);
      if (shape.isError())
        return shape;
      Type element = getElementType(base.type);
      Value one = ConstantOp::create(builder, loc, element,
                                     isa<FloatType>(element) ? cast<TypedAttr>(builder.getFloatAttr(element, 1.0))
                                                             : cast<TypedAttr>(IntegerAttr::get(element, 1)));
      Value ones = broadcastTo(one, getShape(base.type), loc, getPlacement(base.type));
      return callOperation("broadcast", {Val::of(ones), shape}, {"", ""}, {}, loc);
    }
    if (auto member = llvm::find(base.names, calleeName); member != base.names.end()) {
      callee = base.members[member - base.names.begin()];
    } else {
      args.push_back(std::move(base));
      keywords.push_back("");
      callee = lookup(calleeName, loc, scope, /*silent=*/true);
    }
  } else if (auto name = dyn_cast<surface::NameOp>(calleeOp)) {
    calleeName = name.getName();
    callee = lookup(calleeName, loc, scope, /*silent=*/true);
  } else {
    callee = evaluate(op.getCallee(), scope);
    if (callee.isError())
      return callee;
  }
  if (callee.isError() && !calleeName.empty()) {
    // A name that is bound to an error was reported where it was bound.
    for (Scope *s = scope.get(); s; s = s->parent.get())
      if (s->names.count(calleeName.str()))
        return Val::error();
    if (globalItems.count(calleeName.str()))
      return Val::error();
    if (isKnownLater(calleeName)) {
      report(loc, DiagCode::K0115, "the operation '" + calleeName + "' is not built");
      return Val::error();
    }
    if (!isNewlyUnknown(calleeName))
      return Val::error();
    InFlightDiagnostic diag = report(calleeOp->getLoc(), DiagCode::K0112, "unknown operation '" + calleeName + "'");
    SmallVector<std::string> candidates;
    for (auto &entry : functions)
      candidates.push_back(entry.first);
    for (Scope *s = scope.get(); s; s = s->parent.get())
      for (auto &entry : s->names)
        if (entry.second.kind == Val::Kind::Function)
          candidates.push_back(entry.first);
    for (StringRef known : operationNames())
      candidates.push_back(known.str());
    if (StringRef help = foreignNameHelp(calleeName); !help.empty())
      attachHelp(diag) << help;
    else if (std::optional<std::string> close = nearest(calleeName, candidates))
      attachHelp(diag) << "did you mean '" << *close << "'?";
    return Val::error();
  }
  bool resumes = callee.kind == Val::Kind::Continuation, pulls = callee.kind == Val::Kind::Pullback;
  if (callee.kind != Val::Kind::Function && !resumes && !pulls) {
    InFlightDiagnostic diag = report(calleeOp->getLoc(), DiagCode::K0206, spell(callee) + " cannot be called");
    size_t rank = callee.isValue() ? getRank(callee.getType()) : 0, count = op.getArgs().size();
    if (count > 0 && count <= rank)
      attachHelp(diag) << "an element is '" << spellExpression(op.getCallee()) << '['
                       << llvm::join(llvm::map_range(op.getArgs(), spellExpression), ", ")
                       << "]'; a ';' ends a statement before a parenthesis";
    else if (callee.isValue())
      attachHelp(diag) << "write '*' to multiply, or ';' before a parenthesis that begins a new statement";
    return Val::error();
  }

  // A body that is elaborated in place has expressions of its own for what it is given.
  SmallVector<std::pair<Value, Value>> spelled;
  llvm::scope_exit restore([&] {
    for (auto &[value, expr] : spelled)
      expressions[value] = expr;
  });
  // `wrt` names parameters; it is no expression.
  bool isFunction = callee.kind == Val::Kind::Function;
  std::optional<Callable::Derivative> derivative;
  if (isFunction && callee.function->kind == Callable::Kind::Operation)
    derivative = getDerivative(callee.function->operation);
  SmallVector<std::string> wrt;
  bool hasWrt = false, bad = false;
  for (auto [index, arg] : llvm::enumerate(op.getArgs())) {
    StringRef keyword = op.getKeyword(index);
    if (derivative && keyword == "wrt") {
      hasWrt = true;
      auto add = [&](Value value) {
        if (auto name = value.getDefiningOp<surface::NameOp>()) {
          wrt.push_back(name.getName().str());
          return;
        }
        report(value.getLoc(), DiagCode::K0205, "'wrt' takes the name of a parameter, or names in parentheses");
        bad = true;
      };
      if (auto tuple = arg.getDefiningOp<surface::TupleOp>(); tuple && !tuple.getNamesAttr())
        for (Value member : tuple.getMembers())
          add(member);
      else
        add(arg);
      continue;
    }
    Val val;
    // A string is an argument of operations, and no value.
    auto literal = arg.getDefiningOp<surface::LiteralOp>();
    if (literal && literal.getKind() == surface::LiteralKind::String && isFunction &&
        callee.function->kind == Callable::Kind::Operation) {
      val.kind = Val::Kind::String;
      val.text = cast<StringAttr>(literal.getValue()).getValue().str();
    } else {
      val = decay(evaluate(arg, scope));
    }
    bad |= val.isError();
    if (val.isValue())
      spelled.push_back({val.value, arg});
    args.push_back(std::move(val));
    keywords.push_back(keyword.str());
  }
  if (bad)
    return Val::error();
  if (derivative && typeSyntax) {
    report(loc, DiagCode::K0205, "'" + callee.function->operation + "' takes no element type");
    return Val::error();
  }
  if (derivative)
    return differentiate(*derivative, callee.function->operation, args, keywords,
                         hasWrt ? ArrayRef<SmallVector<std::string>>(wrt) : ArrayRef<SmallVector<std::string>>(), loc);
  if (isFunction && callee.function->kind == Callable::Kind::Operation) {
    Type typeArgument;
    if (typeSyntax)
      typeArgument = typeSyntax.is(SyntaxKind::DType) ? dtype(typeSyntax.getText())
                                                      : elementVariable(typeSyntax.getText(), *scope);
    if (typeSyntax && !typeArgument) {
      report(typeSyntax.getLocation(), DiagCode::K0111, "unknown element type '" + typeSyntax.getText() + "'");
      return Val::error();
    }
    return callOperation(callee.function->operation, args, keywords, typeArgument, loc);
  }
  if (typeSyntax) {
    if (!isFunction || callee.function->kind != Callable::Kind::Item) {
      report(loc, DiagCode::K0205,
             "only operations that make tensors take an element type, and functions that declare a variable");
      return Val::error();
    }
    if (failed(addTypeArgument(typeSyntax, *callee.function->item, scope, args, keywords)))
      return Val::error();
  }
  return resumes ? resume(callee, args, keywords, loc)
         : pulls ? pull(callee, args, loc)
                 : call(callee.function, std::move(args), std::move(keywords), loc);
}

/// The operation that stands before what is made next; null if there is none.
static Operation *lastBefore(OpBuilder &builder) {
  auto at = builder.getInsertionPoint();
  return at == builder.getInsertionBlock()->begin() ? nullptr : &*std::prev(at);
}

/// Of the operations that stand behind `last`, or from the start of the block: those that take
/// over what comes from outside and `lent` says is only borrowed.
static void lendOperands(Block *block, Operation *last, llvm::function_ref<bool(Value)> lent) {
  llvm::DenseSet<Operation *> made;
  for (Operation *op = last ? last->getNextNode() : block->empty() ? nullptr : &block->front(); op;
       op = op->getNextNode())
    op->walk([&](Operation *inner) { made.insert(inner); });
  auto isMade = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return made.contains(op ? op : value.getParentBlock()->getParentOp());
  };
  for (Operation *op : made)
    if (isa<OwnershipOpInterface, PerformOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (isa<TensorType>(operand.get().getType()) && !isMade(operand.get()) && lent(operand.get()))
          setBorrowed(operand);
}

Val Elaborator::requireOwned(Val result, ArrayRef<Value> lent, Location loc) {
  SmallVector<Value> leaves;
  if (result.isFirstOrder())
    flatten(result, leaves);
  for (Value leaf : leaves) {
    if (!isa<TensorType>(leaf.getType()) || !llvm::is_contained(lent, leaf))
      continue;
    SmallVector<StringRef> names = getSourceNames(leaf);
    std::string name = names.empty() ? "" : names.front().str();
    InFlightDiagnostic diag = report(loc, DiagCode::K0505,
                                     (name.empty() ? "this value" : "'" + name + "'") +
                                         " is borrowed and cannot be consumed, but here it is returned");
    diag.attachNote() << "a function only reads what it takes with '&', and a function value what is around it";
    attachHelp(diag) << "return a copy, " << (name.empty() ? "copy(..)" : "'copy(" + name + ")'");
    return Val::error();
  }
  return result;
}

Val Elaborator::call(const std::shared_ptr<Callable> &callable, std::vector<Val> args,
                     SmallVector<std::string> keywords, Location loc) {
  if (!callable->borrows.empty()) {
    auto plain = std::make_shared<Callable>(*callable);
    plain->borrows.clear();
    SmallVector<Value> lent;
    for (unsigned position : callable->borrows)
      if (position < args.size() && keywords[position].empty() && args[position].isFirstOrder())
        flatten(args[position], lent);
    Block *block = builder.getInsertionBlock();
    Operation *last = lastBefore(builder);
    Val val = call(plain, std::move(args), std::move(keywords), loc);
    lendOperands(block, last, [&](Value value) { return llvm::is_contained(lent, value); });
    return requireOwned(std::move(val), lent, loc);
  }
  switch (callable->kind) {
  case Callable::Kind::Item:
    if (failed(elaborateSignature(*callable->item)))
      return Val::error();
    if (callable->item->isGeneric()) {
      FailureOr<std::shared_ptr<Callable>> instance = instantiate(*callable, args, keywords, loc);
      return failed(instance) ? Val::error() : call(*instance, std::move(args), std::move(keywords), loc);
    }
    // In place the errors of its body would be told once more.
    if (callable->item->state == FunctionItem::State::Failed && current->inlinesItems)
      return Val::error();
    // A function with a rule of its own stays one, or its rule would be lost.
    if (callable->item->isTemplate || (current->inlinesItems && !callable->item->hasCustomVjp))
      return inlineCallable(callable, args, keywords, loc);
    if (failed(requireSignature(*callable->item)))
      return Val::error();
    return callable->item->effects.empty() ? callItem(*callable->item, args, keywords, loc)
                                           : inlineCallable(callable, args, keywords, loc);
  case Callable::Kind::Lambda:
    return inlineCallable(callable, args, keywords, loc);
  case Callable::Kind::Operation:
    return callOperation(callable->operation, args, keywords, {}, loc);
  case Callable::Kind::Derivative:
    return applyDerivative(*callable, args, keywords, loc);
  }
  llvm_unreachable("all kinds handled");
}

Val Elaborator::callOperation(StringRef name, ArrayRef<Val> args, ArrayRef<std::string> keywords, Type typeArgument,
                              Location loc) {
  for (const Val &arg : args)
    if (arg.isError())
      return Val::error();
  OperationRule rule = findOperation(name);
  if (!rule) {
    report(loc, DiagCode::K0112, "unknown operation '" + name + "'");
    return Val::error();
  }
  std::vector<Val> together(args);
  SmallVector<Value> operands;
  for (const Val &arg : args)
    if (arg.isValue())
      operands.push_back(arg.value);
  if (failed(requireOnePlace(operands, loc)))
    return Val::error();
  ArrayRef<Value> next(operands);
  for (Val &arg : together)
    if (arg.isValue()) {
      arg.value = next.front();
      next = next.drop_front();
    }
  OperationCall operation(*this, name, together, keywords, typeArgument, loc);
  unsigned before = errors;
  Val result = rule(operation);
  if (errors != before || operation.failed || result.isError() || !operation.finish())
    return Val::error();
  // What an operation gives is a tensor of its own, even where nothing had to be done.
  if (result.isValue() && isa<TensorType>(result.getType()) && llvm::is_contained(operands, result.value))
    result.value = CopyOp::create(builder, loc, result.value);
  return result;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool Elaborator::isDefault(SyntaxAttr literal) {
  return literal.is(SyntaxKind::Int) || literal.is(SyntaxKind::Float) || literal.is(SyntaxKind::Bool);
}

ArrayAttr Elaborator::parameterSyntax(const Callable &callable) {
  switch (callable.kind) {
  case Callable::Kind::Item:
    return callable.item->op.getParamsAttr();
  case Callable::Kind::Lambda: {
    surface::LambdaOp lambda = callable.lambda;
    return lambda.getParamsAttr();
  }
  case Callable::Kind::Derivative:
    if (callable.derivative == Callable::Derivative::Grad || callable.derivative == Callable::Derivative::ValueAndGrad)
      return parameterSyntax(*callable.base);
    return {};
  case Callable::Kind::Operation:
    return {};
  }
  llvm_unreachable("all kinds handled");
}

FailureOr<std::vector<Val>> Elaborator::orderArguments(StringRef callee, ArrayRef<std::string> params,
                                                       ArrayAttr declared, ArrayRef<Val> args,
                                                       ArrayRef<std::string> keywords, Location loc,
                                                       SmallVector<std::pair<std::string, Val>, 2> *extra) {
  std::vector<std::optional<Val>> slots(params.size());
  auto signature = [&] {
    std::string text = "'" + callee.str() + "' takes (";
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(params, os);
    os << ")";
    return text;
  };
  size_t next = 0;
  bool bad = false;
  for (auto [arg, keyword] : llvm::zip(args, keywords)) {
    if (arg.isError())
      return failure();
    if (keyword.empty()) {
      if (next >= params.size()) {
        report(loc, DiagCode::K0205, "too many arguments: " + signature() + ", but there are " + Twine(args.size()));
        return failure();
      }
      slots[next++] = arg;
      continue;
    }
    auto it = llvm::find(params, keyword);
    if (it == params.end()) {
      if (extra) {
        extra->push_back({keyword, arg});
        continue;
      }
      InFlightDiagnostic diag = report(loc, DiagCode::K0205, "no parameter '" + keyword + "': " + signature());
      bad = true;
      continue;
    }
    std::optional<Val> &slot = slots[it - params.begin()];
    if (slot) {
      report(loc, DiagCode::K0205, "parameter '" + keyword + "' is given twice");
      bad = true;
    }
    slot = arg;
  }
  for (auto [slot, param] : llvm::zip(slots, surface::syntaxRange(declared))) {
    if (slot || param.getChildren().size() < 2 || !isDefault(param.getChild(1)))
      continue;
    SyntaxAttr literal = param.getChild(1);
    if (std::optional<int64_t> value = literal.getIntValue())
      slot = literalInt(*value, loc);
    else if (std::optional<double> value = literal.getFloatValue())
      slot = literalFloat(*value, loc);
    else
      slot = literalBool(literal.getText() == "true", loc);
  }
  std::vector<Val> ordered;
  for (auto [name, slot] : llvm::zip(params, slots)) {
    if (!slot) {
      report(loc, DiagCode::K0205, "parameter '" + name + "' is missing: " + signature());
      return failure();
    }
    ordered.push_back(std::move(*slot));
  }
  if (bad)
    return failure();
  return ordered;
}

FailureOr<SmallVector<std::string>> Elaborator::parameterNames(const Callable &callable, Location loc) {
  SmallVector<std::string> names;
  switch (callable.kind) {
  case Callable::Kind::Item:
    if (failed(elaborateSignature(*callable.item)))
      return failure();
    for (const Param &param : callable.item->params)
      names.push_back(param.name);
    return names;
  case Callable::Kind::Lambda: {
    surface::LambdaOp lambda = callable.lambda;
    for (SyntaxAttr param : surface::syntaxRange(lambda.getParamsAttr()))
      names.push_back(param.getText().str());
    return names;
  }
  case Callable::Kind::Derivative:
    if (!callable.hasPoint())
      return parameterNames(*callable.base, loc);
    return names;
  case Callable::Kind::Operation:
    return names;
  }
  llvm_unreachable("all kinds handled");
}

//===----------------------------------------------------------------------===//
// Solving shape variables
//===----------------------------------------------------------------------===//

/// `dim` divided by the product, if it divides every term; null otherwise.
static DimAttr divideExactly(DimAttr dim, DimTermAttr divisor) {
  MLIRContext *context = dim.getContext();
  DimAttr sum = DimAttr::getConstant(context, 0);
  for (DimTermAttr term : dim.getTerms()) {
    if (divisor.getCoefficient() == -1 && term.getCoefficient() == INT64_MIN)
      return {};
    if (term.getCoefficient() % divisor.getCoefficient() != 0)
      return {};
    SmallVector<DimAtomAttr> factors(term.getFactors());
    for (DimAtomAttr factor : divisor.getFactors()) {
      auto it = llvm::find(factors, factor);
      if (it == factors.end())
        return {};
      factors.erase(it);
    }
    sum = addDims(
        sum,
        DimAttr::get(context, {DimTermAttr::get(context, term.getCoefficient() / divisor.getCoefficient(), factors)}));
  }
  return sum;
}

/// What the one unknown name in the pattern must be for the pattern to equal the size:
/// `4*H = s` gives `H = s floordiv 4`. Whether it then is equal is checked afterwards.
/// `overflows` says that it leaves 64 bits.
static DimAttr solveDim(DimAttr pattern, DimAttr size, StringRef name, DimLookup known, bool &overflows) {
  MLIRContext *context = pattern.getContext();
  DimAttr rest = DimAttr::getConstant(context, 0), factor = DimAttr::getConstant(context, 0);
  for (DimTermAttr term : pattern.getTerms()) {
    SmallVector<DimAtomAttr> others;
    unsigned count = 0;
    for (DimAtomAttr atom : term.getFactors()) {
      if (atom.getKind() == AtomKind::Name && atom.getName() == name)
        ++count;
      else
        others.push_back(atom);
    }
    DimAttr coefficient = DimAttr::get(context, {DimTermAttr::get(context, term.getCoefficient(), others)});
    NameSet inside;
    collectNames(coefficient, inside);
    if (count > 1 || inside.contains(name))
      return {};
    if (count)
      factor = addDims(factor, coefficient);
    else
      rest = addDims(rest, coefficient);
  }
  factor = substitute(factor, known);
  DimAttr numerator = subDims(size, substitute(rest, known));
  if (!factor || !numerator) {
    overflows = true;
    return {};
  }
  if (factor.getTerms().size() != 1)
    return {};
  if (DimAttr exact = divideExactly(numerator, factor.getTerms()[0]))
    return exact;
  DimAttr quotient = floorDivDims(numerator, factor);
  overflows |= !quotient;
  return quotient;
}

LogicalResult Elaborator::pairArguments(const Ty &type, Val &val, const std::string &what,
                                        SmallVectorImpl<Leaf> &leaves, llvm::StringMap<DimAttr> &solution,
                                        Location loc) {
  switch (type.kind) {
  case Ty::Kind::Unknown:
    return success();
  case Ty::Kind::Function:
    return checkDeclared(val, type, loc, what);
  case Ty::Kind::Value:
    if (failed(asValue(val, loc, what)))
      return failure();
    if (!type.indexName.empty()) {
      DimAttr dim = asDim(val, loc);
      if (!dim)
        return failure();
      solution[type.indexName] = dim;
    }
    leaves.push_back({type.type, &val, what, std::nullopt});
    return success();
  case Ty::Kind::Tuple: {
    if (val.kind != Val::Kind::Tuple || val.members.size() != type.members.size() || val.names != type.names)
      return report(loc, DiagCode::K0205,
                    what + " is " + (type.names.empty() ? "a tuple of " + std::to_string(type.members.size()) : spell(type)) +
                        ", not " + spell(val));
    bool bad = false;
    for (auto [index, member] : llvm::enumerate(val.members))
      bad |= failed(pairArguments(type.members[index], member,
                                  what + "." + (type.names.empty() ? std::to_string(index) : type.names[index]),
                                  leaves, solution, loc));
    return failure(bad);
  }
  case Ty::Kind::Unit:
    if (val.kind != Val::Kind::Unit)
      return report(loc, DiagCode::K0205, what + " is (), not " + spell(val));
    return success();
  }
  llvm_unreachable("all kinds handled");
}

FailureOr<DictionaryAttr> Elaborator::matchArguments(FunctionItem &item, ArrayRef<Ty> types, MutableArrayRef<Val> args,
                                                     ArrayRef<std::pair<std::string, Val>> extra,
                                                     SmallVectorImpl<Leaf> &leaves, Location loc,
                                                     MutableArrayRef<Leaf> globals) {
  llvm::StringMap<DimAttr> solution;
  auto known = [&](StringRef name) { return solution.lookup(name); };
  llvm::StringMap<PlacementAttr> places;
  for (auto &[name, val] : extra) {
    if (solution.count(name) || places.count(name))
      return report(loc, DiagCode::K0205, "'" + name + "' of '" + item.name + "' is given twice");
    if (item.placeVars.contains(name)) {
      if (val.kind != Val::Kind::Place)
        return report(loc, DiagCode::K0206, "'" + name + "' of '" + item.name + "' is a place, not " + spell(val));
      places[name] = val.place;
      continue;
    }
    if (!item.shapeVars.count(name)) {
      InFlightDiagnostic diag = report(
          loc, DiagCode::K0205, "'" + item.name + "' has no parameter and no shape variable '" + name + "'");
      SmallVector<std::string> candidates;
      for (const Param &param : item.params)
        candidates.push_back(param.name);
      for (auto &[var, least] : item.shapeVars)
        candidates.push_back(var.str());
      if (std::optional<std::string> close = nearest(name, candidates))
        attachHelp(diag) << "did you mean '" << *close << "'?";
      return diag;
    }
    DimAttr dim = asDim(val, loc);
    if (!dim)
      return failure();
    solution[name] = dim;
  }
  bool bad = false;
  for (auto [param, type, val] : llvm::zip(item.params, types, args)) {
    size_t first = leaves.size();
    // The arguments of an effect's operation are numbered.
    bool isNumbered = llvm::isDigit(param.name.front());
    std::string which = !isNumbered              ? "argument '" + param.name + "'"
                        : item.params.size() == 1 ? "the argument"
                                                  : "argument " + param.name + " (0-based)";
    bad |= failed(pairArguments(type, val, which + " of '" + item.name + "'", leaves, solution, loc));
    for (Leaf &leaf : llvm::drop_begin(leaves, first))
      leaf.declaredAt = param.loc;
  }
  if (bad)
    return failure();

  bool overflows = false;
  // Bare names first, then patterns with one unknown, until nothing moves.
  for (bool bareOnly : {true, false})
    for (bool progress = true; progress;) {
      progress = false;
      for (const Leaf &leaf : llvm::concat<Leaf>(leaves, globals)) {
        ArrayRef<DimAttr> want = getShape(leaf.declared), have = getShape(leaf.arg->getType());
        if (want.size() != have.size())
          continue;
        for (auto [pattern, size] : llvm::zip(want, have)) {
          NameSet inside;
          collectNames(pattern, inside);
          SmallVector<StringRef> open;
          for (StringRef name : inside)
            if (!solution.count(name))
              open.push_back(name);
          if (open.size() != 1 || (bareOnly && pattern.getSingleName().empty()))
            continue;
          if (DimAttr value = solveDim(pattern, size, open[0], known, overflows)) {
            solution[open[0]] = value;
            progress = true;
          }
        }
      }
    }
  // An argument of the wrong rank gives no sizes; that is what is wrong then.
  for (Leaf &leaf : leaves)
    if (!leaf.declared.isIndex() && getRank(leaf.declared) != getRank(leaf.arg->getType())) {
      report(loc, DiagCode::K0201,
             leaf.what + " has type " + spell(leaf.arg->getType()) + ", but " + spell(leaf.declared) + " is needed");
      bad = true;
    }
  if (bad)
    return failure();
  SmallVector<NamedAttribute> subst;
  for (auto &[name, least] : item.shapeVars) {
    DimAttr value = solution.lookup(name);
    if (!value && overflows)
      return report(loc, DiagCode::K0204, "shape variable '" + name + "' of '" + item.name + "' leaves 64 bits here");
    if (!value) {
      InFlightDiagnostic diag =
          report(loc, DiagCode::K0203,
                 "shape variable '" + name + "' of '" + item.name + "' cannot be computed from the arguments");
      attachHelp(diag) << "give it by keyword, '" << (item.op ? "" : "perform ") << item.name << '('
                       << (item.params.empty() ? "" : ".., ") << name << "=20)'";
      return failure();
    }
    subst.push_back(builder.getNamedAttr(name, value));
  }
  if (bad || failed(solvePlaces(item, leaves, loc, places, subst)))
    return failure();
  return builder.getDictionaryAttr(subst);
}

Type Elaborator::substituted(Type type, DictionaryAttr subst, Location loc, const Twine &what) {
  if (Type result = substitute(type, subst))
    return result;
  for (DimAttr dim : getShape(type))
    if (DimAttr size = substitute(dim, subst); size && size.getConstantValue().value_or(0) < 0) {
      report(loc, DiagCode::K0307, "the size '" + toString(dim) + "' of " + what + " would be " + toString(size));
      return {};
    }
  report(loc, DiagCode::K0204, "a dimension of " + what + " leaves 64 bits");
  return {};
}

LogicalResult Elaborator::obligeClauses(FunctionItem &item, DictionaryAttr subst, Location loc) {
  bool bad = false;
  for (auto &[name, least] : item.shapeVars)
    if (auto value = subst.getAs<DimAttr>(name))
      bad |= failed(oblige(loc, makeRelation(PredKind::LE, DimAttr::getConstant(context, least), value),
                           ObligationKind::precondition,
                           "'" + item.name + "' needs " + name + " >= " + Twine(least) + ", and " + name + " is '" +
                               spell(value) + "' here"));
  for (ClauseAttr clause : item.clauses) {
    NoteScope here(*this);
    here.add("required here", clause.getLoc());
    bad |= failed(oblige(loc, substitute(clause.getPred(), subst), ObligationKind::precondition,
                         "'" + item.name + "' requires '" + clause.getText() + "', which may fail here"));
  }
  return failure(bad);
}

LogicalResult Elaborator::requireSignature(FunctionItem &item) {
  if (succeeded(elaborateItem(item)))
    return success();
  // What is wrong with the body says nothing of what is called with its declared types.
  if (inferringPlace || item.state != FunctionItem::State::Failed || !item.isDeclared || !item.expected.empty())
    return failure();
  if (current->item)
    current->item->callsFailed = true;
  return success();
}

FailureOr<Elaborator::Prepared> Elaborator::prepareCall(FunctionItem &item, ArrayRef<Val> args,
                                                        ArrayRef<std::string> keywords, Location loc) {
  SmallVector<std::string> names;
  for (const Param &param : item.params)
    names.push_back(param.name);
  SmallVector<std::pair<std::string, Val>, 2> extra;
  FailureOr<std::vector<Val>> ordered = orderArguments(item.name, names, item.op.getParamsAttr(), args, keywords, loc, &extra);
  if (failed(ordered) || failed(requireSignature(item)))
    return failure();
  SmallVector<Ty> types = llvm::map_to_vector(item.params, [](const Param &param) { return param.type; });
  // Module-level lets without a value are passed on.
  std::vector<Val> globals;
  for (StringAttr global : item.globals) {
    globals.push_back(getGlobalValue(global.getValue(), globalItems.find(global.getValue())->second, loc));
    if (globals.back().isError())
      return failure();
  }
  SmallVector<Leaf> leaves, given;
  ArrayRef<Type> globalTypes;
  if (item.function)
    globalTypes = item.function.getArgumentTypes().take_back(item.globals.size());
  for (auto [name, type, val] : llvm::zip(item.globals, globalTypes, globals))
    given.push_back({type, &val, "'" + name.str() + "' of '" + item.name + "'", std::nullopt});
  FailureOr<DictionaryAttr> subst = matchArguments(item, types, *ordered, extra, leaves, loc, given);
  if (failed(subst))
    return failure();
  Prepared prepared;
  prepared.subst = *subst;
  NoteScope call(*this);
  call.add(spellInstantiation(prepared.subst, *spellings));
  bool bad = false;
  for (Leaf &leaf : leaves) {
    NoteScope parameter(*this);
    if (leaf.declaredAt)
      parameter.add("the parameter", leaf.declaredAt);
    if (leaf.declared.isIndex()) {
      prepared.operands.push_back(asIndex(*leaf.arg, loc));
      continue;
    }
    Type expected = substituted(leaf.declared, prepared.subst, loc, leaf.what);
    if (!expected)
      return failure();
    Location argumentLoc = locationOf(*leaf.arg, loc);
    // Of a size that a pattern cannot give, the pattern is what the user knows.
    for (auto [axis, dims] :
         llvm::enumerate(llvm::zip(getShape(leaf.declared), getShape(expected), getShape(leaf.arg->getType())))) {
      auto [pattern, goal, size] = dims;
      if (pattern.isConstant() || !pattern.getSingleName().empty() || !goal.isConstant() || !size.isConstant() ||
          goal == size)
        continue;
      InFlightDiagnostic diag = report(argumentLoc, DiagCode::K0301,
                                       leaf.what + " has size '" + spell(size) + "' at axis " + Twine(axis) +
                                           " (0-based), but size '" + item.spellings.spell(pattern) + "' is needed");
      diag.attachNote() << "'" << item.spellings.spell(pattern) << "' is " << spell(goal) << " here";
      return failure();
    }
    FailureOr<Value> value = coerce(argumentLoc, leaf.arg->value, expected, leaf.what);
    bad |= failed(value);
    prepared.operands.push_back(succeeded(value) ? *value : Value());
  }
  bad |= failed(obligeClauses(item, prepared.subst, loc));
  if (bad)
    return failure();
  SmallVector<Type> declared;
  if (item.function)
    llvm::append_range(declared, item.function.getResultTypes());
  else
    collectTypes(*item.result, declared);
  for (Type type : declared) {
    Type result = substituted(type, prepared.subst, loc, "the value of '" + item.name + "'");
    if (!result)
      return failure();
    prepared.results.push_back(result);
  }
  for (StringRef name : item.unsolved)
    prepared.operands.push_back(
        DimOp::create(builder, loc, builder.getIndexType(), cast<DimAttr>(prepared.subst.get(name))));
  // Their sizes are those of this function; the callee's must be the same here.
  for (Leaf &leaf : given) {
    Type expected = substituted(leaf.declared, prepared.subst, loc, leaf.what);
    FailureOr<Value> value = expected ? coerce(loc, leaf.arg->value, expected, leaf.what) : FailureOr<Value>(failure());
    if (failed(value))
      return failure();
    prepared.operands.push_back(*value);
  }
  return prepared;
}

/// The structure over these values, which are consumed.
Val Elaborator::fill(const Ty &type, ValueRange &values) {
  switch (type.kind) {
  case Ty::Kind::Value: {
    Value value = values.front();
    values = values.drop_front();
    bool integer = getRank(value.getType()) == 0 && isa<IntegerType>(value.getType()) && !value.getType().isInteger(1);
    return Val::of(value, integer ? freshAtom() : DimAttr());
  }
  case Ty::Kind::Tuple: {
    std::vector<Val> members;
    for (const Ty &member : type.members)
      members.push_back(fill(member, values));
    Val val = Val::tuple(std::move(members));
    val.names = type.names;
    return val;
  }
  default:
    return Val::unit();
  }
}

Val Elaborator::callItem(FunctionItem &item, ArrayRef<Val> args, ArrayRef<std::string> keywords, Location loc) {
  FailureOr<Prepared> prepared = prepareCall(item, args, keywords, loc);
  if (failed(prepared))
    return Val::error();
  auto result = CallOp::create(builder, loc, prepared->results, item.name, prepared->operands, prepared->subst,
                               ArrayAttr(), ArrayAttr());
  ValueRange values = result.getResults();
  return fill(item.function ? item.resultType : *item.result, values);
}

/// Text that is the same for the same function: its body and what it closes over.
static void identify(const Callable &callable, llvm::raw_ostream &os) {
  switch (callable.kind) {
  case Callable::Kind::Item:
    os << callable.item->name;
    return;
  case Callable::Kind::Lambda: {
    surface::LambdaOp lambda = callable.lambda;
    os << lambda.getOperation() << '@' << callable.scope.get();
    return;
  }
  case Callable::Kind::Operation:
    os << callable.operation;
    return;
  case Callable::Kind::Derivative:
    os << static_cast<int>(callable.derivative) << '<';
    identify(*callable.base, os);
    os << '>';
    return;
  }
}

static void identify(const Val &val, llvm::raw_ostream &os) {
  if (val.kind == Val::Kind::Function)
    identify(*val.function, os);
  for (const Val &member : val.members)
    identify(member, os);
  os << ',';
}

std::optional<size_t> Elaborator::arity(const Callable &callable) {
  switch (callable.kind) {
  case Callable::Kind::Item:
    return llvm::range_size(surface::syntaxRange(callable.item->op.getParamsAttr()));
  case Callable::Kind::Lambda: {
    surface::LambdaOp lambda = callable.lambda;
    return llvm::range_size(surface::syntaxRange(lambda.getParamsAttr()));
  }
  case Callable::Kind::Derivative:
    if (!callable.hasPoint())
      return arity(*callable.base);
    return std::nullopt;
  case Callable::Kind::Operation:
    return std::nullopt;
  }
  llvm_unreachable("all kinds handled");
}

void bindVariables(Scope &scope, DictionaryAttr subst) {
  for (NamedAttribute var : subst) {
    if (auto place = dyn_cast<PlacementAttr>(var.getValue()))
      scope.places[var.getName().str()] = place;
    else
      scope.dims[var.getName().str()] = cast<DimAttr>(var.getValue());
  }
}

Val Elaborator::inlineCallable(const std::shared_ptr<Callable> &callable, ArrayRef<Val> args,
                               ArrayRef<std::string> keywords, Location loc) {
  if (exhausted)
    return Val::error();
  bool isItem = callable->kind == Callable::Kind::Item;
  Inlining self;
  llvm::raw_string_ostream os(self);
  identify(*callable, os);
  os << '(';
  for (const Val &arg : args)
    identify(arg, os);
  auto endless = [&](const Twine &message) {
    report(loc, DiagCode::K0208, message);
    exhausted = true;
    return Val::error();
  };
  if (llvm::is_contained(inlining, self))
    return endless(isItem ? "'" + callable->item->name + "' calls itself, and recursion is not part of Kina"
                          : std::string("this function calls itself, and recursion is not part of Kina"));
  if (inlining.size() >= kMaxInlineDepth)
    return endless("calls of functions that are elaborated in place nest more than " + Twine(kMaxInlineDepth) +
                   " deep");
  if (inlined >= kMaxInlined)
    return endless("more than " + Twine(kMaxInlined) + " calls are elaborated in place in one function; " +
                   "give the functions that are called often types for all parameters");
  ++inlined;
  if (isItem)
    callable->item->wasInlined = true;
  inlining.push_back(std::move(self));
  llvm::scope_exit leave([&] { inlining.pop_back(); });
  // The outermost calls tell most, and a chain of any length would cost all who read it.
  constexpr unsigned kMostCallSites = 8;
  llvm::SaveAndRestore<unsigned> deeper(callDepth, callDepth + 1);
  llvm::SaveAndRestore<std::optional<Location>> site(callSite);
  if (callDepth <= kMostCallSites)
    callSite = callSite ? Location(CallSiteLoc::get(loc, *callSite)) : loc;
  llvm::SaveAndRestore<bool> savedCallee(isInCallee, isInCallee || isItem);
  FailureOr<SmallVector<std::string>> names = parameterNames(*callable, loc);
  if (failed(names))
    return Val::error();
  StringRef name = isItem ? StringRef(callable->item->name) : StringRef("this function");
  SmallVector<std::pair<std::string, Val>, 2> extra;
  FailureOr<std::vector<Val>> ordered =
      orderArguments(name, *names, parameterSyntax(*callable), args, keywords, loc, isItem ? &extra : nullptr);
  if (failed(ordered))
    return Val::error();
  surface::LambdaOp lambda = callable->lambda;
  auto scope = std::make_shared<Scope>(isItem ? moduleScope : callable->scope, current);
  ArrayAttr params = isItem ? callable->item->op.getParamsAttr() : lambda.getParamsAttr();
  SyntaxAttr returnType = isItem ? callable->item->op.getReturnTypeAttr() : lambda.getReturnTypeAttr();
  Region &body = isItem ? callable->item->op.getBody() : lambda.getBody();

  // An item's shape variables are solved from its arguments; a lambda's are those of the
  // function it stands in.
  if (isItem) {
    FunctionItem &item = *callable->item;
    Scope pattern(moduleScope, nullptr);
    for (auto &[var, least] : item.shapeVars)
      pattern.dims[var.str()] = DimAttr::getName(context, var);
    for (StringRef var : item.placeVars)
      pattern.places[var.str()] = PlacementAttr::get(context, var, "", 0);
    bindElements(pattern, item);
    bindElements(*scope, item);
    SmallVector<Ty> types;
    for (SyntaxAttr param : surface::syntaxRange(params)) {
      FailureOr<Ty> type =
          param.getChildren().empty() ? Ty() : elaborateType(param.getChild(0), pattern, param.getText());
      if (failed(type))
        return Val::error();
      types.push_back(*type);
    }
    placeSignature(item, types);
    // Sizes that only module-level lets without a value give.
    std::vector<Val> globals;
    SmallVector<Type> globalTypes;
    for (auto &[name, global] : globalItems) {
      if ((item.expected.empty() && item.unsolved.empty()) || !global.op.getInit().empty())
        continue;
      llvm::MapVector<StringRef, int64_t> sizes;
      collectShapeVars(global.op.getTypeAttr(), *moduleScope, sizes);
      auto isGiven = [&](StringRef name) { return sizes.count(name) > 0; };
      if (llvm::none_of(item.expected, isGiven) && llvm::none_of(item.unsolved, isGiven))
        continue;
      FailureOr<Ty> type = elaborateType(global.op.getTypeAttr(), pattern);
      Val val = getGlobalValue(name, global, loc);
      if (failed(type) || val.isError() || type->kind != Ty::Kind::Value)
        return Val::error();
      globalTypes.push_back(type->type);
      globals.push_back(val);
    }
    SmallVector<Leaf> leaves, given;
    for (auto [type, val] : llvm::zip(globalTypes, globals))
      given.push_back({type, &val, "", std::nullopt});
    FailureOr<DictionaryAttr> subst = matchArguments(item, types, *ordered, extra, leaves, loc, given);
    if (failed(subst))
      return Val::error();
    bindVariables(*scope, *subst);
    NoteScope call(*this);
    call.add(spellInstantiation(*subst, *spellings));
    if (failed(obligeClauses(item, *subst, loc)))
      return Val::error();
  }
  SmallVector<Value> given, lent;
  for (auto [param, val] : llvm::zip(surface::syntaxRange(params), *ordered)) {
    if (!param.getChildren().empty()) {
      FailureOr<Ty> type = elaborateType(param.getChild(0), *scope, param.getText());
      if (failed(type) || failed(checkDeclared(val, *type, loc, "argument '" + param.getText() + "'")))
        return Val::error();
    }
    if (val.isFirstOrder())
      flatten(val, !param.getChildren().empty() && param.getChild(0).is(SyntaxKind::TypeRef) ? lent : given);
    nameTensors(val, param.getText(), /*alias=*/false);
    scope->names[param.getText().str()] = val;
  }
  std::optional<Ty> result;
  if (returnType) {
    FailureOr<Ty> type = elaborateType(returnType, *scope);
    if (failed(type))
      return Val::error();
    result = *type;
  }
  Block *block = builder.getInsertionBlock();
  Operation *last = lastBefore(builder);
  Val val = evaluateBlock(body, scope, result && result->kind == Ty::Kind::Tuple);
  lendOperands(block, last, [&](Value value) {
    return llvm::is_contained(lent, value) || (!isItem && !llvm::is_contained(given, value));
  });
  val = requireOwned(std::move(val), lent, body.front().getTerminator()->getLoc());
  if (result && failed(checkDeclared(val, *result, loc, "the value of " + name)))
    return Val::error();
  return val;
}

} // namespace kina::elaborate
