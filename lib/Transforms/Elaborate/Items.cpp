//===- Items.cpp - Functions, module-level values, lifting ----------------===//

#include "Elaborator.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;

namespace kina::elaborate {

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// Whether the type cannot be a parameter's of a `kina.func`.
static bool isTemplateType(SyntaxAttr type) {
  if (type.is(SyntaxKind::TypeFn))
    return true;
  return (type.is(SyntaxKind::TypeTuple) || type.is(SyntaxKind::TypeNamedTuple) || type.is(SyntaxKind::TypeMember) ||
          type.is(SyntaxKind::TypeRef)) &&
         llvm::any_of(type.getChildren(), isTemplateType);
}

static SyntaxAttr paramType(SyntaxAttr param) { return param.getChildren().empty() ? SyntaxAttr() : param.getChild(0); }

void collectTypePreds(SyntaxAttr syntax, SmallVectorImpl<SyntaxAttr> &preds) {
  // What a function requires is not said by the type of it.
  if (syntax.is(SyntaxKind::TypeFn))
    return;
  if (syntax.is(SyntaxKind::TypeTensor)) {
    llvm::append_range(preds, syntax.getChild(2).getChildren());
    return;
  }
  if (surface::isType(syntax.getKind()) || syntax.is(SyntaxKind::TypeRef) || syntax.is(SyntaxKind::TypeMember))
    for (SyntaxAttr child : syntax.getChildren())
      collectTypePreds(child, preds);
}

/// Where the name of a size stands first in a part of a signature.
static std::optional<Location> findName(SyntaxAttr syntax, StringRef name) {
  if (!syntax)
    return std::nullopt;
  if (syntax.is(SyntaxKind::Name) && syntax.getText() == name)
    return syntax.getLocation();
  for (SyntaxAttr child : syntax.getChildren())
    if (std::optional<Location> found = findName(child, name))
      return found;
  return std::nullopt;
}

/// Where a signature speaks of a size of this name.
static Location findSize(surface::FnOp op, StringRef name) {
  SmallVector<SyntaxAttr> parts = llvm::map_to_vector(surface::syntaxRange(op.getParamsAttr()), paramType);
  parts.push_back(op.getReturnTypeAttr());
  llvm::append_range(parts, surface::syntaxRange(op.getRequiresClausesAttr()));
  for (SyntaxAttr part : parts)
    if (std::optional<Location> found = findName(part, name))
      return *found;
  for (SyntaxAttr var : surface::syntaxRange(op.getShapeVarsAttr()))
    if (var.getText() == name)
      return var.getLocation();
  return op.getName().getLocation();
}

/// A predicate inside the type of a function, or null.
static SyntaxAttr findPredOfFunctionType(SyntaxAttr syntax, bool inside) {
  inside |= syntax.is(SyntaxKind::TypeFn);
  if (syntax.is(SyntaxKind::TypeTensor))
    return inside && !syntax.getChild(2).getChildren().empty() ? syntax.getChild(2).getChild(0) : SyntaxAttr();
  for (SyntaxAttr child : syntax.getChildren())
    if (SyntaxAttr found = findPredOfFunctionType(child, inside))
      return found;
  return {};
}

LogicalResult Elaborator::elaborateSignature(FunctionItem &item) {
  if (item.state != FunctionItem::State::Untouched)
    return success(item.state != FunctionItem::State::Failed || item.isDeclared);
  llvm::SaveAndRestore<FunctionItem *> saved(declaring, &item);
  unsigned before = errors;
  llvm::SaveAndRestore<Spellings *> savedSpellings(spellings, &item.spellings);
  llvm::SaveAndRestore<bool> savedCallee(isInCallee, false);
  // What an error of the syntax hides makes no error of its own.
  bool lost = false;
  surface::FnOp op = item.op;
  Location nameLoc = op.getName().getLocation();
  for (SyntaxAttr decorator : surface::syntaxRange(op.getDecoratorsAttr())) {
    StringRef name = decorator.getText();
    if (name == "export") {
      item.exported = true;
    } else if (name == "checkpoint") {
      FailureOr<CheckpointAttr> checkpoint = elaborateCheckpoint(decorator);
      if (succeeded(checkpoint))
        item.checkpoint = *checkpoint;
    } else if (name == "vjp" && decorator.getChildren().size() == 1 && decorator.getChild(0).is(SyntaxKind::Keyword) &&
               decorator.getChild(0).getText() == "of") {
      item.vjpOf = decorator.getChild(0).getChild(0).getText().str();
      item.vjpSyntax = decorator;
    } else {
      InFlightDiagnostic diag =
          report(decorator.getLocation(), DiagCode::K0111, "unknown decorator '@" + name + "' of a function");
      attachHelp(diag) << "functions take @export, @checkpoint and @vjp(of=f)";
    }
  }
  if (op.getEffectsAttr())
    for (SyntaxAttr effect : surface::syntaxRange(op.getEffectsAttr()))
      if (auto known = otherItems.find(effect.getText());
          (known == otherItems.end() || !isa<surface::EffectOp>(known->second)) && isNewlyUnknown(effect.getText()))
        report(effect.getLocation(), DiagCode::K0111, "unknown effect '" + effect.getText() + "'");

  // Shape variables: declared, then by appearance.
  for (SyntaxAttr var : surface::syntaxRange(op.getShapeVarsAttr())) {
    int64_t least = 1;
    if (!var.getChildren().empty()) {
      if (SyntaxAttr kind = var.getChild(0); kind.is(SyntaxKind::Name)) {
        unsigned mask = llvm::StringSwitch<unsigned>(kind.getText())
                            .Case("float", kFloats)
                            .Case("int", kIntegers)
                            .Case("any", kAnyElement)
                            .Default(0);
        if (!mask)
          report(kind.getLocation(), DiagCode::K0206,
                 "'" + kind.getText() + "' says nothing of an element type; float, int and any do");
        if (!item.elementVars.insert({var.getText(), mask}).second)
          report(var.getLocation(), DiagCode::K0114, "element type '" + var.getText() + "' is declared twice");
        continue;
      }
      least = var.getChild(0).getIntValue().value_or(1);
    }
    if (!item.shapeVars.insert({var.getText(), least}).second)
      report(var.getLocation(), DiagCode::K0114, "shape variable '" + var.getText() + "' is declared twice");
  }
  Scope &module = *moduleScope;
  for (SyntaxAttr param : surface::syntaxRange(op.getParamsAttr())) {
    SyntaxAttr type = paramType(param);
    SyntaxAttr plain = type && type.is(SyntaxKind::TypeRef) ? type.getChild(0) : type;
    if (!type || isTemplateType(type))
      item.isTemplate = true;
    else if (plain.is(SyntaxKind::TypeName) && plain.getText() == "Index")
      item.shapeVars.insert({param.getText(), 1});
    if (type)
      collectShapeVars(type, module, item.shapeVars);
  }
  if (op.getReturnTypeAttr())
    collectShapeVars(op.getReturnTypeAttr(), module, item.shapeVars);
  // A module-level value without a value is a parameter of those who use it, which the body shows.
  llvm::MapVector<StringRef, int64_t> ofModule;
  for (auto &[name, global] : globalItems)
    if (global.op.getInit().empty())
      collectShapeVars(global.op.getTypeAttr(), module, ofModule);
  // A clause speaks of sizes that there are; a parameter or a module-level value of such a name
  // was meant to be one.
  llvm::MapVector<StringRef, int64_t> mentioned;
  for (SyntaxAttr pred : surface::syntaxRange(op.getRequiresClausesAttr()))
    collectShapeVars(pred, module, mentioned);
  for (auto &[name, least] : mentioned)
    if (ofModule.count(name) || globalItems.count(name) ||
        llvm::any_of(surface::syntaxRange(op.getParamsAttr()),
                     [&](SyntaxAttr param) { return param.getText() == name; }))
      item.shapeVars.insert({name, least});
  for (SyntaxAttr param : surface::syntaxRange(op.getParamsAttr()))
    if (SyntaxAttr type = paramType(param))
      collectPlaceVars(type, item.placeVars);
  for (StringRef name : item.placeVars) {
    if (item.shapeVars.count(name))
      report(nameLoc, DiagCode::K0114, "'" + name + "' is both a size and a place of '" + item.name + "'");
    if (item.exported)
      report(nameLoc, DiagCode::K0206,
             "'" + item.name + "' is exported, so it says where its parameters live, and '@" + name + "' is no place");
  }
  for (SyntaxAttr param : surface::syntaxRange(op.getParamsAttr())) {
    // A size that is an integer parameter would be two things of one name.
    SyntaxAttr type = paramType(param);
    if (!type || !type.is(SyntaxKind::DType) || !(maskOf(dtype(type.getText())) & kIntegers) ||
        !item.shapeVars.count(param.getText()))
      continue;
    InFlightDiagnostic diag =
        report(param.getLocation(), DiagCode::K0206,
               "'" + param.getText() + "' stands for a size here, so it cannot be of type " + type.getText());
    attachHelp(diag) << "declare '" << param.getText() << ": Index'";
  }
  // A module-level value is meant where its name is a size.
  for (auto &[name, least] : item.shapeVars) {
    auto global = globalItems.find(name);
    bool declared = llvm::any_of(surface::syntaxRange(op.getShapeVarsAttr()),
                                 [&](SyntaxAttr var) { return var.getText() == name; });
    bool parameter = llvm::any_of(surface::syntaxRange(op.getParamsAttr()),
                                  [&](SyntaxAttr param) { return param.getText() == name; });
    if (global == globalItems.end() || global->second.op.getInit().empty() || declared || parameter)
      continue;
    InFlightDiagnostic diag = report(findSize(op, name), DiagCode::K0206,
                                     "'" + name + "' stands for a size of '" + item.name + "', but the module-level '" +
                                         name + "' is no integer that is written out");
    attachHelp(diag) << "a shape variable of that name is declared, 'fn " << item.name << "<" << name << ">(..)'";
  }
  if (item.isGeneric() && item.exported)
    report(nameLoc, DiagCode::K0206, "'" + item.name + "' is exported, so it states its element types");
  if (item.isTemplate && item.exported)
    report(nameLoc, DiagCode::K0206,
           "'" + item.name + "' is exported, so every parameter needs a type that is no function");

  // Types over the shape variables; a template's are made anew at every call.
  Scope scope(moduleScope, nullptr);
  for (auto &[name, least] : item.shapeVars)
    scope.dims[name.str()] = DimAttr::getName(context, name);
  for (StringRef name : item.placeVars)
    scope.places[name.str()] = PlacementAttr::get(context, name, "", 0);
  bindElements(scope, item);
  llvm::StringSet<> seen;
  unsigned flat = 0;
  SmallVector<DimAttr> given;
  for (SyntaxAttr param : surface::syntaxRange(op.getParamsAttr())) {
    Param p{param.getText().str(), {}, false, param.getLocation(), flat, 0};
    if (!seen.insert(p.name).second)
      report(param.getLocation(), DiagCode::K0114, "parameter '" + p.name + "' is declared twice");
    if (param.getChildren().size() > 1 && !isDefault(param.getChild(1)))
      report(param.getChild(1).getLocation(), DiagCode::K0206,
             "the default value of '" + p.name + "' is no number and no boolean");
    SyntaxAttr type = paramType(param);
    p.borrowed = type && type.is(SyntaxKind::TypeRef);
    if (SyntaxAttr pred = type ? findPredOfFunctionType(type, false) : SyntaxAttr())
      report(pred.getLocation(), DiagCode::K0206,
             "the type of a function says nothing of sizes: each function has its own 'requires'");
    if (type && !isTemplateType(type) && !item.isGeneric()) {
      FailureOr<Ty> ty = elaborateType(type, scope, p.name);
      lost |= failed(ty);
      if (succeeded(ty)) {
        p.type = *ty;
        auto count = [&](auto &&self, const Ty &t) -> void {
          if (t.kind == Ty::Kind::Value) {
            ++p.count;
            if (!t.indexName.empty())
              given.push_back(DimAttr::getName(context, t.indexName));
            llvm::append_range(given, getShape(t.type));
          }
          for (const Ty &member : t.members)
            self(self, member);
        };
        count(count, p.type);
      }
    }
    flat += p.count;
    item.params.push_back(std::move(p));
  }
  // The rest is known of an instance.
  if (item.isGeneric()) {
    item.state = errors == before ? FunctionItem::State::SignatureDone : FunctionItem::State::Failed;
    return success(errors == before);
  }
  SmallVector<Ty> types = llvm::map_to_vector(item.params, [](const Param &param) { return param.type; });
  placeSignature(item, types);
  for (auto [param, type] : llvm::zip(item.params, types))
    param.type = type;
  if (op.getReturnTypeAttr() && !item.isTemplate) {
    FailureOr<Ty> ty = elaborateType(op.getReturnTypeAttr(), scope);
    lost |= failed(ty);
    if (succeeded(ty)) {
      item.result = *ty;
      placeResult(item, *item.result);
    }
  } else if (!op.getReturnTypeAttr() && item.exported) {
    report(nameLoc, DiagCode::K0206, "'" + item.name + "' is exported, so it states its result type");
  }
  SmallVector<SyntaxAttr> preds;
  for (SyntaxAttr param : surface::syntaxRange(op.getParamsAttr()))
    if (SyntaxAttr type = paramType(param))
      collectTypePreds(type, preds);
  llvm::append_range(preds, surface::syntaxRange(op.getRequiresClausesAttr()));
  for (SyntaxAttr syntax : preds)
    if (PredAttr pred = elaboratePred(syntax, scope))
      item.clauses.push_back(
          ClauseAttr::get(context, pred, ClauseMode::Prove, surface::spell(syntax), syntax.getLoc()));

  // Which variables the parameters give: single names first, then sums of one unknown.
  llvm::SetVector<StringRef> known;
  for (bool progress = true; progress;) {
    progress = false;
    for (DimAttr dim : given) {
      NameSet names;
      collectNames(dim, names);
      SmallVector<StringRef> open;
      for (StringRef name : names)
        if (!known.contains(name))
          open.push_back(name);
      bool linear = llvm::all_of(dim.getTerms(), [&](DimTermAttr term) {
        return llvm::count_if(term.getFactors(), [&](DimAtomAttr atom) {
                 NameSet inside;
                 collectNames(DimAttr::get(context, {DimTermAttr::get(context, 1, {atom})}), inside);
                 return open.size() == 1 && inside.contains(open[0]);
               }) <= 1;
      });
      bool bare = llvm::none_of(dim.getTerms(), [&](DimTermAttr term) {
        return llvm::any_of(term.getFactors(), [&](DimAtomAttr atom) {
          if (atom.getKind() == AtomKind::Name)
            return false;
          NameSet inside;
          collectNames(DimAttr::get(context, {DimTermAttr::get(context, 1, {atom})}), inside);
          return open.size() == 1 && inside.contains(open[0]);
        });
      });
      if (open.size() == 1 && linear && bare)
        progress |= known.insert(open[0]);
    }
  }
  for (auto &[name, least] : item.shapeVars)
    if (!known.contains(name))
      (item.exported && ofModule.count(name) ? item.expected : item.unsolved).push_back(name);
  if (item.exported && !item.unsolved.empty())
    reportUnsolved(item, item.unsolved.front());
  bool bad = lost || errors != before;
  item.isDeclared = !bad && !item.isTemplate && item.result.has_value();
  item.state = bad ? FunctionItem::State::Failed : FunctionItem::State::SignatureDone;
  return failure(bad);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Binds a parameter's structure to block arguments.
static Val bindArguments(Elaborator &e, const Ty &type, Block *entry, Location loc, FunctionContext &ctx,
                         SmallVectorImpl<DictionaryAttr> &attrs, const Param &param, const std::string &name) {
  MLIRContext *context = e.getContext();
  switch (type.kind) {
  case Ty::Kind::Value: {
    BlockArgument argument = entry->addArgument(type.type, loc);
    SmallVector<NamedAttribute> named;
    OpBuilder b(context);
    named.push_back(b.getNamedAttr(kNameArgAttrName, b.getStringAttr(name)));
    if (param.borrowed) {
      named.push_back(b.getNamedAttr(kBorrowArgAttrName, b.getUnitAttr()));
      ctx.borrowed.insert(argument);
    }
    if (!type.indexName.empty())
      named.push_back(b.getNamedAttr(kDimArgAttrName, b.getStringAttr(type.indexName)));
    attrs.push_back(DictionaryAttr::get(context, named));
    Val val = Val::of(argument);
    e.nameTensors(val, name, /*alias=*/false);
    if (!type.indexName.empty())
      val.sym = DimAttr::getName(context, type.indexName);
    else if (getRank(type.type) == 0 && isa<IntegerType>(type.type) && !type.type.isInteger(1))
      val.sym = e.freshAtom();
    return val;
  }
  case Ty::Kind::Tuple: {
    std::vector<Val> members;
    for (auto [index, member] : llvm::enumerate(type.members))
      members.push_back(bindArguments(e, member, entry, loc, ctx, attrs, param,
                                      name + "." + (type.names.empty() ? std::to_string(index) : type.names[index])));
    Val val = Val::tuple(std::move(members));
    val.names = type.names;
    return val;
  }
  default:
    return Val::unit();
  }
}

DimAttr Elaborator::freshAtom() { return DimAttr::getName(context, "%" + std::to_string(nextAtom++)); }

/// The declared structure filled with the types of the finished function.
static Ty structureOf(const Val &val) {
  Ty ty;
  if (val.kind == Val::Kind::Value) {
    ty.kind = Ty::Kind::Value;
    ty.type = val.getType();
  } else if (val.kind == Val::Kind::Tuple) {
    ty.kind = Ty::Kind::Tuple;
    ty.names = val.names;
    for (const Val &member : val.members)
      ty.members.push_back(structureOf(member));
  } else {
    ty.kind = Ty::Kind::Unit;
  }
  return ty;
}

static void finalizeStructure(ElementTypes &elements, Ty &ty) {
  if (ty.kind == Ty::Kind::Value)
    ty.type = withElementType(ty.type, elements.finalize(getElementType(ty.type)));
  for (Ty &member : ty.members)
    finalizeStructure(elements, member);
}

LogicalResult Elaborator::elaborateItem(FunctionItem &item) {
  if (inferringPlace)
    return failure();
  switch (item.state) {
  case FunctionItem::State::Done:
    return success();
  case FunctionItem::State::Failed:
    return failure();
  case FunctionItem::State::InProgress:
    if (std::exchange(item.recursionReported, true))
      return failure();
    return report(item.op.getName().getLocation(), DiagCode::K0208,
                  "'" + item.name + "' calls itself, and recursion is not part of Kina");
  case FunctionItem::State::Untouched:
    if (failed(elaborateSignature(item)))
      return failure();
    break;
  case FunctionItem::State::SignatureDone:
    break;
  }
  LogicalResult result = elaborateBody(item);
  if (!inferringPlace)
    return result;
  // The body has said where the parameters live.
  inferringPlace = false;
  for (FuncOp function : llvm::reverse(item.made))
    discard(function);
  item.made.clear();
  item.function = nullptr;
  item.params.clear();
  item.result.reset();
  item.shapeVars.clear();
  item.placeVars.clear();
  item.unsolved.clear();
  item.expected.clear();
  item.clauses.clear();
  item.spellings = {};
  item.state = FunctionItem::State::Untouched;
  return elaborateItem(item);
}

void Elaborator::obligeSignature(FunctionItem &item, Scope &scope) {
  auto inType = [&](auto &&self, SyntaxAttr syntax) -> void {
    if (!syntax)
      return;
    if (!syntax.is(SyntaxKind::TypeTensor)) {
      for (SyntaxAttr child : syntax.getChildren())
        self(self, child);
      return;
    }
    for (SyntaxAttr size : syntax.getChild(1).getChildren())
      if (DimAttr dim = elaborateDim(size, scope))
        (void)obligeDivisors(dim, size.getLocation());
  };
  for (SyntaxAttr param : surface::syntaxRange(item.op.getParamsAttr()))
    inType(inType, paramType(param));
  inType(inType, item.op.getReturnTypeAttr());
}

void Elaborator::reportUnsolved(FunctionItem &item, StringRef name) {
  InFlightDiagnostic diag = report(findSize(item.op, name), DiagCode::K0203,
                                   "shape variable '" + name + "' of '" + item.name +
                                       "' cannot be computed from the parameters");
  attachHelp(diag) << "add a parameter '" << name << ": Index'";
}

LogicalResult Elaborator::elaborateBody(FunctionItem &item) {
  item.state = FunctionItem::State::InProgress;
  unsigned before = errors;
  Location loc = item.op.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore<FunctionContext *> saved(current);
  llvm::SaveAndRestore<unsigned> savedInlined(inlined, 0);
  llvm::SaveAndRestore<SmallVector<Inlining>> savedInlining(inlining, {});
  llvm::SaveAndRestore<bool> savedExhausted(exhausted, false);
  llvm::SaveAndRestore<std::optional<Location>> savedSite(callSite, std::nullopt);
  llvm::SaveAndRestore<unsigned> savedDepth(callDepth, 0);
  llvm::SaveAndRestore<Spellings *> savedSpellings(spellings, &item.spellings);
  llvm::SaveAndRestore<bool> savedCallee(isInCallee, false);

  FunctionContext ctx;
  ctx.name = item.name;
  ctx.item = &item;
  current = &ctx;
  builder.setInsertionPointToEnd(module.getBody());
  ctx.function = FuncOp::create(builder, loc, item.name, builder.getFunctionType({}, {}));
  ctx.function.setVisibility(SymbolTable::Visibility::Private);
  ctx.entry = &ctx.function.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(ctx.entry);

  auto scope = std::make_shared<Scope>(moduleScope, &ctx);
  SmallVector<Attribute> vars;
  for (auto &[name, least] : item.shapeVars) {
    scope->dims[name.str()] = DimAttr::getName(context, name);
    ctx.shapeVars.insert({name, least});
    vars.push_back(ShapeVarAttr::get(context, name, least));
  }
  for (StringRef name : item.placeVars)
    scope->places[name.str()] = PlacementAttr::get(context, name, "", 0);
  bindElements(*scope, item);
  for (ClauseAttr clause : item.clauses)
    addFact(clause.getPred());
  SmallVector<DictionaryAttr> argAttrs;
  for (Param &param : item.params)
    scope->names[param.name] = bindArguments(*this, param.type, ctx.entry, param.loc, ctx, argAttrs, param, param.name);
  for (StringRef name : item.unsolved) {
    ctx.entry->addArgument(builder.getIndexType(), loc);
    argAttrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(kDimArgAttrName, builder.getStringAttr(name))));
  }

