//===- SurfaceItemOps.td - Items of a module -------------*- tablegen -*-===//

#ifndef KINA_SURFACE_ITEM_OPS_TD
#define KINA_SURFACE_ITEM_OPS_TD

include "Kina/Dialect/Surface/IR/SurfaceBase.td"

def Surface_FnOp : Surface_ItemOp<"fn", [IsolatedFromAbove, Surface_Regions]> {
  let summary = "a function";
  let description = [{
    `name` is a syntax node of kind `name`. `shape_vars` holds what `<..>` or `forall(..)`
    declares, `params` nodes of kind `param`, `effects` nodes of kind `name`, `requires`
    predicates of all `requires` clauses in order.

    Example:
    ```mlir
    kina_surface.fn <name "f"> params [#kina_surface.syntax<param "x" [dtype "F64"]>]
        returns <dtype "F64"> {
      %0 = kina_surface.name "x"
      kina_surface.yield %0
    }
    ```
  }];
  let arguments = (ins Surface_NameSyntax:$name, Surface_SyntaxArray:$params,
                   OptionalAttr<Surface_SyntaxAttr>:$return_type,
                   OptionalAttr<Surface_SyntaxArray>:$shape_vars,
                   OptionalAttr<Surface_SyntaxArray>:$effects,
                   OptionalAttr<Surface_SyntaxArray>:$requires_clauses,
                   OptionalAttr<Surface_SyntaxArray>:$decorators);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $name (`shape_vars` $shape_vars^)? `params` $params (`returns` $return_type^)?
    (`effects` $effects^)? (`requires` $requires_clauses^)? (`decorators` $decorators^)?
    $body attr-dict
  }];
  let hasVerifier = 1;
}

def Surface_GlobalOp : Surface_ItemOp<"global", [IsolatedFromAbove, Surface_Regions]> {
  let summary = "`let name: T = e;` at module level";
  let description = [{
    The region yields the value; it is empty if there is none (a trailing parameter of
    every exported function that uses the name), and then the type is present.

    Example: `kina_surface.global <name "weight"> : <dtype "F64">`
  }];
  let arguments = (ins Surface_NameSyntax:$name, OptionalAttr<Surface_SyntaxAttr>:$type,
                   OptionalAttr<Surface_SyntaxArray>:$decorators);
  let regions = (region AnyRegion:$init);
  let assemblyFormat = [{
    $name (`:` $type^)? (`decorators` $decorators^)? (`=` $init^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Surface_EffectOp : Surface_ItemOp<"effect"> {
  let summary = "`effect E : | Op : T -> R`";
  let description = [{
    `operations` are syntax nodes of kind `effect_op`.
  }];
  let arguments = (ins Surface_NameSyntax:$name, Surface_SyntaxArray:$operations);
  let assemblyFormat = "$name $operations attr-dict";
  let hasVerifier = 1;
}

def Surface_BrokenOp : Surface_ItemOp<"broken"> {
  let summary = "an item that could not be read";
  let description = [{
    Stands where the text of an item was wrong, which has been reported, so that the rest of the
    module can be looked at: what uses its name is no error of its own. Without a name it may
    have defined anything.

    Example: `kina_surface.broken "f"`
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "($name^)? attr-dict";
}

def Surface_ImportOp : Surface_ItemOp<"import"> {
  let summary = "`import \"nn.kina\";`";
  let description = [{
    Example: `kina_surface.import "nn.kina"`
  }];
  let arguments = (ins StrAttr:$path);
  let assemblyFormat = "$path attr-dict";
}

def Surface_TypeAliasOp : Surface_ItemOp<"type_alias"> {
  let summary = "`type Net<I, H> = T;`";
  let description = [{
    Example: `kina_surface.type_alias <name "Scalar"> = <dtype "F64">`
  }];
  let arguments = (ins Surface_NameSyntax:$name, Surface_SyntaxAttr:$type,
                   OptionalAttr<Surface_SyntaxArray>:$shape_vars);
  let assemblyFormat = "$name (`shape_vars` $shape_vars^)? `=` $type attr-dict";
  let hasVerifier = 1;
}

#endif
