//===- SurfaceExprOps.td - Expressions -------------------*- tablegen -*-===//

#ifndef KINA_SURFACE_EXPR_OPS_TD
#define KINA_SURFACE_EXPR_OPS_TD

include "Kina/Dialect/Surface/IR/SurfaceBase.td"

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

def Surface_LiteralOp : Surface_ExprOp<"literal"> {
  let summary = "an integer, float, string or boolean";
  let description = [{
    `value` is an `i64`, an `f64`, a string or a boolean attribute; `spelling` is the
    source text (of a string: what stands between the quotes). A minus sign is a
    `unary neg`, except for the least `i64`, whose spelling is `-9223372036854775808`.

    Example: `%0 = kina_surface.literal 1.000000e-10 : f64, "1e-10"`
  }];
  let arguments = (ins AnyAttr:$value, StrAttr:$spelling);
  let assemblyFormat = "$value `,` $spelling attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    LiteralKind getKind();
    int64_t getInt() { return ::llvm::cast<::mlir::IntegerAttr>(getValue()).getInt(); }
    double getFloat() { return ::llvm::cast<::mlir::FloatAttr>(getValue()).getValueAsDouble(); }
    bool getBool() { return ::llvm::cast<::mlir::BoolAttr>(getValue()).getValue(); }
    ::llvm::StringRef getString() { return ::llvm::cast<::mlir::StringAttr>(getValue()).getValue(); }
  }];
}