  obligeSignature(item, *scope);
  Val result = evaluateBlock(item.op.getBody(), scope, item.result && item.result->kind == Ty::Kind::Tuple);
  Location valueLoc = item.op.getBody().front().getTerminator()->getLoc();
  if (!result.isError() && !result.isFirstOrder()) {
    report(valueLoc, escapeCode(result),
           "the value of '" + item.name + "' is " + spell(result) +
               ", but only tensors, scalars and tuples of them can leave a function");
    result = Val::error();
  }
  if (result.kind == Val::Kind::Unit && item.result && item.result->kind == Ty::Kind::Value) {
    InFlightDiagnostic diag = report(valueLoc, DiagCode::K0206,
                                     "the value of '" + item.name + "' is (), but " + spell(*item.result) +
                                         " is declared");
    attachValueOfBlock(diag, item.op.getBody());
    result = Val::error();
  }
  if (item.result && !result.isError())
    (void)checkDeclared(result, *item.result, valueLoc, "the value of '" + item.name + "'");
  for (StringRef name : item.expected)
    if (!result.isError() && llvm::none_of(ctx.globals, [&](auto &global) {
          return llvm::any_of(getShape(global.second.getType()), [&](DimAttr dim) { return dim.getSingleName() == name; });
        }))
      reportUnsolved(item, name);
  for (StringRef name : ctx.globalVars) {
    item.shapeVars.insert({name, 1});
    item.expected.push_back(name);
    vars.push_back(ShapeVarAttr::get(context, name, 1));
  }
  if (SyntaxAttr syntax = item.op.getReturnTypeAttr(); syntax && !result.isError()) {
    SmallVector<SyntaxAttr> preds;
    collectTypePreds(syntax, preds);
    for (SyntaxAttr one : preds)
      if (PredAttr pred = elaboratePred(one, *scope))
        (void)oblige(valueLoc, pred, ObligationKind::check,
                     "the result type of '" + item.name + "' says '" + surface::spell(one) + "', which may fail here");
  }
  if (!result.isError() && errors == before)
    (void)requireKnownSizes(
        result, [&](StringRef name) { return !item.shapeVars.count(name); }, valueLoc, "'" + item.name + "'");
  SmallVector<Value> leaves;
  if (!result.isError() && errors == before)
    flatten(result, leaves);
  ReturnOp::create(builder, valueLoc, leaves);
  item.function = ctx.function;
  if (!result.isError() && errors == before)
    (void)recordEffects(item);
  item.made.push_back(ctx.function);
  if (errors != before || result.isError() || inferringPlace || item.callsFailed) {
    item.state = FunctionItem::State::Failed;
    item.function = nullptr;
    return failure();
  }

