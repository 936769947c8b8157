//===- KinaTensorOps.td - Contraction, shape, making, indexing *- tablegen -*-===//

#ifndef KINA_TENSOR_OPS_TD
#define KINA_TENSOR_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

def Kina_MatmulOp : Kina_Op<"matmul", [Pure, InferTypeOpAdaptor, Kina_Differentiable]> {
  let summary = "matrix product over leading batch axes";
  let description = [{
    `[..., M, K] x [..., K, N] -> [..., M, N]`, operands of rank 2 and more with equal
    batch dimensions; a transposed operand is read with its last two axes exchanged. With
    `outs` the products are added to it, as one FMA chain that starts there; without,
    the chain starts at +0.

    ```mlir
    %0 = kina.matmul %a, %b transpose_b outs %c : !kina.tensor<f64, [M, K]>, !kina.tensor<f64, [N, K]>
    ```
  }];
  let arguments = (ins Kina_Tensor:$lhs, Kina_Tensor:$rhs, Optional<Kina_Tensor>:$outs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? (`outs` $outs^ `:` type($outs))?
    attr-dict `:` type($lhs) `,` type($rhs)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def Kina_BroadcastOp : Kina_Op<"broadcast", [Pure, Kina_Differentiable]> {
  let summary = "repeats a value along new axes and axes of size 1";
  let description = [{
    NumPy's alignment: axes are matched from the last; an axis of the operand is equal to
    the result's, or the literal 1. A scalar fills the result.
  }];
  let arguments = (ins Kina_Any:$operand);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kina_ReshapeOp : Kina_Op<"reshape", [Pure, Kina_Differentiable]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    The element counts are equal, by normal form, or by an obligation that stands before
    it; then `checked` is set and the run time compares them (K0801).
    Between a scalar and a tensor of one element it changes the type only.
  }];
  let arguments = (ins Kina_Any:$operand, UnitAttr:$checked);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand (`checked` $checked^)? attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kina_TransposeOp : Kina_Op<"transpose", [Pure, InferTypeOpAdaptor, Kina_Differentiable]> {
  let summary = "permutes axes";
  let description = [{ Axis i of the result is axis `perm[i]` of the operand. }];
  let arguments = (ins Kina_Tensor:$operand, DenseI64ArrayAttr:$perm);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$operand `perm` $perm attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kina_ConcatOp : Kina_Op<"concat", [Pure, InferTypeOpAdaptor, Kina_Differentiable]> {
  let summary = "tensors one behind the other along an axis";
  let description = [{
    The sizes of `axis` add up; every other axis is the same in all of them.

    ```mlir
    %0 = kina.concat %a, %b axis 1 : !kina.tensor<f64, [M, 2]>, !kina.tensor<f64, [M, N]>
    ```
  }];
  let arguments = (ins Variadic<Kina_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` type($inputs)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

def Kina_ConstantOp : Kina_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a scalar constant";
  let description = [{ A constant tensor is a `kina.broadcast` or a `kina.from_elements` of scalars. }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Kina_Scalar:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Kina_FromElementsOp : Kina_Op<"from_elements", [Pure, Kina_Differentiable]> {
  let summary = "a tensor of the given scalars in row-major order";
  let description = [{ The shape is static and has as many elements as there are operands. }];
  let arguments = (ins Variadic<Kina_Any>:$elements);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type($elements, $result)";
  let hasVerifier = 1;
}

def Kina_IotaOp : Kina_Op<"iota", [Pure]> {
  let summary = "the position along an axis";
  let description = [{ Element at i is `i[axis]`, in a number type. }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kina_OneHotOp : Kina_Op<"one_hot", [Pure]> {
  let summary = "1 at the given class, 0 elsewhere";
  let description = [{
    `[I...] -> [I..., C]`: element (i, c) is 1 where `c = indices[i]`. An index out of
    range gives a row of zeros.
  }];
  let arguments = (ins Kina_Integer:$indices);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$indices attr-dict `:` type($indices) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

def Kina_SliceOp : Kina_Op<"slice", [Pure, Kina_Differentiable]> {
  let summary = "a box of a tensor";
  let description = [{
    One offset and one size per axis of the operand; axes in `dropped`, of size 1, are
    left out of the result. Without `in_bounds` the box is checked when executed (K0803).
    A box that drops every axis is a scalar.

    ```mlir
    %0 = kina.slice %x[%i, %c0] sizes [#kina.dim<1>, #kina.dim<N>] dropped [0]
        : !kina.tensor<f64, [M, N]> to !kina.tensor<f64, [N]>
    ```
  }];
  let arguments = (ins Kina_Tensor:$operand, Variadic<Index>:$offsets, Kina_DimArrayAttr:$sizes,
                       DenseI64ArrayAttr:$dropped, UnitAttr:$in_bounds);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = [{
    $operand `[` $offsets `]` `sizes` $sizes `dropped` $dropped (`in_bounds` $in_bounds^)? attr-dict
    `:` type($operand) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Kina_UpdateOp : Kina_Op<"update", [Pure, AllTypesMatch<["dest", "result"]>, Kina_Differentiable]> {
  let summary = "a tensor with a box of it replaced";
  let description = [{
    The box as in `kina.slice`; `value` has the type that slice would have. In place where
    `dest` is owned and this is its last use.
  }];
  let arguments = (ins Kina_Any:$value, Kina_Tensor:$dest, Variadic<Index>:$offsets,
                       Kina_DimArrayAttr:$sizes, DenseI64ArrayAttr:$dropped, UnitAttr:$in_bounds);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = [{
    $value `into` $dest `[` $offsets `]` `sizes` $sizes `dropped` $dropped (`in_bounds` $in_bounds^)? attr-dict
    `:` type($value) `into` type($dest)
  }];
  let hasVerifier = 1;
}

def Kina_GatherOp : Kina_Op<"gather", [Pure, InferTypeOpAdaptor, Kina_Differentiable]> {
  let summary = "slices of a tensor at the given positions of an axis";
  let description = [{
    `x: [A..., V, R...]`, `indices: [I...]`, V at `axis` -> `[A..., I..., R...]`. An index
    out of range is K0803.
  }];
  let arguments = (ins Kina_Tensor:$operand, Kina_Integer:$indices, I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$operand `at` $indices `axis` $axis attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

def Kina_ScatterAddOp : Kina_Op<"scatter_add", [Pure, AllTypesMatch<["dest", "result"]>, Kina_Differentiable]> {
  let summary = "adds slices at the given positions of an axis";
  let description = [{
    The transpose of `kina.gather`: `dest[..., indices[i], ...] += values[..., i, ...]`, in
    index order, so that equal indices add deterministically. Out of range is K0803.
  }];
  let arguments = (ins Kina_Tensor:$dest, Kina_Integer:$indices, Kina_Any:$values, I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = [{
    $values `into` $dest `at` $indices `axis` $axis attr-dict `:` type($values) `into` type($dest) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Kina_TakeAlongOp : Kina_Op<"take_along", [Pure, InferTypeOpAdaptor, Kina_Differentiable]> {
  let summary = "one element per position along an axis";
  let description = [{
    `result[.., j, ..] = x[.., indices[.., j, ..], ..]` at `axis`; operand and indices
    agree in every other axis. Out of range is K0803.
  }];
  let arguments = (ins Kina_Tensor:$operand, Kina_Tensor:$indices, I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = "$operand `at` $indices `axis` $axis attr-dict `:` type($operand) `,` type($indices)";
  let hasVerifier = 1;
}

def Kina_PutAlongAddOp : Kina_Op<"put_along_add", [Pure, AllTypesMatch<["dest", "result"]>, Kina_Differentiable]> {
  let summary = "adds one element per position along an axis";
  let description = [{
    The transpose of `kina.take_along`: `dest[.., indices[.., j, ..], ..] += values[.., j, ..]`,
    in row-major order of the indices. Out of range is K0803.
  }];
  let arguments = (ins Kina_Tensor:$dest, Kina_Tensor:$indices, Kina_Tensor:$values, I64Attr:$axis);
  let results = (outs Kina_Tensor:$result);
  let assemblyFormat = [{
    $values `into` $dest `at` $indices `axis` $axis attr-dict `:` type($values) `into` type($dest) `,` type($indices)
  }];
  let hasVerifier = 1;
}

#endif
