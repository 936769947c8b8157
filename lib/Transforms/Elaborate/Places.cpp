//===- Places.cpp - Where values live -------------------------------------===//
//
// A place that a signature does not name is a variable, shared by all parameters that do
// not name one. Where the body needs a certain place (a condition is on the host, an
// operand on a device), that is what it is: the function is elaborated once more with it.
// Otherwise the function is generic, and each call gives the variable, as sizes are given.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"
#include "Kina/Target/Surface/Export.h"

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

FailureOr<PlacementAttr> Elaborator::elaboratePlace(SyntaxAttr syntax, Scope &scope) {
  if (syntax.getText() == "host" && syntax.getChildren().empty())
    return PlacementAttr::getHost(context);
  // A device without its number would be a variable, which nobody means.
  if (syntax.getChildren().empty() && syntax.getText() != "cuda") {
    SmallVector<std::string> candidates;
    for (Scope *s = &scope; s; s = s->parent.get()) {
      if (auto place = s->places.find(syntax.getText()); place != s->places.end())
        return place->second;
      for (auto &entry : s->places)
        candidates.push_back(entry.first);
    }
    if (!isNewlyUnknown(("@" + syntax.getText()).str()))
      return failure();
    InFlightDiagnostic diag =
        report(syntax.getLocation(), DiagCode::K0113, "unknown place '@" + syntax.getText() + "'");
    if (auto close = nearest(syntax.getText(), candidates))
      attachHelp(diag) << "there is a place '@" << *close << "'";
    else
      attachHelp(diag) << "places are @host, @cuda:global(N) and the variables of the function's signature";
    return diag;
  }
  StringRef space = syntax.getChildren().empty() ? "" : syntax.getChild(0).getText();
  if (syntax.getText() != "cuda" || space != "global")
    return report(syntax.getLocation(), DiagCode::K0206,
                  "'" + surface::spell(syntax) + "' is no place; places are @host and @cuda:global(N)");
  std::optional<int64_t> device = syntax.getChild(1).getIntValue();
  if (!device)
    return report(syntax.getLocation(), DiagCode::K0204,
                  "'" + syntax.getChild(1).getText() + "' does not fit in 64 bits");
  return PlacementAttr::get(context, syntax.getText(), space, *device);
}

static bool isDevice(SyntaxAttr place) { return place.is(SyntaxKind::Place) && !place.getChildren().empty(); }

bool namesDevice(Operation *module) {
  AttrTypeWalker walker;
  walker.addWalk([](SyntaxAttr syntax) { return isDevice(syntax) ? WalkResult::interrupt() : WalkResult::advance(); });
  return module->walk([&](Operation *op) { return walker.walk(op->getAttrDictionary()); }).wasInterrupted();
}

void collectPlaceVars(SyntaxAttr syntax, llvm::SetVector<StringRef> &names) {
  if (syntax.is(SyntaxKind::Place)) {
    if (syntax.getChildren().empty() && syntax.getText() != "host")
      names.insert(syntax.getText());
    return;
  }
  for (SyntaxAttr child : syntax.getChildren())
    collectPlaceVars(child, names);
}

/// Whether a tensor in it names no place. A scalar is on the host and meets any tensor.
static bool leavesPlaceOpen(const Ty &type) {
  return (type.kind == Ty::Kind::Value && !type.placed && getRank(type.type) > 0) ||
         llvm::any_of(type.members, leavesPlaceOpen);
}

/// Puts the tensors in it that name no place at this one.
static void putAt(Ty &type, PlacementAttr place) {
  if (type.kind == Ty::Kind::Value && !type.placed && getRank(type.type) > 0) {
    type.type = getTensorOrScalar(getElementType(type.type), getShape(type.type), place);
    type.placed = true;
  }
  for (Ty &member : type.members)
    putAt(member, place);
}

/// Where nothing is said, the host is meant.
static void putOnHost(Ty &type) {
  type.placed = true;
  for (Ty &member : type.members)
    putOnHost(member);
}

void Elaborator::placeSignature(FunctionItem &item, MutableArrayRef<Ty> params) {
  if (item.exported) {
    for (Ty &type : params)
      putOnHost(type);
    return;
  }
  // Where no device is named all are on the host, whatever is generic.
  if (!item.place && hasDevices && llvm::any_of(params, leavesPlaceOpen)) {
    std::string name = "place";
    for (unsigned count = 1; item.placeVars.contains(name) || item.shapeVars.count(name); ++count)
      name = "place." + std::to_string(count);
    StringRef unique = builder.getStringAttr(name).getValue();
    item.placeVars.insert(unique);
    item.place = PlacementAttr::get(context, unique, "", 0);
    item.isPlaceOpen = true;
  }
  for (Ty &type : params)
    putAt(type, item.place ? item.place : PlacementAttr::getHost(context));
}

void Elaborator::placeResult(FunctionItem &item, Ty &result) {
  if (item.exported)
    putOnHost(result);
  else if (item.place)
    putAt(result, item.place);
}