  for (auto &[name, argument] : ctx.globals) {
    item.globals.push_back(name);
    SmallVector<NamedAttribute> attrs{builder.getNamedAttr(kNameArgAttrName, name)};
    if (isa<TensorType>(argument.getType()))
      attrs.push_back(builder.getNamedAttr(kBorrowArgAttrName, builder.getUnitAttr()));
    argAttrs.push_back(builder.getDictionaryAttr(attrs));
  }
  if (!vars.empty())
    ctx.function.setShapeVarsAttr(builder.getArrayAttr(vars));
  if (!item.clauses.empty())
    ctx.function.setPreconditionsAttr(
        builder.getArrayAttr(SmallVector<Attribute>(item.clauses.begin(), item.clauses.end())));
  if (item.checkpoint)
    ctx.function.setCheckpointAttr(item.checkpoint);
  item.resultType = structureOf(result);
  finalize(item.made);
  finalizeStructure(elementTypes, item.resultType);
  ctx.function.setAllArgAttrs(argAttrs);
  for (FuncOp function : item.made)
    item.spellings.attachTo(function);
  item.state = errors == before ? FunctionItem::State::Done : FunctionItem::State::Failed;
  return success(errors == before);
}

/// Erases what nothing uses. Operations on tensors stay, whose tensors these are is checked there, too,
/// and so do regions.
static void eraseUnused(Elaborator &e, FuncOp function) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  function.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op->getNumRegions() == 0 && llvm::none_of(op->getOperandTypes(), isTensor) && isOpTriviallyDead(op))
      e.discard(op);
  });
}

