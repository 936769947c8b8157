//===- KinaAttrs.td - Dimensions, predicates, placements -*- tablegen -*-===//

#ifndef KINA_ATTRS_TD
#define KINA_ATTRS_TD

include "Kina/Dialect/Kina/IR/KinaDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Kina_Attr<string name, string mnem, list<Trait> traits = []>
    : AttrDef<Kina_Dialect, name, traits> {
  let mnemonic = mnem;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Kina_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::kina";
  let genSpecializedAttr = 0;
}

def Kina_AtomKind : Kina_Enum<"AtomKind", "kind of an atom of a dimension", [
  I32EnumAttrCase<"Name", 0, "name">, I32EnumAttrCase<"FloorDiv", 1, "floordiv">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">]>;

def Kina_PredKind : Kina_Enum<"PredKind", "kind of a predicate", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
  I32EnumAttrCase<"LE", 2, "le">, I32EnumAttrCase<"LT", 3, "lt">,
  I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">,
  I32EnumAttrCase<"Not", 6, "not">]>;

def Kina_ClauseMode : Kina_Enum<"ClauseMode", "who answers for a clause", [
  I32EnumAttrCase<"Prove", 0, "prove">, I32EnumAttrCase<"Runtime", 1, "runtime">,
  I32EnumAttrCase<"Trusted", 2, "trusted">]>;

def Kina_CmpPredicate : I64EnumAttr<"CmpPredicate", "comparison", [
  I64EnumAttrCase<"eq", 0>, I64EnumAttrCase<"ne", 1>, I64EnumAttrCase<"lt", 2>,
  I64EnumAttrCase<"le", 3>, I64EnumAttrCase<"gt", 4>, I64EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::kina";
}

def Kina_GeluForm : I32EnumAttr<"GeluForm", "form of gelu", [
  I32EnumAttrCase<"erf", 0>, I32EnumAttrCase<"tanh", 1>]> {
  let cppNamespace = "::kina";
}
def Kina_TapeForm : Kina_Enum<"TapeForm", "how the frames of a tape are kept", [
  I32EnumAttrCase<"Bounded", 0, "bounded">, I32EnumAttrCase<"Growable", 1, "growable">]>;

def Kina_ObligationKind : I32EnumAttr<"ObligationKind", "what an obligation comes from", [
  I32EnumAttrCase<"shapes_equal", 0>, I32EnumAttrCase<"contraction", 1>,
  I32EnumAttrCase<"element_count", 2>, I32EnumAttrCase<"precondition", 3>,
  I32EnumAttrCase<"divisor", 4>, I32EnumAttrCase<"bounds", 5>,
  I32EnumAttrCase<"nonempty", 6>, I32EnumAttrCase<"check", 7>,
  I32EnumAttrCase<"branch", 8>, I32EnumAttrCase<"loop_state", 9>, I32EnumAttrCase<"mask", 10>]> {
  let cppNamespace = "::kina";
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

def Kina_DimAtomAttr : Kina_Attr<"DimAtom", "dim_atom"> {
  let summary = "an indivisible factor of a dimension";
  let description = [{
    A shape variable's name, or `floordiv`, `min` or `max` over dimensions in
    normal form. `mod` and `ceildiv` have no atom: `a mod b` is
    `a - b*(a floordiv b)` and `a ceildiv b` is `-((-a) floordiv b)`.
  }];
  let parameters = (ins EnumParameter<Kina_AtomKind>:$kind, StringRefParameter<"name">:$name,
                    ArrayRefParameter<"::kina::DimAttr">:$args);
  let hasCustomAssemblyFormat = 1;
}

def Kina_DimTermAttr : Kina_Attr<"DimTerm", "dim_term"> {
  let summary = "a coefficient times a product of atoms, sorted";
  let parameters = (ins "int64_t":$coefficient, ArrayRefParameter<"::kina::DimAtomAttr">:$factors);
  let hasCustomAssemblyFormat = 1;
}

def Kina_DimAttr : Kina_Attr<"Dim", "dim"> {
  let summary = "the size of an axis, a polynomial in normal form";
  let description = [{
    An integer polynomial over shape variables and the atoms `floordiv`, `min`,
    `max`, kept as a sum of terms in a fixed structural order. Equal polynomials are
    the same attribute, so equality is pointer comparison: `B*(H*D)` and `(B*H)*D`
    are one `#kina.dim`. Arithmetic on it is overflow-checked (see Dim.h).

    Example: `#kina.dim<8*q + 1>`, `#kina.dim<(N + 7) floordiv 8>`.
  }];
  let parameters = (ins ArrayRefParameter<"::kina::DimTermAttr">:$terms);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The constant `value`.
    static DimAttr getConstant(::mlir::MLIRContext *context, int64_t value);
    /// The shape variable `name`.
    static DimAttr getName(::mlir::MLIRContext *context, ::llvm::StringRef name);
    /// The value if this is a constant.
    std::optional<int64_t> getConstantValue() const;
    /// The name if this is a single shape variable with coefficient 1, else "".
    ::llvm::StringRef getSingleName() const;
    bool isConstant(int64_t value) const { return getConstantValue() == value; }
    bool isConstant() const { return getConstantValue().has_value(); }
  }];
}