def Surface_NameOp : Surface_ExprOp<"name"> {
  let summary = "a name used as a value: a variable, function, operation or shape variable";
  let description = [{
    Example: `%0 = kina_surface.name "x"`
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
}

def Surface_DTypeOp : Surface_ExprOp<"dtype"> {
  let summary = "an element type used as a value, as in `cast(x, F64)`";
  let description = [{
    Example: `%0 = kina_surface.dtype "F64"`
  }];
  let arguments = (ins StrAttr:$dtype);
  let assemblyFormat = "$dtype attr-dict";
}

def Surface_UnitOp : Surface_ExprOp<"unit"> {
  let summary = "the value `()`";
  let assemblyFormat = "attr-dict";
}

def Surface_PlaceOp : Surface_ExprOp<"place"> {
  let summary = "a place as an argument, as in `copy_to_device(x, @cuda:global(0))`";
  let description = [{
    `place` is a syntax node of kind `place`.

    Example: `%0 = kina_surface.place <place "host">`
  }];
  let arguments = (ins Surface_SyntaxAttr:$place);
  let assemblyFormat = "$place attr-dict";
  let hasVerifier = 1;
}

def Surface_TypeExprOp : Surface_ExprOp<"type_expr"> {
  let summary = "a tensor type as a value, as in `tensor<F32, [D]>.broadcast([D])`";
  let description = [{
    `type` is a syntax node of kind `type_tensor`.
  }];
  let arguments = (ins Surface_SyntaxAttr:$type);
  let assemblyFormat = "$type attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Compounds
//===----------------------------------------------------------------------===//

def Surface_TupleOp : Surface_ExprOp<"tuple"> {
  let summary = "a tuple, its members named or not";
  let description = [{
    `(a, b)`, `(a,)`; with names `(W = a, b = c)`. A parenthesised expression is no tuple.
    `check (N = M)` is a tuple with one named member too: the grammar cannot tell them
    apart, elaboration reads it as an equation there.

    Example: `%2 = kina_surface.tuple(%0, %1) names ["W", "b"]`
  }];
  let arguments = (ins Variadic<Surface_Expr>:$members, OptionalAttr<StrArrayAttr>:$names);
  let assemblyFormat = "`(` $members `)` (`names` $names^)? attr-dict";
  let hasVerifier = 1;
}

def Surface_ListOp : Surface_ExprOp<"list"> {
  let summary = "`[a, b]`: a tensor, a list of sizes, or subscripts; elements may be slices";
  let description = [{
    Example: `%2 = kina_surface.list[%0, %1]`
  }];
  let arguments = (ins Variadic<Surface_Expr>:$elements);
  let assemblyFormat = "`[` $elements `]` attr-dict";
}

def Surface_SliceOp : Surface_ExprOp<"slice", [AttrSizedOperandSegments]> {
  let summary = "`lo:hi` in subscripts; either bound may be absent";
  let description = [{
    Only an operand of `index` or `list`.

    Example: `%2 = kina_surface.slice lo %0 hi %1`
  }];
  let arguments = (ins Optional<Surface_Expr>:$lo, Optional<Surface_Expr>:$hi);
  let assemblyFormat = "(`lo` $lo^)? (`hi` $hi^)? attr-dict";
  let hasVerifier = 1;
}

def Surface_UnaryOp : Surface_ExprOp<"unary"> {
  let summary = "a prefix operator: `-`, `not`, `!`, `ref`";
  let description = [{
    `bang` is dereference on a ref and `not` on a Bool.

    Example: `%1 = kina_surface.unary neg %0`
  }];
  let arguments = (ins Surface_UnaryKind:$kind, Surface_Expr:$operand);
  let assemblyFormat = "$kind $operand attr-dict";
}

def Surface_BinaryOp : Surface_ExprOp<"binary"> {
  let summary = "an infix operator";
  let description = [{
    `+ - * / % @ ** floordiv ceildiv mod`, comparisons, `and` (also written `&&`), `or`
    (`||`) and `::` (`cons`). Only inside the condition of a `check`: `eq_sign` is `=`,
    and `divides` is `INT | e`, whose left operand is the integer literal.

    Example: `%2 = kina_surface.binary matmul %0, %1`
  }];
  let arguments = (ins Surface_BinaryKind:$kind, Surface_Expr:$lhs, Surface_Expr:$rhs);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict";
}

def Surface_CallOp : Surface_ExprOp<"call"> {
  let summary = "a call of whatever the callee expression denotes";
  let description = [{
    `keywords`, if any argument is named, has one entry for every argument, empty for
    those without a name. `type_argument` is the `dtype` or `name` of
    `zeros<F64>([N])`. A method call `x.sum(axis=0)` is a call whose callee is a `field`;
    the juxtaposition `vjp g` in a `fun` body is a call.

    Example: `%3 = kina_surface.call %0(%1, %2) keywords ["", "axis"]`
  }];
  let arguments = (ins Surface_Expr:$callee, Variadic<Surface_Expr>:$args,
                   OptionalAttr<StrArrayAttr>:$keywords,
                   OptionalAttr<Surface_SyntaxAttr>:$type_argument);
  let assemblyFormat = [{
    $callee `(` $args `)` (`keywords` $keywords^)? (`type_argument` $type_argument^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The keyword of argument `index`, empty if it has none.
    ::llvm::StringRef getKeyword(unsigned index);
  }];
}

def Surface_FieldOp : Surface_ExprOp<"field"> {
  let summary = "`base.member`: a member of a tuple by name or number, or a method";
  let description = [{
    Example: `%1 = kina_surface.field %0, "W1"`
  }];
  let arguments = (ins Surface_Expr:$base, StrAttr:$member);
  let assemblyFormat = "$base `,` $member attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The member's number, if it is written as one that fits.
    std::optional<unsigned> getIndex();
    /// Where the member itself stands (the end of the operation's range).
    ::mlir::Location getMemberLocation();
  }];
}

def Surface_IndexOp : Surface_ExprOp<"index"> {
  let summary = "`base[subscripts]`, each an expression or a slice";
  let description = [{
    Example: `%3 = kina_surface.index %0[%1, %2]`
  }];
  let arguments = (ins Surface_Expr:$base, Variadic<Surface_Expr>:$subscripts);
  let assemblyFormat = "$base `[` $subscripts `]` attr-dict";
  let hasVerifier = 1;
}

def Surface_PerformOp : Surface_ExprOp<"perform"> {
  let summary = "`perform Op(args)`";
  let description = [{
    `keywords` as in `call`.

    Example: `%1 = kina_surface.perform "UniformLike"(%0)`
  }];
  let arguments = (ins StrAttr:$op_name, Variadic<Surface_Expr>:$args,
                   OptionalAttr<StrArrayAttr>:$keywords);
  let assemblyFormat = "$op_name `(` $args `)` (`keywords` $keywords^)? attr-dict";
  let hasVerifier = 1;
}

def Surface_FoldLeftOp : Surface_ExprOp<"fold_left"> {
  let summary = "`fold_left f start list`";
  let description = [{
    Example: `%3 = kina_surface.fold_left %0, %1, %2`
  }];
  let arguments = (ins Surface_Expr:$function, Surface_Expr:$start, Surface_Expr:$list);
  let assemblyFormat = "$function `,` $start `,` $list attr-dict";
}

//===----------------------------------------------------------------------===//
// Control flow, handlers, functions as values
//===----------------------------------------------------------------------===//

def Surface_IfOp : Surface_ExprOp<"if", [Surface_Regions]> {
  let summary = "`if (cond) { } else { }`";
  let description = [{
    The else region is empty if there is no `else`; `else if` is a region that yields the
    inner `if`.

    Example:
    ```mlir
    %1 = kina_surface.if %0 {
      ...
    } else {
      ...
    }
    ```
  }];
  let arguments = (ins Surface_Expr:$cond);
  let regions = (region AnyRegion:$thenRegion, AnyRegion:$elseRegion);
  let assemblyFormat = "$cond $thenRegion (`else` $elseRegion^)? attr-dict";
  let hasVerifier = 1;
}

def Surface_WhileOp : Surface_ExprOp<"while", [Surface_Regions]> {
  let summary = "`while (cond) [states] { }`";
  let description = [{
    `states` are syntax nodes of kind `state`, one for each of `inits`. The condition's
    region yields one expression; both regions see the states' names.

    Example:
    ```mlir
    %2 = kina_surface.while [#kina_surface.syntax<state "x">] = %1 cond {
      ...
    } do {
      ...
    }
    ```
  }];
  let arguments = (ins Surface_SyntaxArray:$states, Variadic<Surface_Expr>:$inits);
  let regions = (region AnyRegion:$cond, AnyRegion:$body);
  let assemblyFormat = "$states (`=` $inits^)? `cond` $cond `do` $body attr-dict";
  let hasVerifier = 1;
}

def Surface_ForOp : Surface_ExprOp<"for", [Surface_Regions]> {
  let summary = "`for (i in lo..hi) [states] { }`";
  let description = [{
    `var` is a syntax node of kind `name`; `states` as in `while`, possibly none. `lo` and
    `hi` do not see the states' names.
  }];
  let arguments = (ins Surface_SyntaxAttr:$var, Surface_Expr:$lo, Surface_Expr:$hi,
                   Surface_SyntaxArray:$states, Variadic<Surface_Expr>:$inits);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $var `in` $lo `to` $hi $states (`=` $inits^)? `do` $body attr-dict
  }];
  let hasVerifier = 1;
}