void Elaborator::finalize(ArrayRef<FuncOp> functions) {
  for (FuncOp function : functions) {
    eraseUnused(*this, function);
    function.walk([&](ConstantOp constant) {
      Type type = elementTypes.finalize(constant.getType());
      TypedAttr value = constant.getValue();
      if (value.getType() == type)
        return;
      auto doesNotFit = [&](const Twine &number) {
        report(constant.getLoc(), DiagCode::K0106, number + " does not fit in " + spell(type));
      };
      if (auto floating = dyn_cast<FloatType>(type)) {
        double number = isa<FloatAttr>(value) ? cast<FloatAttr>(value).getValueAsDouble()
                                              : static_cast<double>(cast<IntegerAttr>(value).getInt());
        FloatAttr rounded = FloatAttr::get(floating, number);
        if (std::isfinite(number) && rounded.getValue().isInfinity()) {
          std::string text;
          llvm::raw_string_ostream(text) << llvm::format("%g", number);
          doesNotFit(text);
        }
        constant.setValueAttr(rounded);
      } else {
        int64_t number = cast<IntegerAttr>(value).getInt();
        unsigned width = type.getIntOrFloatBitWidth();
        if (!fitsInto(number, type))
          doesNotFit(Twine(number));
        constant.setValueAttr(IntegerAttr::get(type, APInt(width, static_cast<uint64_t>(number), false, true)));
      }
    });
    function.walk([&](DimOp dim) {
      std::optional<int64_t> value = dim.getValue().getConstantValue();
      Type type = elementTypes.finalize(dim.getType());
      if (value && !fitsInto(*value, type))
        report(dim.getLoc(), DiagCode::K0106, Twine(*value) + " does not fit in " + spell(type));
    });
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](HoleType hole) -> Type { return elementTypes.finalize(hole); });
    // A rank-0 result whose element type was open is a hole itself and covered by this.
    replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    auto terminator = cast<ReturnOp>(function.getBody().front().getTerminator());
    function.setFunctionType(
        builder.getFunctionType(function.getBody().front().getArgumentTypes(), terminator.getOperandTypes()));
  }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value Elaborator::capture(Value value, FunctionContext *from, FunctionContext *to) {
  if (from == to)
    return value;
  // What can be made anew anywhere is not captured.
  if (Operation *op = value.getDefiningOp(); op && to == current && isa<ConstantOp, DimOp>(op))
    return builder.clone(*op)->getResult(0);
  if (!to)
    return {};
  Value outer = capture(value, from, to->parent);
  if (!outer)
    return {};
  auto it = to->captures.find(outer);
  if (it == to->captures.end())
    it = to->captures.insert({outer, to->entry->addArgument(outer.getType(), outer.getLoc())}).first;
  return it->second;
}