Type Elaborator::placedLike(const Ty &type, Type like) {
  return type.placed ? type.type
                     : getTensorOrScalar(getElementType(type.type), getShape(type.type), getPlacement(like));
}

//===----------------------------------------------------------------------===//
// Places that meet
//===----------------------------------------------------------------------===//

bool Elaborator::isSamePlace(PlacementAttr a, PlacementAttr b) {
  if (a == b)
    return true;
  FunctionItem *item = current ? current->item : nullptr;
  if (!item || !item->isPlaceOpen || inferringPlace || (a != item->place && b != item->place))
    return false;
  // What is built from here on would be built of other types.
  item->place = a == item->place ? b : a;
  item->isPlaceOpen = false;
  inferringPlace = exhausted = true;
  return false;
}

bool Elaborator::isHostScalar(const Val &val) {
  if (val.isScalar())
    return true;
  if (val.isValue() && getRank(val.getType()) == 0)
    (void)isSamePlace(getPlacement(val.getType()), PlacementAttr::getHost(context));
  return false;
}

Val Elaborator::toHost(Val val, Location loc, DiagCode code, const Twine &what) {
  if (!val.isValue() || isHostScalar(val) || getRank(val.getType()) > 0)
    return val;
  PlacementAttr host = PlacementAttr::getHost(context);
  if (Value copy = insertCopy(val.value, host, loc))
    return Val::of(copy, elementTypes.allowed(getElementType(copy.getType())) & kIntegers ? freshAtom() : DimAttr());
  InFlightDiagnostic diag = report(loc, code, what + " is on the host, not " + spell(val.getType()));
  attachCopy(diag, val.value, host);
  return Val::error();
}

/// The value as the source has it, if that is short.
std::string Elaborator::sourceOf(Value value) {
  Value expr = expressions.lookup(value);
  constexpr size_t kLongest = 40;
  std::string text = expr ? spellExpression(expr) : std::string();
  return text.size() > kLongest || StringRef(text).contains('\n') ? std::string() : text;
}

Location Elaborator::locationOf(const Val &val, Location otherwise) {
  Value expr = val.expr ? val.expr : val.isValue() ? expressions.lookup(val.value) : Value();
  return expr ? expr.getLoc() : otherwise;
}

bool Elaborator::outlives(Value value) {
  auto isParameter = [&](auto &parameters) {
    return llvm::any_of(parameters, [&](auto &entry) { return entry.second == value; });
  };
  if (current->borrowed.contains(value) || isParameter(current->captures) || isParameter(current->globals))
    return true;
  for (Region *region = builder.getInsertionBlock()->getParent(); region && region != value.getParentRegion();
       region = region->getParentRegion()) {
    auto handle = dyn_cast<HandleOp>(region->getParentOp());
    if (isa<WhileOp>(region->getParentOp()) || (handle && region != &handle.getBody()))
      return true;
  }
  return false;
}

/// The copies that bring a value, by its source text, from one place to the other; what is
/// kept is copied where it is first, since a copy between places takes the value over.
static std::string spellCopy(Elaborator &e, std::string text, PlacementAttr from, PlacementAttr to, bool isKept) {
  if (text.empty())
    text = "..";
  if (isKept)
    text = "copy(" + text + ")";
  if (!from.isHost())
    text = "copy_to_host(" + text + ")";
  return to.isHost() ? text : "copy_to_device(" + text + ", " + e.spell(to) + ")";
}

void Elaborator::attachCopy(InFlightDiagnostic &diag, Value value, PlacementAttr to) {
  attachHelp(diag) << "insert "
                   << spellCopy(*this, sourceOf(value), getPlacement(value.getType()), to, outlives(value));
}

Value Elaborator::insertCopy(Value value, PlacementAttr to, Location loc) {
  if (!options.insertCopies)
    return {};
  PlacementAttr from = getPlacement(value.getType());
  Value expr = expressions.lookup(value);
  // What has a name may be used again. Where it is not, the copy beside it is none in the end.
  bool isKept = outlives(value) || (expr && isa<surface::NameOp, surface::FieldOp>(expr.getDefiningOp()));
  mlir::emitRemark(expr ? expr.getLoc() : loc) << spellCopy(*this, sourceOf(value), from, to, isKept) << " is inserted";
  if (isKept)
    value = CopyOp::create(builder, loc, value);
  auto typeAt = [&](PlacementAttr place) {
    return getTensorOrScalar(getElementType(value.getType()), getShape(value.getType()), place);
  };
  if (!from.isHost())
    value = CopyToHostOp::create(builder, loc, typeAt(PlacementAttr::getHost(context)), value);
  return to.isHost() ? value : CopyToDeviceOp::create(builder, loc, typeAt(to), value).getResult();
}

