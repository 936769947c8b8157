//===- KinaElementwiseOps.td - Element by element --------*- tablegen -*-===//

#ifndef KINA_ELEMENTWISE_OPS_TD
#define KINA_ELEMENTWISE_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

// Operands and result have one shape; broadcasting is `kina.broadcast`'s.
class Kina_Elementwise<string mnemonic, list<Trait> traits = []>
    : Kina_Op<mnemonic, traits # [Pure, Elementwise, Kina_ElementwiseOpInterface]>;

class Kina_Unary<string mnemonic, TypeConstraint type, list<Trait> traits = []>
    : Kina_Elementwise<mnemonic, traits # [SameOperandsAndResultType]> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

// A function of floats with a derivative.
class Kina_FloatFunction<string mnemonic, string formula>
    : Kina_Unary<mnemonic, Kina_Float, [Kina_Differentiable]> {
  let summary = formula;
  let description = formula # ", element by element; floats only.";
}

class Kina_Binary<string mnemonic, TypeConstraint type, list<Trait> traits = []>
    : Kina_Elementwise<mnemonic, traits # [SameOperandsAndResultType]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

class Kina_Arithmetic<string mnemonic, string formula, TypeConstraint type = Kina_Number>
    : Kina_Binary<mnemonic, type, [Kina_Differentiable]> {
  let summary = formula;
  let description = formula # ", element by element; integers wrap.";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def Kina_NegOp : Kina_Unary<"neg", Kina_Number, [Kina_Differentiable]> {
  let summary = "-x";
  let description = [{ The negative; integers wrap. }];
}
def Kina_AbsOp : Kina_Unary<"abs", Kina_Number, [Kina_Differentiable]> {
  let summary = "|x|";
  let description = [{ The absolute value; its derivative at 0 is 0. }];
}
def Kina_SignOp : Kina_Unary<"sign", Kina_Number, [Kina_Differentiable]> {
  let summary = "-1, 0 or 1";
  let description = [{ The sign, which keeps a zero's sign and a NaN; its derivative is 0 everywhere. }];
}
def Kina_SquareOp : Kina_Unary<"square", Kina_Number, [Kina_Differentiable]> {
  let summary = "x*x";
  let description = [{ The square; integers wrap. }];
}

def Kina_SqrtOp : Kina_FloatFunction<"sqrt", "the square root of x">;
def Kina_RsqrtOp : Kina_FloatFunction<"rsqrt", "1/sqrt(x)">;
def Kina_ExpOp : Kina_FloatFunction<"exp", "e to the power x">;
def Kina_Expm1Op : Kina_FloatFunction<"expm1", "exp(x) - 1, accurate near 0">;
def Kina_LogOp : Kina_FloatFunction<"log", "the natural logarithm of x">;
def Kina_Log1pOp : Kina_FloatFunction<"log1p", "log(1 + x), accurate near 0">;
def Kina_SinOp : Kina_FloatFunction<"sin", "the sine of x in radians">;
def Kina_CosOp : Kina_FloatFunction<"cos", "the cosine of x in radians">;
def Kina_TanOp : Kina_FloatFunction<"tan", "the tangent of x in radians">;
def Kina_AsinOp : Kina_FloatFunction<"asin", "the arc sine of x">;
def Kina_AcosOp : Kina_FloatFunction<"acos", "the arc cosine of x">;
def Kina_AtanOp : Kina_FloatFunction<"atan", "the arc tangent of x">;
def Kina_SinhOp : Kina_FloatFunction<"sinh", "the hyperbolic sine of x">;
def Kina_CoshOp : Kina_FloatFunction<"cosh", "the hyperbolic cosine of x">;
def Kina_TanhOp : Kina_FloatFunction<"tanh", "the hyperbolic tangent of x">;
def Kina_SigmoidOp : Kina_FloatFunction<"sigmoid", "1/(1 + exp(-x))">;
def Kina_LogSigmoidOp : Kina_FloatFunction<"log_sigmoid", "log(sigmoid(x)), without overflow">;
def Kina_SoftplusOp : Kina_FloatFunction<"softplus", "log(1 + exp(x)), without overflow">;
def Kina_SiluOp : Kina_FloatFunction<"silu", "x*sigmoid(x)">;
def Kina_ReluOp : Kina_FloatFunction<"relu", "max(x, 0) with derivative 0 at 0">;
def Kina_ErfOp : Kina_FloatFunction<"erf", "the error function of x">;
def Kina_FloorOp : Kina_FloatFunction<"floor", "the largest integer not above x (derivative 0)">;
def Kina_CeilOp : Kina_FloatFunction<"ceil", "the smallest integer not below x (derivative 0)">;
def Kina_RoundOp : Kina_FloatFunction<"round", "the nearest integer, ties to even (derivative 0)">;

def Kina_GeluOp : Kina_Elementwise<"gelu", [SameOperandsAndResultType, Kina_Differentiable]> {
  let summary = "x times the normal distribution function of x";
  let description = [{ `form` is `erf`, exact, or `tanh`, the usual approximation. }];
  let arguments = (ins Kina_Float:$operand, DefaultValuedAttr<Kina_GeluForm, "::kina::GeluForm::erf">:$form);
  let results = (outs Kina_Float:$result);
  let assemblyFormat = "$operand $form attr-dict `:` type($result)";
}

def Kina_NotOp : Kina_Unary<"not", Kina_IntegerOrBool> {
  let summary = "the logical or bitwise complement";
  let description = [{ Logical on booleans, bitwise on integers. }];
}

class Kina_FloatPredicate<string mnemonic, string what> : Kina_Elementwise<mnemonic, [
    InferTypeOpAdaptor]> {
  let summary = what;
  let description = what # ", element by element; a boolean of the operand's shape.";
  let arguments = (ins Kina_Float:$operand);
  let results = (outs Kina_Bool:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location>, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(::kina::withElementType(adaptor.getOperand().getType(),
                                              ::mlir::IntegerType::get(context, 1)));
      return ::mlir::success();
    }
  }];
}
def Kina_IsNanOp : Kina_FloatPredicate<"isnan", "whether x is a NaN">;
def Kina_IsFiniteOp : Kina_FloatPredicate<"isfinite", "whether x is neither infinite nor a NaN">;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def Kina_AddOp : Kina_Arithmetic<"add", "a + b">;
def Kina_SubOp : Kina_Arithmetic<"sub", "a - b">;
def Kina_MulOp : Kina_Arithmetic<"mul", "a * b">;
def Kina_DivOp : Kina_Arithmetic<"div", "a / b; floor division on integers, by zero K0804">;
def Kina_ModOp : Kina_Arithmetic<"mod", "a - b*floor(a/b); on integers by zero K0804">;
def Kina_PowOp : Kina_Arithmetic<"pow", "a to the power b; integer powers need b >= 0">;
def Kina_MinOp : Kina_Arithmetic<"min", "the smaller of a and b, NaN if one is; ties share the derivative">;
def Kina_MaxOp : Kina_Arithmetic<"max", "the larger of a and b, NaN if one is; ties share the derivative">;
def Kina_Atan2Op : Kina_Arithmetic<"atan2", "the angle of the point (b, a)", Kina_Float>;