std::shared_ptr<Callable> Elaborator::translate(const std::shared_ptr<Callable> &callable, FunctionContext *from) {
  // Lambdas are closed over scopes that know their function; only a derivative's point is
  // made of values.
  if (callable->kind != Callable::Kind::Derivative)
    return callable;
  auto result = std::make_shared<Callable>(*callable);
  result->base = translate(callable->base, from);
  for (Val &point : result->point)
    point = translate(point, from);
  return result;
}

Val Elaborator::translate(const Val &val, FunctionContext *from) {
  if (from == current || !from)
    return val;
  Val result = val;
  // What belongs to one activation of its function is no value for another one.
  if (val.kind == Val::Kind::Ref || val.kind == Val::Kind::Continuation) {
    SmallVector<Value> leaves{val.value};
    if (val.kind == Val::Kind::Ref) {
      leaves.clear();
      flatten(val, leaves);
    }
    report(leaves.empty() ? current->function.getLoc() : leaves.front().getLoc(), escapeCode(val),
           spell(val) + " is used in a function that is differentiated inside '" + from->name + "'");
    return Val::error();
  }
  if (val.value) {
    result.value = capture(val.value, from, current);
    if (!result.value)
      return Val::error();
  }
  for (Val &member : result.members)
    member = translate(member, from);
  if (val.kind == Val::Kind::Function)
    result.function = translate(val.function, from);
  return result;
}

Val Elaborator::getGlobalParameter(StringAttr name, Location loc) {
  GlobalItem &global = globalItems.find(name.getValue())->second;
  // The parameter belongs to the outermost function; lifted ones capture it.
  FunctionContext *root = current;
  while (root->parent)
    root = root->parent;
  auto it = root->globals.find(name);
  if (it == root->globals.end()) {
    Scope scope(moduleScope, nullptr);
    llvm::MapVector<StringRef, int64_t> names;
    collectShapeVars(global.op.getTypeAttr(), scope, names);
    for (auto &[var, least] : names)
      scope.dims[var.str()] = DimAttr::getName(context, var);
    FailureOr<Ty> type = elaborateType(global.op.getTypeAttr(), scope);
    if (failed(type))
      return Val::error();
    if (type->kind != Ty::Kind::Value) {
      report(global.op.getLoc(), DiagCode::K0206, "a 'let' without a value needs a tensor or scalar type");
      return Val::error();
    }
    // A size that the function does not have yet comes with the parameter.
    for (auto &[var, least] : names) {
      bool own = root->item->shapeVars.count(var) || llvm::is_contained(root->globalVars, var);
      if (!own && root->shapeVars.count(var)) {
        report(loc, DiagCode::K0114,
               "shape variable '" + var + "' of '" + name.getValue() + "' exists in '" + root->name +
                   "' as another one");
        return Val::error();
      }
      if (own)
        continue;
      root->globalVars.push_back(var);
      for (FunctionContext *ctx = current; ctx; ctx = ctx->parent)
        ctx->shapeVars.insert({var, 1});
    }
    it = root->globals.insert({name, root->entry->addArgument(type->type, global.op.getLoc())}).first;
    SmallVector<SyntaxAttr> preds;
    collectTypePreds(global.op.getTypeAttr(), preds);
    for (SyntaxAttr syntax : preds)
      if (PredAttr pred = elaboratePred(syntax, scope)) {
        root->item->clauses.push_back(
            ClauseAttr::get(context, pred, ClauseMode::Prove, surface::spell(syntax), syntax.getLoc()));
        for (FunctionContext *ctx = current; ctx; ctx = ctx->parent)
          ctx->facts.push_back(pred);
      }
    bool integer = getRank(type->type) == 0 && (maskOf(type->type) & kIntegers);
    root->globalValues[name.str()] = Val::of(it->second, integer ? freshAtom() : DimAttr());
  }
  return translate(root->globalValues.find(name.getValue())->second, root);
}

