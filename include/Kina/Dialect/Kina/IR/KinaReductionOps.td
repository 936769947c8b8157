//===- KinaReductionOps.td - Reductions and row functions  *- tablegen -*-===//

#ifndef KINA_REDUCTION_OPS_TD
#define KINA_REDUCTION_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

// Reduces the axes, sorted and without repetition. With `keepdims` they stay with size 1.
// A full reduction without it gives a scalar.
class Kina_Reduction<string mnemonic, TypeConstraint type, string what, string more = "", list<Trait> traits = []>
    : Kina_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor]> {
  let summary = what;
  let description = what # " over `axes`; with `keepdims` they stay with size 1. " # more;
  let arguments = (ins type:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs type:$result);
  let assemblyFormat = "$operand `axes` $axes (`keepdims` $keepdims^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
  code inferBody = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> loc, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::kina::inferReduction(loc, adaptor.getOperand().getType(), adaptor.getAxes(),
                                    adaptor.getKeepdims(), ::mlir::Type(), types);
    }
    ::mlir::LogicalResult $cppClass::verify() { return ::kina::verifyReduction(*this, getOperand().getType(), getAxes()); }
  }];
  let extraClassDefinition = inferBody;
}

class Kina_DReduction<string mnemonic, TypeConstraint type, string what, string more = "">
    : Kina_Reduction<mnemonic, type, what, more, [Kina_Differentiable]>;

def Kina_SumOp : Kina_DReduction<"sum", Kina_Number, "the sum", "Of an empty axis 0.">;
def Kina_ProdOp : Kina_DReduction<"prod", Kina_Number, "the product", "Of an empty axis 1.">;
def Kina_MeanOp : Kina_DReduction<"mean", Kina_Float, "the mean", "The axes are not empty.">;
def Kina_VarOp : Kina_DReduction<"var", Kina_Float, "the variance", "Divides by the number of elements; the axes are not empty.">;
def Kina_ReduceMaxOp : Kina_DReduction<"reduce_max", Kina_Number, "the largest element",
    "NaN if there is one; ties share the derivative; the axes are not empty.">;
def Kina_ReduceMinOp : Kina_DReduction<"reduce_min", Kina_Number, "the smallest element",
    "NaN if there is one; ties share the derivative; the axes are not empty.">;
def Kina_LogSumExpOp : Kina_DReduction<"logsumexp", Kina_Float, "log of the sum of exponentials",
    "Without overflow; of an empty axis -infinity.">;
def Kina_NormOp : Kina_DReduction<"norm", Kina_Float, "the Euclidean norm", "Its derivative at 0 is 0.">;
def Kina_AnyOp : Kina_Reduction<"any", Kina_Bool, "whether an element is true", "Of an empty axis false.">;
def Kina_AllOp : Kina_Reduction<"all", Kina_Bool, "whether all elements are true", "Of an empty axis true.">;

class Kina_ArgReduction<string mnemonic, string what>
    : Kina_Op<mnemonic, [Pure, InferTypeOpAdaptor]> {
  let summary = "the position of the " # what;
  let description = "The position along `axis` of the " # what # ", the first of equals, as i32; the first NaN if there is one. The axis is not empty.";
  let arguments = (ins Kina_Number:$operand, I64Attr:$axis, UnitAttr:$keepdims);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand `axis` $axis (`keepdims` $keepdims^)? attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> loc, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::kina::inferReduction(loc, adaptor.getOperand().getType(), {static_cast<int64_t>(adaptor.getAxis())},
                                    adaptor.getKeepdims(), ::mlir::IntegerType::get(context, 32), types);
    }
    ::mlir::LogicalResult $cppClass::verify() {
      return ::kina::verifyReduction(*this, getOperand().getType(), {static_cast<int64_t>(getAxis())});
    }
  }];
}
def Kina_ArgMaxOp : Kina_ArgReduction<"argmax", "largest element">;
def Kina_ArgMinOp : Kina_ArgReduction<"argmin", "smallest element">;

class Kina_AxisFunction<string mnemonic, TypeConstraint type, string what>
    : Kina_Op<mnemonic, [Pure, SameOperandsAndResultType, Kina_Differentiable]> {
  let summary = what;
  let description = what # " along `axis`; the shape stays.";
  let arguments = (ins type:$operand, I64Attr:$axis);
  let results = (outs type:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::kina::verifyReduction(*this, getOperand().getType(), {static_cast<int64_t>(getAxis())});
    }
  }];
}
def Kina_CumsumOp : Kina_AxisFunction<"cumsum", Kina_Number, "the running sum">;
def Kina_FlipOp : Kina_AxisFunction<"flip", Kina_Any, "the elements in reverse order"> {
  let hasFolder = 1;
}
def Kina_SoftmaxOp : Kina_AxisFunction<"softmax", Kina_Float, "exp(x - m)/sum(exp(x - m)), m the largest element,">;
def Kina_LogSoftmaxOp : Kina_AxisFunction<"log_softmax", Kina_Float, "x - logsumexp(x)">;

def Kina_RecurrenceOp : Kina_Op<"recurrence", [Pure, SameOperandsAndResultType, Kina_Differentiable]> {
  let summary = "the states of a linear recurrence along an axis";
  let description = [{
    `s_0 = start`, `s_{j+1} = factors_j * s_j + terms_j`; element j of the result is `s_j`,
    the state before element j. With `reverse` the axis is run through from its end. Its
    derivatives are recurrences again; with `terms` 0 and `start` 1 the states are the
    products of all elements before, which the derivative of a product is made of.

    ```mlir
    %0 = kina.recurrence %x, %zeros from 1 axis 0 reverse : !kina.tensor<f64, [N]>
    ```
  }];
  let arguments = (ins Kina_Float:$factors, Kina_Float:$terms, I64Attr:$start, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Kina_Float:$result);
  let assemblyFormat = [{
    $factors `,` $terms `from` $start `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::kina::verifyReduction(*this, getFactors().getType(), {static_cast<int64_t>(getAxis())});
    }
  }];
}

#endif
