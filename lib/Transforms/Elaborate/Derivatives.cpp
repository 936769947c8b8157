//===- Derivatives.cpp - Functions of functions: their derivatives --------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

std::optional<Callable::Derivative> getDerivative(StringRef name) {
  return llvm::StringSwitch<std::optional<Callable::Derivative>>(name)
      .Case("grad", Callable::Derivative::Grad)
      .Case("value_and_grad", Callable::Derivative::ValueAndGrad)
      .Case("vjp", Callable::Derivative::VJP)
      .Case("jvp", Callable::Derivative::JVP)
      .Case("jacobian", Callable::Derivative::Jacobian)
      .Case("hessian", Callable::Derivative::Hessian)
      .Default(std::nullopt);
}

Val Elaborator::differentiate(Callable::Derivative kind, StringRef name, ArrayRef<Val> args,
                              ArrayRef<std::string> keywords, ArrayRef<SmallVector<std::string>> wrt, Location loc) {
  if (args.empty() || args.front().kind != Val::Kind::Function || !keywords.front().empty()) {
    report(loc, DiagCode::K0205, "'" + name + "' takes a function first");
    return Val::error();
  }
  auto derivative = std::make_shared<Callable>(Callable::Kind::Derivative, loc);
  derivative->derivative = kind;
  derivative->base = args.front().function;
  if (!wrt.empty()) {
    derivative->hasWrt = true;
    derivative->wrt = wrt.front();
  }
  args = args.drop_front();
  keywords = keywords.drop_front();
  if (kind == Callable::Derivative::Hessian) {
    // The Jacobian of the gradient, by forward mode.
    auto gradient = std::make_shared<Callable>(*derivative);
    gradient->derivative = Callable::Derivative::Grad;
    derivative->base = std::move(gradient);
  }
  if (derivative->hasPoint()) {
    if (args.empty()) {
      report(loc, DiagCode::K0205, "'" + name + "' takes a function and the point, '" + name + "(f, x)'");
      return Val::error();
    }
    derivative->point.assign(args.begin(), args.end());
    derivative->pointKeywords.assign(keywords.begin(), keywords.end());
    return Val::of(std::move(derivative));
  }
  if (args.empty())
    return Val::of(std::move(derivative));
  return applyDerivative(*derivative, args, keywords, loc);
}

/// The structure with other leaves.
static Val mapLeaves(const Val &val, llvm::function_ref<Val(const Val &)> leaf) {
  if (val.isValue())
    return leaf(val);
  Val result = val;
  result.isLoop = false;
  for (Val &member : result.members)
    member = mapLeaves(member, leaf);
  return result;
}

static Val takeFront(ValueRange &values) {
  Value front = values.front();
  values = values.drop_front();
  return Val::of(front);
}

