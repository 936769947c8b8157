//===- Instances.cpp - Functions over any element type --------------------===//
//
// `fn f<T: float>(..)` is elaborated once for every element type that it is used with. An
// instance is a function item of its own, with the same source and a name that says the
// types: `f.F64`.
//
//===----------------------------------------------------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

Type Elaborator::elementVariable(StringRef name, const Scope &scope) {
  for (const Scope *s = &scope; s; s = s->parent.get())
    if (auto element = s->elements.find(name); element != s->elements.end())
      return element->second;
  return {};
}

void Elaborator::bindElements(Scope &scope, const FunctionItem &item) {
  for (auto &[name, type] : item.elements)
    scope.elements[name.str()] = type;
}

FunctionItem &Elaborator::getInstance(FunctionItem &item, ArrayRef<Type> types, Location loc) {
  std::string name = item.name;
  for (Type type : types)
    name += "." + spell(type);
  std::unique_ptr<FunctionItem> &instance = item.instances[name];
  if (!instance) {
    instance = std::make_unique<FunctionItem>();
    instance->op = item.op;
    instance->name = name;
    instance->generic = &item;
    instance->onlyChecked = checksUnused;
    instance->instantiated = loc;
    for (auto [var, type] : llvm::zip(item.elementVars, types))
      instance->elements.insert({var.first, type});
  }
  return *instance;
}

/// Calls `found` with the element type of every value in the argument whose type is declared
/// as a variable.
static void matchElements(SyntaxAttr syntax, const Val &val, const llvm::MapVector<StringRef, unsigned> &vars,
                          llvm::function_ref<void(StringRef, Type)> found) {
  switch (syntax.getKind()) {
  case SyntaxKind::TypeRef:
  case SyntaxKind::TypeMember:
    return matchElements(syntax.getChild(0), val, vars, found);
  case SyntaxKind::TypeTuple:
  case SyntaxKind::TypeNamedTuple:
    for (auto [member, child] : llvm::zip(val.members, syntax.getChildren()))
      matchElements(child, member, vars, found);
    return;
  case SyntaxKind::TypeName:
  case SyntaxKind::TypeTensor: {
    StringRef name = syntax.is(SyntaxKind::TypeName)                     ? syntax.getText()
                     : syntax.getChild(0).is(SyntaxKind::Name) ? syntax.getChild(0).getText()
                                                                         : StringRef();
    if (!vars.count(name))
      return;
    // A list that becomes a tensor has its elements' type.
    const Val *element = &val;
    while (element->kind == Val::Kind::List && !element->members.empty())
      element = &element->members.front();
    if (element->isValue())
      if (Type type = getElementType(element->getType()); type && !type.isIndex())
        found(name, type);
    return;
  }
  default:
    return;
  }
}

