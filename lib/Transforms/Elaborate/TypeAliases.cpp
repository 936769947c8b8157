//===- TypeAliases.cpp - Names of types stand for what they name ----------===//
//
// `type Batch<B> = tensor<F64, [B, 4]>;` is syntax for syntax: every use is replaced by the
// type with its arguments in place of the parameters, before anything is elaborated. So
// the rest of the elaborator knows no aliases.
//
//===----------------------------------------------------------------------===//

#include "SurfacePasses.h"

#include "Kina/Dialect/Surface/IR/Surface.h"
#include "Kina/Support/Diagnostics.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace kina;
using surface::SyntaxAttr;
using surface::SyntaxKind;

namespace {

class Expander {
public:
  explicit Expander(ModuleOp module) : context(module.getContext()) {
    for (auto alias : module.getOps<surface::TypeAliasOp>())
      aliases.try_emplace(alias.getName().getText(), alias);
  }

  LogicalResult run(ModuleOp module) {
    if (aliases.empty())
      return success();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SyntaxAttr node) -> std::optional<std::pair<Attribute, WalkResult>> {
      if (!node.is(SyntaxKind::TypeName) || !aliases.count(node.getText()))
        return std::nullopt;
      SyntaxAttr type = expand(node, {});
      failed |= !type;
      return std::make_pair(Attribute(type ? type : node), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(module);
    return failure(failed);
  }

private:
  using Arguments = llvm::StringMap<SyntaxAttr>;
  /// Aliases of aliases could make a type of any size.
  static constexpr unsigned kMaxNodes = 100000;

  /// The node with every alias replaced, and every name of `arguments`; null after an error.
  SyntaxAttr expand(SyntaxAttr node, const Arguments &arguments) {
    if (++nodes > kMaxNodes) {
      if (nodes == kMaxNodes + 1)
        emitError(node.getLocation(), DiagCode::K0107,
                  "the module's types have more than " + Twine(kMaxNodes) +
                      " parts when their names are replaced");
      return {};
    }
    if (node.is(SyntaxKind::Name))
      if (auto argument = arguments.find(node.getText()); argument != arguments.end())
        return argument->second;
    // A type that is a parameter: an element type, or what the user has a variable for.
    if (node.is(SyntaxKind::TypeName) && node.getChildren().empty())
      if (auto argument = arguments.find(node.getText()); argument != arguments.end()) {
        SyntaxAttr given = argument->second;
        return given.is(SyntaxKind::Name)
                   ? SyntaxAttr::get(context, SyntaxKind::TypeName, given.getText(), {}, given.getLoc())
                   : given;
      }
    bool changed = false;
    SmallVector<SyntaxAttr> children;
    for (SyntaxAttr child : node.getChildren()) {
      children.push_back(expand(child, arguments));
      if (!children.back())
        return {};
      changed |= children.back() != child;
    }
    if (node.is(SyntaxKind::TypeName))
      if (auto alias = aliases.find(node.getText()); alias != aliases.end())
        return instantiate(node, alias->second, children);
    if (!changed)
      return node;
    auto misfit = [&] {
      InFlightDiagnostic diag = emitError(node.getLocation(), DiagCode::K0206);
      diag << "a size and an element type cannot stand for each other: ";
      return diag;
    };
    return SyntaxAttr::getChecked(llvm::function_ref<InFlightDiagnostic()>(misfit), context,
                                  node.getKind(), node.getText(), ArrayRef<SyntaxAttr>(children),
                                  node.getLoc());
  }

  SyntaxAttr instantiate(SyntaxAttr use, surface::TypeAliasOp alias, ArrayRef<SyntaxAttr> given) {
    StringRef name = alias.getName().getText();
    auto params = surface::syntaxRange(alias.getShapeVarsAttr());
    size_t count = llvm::range_size(params);
    if (count != given.size()) {
      InFlightDiagnostic diag = emitError(use.getLocation(), DiagCode::K0205)
                                << "'" << name << "' takes " << count << " argument" << (count == 1 ? "" : "s")
                                << ", not " << given.size();
      diag.attachNote(alias.getName().getLocation()) << "the type is named here";
      return {};
    }
    if (!inProgress.insert(name).second) {
      emitError(use.getLocation(), DiagCode::K0209, "the type '" + name + "' is made of itself");
      return {};
    }
    Arguments arguments;
    for (auto [param, argument] : llvm::zip(params, given))
      arguments[param.getText()] = argument;
    SyntaxAttr type = expand(alias.getType(), arguments);
    inProgress.erase(name);
    if (!type)
      return {};
    // What is wrong with the whole is said where it is used.
    return SyntaxAttr::get(context, type.getKind(), type.getText(), type.getChildren(), use.getLoc());
  }

  MLIRContext *context;
  llvm::StringMap<surface::TypeAliasOp> aliases;
  llvm::StringSet<> inProgress;
  unsigned nodes = 0;
  bool failed = false;
};

} // namespace

LogicalResult kina::elaborate::expandTypeAliases(ModuleOp module) {
  return Expander(module).run(module);
}