Val Elaborator::getGlobalValue(StringRef name, GlobalItem &item, Location loc) {
  FunctionContext *root = current;
  for (;; root = root->parent) {
    if (auto known = root->globalValues.find(name); known != root->globalValues.end())
      return translate(known->second, root);
    if (root->ownsGlobals || !root->parent)
      break;
  }
  if (item.failed)
    return Val::error();
  if (item.op.getInit().empty())
    return getGlobalParameter(builder.getStringAttr(name), loc);
  if (item.inProgress) {
    report(loc, DiagCode::K0208, "the value of '" + name + "' needs itself");
    return Val::error();
  }
  llvm::SaveAndRestore<bool> progress(item.inProgress, true);
  item.evaluated = true;
  Val val;
  {
    // Once in a function, before all else, whatever is known where it is used.
    OpBuilder::InsertionGuard guard(builder);
    llvm::SaveAndRestore<FunctionContext *> saved(current, root);
    llvm::SaveAndRestore<SmallVector<PredAttr>> facts(root->facts, {});
    llvm::SaveAndRestore<std::optional<Location>> site(callSite, std::nullopt);
    if (!root->afterGlobals) {
      builder.setInsertionPointToStart(root->entry);
      root->afterGlobals = literalBool(false, loc).value.getDefiningOp();
    }
    builder.setInsertionPoint(root->afterGlobals);
    val = decay(evaluateBlock(item.op.getInit(), std::make_shared<Scope>(moduleScope, root)));
    if (item.op.getTypeAttr() && !val.isError()) {
      Scope module(moduleScope, nullptr);
      FailureOr<Ty> type = elaborateType(item.op.getTypeAttr(), module);
      if (failed(type) || failed(checkDeclared(val, *type, item.op.getLoc(), "the value of '" + name + "'")))
        val = Val::error();
      SmallVector<SyntaxAttr> preds;
      collectTypePreds(item.op.getTypeAttr(), preds);
      for (SyntaxAttr syntax : preds)
        if (PredAttr pred = elaboratePred(syntax, module))
          if (failed(oblige(syntax.getLoc(), pred, ObligationKind::check,
                            "the type of '" + name + "' says '" + surface::spell(syntax) + "', which may fail here")))
            val = Val::error();
    }
  }
  if (val.isError()) {
    item.failed = true;
    return val;
  }
  nameTensors(val, name, /*alias=*/true);
  lend(val);
  // A single literal has the type that each use needs.
  if (!val.isValue() || !val.value.getDefiningOp<ConstantOp>() || item.op.getTypeAttr())
    root->globalValues[name.str()] = val;
  return translate(val, root);
}

void Elaborator::checkUnusedGlobals() {
  FunctionItem scratch;
  scratch.name = "the module";
  FunctionContext ctx;
  ctx.name = scratch.name;
  ctx.item = &scratch;
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore<FunctionContext *> saved(current, &ctx);
  builder.setInsertionPointToEnd(module.getBody());
  ctx.function = FuncOp::create(builder, module.getLoc(), "module", builder.getFunctionType({}, {}));
  ctx.entry = &ctx.function.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(ctx.entry);
  for (auto &[name, item] : globalItems)
    if (item.op.getInit().empty())
      collectShapeVars(item.op.getTypeAttr(), *moduleScope, ctx.shapeVars);
  for (auto &[name, item] : globalItems)
    if (!item.evaluated && !item.op.getInit().empty())
      (void)getGlobalValue(name, item, item.op.getLoc());
  scratch.made.push_back(ctx.function);
  for (FuncOp function : llvm::reverse(scratch.made))
    discard(function);
}

void Elaborator::checkUncalled(Operation *item) {
  // Only calls know what its names mean; that something binds each of them can be said.
  llvm::StringSet<> bound;
  auto bind = [&](auto &&self, SyntaxAttr syntax) -> void {
    if (!syntax.getText().empty())
      bound.insert(syntax.getText());
    for (SyntaxAttr child : syntax.getChildren())
      self(self, child);
  };
  auto bindAll = [&](Operation *op) {
    for (NamedAttribute attr : op->getAttrs()) {
      if (auto syntax = dyn_cast<SyntaxAttr>(attr.getValue()))
        bind(bind, syntax);
      if (auto array = dyn_cast<ArrayAttr>(attr.getValue()))
        for (Attribute member : array)
          if (auto syntax = dyn_cast<SyntaxAttr>(member))
            bind(bind, syntax);
    }
  };
  item->walk(bindAll);
  // The subscripts of `wrt` and a check's `N = M` are names, too, which the walk has seen.
  item->walk([&](surface::NameOp name) {
    if (bound.contains(name.getName()))
      return;
    bool callee = llvm::any_of(name->getUsers(), [&](Operation *user) {
      auto call = dyn_cast<surface::CallOp>(user);
      return call && call.getCallee() == name.getResult();
    });
    unsigned before = errors;
    if (!lookup(name.getName(), name.getLoc(), moduleScope, /*silent=*/true).isError() || errors != before ||
        globalItems.count(name.getName()) || isKnownLater(name.getName()))
      return;
    if (callee)
      report(name.getLoc(), DiagCode::K0112, "unknown operation '" + name.getName() + "'");
    else
      (void)lookup(name.getName(), name.getLoc(), moduleScope);
  });
}

LogicalResult Elaborator::requireKnownSizes(const Val &val, llvm::function_ref<bool(StringRef)> isLocal, Location loc,
                                            const Twine &owner) {
  SmallVector<Value> leaves;
  flatten(val, leaves);
  for (Value leaf : leaves) {
    NameSet names;
    collectNames(leaf.getType(), names);
    for (StringRef name : names)
      if (isLocal(name)) {
        StringRef spelled = name.split('.').first;
        InFlightDiagnostic diag = report(loc, DiagCode::K0207,
                                         "the value of " + owner + " has type " + spell(leaf.getType()) +
                                             ", and only inside it is known what '" + name + "' is");
        attachHelp(diag) << "bind '" << spelled << "' outside, or take it as a parameter '" << spelled << ": Index'";
        return failure();
      }
  }
  return success();
}