FailureOr<std::shared_ptr<Callable>> Elaborator::instantiate(const Callable &generic, std::vector<Val> &args,
                                                             SmallVector<std::string> &keywords, Location loc) {
  FunctionItem &item = *generic.item;
  if (failed(elaborateSignature(item)))
    return failure();
  llvm::MapVector<StringRef, Type> solution;
  llvm::StringMap<std::string> givers;
  std::vector<Val> values;
  SmallVector<std::string> names;
  for (auto [val, keyword] : llvm::zip(args, keywords)) {
    auto var = item.elementVars.find(keyword);
    if (keyword.empty() || var == item.elementVars.end()) {
      values.push_back(val);
      names.push_back(keyword);
      continue;
    }
    if (val.kind != Val::Kind::DType)
      return report(loc, DiagCode::K0206,
                    "'" + keyword + "' of '" + item.name + "' is an element type, not " + spell(val));
    if (!solution.insert({var->first, val.type}).second)
      return report(loc, DiagCode::K0205, "'" + keyword + "' of '" + item.name + "' is given twice");
    givers[keyword] = "'" + keyword + "='";
  }
  // Types that are known count first, then those of literals, which take any of them.
  bool bad = false;
  llvm::MapVector<StringRef, SmallVector<Type>> open;
  size_t position = 0;
  for (auto [val, keyword] : llvm::zip(values, names)) {
    auto params = surface::syntaxRange(item.op.getParamsAttr());
    SyntaxAttr param;
    for (auto [index, one] : llvm::enumerate(params))
      if (keyword.empty() ? index == position : one.getText() == keyword)
        param = one;
    position += keyword.empty();
    if (!param || param.getChildren().empty() || val.isError())
      continue;
    matchElements(param.getChild(0), val, item.elementVars, [&](StringRef name, Type type) {
      type = elementTypes.resolve(type);
      if (isa<HoleType>(type)) {
        open[name].push_back(type);
        return;
      }
      auto [known, fresh] = solution.insert({name, type});
      if (fresh) {
        givers[name] = "argument '" + param.getText().str() + "'";
      } else if (known->second != type) {
        InFlightDiagnostic diag =
            report(loc, DiagCode::K0202,
                   "element type '" + name + "' of '" + item.name + "' is " + spell(known->second) + " by " +
                       givers[name] + ", but argument '" + param.getText() + "' has " + spell(type));
        attachHelp(diag) << "convert one with cast(.., " << spell(known->second) << ")";
        bad = true;
      }
    });
  }
  SmallVector<Type> types;
  for (auto &[name, mask] : item.elementVars) {
    Type type = solution.lookup(name);
    if (!type && open.count(name)) {
      type = open[name].front();
      for (Type other : open[name])
        (void)elementTypes.unify(type, other);
      if (elementTypes.restrict(type, mask))
        type = elementTypes.finalize(type);
    }
    if (!type) {
      InFlightDiagnostic diag =
          report(loc, DiagCode::K0203,
                 "element type '" + name + "' of '" + item.name + "' cannot be computed from the arguments");
      attachHelp(diag) << "give it by keyword, '" << item.name << "(.., " << name << "=F64)'";
      return failure();
    }
    if (!bad && !elementTypes.restrict(type, mask)) {
      StringRef kind = mask == kFloats ? "a float" : "an integer";
      report(loc, DiagCode::K0202,
             "element type '" + name + "' of '" + item.name + "' is " + kind + ", not " + spell(type));
      bad = true;
    }
    types.push_back(type);
  }
  if (bad)
    return failure();
  args = std::move(values);
  keywords = std::move(names);
  auto instance = std::make_shared<Callable>(generic);
  instance->item = &getInstance(item, types, loc);
  return instance;
}

void Elaborator::checkUnusedGeneric(FunctionItem &item) {
  SmallVector<Type> types;
  for (auto &[name, mask] : item.elementVars)
    types.push_back(mask & kFloats ? Type(builder.getF32Type()) : Type(builder.getI32Type()));
  FunctionItem &instance = getInstance(item, types, item.op.getLoc());
  if (failed(elaborateSignature(instance)))
    return;
  if (instance.isTemplate) {
    checkUncalled(item.op);
    return;
  }
  (void)elaborateItem(instance);
}

LogicalResult Elaborator::addTypeArgument(SyntaxAttr syntax, FunctionItem &item, const ScopePtr &scope,
                                          std::vector<Val> &args, SmallVector<std::string> &keywords) {
  auto declared = surface::syntaxRange(item.op.getShapeVarsAttr());
  if (declared.empty()) {
    InFlightDiagnostic diag = report(syntax.getLocation(), DiagCode::K0205,
                                     "'" + item.name + "' declares no variable that '" + syntax.getText() +
                                         "' could stand for");
    attachHelp(diag) << "give a variable by keyword, '" << item.name << "(.., N=" << syntax.getText() << ")'";
    return diag;
  }
  SyntaxAttr var = *declared.begin();
  bool isElement = !var.getChildren().empty() && var.getChild(0).is(SyntaxKind::Name);
  Type type = syntax.is(SyntaxKind::DType) ? dtype(syntax.getText()) : elementVariable(syntax.getText(), *scope);
  if (isElement != static_cast<bool>(type))
    return report(syntax.getLocation(), DiagCode::K0206,
                  "'" + var.getText() + "' of '" + item.name + "' is " + (isElement ? "an element type" : "a size") +
                      ", and '" + syntax.getText() + "' is " + (type ? "an element type" : "none"));
  Val val;
  if (type) {
    val.kind = Val::Kind::DType;
    val.type = type;
  } else {
    DimAttr dim = elaborateDim(syntax, *scope);
    if (!dim)
      return failure();
    val = dimValue(dim, syntax.getLocation());
  }
  args.push_back(val);
  keywords.push_back(var.getText().str());
  return success();
}

} // namespace kina::elaborate