FailureOr<Value> Elaborator::moveTo(Location loc, Value value, PlacementAttr place, const Twine &what) {
  PlacementAttr here = getPlacement(value.getType());
  // A scalar on the host meets tensors anywhere.
  if (here != place && !isa<TensorType>(value.getType()))
    return broadcastTo(value, {}, loc, place);
  if (isSamePlace(here, place))
    return value;
  if (Value copy = insertCopy(value, place, loc))
    return copy;
  InFlightDiagnostic diag =
      report(loc, DiagCode::K0401, what + " lives at '" + spell(here) + "', but '" + spell(place) + "' is needed");
  attachCopy(diag, value, place);
  return failure();
}

LogicalResult Elaborator::requireOnePlace(MutableArrayRef<Value> values, Location loc) {
  // Scalars on the host meet tensors anywhere.
  auto tensors = llvm::make_filter_range(values, [](Value value) { return isa<TensorType>(value.getType()); });
  auto placeOf = [](Value value) { return getPlacement(value.getType()); };
  if (tensors.empty() || llvm::all_of(tensors, [&](Value value) { return isSamePlace(placeOf(value), placeOf(*tensors.begin())); }))
    return success();
  // They meet at the first device among them.
  auto onDevice = llvm::find_if(tensors, [&](Value value) { return !placeOf(value).isHost(); });
  PlacementAttr place = placeOf(*onDevice);
  Value first = *onDevice;
  for (Value &value : values) {
    if (!isa<TensorType>(value.getType()) || placeOf(value) == place)
      continue;
    if (Value copy = insertCopy(value, place, loc)) {
      value = copy;
      continue;
    }
    SmallVector<Value, 2> both{first, value};
    if (llvm::find(values, first) > &value)
      std::swap(both[0], both[1]);
    auto describe = [&](Value one, StringRef otherwise) {
      std::string text = sourceOf(one);
      return (text.empty() ? otherwise.str() : "'" + text + "'") + " at '" + spell(placeOf(one)) + "'";
    };
    InFlightDiagnostic diag =
        report(loc, DiagCode::K0401,
               "the operands live at different places, " + describe(both[0], "the first") + " and " +
                   describe(both[1], "the second"));
    attachCopy(diag, value, place);
    return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

LogicalResult Elaborator::solvePlaces(FunctionItem &item, MutableArrayRef<Leaf> leaves, Location loc,
                                      const llvm::StringMap<PlacementAttr> &given,
                                      SmallVectorImpl<NamedAttribute> &subst) {
  llvm::StringMap<PlacementAttr> solution = given;
  llvm::StringMap<const Leaf *> givers;
  // The first argument gives the place; one on a device if copies may bring the others there.
  auto solve = [&](llvm::function_ref<bool(Type)> counts) {
    for (const Leaf &leaf : leaves) {
      PlacementAttr place = getPlacement(leaf.declared);
      Type type = leaf.arg->getType();
      if (place.isVariable() && counts(type) && solution.try_emplace(place.getName(), getPlacement(type)).second)
        givers[place.getName()] = &leaf;
    }
  };
  if (options.insertCopies)
    solve([](Type type) { return !getPlacement(type).isHost(); });
  solve([](Type type) { return isa<TensorType>(type); });
  solve([](Type) { return true; });
  bool bad = false;
  for (Leaf &leaf : leaves) {
    PlacementAttr declared = getPlacement(leaf.declared), place = declared;
    if (leaf.declared.isIndex())
      continue;
    if (declared.isVariable())
      if (PlacementAttr given = solution.lookup(declared.getName()))
        place = given;
    PlacementAttr here = getPlacement(leaf.arg->getType());
    const Leaf *giver = declared.isVariable() ? givers.lookup(declared.getName()) : nullptr;
    if (!giver || here == place || !isa<TensorType>(leaf.arg->getType()) || options.insertCopies) {
      FailureOr<Value> moved = moveTo(loc, leaf.arg->value, place, leaf.what);
      bad |= failed(moved);
      if (succeeded(moved))
        leaf.arg->value = *moved;
      continue;
    }
    bad = true;
    if (isSamePlace(here, place))
      continue;
    // Both arguments are named. The one on the host is to be copied.
    const Leaf *copied = place.isHost() ? giver : &leaf;
    auto describe = [&](const Leaf &one) {
      std::string text = sourceOf(one.arg->value);
      return one.what + (text.empty() ? "" : ", '" + text + "',") + " lives at '" +
             spell(getPlacement(one.arg->getType())) + "'";
    };
    InFlightDiagnostic diag = report(loc, DiagCode::K0401,
                                     describe(*giver) + ", but " + describe(leaf) + ", and '" + item.name +
                                         "' takes both at one place");
    attachCopy(diag, copied->arg->value, place.isHost() ? here : place);
  }
  if (bad)
    return failure();
  for (StringRef name : item.placeVars) {
    PlacementAttr place = solution.lookup(name);
    if (!place)
      return report(loc, DiagCode::K0203, "place '@" + name + "' of '" + item.name +
                                              "' cannot be computed from the arguments");
    subst.push_back(builder.getNamedAttr(name, place));
  }
  return success();
}

} // namespace kina::elaborate