class Kina_Bitwise<string mnemonic, string what, TypeConstraint type = Kina_IntegerOrBool>
    : Kina_Binary<mnemonic, type> {
  let summary = what;
  let description = what # ", element by element.";
}
def Kina_AndOp : Kina_Bitwise<"and", "logical and on booleans, bitwise on integers">;
def Kina_OrOp : Kina_Bitwise<"or", "logical or on booleans, bitwise on integers">;
def Kina_XorOp : Kina_Bitwise<"xor", "exclusive or">;
def Kina_ShiftLeftOp : Kina_Bitwise<"shift_left", "a shifted left by b; 0 when b is not below the width", Kina_Integer>;
def Kina_ShiftRightOp : Kina_Bitwise<"shift_right", "a shifted right by b; the sign is kept for signed integers", Kina_Integer>;

def Kina_CmpOp : Kina_Elementwise<"cmp", [SameTypeOperands, InferTypeOpAdaptor]> {
  let summary = "a comparison";
  let description = [{
    `eq ne lt le gt ge`; with a NaN only `ne` holds. The result is a boolean of the
    operands' shape.
  }];
  let arguments = (ins Kina_CmpPredicate:$predicate, Kina_Any:$lhs, Kina_Any:$rhs);
  let results = (outs Kina_Bool:$result);
  let assemblyFormat = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)";
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

def Kina_SelectOp : Kina_Elementwise<"select", [AllTypesMatch<["onTrue", "onFalse", "result"]>,
                                                Kina_Differentiable]> {
  let summary = "one of two values, element by element";
  let description = [{
    The mask has the shape of the arms, or is a scalar. The derivative goes through the
    chosen arm only.
  }];
  let arguments = (ins Kina_Bool:$mask, Kina_Any:$onTrue, Kina_Any:$onFalse);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$mask `,` $onTrue `,` $onFalse attr-dict `:` type($mask) `,` type($result)";
  let hasVerifier = 1;
}

def Kina_CastOp : Kina_Elementwise<"cast", [Kina_Differentiable]> {
  let summary = "conversion to another element type";
  let description = [{
    Rounds to nearest even; a float becomes an integer towards zero, saturating, a NaN
    becomes 0; a boolean becomes 0 or 1, a number becomes `x != 0`.
  }];
  let arguments = (ins Kina_Any:$operand);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Kina_Identity<string mnemonic, string what, string more, list<Trait> traits = []>
    : Kina_Op<mnemonic, traits # [SameOperandsAndResultType, Kina_Differentiable]> {
  let summary = what;
  let description = more;
  let arguments = (ins Kina_Any:$operand);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}
def Kina_CopyOp : Kina_Identity<"copy", "a fresh owned copy", "The operand stays usable.", [Pure]>;
def Kina_DetachOp : Kina_Identity<"detach", "the value without its derivative",
                                  "The identity, through which no tangent and no cotangent passes.", [Pure]>;

def Kina_DropOp : Kina_Op<"drop", [Kina_OwnershipOpInterface]> {
  let summary = "ends a value's life";
  let description = [{ Consumes its operand; a tensor's memory may be reused from here on. }];
  let arguments = (ins Kina_Any:$operand);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif
