//===- SurfaceAttrs.td - The tree of static syntax -------*- tablegen -*-===//

#ifndef KINA_SURFACE_ATTRS_TD
#define KINA_SURFACE_ATTRS_TD

include "Kina/Dialect/Surface/IR/SurfaceDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"

class Surface_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::kina::surface";
  let genSpecializedAttr = 0;
}

class Surface_Kind<string sym, int value, string str> : I32EnumAttrCase<sym, value, str>;

def Surface_SyntaxKind : Surface_Enum<"SyntaxKind", "kind of a node of static syntax", [
  // Leaves.
  Surface_Kind<"Name", 0, "name">, Surface_Kind<"Int", 1, "int">,
  Surface_Kind<"Float", 2, "float">, Surface_Kind<"String", 3, "string">,
  Surface_Kind<"Bool", 4, "bool">, Surface_Kind<"Bytes", 5, "bytes">,
  Surface_Kind<"DType", 6, "dtype">,
  // Dimensions.
  Surface_Kind<"DimAdd", 10, "dim_add">, Surface_Kind<"DimSub", 11, "dim_sub">,
  Surface_Kind<"DimMul", 12, "dim_mul">, Surface_Kind<"DimFloorDiv", 13, "dim_floordiv">,
  Surface_Kind<"DimCeilDiv", 14, "dim_ceildiv">, Surface_Kind<"DimMod", 15, "dim_mod">,
  Surface_Kind<"DimMin", 16, "dim_min">, Surface_Kind<"DimMax", 17, "dim_max">,
  // Predicates.
  Surface_Kind<"PredEq", 20, "pred_eq">, Surface_Kind<"PredNe", 21, "pred_ne">,
  Surface_Kind<"PredLt", 22, "pred_lt">, Surface_Kind<"PredLe", 23, "pred_le">,
  Surface_Kind<"PredGt", 24, "pred_gt">, Surface_Kind<"PredGe", 25, "pred_ge">,
  Surface_Kind<"PredDivides", 26, "pred_divides">, Surface_Kind<"PredNot", 27, "pred_not">,
  Surface_Kind<"PredAnd", 28, "pred_and">, Surface_Kind<"PredOr", 29, "pred_or">,
  // Types.
  Surface_Kind<"TypeTensor", 30, "type_tensor">, Surface_Kind<"TypeName", 31, "type_name">,
  Surface_Kind<"TypeTuple", 32, "type_tuple">,
  Surface_Kind<"TypeNamedTuple", 33, "type_named_tuple">,
  Surface_Kind<"TypeMember", 34, "type_member">, Surface_Kind<"TypeFn", 35, "type_fn">,
  Surface_Kind<"TypeRef", 36, "type_ref">, Surface_Kind<"Dims", 37, "dims">,
  Surface_Kind<"Preds", 38, "preds">, Surface_Kind<"Types", 39, "types">,
  Surface_Kind<"Effects", 40, "effects">, Surface_Kind<"Place", 41, "place">,
  // Binders.
  Surface_Kind<"PatternName", 50, "pattern_name">, Surface_Kind<"PatternWild", 51, "pattern_wild">,
  Surface_Kind<"PatternTuple", 52, "pattern_tuple">, Surface_Kind<"Param", 53, "param">,
  Surface_Kind<"ShapeVar", 54, "shape_var">, Surface_Kind<"State", 55, "state">,
  Surface_Kind<"ReturnCase", 56, "return_case">, Surface_Kind<"EffectCase", 57, "effect_case">,
  Surface_Kind<"EffectOp", 58, "effect_op">,
  // Decorators.
  Surface_Kind<"Decorator", 60, "decorator">, Surface_Kind<"Keyword", 61, "keyword">]>;

def Surface_LiteralKind : Surface_Enum<"LiteralKind", "kind of a literal", [
  I32EnumAttrCase<"Int", 0, "int">, I32EnumAttrCase<"Float", 1, "float">,
  I32EnumAttrCase<"String", 2, "string">, I32EnumAttrCase<"Bool", 3, "bool">]>;

def Surface_UnaryKind : I32EnumAttr<"UnaryKind", "prefix operator", [
  I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Not", 1, "not">,
  I32EnumAttrCase<"Bang", 2, "bang">, I32EnumAttrCase<"Ref", 3, "ref">]> {
  let cppNamespace = "::kina::surface";
}

def Surface_BinaryKind : I32EnumAttr<"BinaryKind", "infix operator", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Rem", 4, "rem">, I32EnumAttrCase<"MatMul", 5, "matmul">,
  I32EnumAttrCase<"Pow", 6, "pow">, I32EnumAttrCase<"FloorDiv", 7, "floordiv">,
  I32EnumAttrCase<"CeilDiv", 8, "ceildiv">, I32EnumAttrCase<"Mod", 9, "mod">,
  I32EnumAttrCase<"Eq", 10, "eq">, I32EnumAttrCase<"Ne", 11, "ne">,
  I32EnumAttrCase<"Lt", 12, "lt">, I32EnumAttrCase<"Le", 13, "le">,
  I32EnumAttrCase<"Gt", 14, "gt">, I32EnumAttrCase<"Ge", 15, "ge">,
  I32EnumAttrCase<"And", 16, "and">, I32EnumAttrCase<"Or", 17, "or">,
  I32EnumAttrCase<"Cons", 18, "cons">, I32EnumAttrCase<"EqSign", 19, "eq_sign">,
  I32EnumAttrCase<"Divides", 20, "divides">]> {
  let cppNamespace = "::kina::surface";
}