def Surface_HandleOp : Surface_ExprOp<"handle", [Surface_Regions]> {
  let summary = "`handle e with { cases }`";
  let description = [{
    `body` yields the handled expression. `cases` are syntax nodes of kind `return_case`
    or `effect_case` in source order, each with its region in `caseRegions`.
  }];
  let arguments = (ins Surface_SyntaxArray:$cases);
  let regions = (region AnyRegion:$body, VariadicRegion<AnyRegion>:$caseRegions);
  let assemblyFormat = "$body `with` $cases $caseRegions attr-dict";
  let hasVerifier = 1;
}

def Surface_LambdaOp : Surface_ExprOp<"lambda", [Surface_Regions]> {
  let summary = "`fn(params) -> T { }` as a value, also `(fun a b -> e)`";
  let description = [{
    `params` are syntax nodes of kind `param`.

    Example:
    ```mlir
    %0 = kina_surface.lambda [#kina_surface.syntax<param "x">] {
      ...
    }
    ```
  }];
  let arguments = (ins Surface_SyntaxArray:$params, OptionalAttr<Surface_SyntaxAttr>:$return_type);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$params (`->` $return_type^)? $body attr-dict";
  let hasVerifier = 1;
}

def Surface_BlockOp : Surface_ExprOp<"block", [Surface_Regions]> {
  let summary = "`{ statements; e }` as an expression";
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$body attr-dict";
}

#endif