void Elaborator::checkCustomVjp(FunctionItem &rule, FunctionItem &primal) {
  Location loc = rule.vjpSyntax.getLocation();
  for (FunctionItem *item : {&rule, &primal})
    if (item->isTemplate || item->isGeneric()) {
      report(loc, DiagCode::K0206,
             "'@vjp' needs functions whose parameters all have " +
                 Twine(item->isTemplate ? "a type that is no function" : "one element type") + ", unlike '" +
                 item->name + "'");
      return;
    }
  if (!rule.function || !primal.function)
    return; // reported
  if (&rule == &primal) {
    report(loc, DiagCode::K0206, "'" + rule.name + "' cannot be its own rule");
    return;
  }
  if (primal.function.getCustomVjp()) {
    report(loc, DiagCode::K0114,
           "'" + primal.name + "' has a rule already, '" + primal.function.getCustomVjp()->str() + "'");
    return;
  }
  auto declared = [](FunctionItem &item) {
    unsigned count = 0;
    for (Param &param : item.params)
      count += param.count;
    return item.function.getArgumentTypes().take_front(count);
  };
  auto isFloat = [&](Type type) { return (maskOf(getElementType(type)) & kFloats) != 0; };
  SmallVector<Type> takes(declared(primal)), gives = llvm::filter_to_vector(declared(primal), isFloat);
  llvm::append_range(takes, primal.function.getResultTypes());
  llvm::copy_if(primal.function.getResultTypes(), std::back_inserter(takes), isFloat);
  struct Part {
    ArrayRef<Type> have, want;
    StringRef what, rest;
  };
  Part parts[] = {{declared(rule), takes, "takes",
                   "it takes the function's parameters, its result and the result's cotangent"},
                  {rule.function.getResultTypes(), gives, "gives",
                   "it gives the cotangents of the function's float parameters"}};
  for (auto &[have, want, what, rest] : parts)
    if (have.size() != want.size()) {
      InFlightDiagnostic diag =
          report(loc, DiagCode::K0205,
                 "'" + rule.name + "' " + what + " " + Twine(have.size()) + " values, but a rule of '" + primal.name +
                     "' " + what + " " + Twine(want.size()));
      attachHelp(diag) << rest;
      return;
    }
  // Differentiation passes on no more than that.
  for (FunctionItem *item : {&rule, &primal}) {
    StringRef role = item == &rule ? "be a rule" : "have a rule";
    if (!item->globals.empty()) {
      StringRef global = item->globals.front().getValue();
      InFlightDiagnostic diag = report(loc, DiagCode::K0206,
                                       "'" + item->name + "' uses the module-level '" + global +
                                           "', which has no value, so it cannot " + role);
      attachHelp(diag) << "make '" << global << "' a parameter of both functions";
      return;
    }
    if (!item->unsolved.empty()) {
      report(loc, DiagCode::K0203,
             "'" + item->name + "' takes the size '" + item->unsolved.front() + "' by keyword, so it cannot " + role);
      return;
    }
  }
  // What the rule's sizes are, in the function's.
  llvm::StringMap<DimAttr> sizes;
  llvm::StringMap<PlacementAttr> places;
  for (auto [mine, theirs] : llvm::zip(parts[0].have, parts[0].want)) {
    if (PlacementAttr place = getPlacement(mine); place.isVariable())
      places.try_emplace(place.getName(), getPlacement(theirs));
    for (auto [dim, size] : llvm::zip(getShape(mine), getShape(theirs)))
      if (StringRef name = dim.getSingleName(); !name.empty())
        sizes.try_emplace(name, size);
  }
  for (auto &[name, least] : rule.shapeVars)
    if (!sizes.contains(name)) {
      report(loc, DiagCode::K0203,
             "no parameter of '" + rule.name + "' has the size '" + name + "', and a rule reads its sizes off these");
      return;
    }
  auto located = [&](const Part &part, unsigned index) -> Location {
    if (&part == &parts[0]) {
      for (const Param &param : rule.params)
        if (index >= param.first && index - param.first < param.count)
          return param.loc;
    } else if (SyntaxAttr type = rule.op.getReturnTypeAttr()) {
      bool isList = type.is(SyntaxKind::TypeTuple) && type.getChildren().size() == part.have.size();
      return isList ? type.getChild(index).getLocation() : type.getLocation();
    }
    return loc;
  };
  for (const Part &part : parts)
    for (auto [index, pair] : llvm::enumerate(llvm::zip(part.have, part.want))) {
      auto [mine, theirs] = pair;
      Type here = substitute(mine, [&](StringRef name) { return sizes.lookup(name); },
                             [&](StringRef name) { return places.lookup(name); });
      if (here == theirs)
        continue;
      bool sameKind = getElementType(mine) == getElementType(theirs) && getRank(mine) == getRank(theirs);
      bool samePlace = here && getPlacement(here) == getPlacement(theirs);
      InFlightDiagnostic diag =
          report(located(part, index), !sameKind    ? DiagCode::K0206
                                       : !samePlace ? DiagCode::K0401
                                                    : DiagCode::K0301,
                 "'" + rule.name + "' " + part.what + " " + spell(mine) + " at position " + Twine(index) +
                     " (0-based), but a rule of '" + primal.name + "' " + part.what + " " + spell(theirs));
      if (sameKind)
        for (auto &[name, least] : rule.shapeVars)
          if (DimAttr size = sizes.lookup(name); size != DimAttr::getName(context, name))
            diag.attachNote() << "'" << name << "' of '" << rule.name << "' is '" << toString(size) << "' of '"
                              << primal.name << "'";
      diag.attachNote(loc) << "the rule is declared here";
      attachHelp(diag) << part.rest;
      return;
    }
  primal.function.setCustomVjp(rule.name);
}

Val Elaborator::lookup(StringRef name, Location loc, const ScopePtr &scope, bool silent) {
  for (Scope *s = scope.get(); s; s = s->parent.get()) {
    if (auto val = s->names.find(name); val != s->names.end())
      // An `Index` parameter is a shape variable, and as a value behaves like one.
      return val->second.isValue() && val->second.getType().isIndex() ? dimValue(val->second.sym, loc)
                                                                      : translate(val->second, s->context);
    if (auto dim = s->dims.find(name); dim != s->dims.end())
      return dimValue(dim->second, loc);
    if (auto element = s->elements.find(name); element != s->elements.end()) {
      Val val;
      val.kind = Val::Kind::DType;
      val.type = element->second;
      return val;
    }
  }
  if (auto item = functions.find(name); item != functions.end()) {
    auto callable = std::make_shared<Callable>(Callable::Kind::Item, loc);
    callable->item = item->second.get();
    return Val::of(std::move(callable));
  }
  if (auto global = globalItems.find(name); global != globalItems.end())
    return current ? getGlobalValue(name, global->second, loc) : Val::error();
  if (name == "pi" || name == "inf" || name == "nan")
    return literalFloat(name == "pi"    ? 3.141592653589793238462643383279502884
                        : name == "inf" ? std::numeric_limits<double>::infinity()
                                        : std::numeric_limits<double>::quiet_NaN(),
                        loc);
  if (findOperation(name) || getDerivative(name)) {
    auto callable = std::make_shared<Callable>(Callable::Kind::Operation, loc);
    callable->operation = name.str();
    return Val::of(std::move(callable));
  }
  if (silent)
    return Val::error();
  if (isKnownLater(name)) {
    report(loc, DiagCode::K0115, "the operation '" + name + "' is not built");
    return Val::error();
  }
  if (!isNewlyUnknown(name))
    return Val::error();
  InFlightDiagnostic diag = report(loc, DiagCode::K0111, "unknown variable '" + name + "'");
  SmallVector<std::string> candidates;
  for (Scope *s = scope.get(); s; s = s->parent.get()) {
    for (auto &entry : s->names)
      candidates.push_back(entry.first);
    for (auto &entry : s->dims)
      candidates.push_back(entry.first);
  }
  for (auto &entry : functions)
    candidates.push_back(entry.first);
  for (auto &entry : globalItems)
    candidates.push_back(entry.first);
  if (StringRef help = foreignNameHelp(name); !help.empty())
    attachHelp(diag) << help;
  else if (std::optional<std::string> close = nearest(name, candidates))
    attachHelp(diag) << "there is a similar name, '" << *close << "'";
  return Val::error();
}