Val Elaborator::applyDerivative(const Callable &derivative, ArrayRef<Val> args, ArrayRef<std::string> keywords,
                                Location loc) {
  using D = Callable::Derivative;
  if (derivative.base->kind == Callable::Kind::Item && derivative.base->item->isGeneric()) {
    Callable instance = derivative;
    std::vector<Val> own(args);
    SmallVector<std::string> ownKeywords(keywords);
    bool atPoint = derivative.hasPoint();
    FailureOr<std::shared_ptr<Callable>> base =
        atPoint ? instantiate(*derivative.base, instance.point, instance.pointKeywords, loc)
                : instantiate(*derivative.base, own, ownKeywords, loc);
    if (failed(base))
      return Val::error();
    instance.base = *base;
    return applyDerivative(instance, own, ownKeywords, loc);
  }
  bool pulls = derivative.hasPoint();
  ArrayRef<Val> point = pulls ? ArrayRef<Val>(derivative.point) : args;
  ArrayRef<std::string> pointKeywords = pulls ? ArrayRef<std::string>(derivative.pointKeywords) : keywords;
  Callable &base = *derivative.base;
  FailureOr<SmallVector<std::string>> names = parameterNames(base, loc);
  if (failed(names))
    return Val::error();

  // The function, its operands, and which of them belong to which parameter.
  FuncOp callee;
  SmallVector<Value> operands;
  DictionaryAttr subst;
  SmallVector<std::pair<unsigned, unsigned>> ranges;
  std::vector<Val> params;
  SmallVector<Type> resultTypes;
  Ty resultStructure;
  Val resultVal;
  size_t own = base.kind == Callable::Kind::Item ? base.item->params.size() : 0;
  bool isItem = base.kind == Callable::Kind::Item && !base.item->isTemplate;
  if (isItem && failed(elaborateItem(*base.item)))
    return Val::error();
  // Module-level lets named in `wrt` become arguments of a function made for this purpose;
  // those without a value are arguments already.
  SmallVector<std::pair<std::string, Val>, 2> globals;
  for (const std::string &name : derivative.wrt) {
    auto global = globalItems.find(name);
    if (global == globalItems.end() || llvm::is_contained(*names, name) ||
        (isItem && llvm::is_contained(base.item->globals, builder.getStringAttr(name))))
      continue;
    Val val = getGlobalValue(name, global->second, loc);
    if (val.isError())
      return val;
    globals.push_back({name, val});
  }
  // One that performs effects becomes a function over the sizes that are known here.
  isItem &= globals.empty() && (!isItem || base.item->effects.empty());
  if (isItem) {
    FunctionItem &item = *base.item;
    FailureOr<Prepared> prepared = prepareCall(item, point, pointKeywords, loc);
    if (failed(prepared))
      return Val::error();
    callee = item.function;
    operands = prepared->operands;
    subst = prepared->subst;
    ValueRange all(operands);
    for (Param &param : item.params) {
      ranges.push_back({param.first, param.count});
      ValueRange part = all.slice(param.first, param.count);
      params.push_back(fill(param.type, part));
    }
    // Module-level lets that became parameters can be named, too.
    unsigned first = operands.size() - item.globals.size();
    for (auto [index, global] : llvm::enumerate(item.globals)) {
      names->push_back(global.str());
      ranges.push_back({first + static_cast<unsigned>(index), 1});
      params.push_back(Val::of(operands[first + index]));
    }
    resultTypes = prepared->results;
  } else {
    SmallVector<std::pair<std::string, DimAttr>> sizes;
    std::vector<Val> ordered(point);
    if (base.kind == Callable::Kind::Operation || (base.kind == Callable::Kind::Derivative && names->empty())) {
      names->clear();
      for (size_t i = 0; i < point.size(); ++i)
        names->push_back("");
    } else {
      SmallVector<std::pair<std::string, Val>, 2> extra;
      const Callable *function = &base;
      while (function->kind == Callable::Kind::Derivative)
        function = function->base.get();
      FailureOr<std::vector<Val>> sorted = 
          orderArguments(function->item ? function->item->name : "the function", *names, parameterSyntax(base), point,
                         pointKeywords, loc, base.kind == Callable::Kind::Item ? &extra : nullptr);
      if (failed(sorted))
        return Val::error();
      for (auto &[name, val] : extra) {
        DimAttr dim = asDim(val, loc);
        if (!dim)
          return Val::error();
        sizes.push_back({name, dim});
      }
      ordered = *sorted;
    }
    for (Val &val : ordered)
      if (val.kind == Val::Kind::List && failed(asValue(val, loc, "an argument")))
        return Val::error();
    FailureOr<Lifted> lifted =
        lift(derivative.base, ordered, SmallVector<std::string>(ordered.size(), ""), loc, sizes, globals);
    if (failed(lifted))
      return Val::error();
    callee = lifted->function;
    subst = lifted->subst;
    own = ordered.size();
    for (auto &[name, val] : globals) {
      names->push_back(name);
      ordered.push_back(val);
    }
    for (const Val &val : ordered) {
      SmallVector<Value> leaves;
      if (val.kind != Val::Kind::Function)
        flatten(val, leaves);
      ranges.push_back({static_cast<unsigned>(operands.size()), static_cast<unsigned>(leaves.size())});
      llvm::append_range(operands, leaves);
      params.push_back(val);
    }
    llvm::append_range(operands, lifted->operands);
    resultVal = lifted->result;
    SmallVector<Value> leaves;
    flatten(resultVal, leaves);
    for (Value leaf : leaves)
      resultTypes.push_back(leaf.getType());
  }

  // With respect to what.
  auto isFloat = [&](Type type) {
    Type element = getElementType(type);
    unsigned mask = element ? elementTypes.allowed(element) : 0;
    return mask && !(mask & ~kFloats);
  };
  SmallVector<size_t> chosen;
  if (derivative.hasWrt) {
    for (const std::string &name : derivative.wrt) {
      auto it = llvm::find(*names, name);
      if (it == names->end()) {
        InFlightDiagnostic diag = report(loc, DiagCode::K0205, "'wrt' names '" + name + "', which is no parameter");
        if (std::optional<std::string> close = nearest(name, *names))
          attachHelp(diag) << "there is a parameter '" << *close << "'";
        return Val::error();
      }
      chosen.push_back(it - names->begin());
    }
    llvm::sort(chosen);
    if (llvm::unique(chosen) != chosen.end()) {
      report(loc, DiagCode::K0205, "'wrt' names a parameter twice");
      return Val::error();
    }
  } else {
    bool hasFloats = false;
    // All floats; if there are none, the open literals, which may become floats.
    for (bool open : {false, true})
      for (size_t i = 0; i < own && !(open && hasFloats); ++i) {
        SmallVector<Value> leaves;
        if (params[i].kind != Val::Kind::Function)
          flatten(params[i], leaves);
        if (llvm::any_of(leaves, [&](Value leaf) {
              return open ? isa<HoleType>(elementTypes.resolve(getElementType(leaf.getType())))
                          : isFloat(leaf.getType());
            })) {
          chosen.push_back(i);
          hasFloats |= !open;
        }
      }
  }
  SmallVector<int64_t> wrt;
  SmallVector<Type> gradientTypes;
  for (size_t index : chosen) {
    unsigned count = 0;
    for (unsigned i = ranges[index].first, e = i + ranges[index].second; i < e; ++i) {
      // Only floats have derivatives. An open literal that is differentiated is one.
      bool open = isa<HoleType>(elementTypes.resolve(getElementType(operands[i].getType())));
      if (!isFloat(operands[i].getType()) &&
          !(open && elementTypes.restrict(getElementType(operands[i].getType()), kFloats)))
        continue;
      wrt.push_back(i);
      gradientTypes.push_back(operands[i].getType());
      ++count;
    }
    if (!count) {
      report(loc, DiagCode::K0603,
             "parameter '" + (*names)[index] + "' is " + spell(params[index]) + ", which has no derivative");
      return Val::error();
    }
  }
  if (wrt.empty()) {
    report(loc, DiagCode::K0603, "no parameter is a float, so there is nothing to differentiate in");
    return Val::error();
  }

  // A parameter's gradient has its structure; members without a derivative are ().
  auto gradients = [&](llvm::function_ref<Val()> next) {
    std::vector<Val> members;
    for (size_t index : chosen) {
      unsigned at = ranges[index].first;
      members.push_back(mapLeaves(params[index], [&](const Val &) {
        return llvm::is_contained(wrt, static_cast<int64_t>(at++)) ? next() : Val::unit();
      }));
    }
    return members;
  };
  auto gradientsOf = [&](ValueRange values) {
    return gradients([&] { return takeFront(values); });
  };
  auto structured = [&](ValueRange values) {
    return isItem ? fill(base.item->resultType, values) : rebuild(resultVal, values);
  };
  auto single = [](std::vector<Val> members) {
    return members.size() == 1 ? members.front() : Val::tuple(std::move(members));
  };
  auto symbol = FlatSymbolRefAttr::get(callee.getSymNameAttr());
  auto wrtAttr = builder.getDenseI64ArrayAttr(wrt);

  auto isFloatResult = [&](Type type) {
    return isFloat(type) || elementTypes.restrict(getElementType(type), kFloats);
  };
  // What has the structure of the result, for each float in it; () for all others.
  auto ofResult = [&](llvm::function_ref<Val()> next) {
    SmallVector<Value> any(resultTypes.size(), operands.front());
    unsigned at = 0;
    return mapLeaves(structured(any),
                     [&](const Val &) { return isFloat(resultTypes[at++]) ? next() : Val::unit(); });
  };

  if (derivative.derivative == D::Jacobian || derivative.derivative == D::Hessian) {
    SmallVector<Type> floats = llvm::filter_to_vector(resultTypes, isFloatResult);
    if (floats.empty()) {
      report(loc, DiagCode::K0603, "the function has no float result, so it has no Jacobian");
      return Val::error();
    }
    // Row by row: a row of the Jacobian is a pullback, a row of the Hessian, which is
    // symmetric, a pushforward of the gradient.
    bool byRows = derivative.derivative == D::Jacobian;
    auto rows = emitJacobian(byRows ? floats : gradientTypes, byRows ? gradientTypes : floats, loc,
                             [&](ValueRange seeds) -> SmallVector<Value> {
                               // Each row takes what the function takes.
                               auto own = llvm::map_to_vector(operands, [&](Value operand) -> Value {
                                 return isa<TensorType>(operand.getType()) ? CopyOp::create(builder, loc, operand).getResult()
                                                                           : operand;
                               });
                               if (byRows)
                                 return VJPOp::create(builder, loc, gradientTypes, symbol, own, seeds, subst, wrtAttr,
                                                      UnitAttr())
                                     .getResults();
                               return JVPOp::create(builder, loc, floats, symbol, own, seeds, subst, wrtAttr,
                                                    UnitAttr())
                                   .getResults();
                             });
    if (rows.empty())
      return Val::error();
    size_t row = 0;
    auto nextRow = [&] { return single(gradientsOf(rows[row++])); };
    return byRows ? ofResult(nextRow) : single(gradients(nextRow));
  }

  if (!pulls) {
    auto first = [&]() -> std::string {
      if (isItem) {
        const Ty &type = base.item->resultType;
        return spell(type.kind == Ty::Kind::Tuple && !type.members.empty() ? type.members.front() : type);
      }
      return spell(resultVal.kind == Val::Kind::Tuple && !resultVal.members.empty() ? resultVal.members.front()
                                                                                    : resultVal);
    };
    // The loss is the first result, or the only one.
    if (resultTypes.empty() || getRank(resultTypes.front()) != 0 ||
        !elementTypes.restrict(getElementType(resultTypes.front()), kFloats) ||
        (isItem ? base.item->resultType.kind == Ty::Kind::Tuple &&
                      base.item->resultType.members.front().kind != Ty::Kind::Value
                : resultVal.kind == Val::Kind::Tuple && !resultVal.members.front().isValue())) {
      InFlightDiagnostic diag =
          report(loc, DiagCode::K0603, "the function's (first) result must be one float scalar, not " + first());
      attachHelp(diag) << "reduce it, for example with sum(..), or use vjp(f, x)(ct)";
      return Val::error();
    }
    bool value = derivative.derivative == D::ValueAndGrad;
    SmallVector<Type> types;
    if (value)
      types = resultTypes;
    llvm::append_range(types, gradientTypes);
    auto op = GradOp::create(builder, loc, types, symbol, operands, subst, wrtAttr,
                             value ? builder.getUnitAttr() : UnitAttr());
    if (!value)
      return single(gradientsOf(op.getResults()));
    ValueRange all = op.getResults();
    Val result = structured(all.take_front(resultTypes.size()));
    std::vector<Val> members;
    if (result.kind == Val::Kind::Tuple)
      members.assign(result.members.begin(), result.members.end());
    else
      members.push_back(result);
    llvm::append_range(members, gradientsOf(all.drop_front(resultTypes.size())));
    return Val::tuple(std::move(members));
  }

  // Cotangents are shaped like the float results, tangents like the parameters in `wrt`.
  SmallVector<Value> directions;
  SmallVector<Type> expected;
  if (derivative.derivative == D::VJP) {
    expected = llvm::filter_to_vector(resultTypes, isFloatResult);
  } else {
    expected = gradientTypes;
  }
  for (auto [arg, keyword] : llvm::zip(args, keywords)) {
    if (!keyword.empty()) {
      report(loc, DiagCode::K0205,
             (derivative.derivative == D::VJP ? "the pullback takes no '" : "the pushforward takes no '") + keyword +
                 "'");
      return Val::error();
    }
    Val val = arg;
    if (val.kind == Val::Kind::List && failed(asValue(val, loc, "an argument")))
      return Val::error();
    flatten(val, directions);
  }
  if (directions.size() != expected.size()) {
    report(loc, DiagCode::K0205,
           (derivative.derivative == D::VJP ? "the pullback takes " : "the pushforward takes ") +
               Twine(expected.size()) +
               (derivative.derivative == D::VJP ? " cotangents, shaped like the result"
                                                : " tangents, shaped like the parameters") +
               ", not " + Twine(directions.size()));
    return Val::error();
  }
  for (auto [value, type] : llvm::zip(directions, expected)) {
    FailureOr<Value> same = coerce(loc, value, type, derivative.derivative == D::VJP ? "the cotangent" : "the tangent");
    if (failed(same))
      return Val::error();
    value = *same;
  }
  if (derivative.derivative == D::VJP) {
    auto op = VJPOp::create(builder, loc, gradientTypes, symbol, operands, directions, subst, wrtAttr, UnitAttr());
    return single(gradientsOf(op.getResults()));
  }
  SmallVector<Type> tangents = llvm::filter_to_vector(resultTypes, isFloat);
  auto op = JVPOp::create(builder, loc, tangents, symbol, operands, directions, subst, wrtAttr, UnitAttr());
  ValueRange results = op.getResults();
  return ofResult([&] { return takeFront(results); });
}