def Surface_SyntaxAttr : AttrDef<Surface_Dialect, "Syntax"> {
  let mnemonic = "syntax";
  let summary = "a node of static syntax: kind, text, children, location";
  let description = [{
    The children of each kind, in order. `x?` may be absent, `x*` is any number; "text"
    says what `getText()` holds, and is empty where it isn't mentioned.

    | kind | text | children |
    |---|---|---|
    | `name` | the identifier | |
    | `int`, `float` | the literal with its sign, without spaces | |
    | `string` | what stands between the quotes | |
    | `bool` | `true` or `false` | |
    | `bytes` | `64MiB`, without spaces | |
    | `dtype` | `F64` and so on | |
    | `dim_add` `dim_sub` `dim_mul` `dim_floordiv` `dim_ceildiv` `dim_mod` `dim_min` `dim_max` | | two *dim* |
    | `pred_eq` `pred_ne` `pred_lt` `pred_le` `pred_gt` `pred_ge` | | two *dim* |
    | `pred_divides` | | `int`, *dim*: `k \| e` |
    | `pred_not` | | *pred* |
    | `pred_and` `pred_or` | | two *pred* |
    | `type_tensor` | | `dtype` or `name`, `dims`, `preds`, `place`? |
    | `type_name` | the name (`Index`, `unit`, `Tensor`, an alias, a type variable) | (*dim* or `dtype`)\* |
    | `type_tuple` | | *type*\* |
    | `type_named_tuple` | | `type_member`\* |
    | `type_member` | the member's name | *type* |
    | `type_fn` | | `types` (each may be `type_ref`), result *type*, `effects` |
    | `type_ref` | | *type*: `&T` |
    | `dims`, `preds`, `types`, `effects` | | *dim*\*, *pred*\*, *type*\*, `name`\* |
    | `place` | `host`, `cuda` or a variable | nothing, or `name` (`global`) and `int` |
    | `pattern_name` | the name | |
    | `pattern_wild` | | |
    | `pattern_tuple` | | *pattern*\* |
    | `param` | the name | *type*? (may be `type_ref`), then *literal*? (default value; never without a type) |
    | `shape_var` | the name | nothing, `int` (least value), or `name` (`float`, `int`, `any`) |
    | `state` | the loop state's name | *type*? |
    | `return_case` | the name that takes the result | |
    | `effect_case` | the operation's name | `pattern_tuple` of `pattern_name`s (payload), `pattern_name` (continuation) |
    | `effect_op` | the operation's name | argument *type*, result *type* |
    | `decorator` | the name | (`keyword` or *literal*)\* |
    | `keyword` | the name before `=` | *literal* |

    *dim* is `int`, `name` or a `dim_` kind; *type* is `dtype` or a `type_` kind; *literal* is a
    leaf but `dtype`. `(T)` and the pattern `(x)` are `T` and `x`; `(T,)` and `(x,)` are
    tuples of one. `(A -> B)` is a `type_fn` of one parameter.

    In text a node is its kind, then its text, children and location where it has them.

    Example: `#kina_surface.syntax<type_tensor [dtype "F64", dims [name "N" loc("f.kina":1:18 to :19)], preds]>`.
  }];
  let parameters = (ins EnumParameter<Surface_SyntaxKind>:$kind,
                    StringRefParameter<"identifier or literal">:$text,
                    ArrayRefParameter<"::kina::surface::SyntaxAttr">:$children,
                    "::mlir::LocationAttr":$loc);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    SyntaxAttr getChild(unsigned index) const { return getChildren()[index]; }
    bool is(SyntaxKind kind) const { return getKind() == kind; }
    /// The node's location as a value that diagnostics take.
    ::mlir::Location getLocation() const { return ::mlir::Location(getLoc()); }
    /// The value of an `int` or `bytes`, if it fits.
    std::optional<int64_t> getIntValue() const;
    /// The value of a `float` or `int`.
    std::optional<double> getFloatValue() const;
  }];
}

def Surface_NameSyntax
    : Attr<CPred<"::llvm::isa<::kina::surface::SyntaxAttr>($_self) && "
                 "::llvm::cast<::kina::surface::SyntaxAttr>($_self).is(::kina::surface::SyntaxKind::Name)">,
           "syntax node of kind 'name'"> {
  let storageType = "::kina::surface::SyntaxAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
}

def Surface_SyntaxArray : TypedArrayAttrBase<Surface_SyntaxAttr, "array of syntax nodes">;

#endif