//===----------------------------------------------------------------------===//
// Lifting
//===----------------------------------------------------------------------===//

FailureOr<Elaborator::Lifted> Elaborator::lift(const std::shared_ptr<Callable> &callable, ArrayRef<Val> args,
                                               ArrayRef<std::string> keywords, Location loc,
                                               ArrayRef<std::pair<std::string, DimAttr>> sizes,
                                               ArrayRef<std::pair<std::string, Val>> globals) {
  FunctionContext ctx;
  ctx.parent = current;
  ctx.item = current->item;
  ctx.ownsGlobals = !globals.empty();
  ctx.inlinesItems = current->inlinesItems || ctx.ownsGlobals;
  FunctionContext *root = current;
  while (root->parent)
    root = root->parent;
  ctx.name = root->name + ".lambda" + std::to_string(root->lifted++);
  ctx.shapeVars = current->shapeVars;
  ctx.facts = current->facts;
  Lifted lifted;
  {
    OpBuilder::InsertionGuard guard(builder);
    llvm::SaveAndRestore<FunctionContext *> saved(current, &ctx);
    builder.setInsertionPointToEnd(module.getBody());
    ctx.function = FuncOp::create(builder, loc, ctx.name, builder.getFunctionType({}, {}));
    ctx.function.setVisibility(SymbolTable::Visibility::Private);
    ctx.entry = &ctx.function.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(ctx.entry);
    std::vector<Val> inner;
    auto bind = [&](auto &&self, const Val &val) -> Val {
      Val result = val;
      if (val.isValue()) {
        result.value = ctx.entry->addArgument(val.getType(), loc);
        if (val.sym && isRuntime(val.sym))
          result.sym = freshAtom();
        result.pred = result.implied = {};
      }
      for (Val &member : result.members)
        member = self(self, member);
      return result;
    };
    for (const Val &arg : args)
      inner.push_back(arg.kind == Val::Kind::Function ? translate(arg, ctx.parent) : bind(bind, arg));
    for (auto &[name, val] : globals)
      ctx.globalValues[name] = bind(bind, val);
    SmallVector<std::string> allKeywords(keywords);
    for (auto &[name, dim] : sizes) {
      inner.push_back(dimValue(dim, loc));
      allKeywords.push_back(name);
    }
    Val result = decay(call(translate(callable, ctx.parent), std::move(inner), std::move(allKeywords), loc));
    if (!result.isError() && !result.isFirstOrder()) {
      report(loc, DiagCode::K0206,
             "the function gives " + spell(result) +
                 ", but what is differentiated gives tensors, scalars and tuples of them");
      result = Val::error();
    }
    if (!result.isError() &&
        failed(requireKnownSizes(
            result, [&](StringRef name) { return !current->parent->shapeVars.count(name); }, loc, "the function")))
      result = Val::error();
    SmallVector<Value> leaves;
    if (!result.isError())
      flatten(result, leaves);
    ReturnOp::create(builder, loc, leaves);
    ctx.item->made.push_back(ctx.function);
    if (result.isError())
      return failure();
    lifted.result = result;
  }
  // Variables that occur in it, except sizes that it binds itself.
  NameSet names, bound, solved, places;
  ctx.function.walk([&](BindDimOp bind) { bound.insert(bind.getName()); });
  AttrTypeWalker walker;
  walker.addWalk([&](DimAtomAttr atom) {
    if (atom.getKind() == AtomKind::Name && !bound.contains(atom.getName()))
      names.insert(atom.getName());
  });
  walker.addWalk([&](PlacementAttr place) {
    if (place.isVariable())
      places.insert(place.getName());
  });
  for (BlockArgument argument : ctx.entry->getArguments()) {
    walker.walk(argument.getType());
    for (DimAttr dim : getShape(argument.getType()))
      if (StringRef name = dim.getSingleName(); !name.empty())
        solved.insert(name);
  }
  ctx.function.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
  });
  // What is known where it is lifted from is known inside, if anything is to be proved there.
  bool proves = ctx.function
                    .walk([](Operation *op) {
                      return isa<ObligationOp, CallOp, GradOp, VJPOp, JVPOp, AssumeOp>(op) ? WalkResult::interrupt()
                                                                                          : WalkResult::advance();
                    })
                    .wasInterrupted();
  SmallVector<PredAttr> known;
  if (proves)
    for (PredAttr fact : ctx.parent->facts)
      if (hasSourceNames(fact) && !llvm::is_contained(known, fact))
        known.push_back(fact);
  SmallVector<Attribute> clauses;
  for (unsigned index : findRelated(names.getArrayRef(), known)) {
    clauses.push_back(ClauseAttr::get(context, known[index], ClauseMode::Prove, spell(known[index]), loc));
    collectNames(known[index], names);
  }
  for (auto &[outer, argument] : ctx.captures)
    lifted.operands.push_back(outer);
  SmallVector<DictionaryAttr> attrs(ctx.entry->getNumArguments(), builder.getDictionaryAttr({}));
  SmallVector<Attribute> vars;
  SmallVector<NamedAttribute> subst;
  for (StringRef name : names) {
    auto known = ctx.shapeVars.find(name);
    int64_t least = known == ctx.shapeVars.end() ? 1 : known->second;
    vars.push_back(ShapeVarAttr::get(context, name, least));
    DimAttr dim = DimAttr::getName(context, name);
    subst.push_back(builder.getNamedAttr(name, dim));
    if (solved.contains(name))
      continue;
    ctx.entry->addArgument(builder.getIndexType(), loc);
    attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(kDimArgAttrName, builder.getStringAttr(name))));
    lifted.operands.push_back(DimOp::create(builder, loc, builder.getIndexType(), dim));
  }
  for (StringRef name : places)
    subst.push_back(builder.getNamedAttr(name, PlacementAttr::get(context, name, "", 0)));
  // The final type is set with the outermost function's; the attributes need the count now.
  ctx.function.setFunctionType(builder.getFunctionType(ctx.entry->getArgumentTypes(), {}));
  ctx.function.setAllArgAttrs(attrs);
  if (!vars.empty())
    ctx.function.setShapeVarsAttr(builder.getArrayAttr(vars));
  if (!clauses.empty())
    ctx.function.setPreconditionsAttr(builder.getArrayAttr(clauses));
  lifted.function = ctx.function;
  lifted.subst = builder.getDictionaryAttr(subst);
  return lifted;
}

} // namespace kina::elaborate