def Kina_PredAttr : Kina_Attr<"Pred", "pred"> {
  let summary = "a predicate over dimensions";
  let description = [{
    Relations between dimensions joined by `and`, `or`, `not`. `a > b` is kept as
    `b < a`, `k | e` as `e mod k = 0`. The relations are spelled `=`, `ne`, `le`,
    `lt`; a connective inside another stands in square brackets.

    Example: `#kina.pred<D mod 8 = 0 and [2 le N or not (M = 1)]>`.
  }];
  let parameters = (ins EnumParameter<Kina_PredKind>:$kind,
                    ArrayRefParameter<"::kina::DimAttr">:$dims,
                    ArrayRefParameter<"::kina::PredAttr">:$preds);
  let hasCustomAssemblyFormat = 1;
}

def Kina_ClauseAttr : Kina_Attr<"Clause", "clause"> {
  let summary = "a predicate of a signature, with its source and who answers for it";
  let description = [{
    `prove`: callers inside the module prove it; `runtime`: checked when the
    function is entered; `trusted`: assumed. `text` is the user's spelling.
  }];
  let parameters = (ins "::kina::PredAttr":$pred, EnumParameter<Kina_ClauseMode>:$mode,
                    StringRefParameter<"source spelling">:$text, "::mlir::LocationAttr":$loc);
  let assemblyFormat = "`<` $pred `,` $mode `,` $text `,` $loc `>`";
}

def Kina_NoteAttr : Kina_Attr<"Note", "note"> {
  let summary = "what a message about an obligation adds, and where that stands";
  let parameters = (ins StringRefParameter<"text">:$text, "::mlir::LocationAttr":$loc);
  let assemblyFormat = "`<` $text `,` $loc `>`";
}

def Kina_ShapeVarAttr : Kina_Attr<"ShapeVar", "var"> {
  let summary = "a shape variable of a function and its least value";
  let parameters = (ins StringRefParameter<"name">:$name, DefaultValuedParameter<"int64_t", "1">:$least);
  let assemblyFormat = "`<` $name (`,` $least^)? `>`";
}

//===----------------------------------------------------------------------===//
// Placement, tags, checkpoints
//===----------------------------------------------------------------------===//

def Kina_PlacementAttr : Kina_Attr<"Placement", "place"> {
  let summary = "where a tensor lives: `@host`, `@cuda:global(0)`, or a variable `@P`";
  let parameters = (ins StringRefParameter<"host, cuda, or the name of a variable">:$name,
                    StringRefParameter<"memory space, empty for host and variables">:$space,
                    "int64_t":$device);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static PlacementAttr getHost(::mlir::MLIRContext *context);
    bool isHost() const { return getName() == "host"; }
    bool isVariable() const { return !isHost() && getSpace().empty(); }
  }];
}

def Kina_TagAttr : Kina_Attr<"Tag", "tag"> {
  let summary = "ties a performed RecordVJP to the differentiation it belongs to";
  let description = [{
    Without it nested differentiations confuse each other's perturbations: a
    `kina.perform` is handled by the `kina.handle` of the same tag.
  }];
  let parameters = (ins "int64_t":$id);
  let assemblyFormat = "`<` $id `>`";
}

def Kina_CheckpointAttr : Kina_Attr<"Checkpoint", "checkpoint"> {
  let summary = "the user's `@checkpoint` on a loop or a function";
  let description = [{
    `kind` is one of `auto` (bare), `sqrt`, `k` (interval in iterations), `levels`,
    `slots` (number of states), `budget` (bytes); `value` belongs to the last four.
  }];
  let parameters = (ins StringRefParameter<"kind">:$kind, DefaultValuedParameter<"int64_t", "0">:$value);
  let assemblyFormat = "`<` $kind (`,` $value^)? `>`";
  let genVerifyDecl = 1;
}

#endif