SmallVector<SmallVector<Value>>
Elaborator::emitJacobian(ArrayRef<Type> outer, ArrayRef<Type> inner, Location loc,
                         llvm::function_ref<SmallVector<Value>(ValueRange)> emit) {
  auto filled = [&](Type type, double number) {
    return broadcastTo(constant(getElementType(type), number, loc), getShape(type), loc, getPlacement(type));
  };
  auto zero = DimAttr::getConstant(context, 0), one = DimAttr::getConstant(context, 1);
  SmallVector<SmallVector<Value>> rows;
  for (auto [index, type] : llvm::enumerate(outer)) {
    SmallVector<Value> seeds = llvm::map_to_vector(outer, [&](Type type) { return filled(type, 0.0); });
    if (getRank(type) == 0) {
      seeds[index] = filled(type, 1.0);
      rows.push_back(emit(seeds));
      continue;
    }
    // As many rows as there are elements, in row-major order.
    DimAttr count = productOf(context, getShape(type));
    SmallVector<Type> matrices;
    for (Type column : inner) {
      SmallVector<DimAttr> shape{count};
      llvm::append_range(shape, getShape(column));
      if (!count || !productOf(context, shape)) {
        report(loc, DiagCode::K0204, "a dimension leaves 64 bits");
        return {};
      }
      matrices.push_back(withShape(column, shape));
    }
    Type indexType = builder.getIndexType();
    SmallVector<Value> inits = llvm::map_to_vector(matrices, [&](Type matrix) { return filled(matrix, 0.0); });
    inits.push_back(DimOp::create(builder, loc, indexType, zero));
    auto loop = WhileOp::create(builder, loc, ValueRange(inits), TypeRange());
    loop.setTripBoundAttr(count);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(loop.getBeforeBody());
      Value end = DimOp::create(builder, loc, indexType, count);
      Value more = CmpOp::create(builder, loc, CmpPredicate::lt, loop.getBeforeBody()->getArguments().back(), end);
      ConditionOp::create(builder, loc, more, ValueRange());
      builder.setInsertionPointToEnd(loop.getAfterBody());
      auto carried = loop.getAfterBody()->getArguments();
      Value seed = OneHotOp::create(builder, loc, withShape(type, count), carried.back());
      seeds[index] = seed.getType() == type ? seed : ReshapeOp::create(builder, loc, type, seed, false).getResult();
      SmallVector<Value> next;
      for (auto [row, matrix] : llvm::zip(emit(seeds), carried)) {
        SmallVector<Value> offsets{carried.back()};
        SmallVector<Attribute> sizes{one};
        for (DimAttr dim : getShape(row.getType())) {
          offsets.push_back(DimOp::create(builder, loc, indexType, zero));
          sizes.push_back(dim);
        }
        next.push_back(UpdateOp::create(builder, loc, row, matrix, offsets, builder.getArrayAttr(sizes),
                                        ArrayRef<int64_t>{0}, /*in_bounds=*/true));
      }
      Value step = DimOp::create(builder, loc, indexType, one);
      next.push_back(AddOp::create(builder, loc, carried.back(), step));
      YieldOp::create(builder, loc, next);
    }
    SmallVector<Value> &row = rows.emplace_back();
    for (auto [column, matrix] : llvm::zip(inner, loop.getResults())) {
      SmallVector<DimAttr> shape(getShape(type));
      llvm::append_range(shape, getShape(column));
      Type full = withShape(column, shape);
      row.push_back(matrix.getType() == full ? matrix
                                             : ReshapeOp::create(builder, loc, full, matrix, false).getResult());
    }
  }
  return rows;
}

} // namespace kina::elaborate
