//===- KinaInterfaces.td - What a rule attaches to -------*- tablegen -*-===//

#ifndef KINA_INTERFACES_TD
#define KINA_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Kina_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::kina";
  let description = [{
    An operation that knows its derivative. Rules are destination style: every
    wanted operand may come with an accumulator, and the rule returns accumulator
    plus contribution, fused where the operation allows it (a matmul into its
    `outs`). That keeps one FMA chain over all uses, and the bits of a loop's
    gradient independent of how the loop was cut up.

    The rule may use the operation's operands and results: what it uses becomes a
    residual. Operations without this interface have no derivative (K0604), unless
    all their operands are integers or booleans.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the pullback at the builder's insertion point. `cotangents` has one entry
      per result, null where the cotangent is absent (a symbolic zero); at least one
      is present. `accumulators` and `wanted` have one entry per operand; an absent
      accumulator is null. Returns one value per operand, null where unwanted or
      where the contribution is zero and no accumulator came.
    }],
    "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "emitVJP",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::mlir::ValueRange":$accumulators, "const ::llvm::BitVector &":$wanted)>,
    InterfaceMethod<[{
      Emits the pushforward at the builder's insertion point. `tangents` has one entry
      per operand, null for a symbolic zero; at least one is present. Returns one value
      per result, null for a symbolic zero.
    }],
    "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "emitJVP",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$tangents),
    "", [{
      return ::mlir::failure();
    }]>,
    InterfaceMethod<[{
      Whether the derivative in this operand can be non-zero. Integers, booleans and
      indices never are; a `floor` or a detached operand is not either.
    }],
    "bool", "isDifferentiableIn", (ins "unsigned":$operand), "", [{
      return ::kina::hasTangent($_op->getOperand(operand).getType());
    }]>,
    InterfaceMethod<[{
      What it costs to compute the results again instead of keeping them, in units of
      one element-wise pass; the residual min-cut weighs it against bytes.
    }],
    "unsigned", "getRecomputeCost", (ins), "", [{ return 1; }]>
  ];
}

def Kina_OwnershipOpInterface : OpInterface<"OwnershipOpInterface"> {
  let cppNamespace = "::kina";
  let description = [{
    An operation that takes tensors over: who gives it one cannot use it any more. All
    other operations only read their operands, and their results are fresh.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the operand is taken over. An operand that goes to a parameter of a function
      is what `consumes` says of the parameter.
    }],
    "bool", "consumesOperand",
    (ins "unsigned":$operand, "::kina::ParameterConsumption":$consumes), "", [{
      return true;
    }]>
  ];
}

def Kina_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::kina";
  let description = [{
    An operation that maps scalars to scalars: on tensors it does so element by
    element, all operands and the result having one shape. The rule that lowers it
    is stated once, on scalars.
  }];
}

#endif
