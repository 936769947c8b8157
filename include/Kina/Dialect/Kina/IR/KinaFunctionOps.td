//===- KinaFunctionOps.td - Functions and calls ----------*- tablegen -*-===//

#ifndef KINA_FUNCTION_OPS_TD
#define KINA_FUNCTION_OPS_TD

include "Kina/Dialect/Kina/IR/KinaBase.td"

def Kina_FuncOp : Kina_Op<"func", [AffineScope, AutomaticAllocationScope, FunctionOpInterface,
                                   IsolatedFromAbove]> {
  let summary = "a function over shape variables";
  let description = [{
    `shape_vars` lists the shape variables (`#kina.var`), each solvable from the
    argument shapes: an argument `index` with the argument attribute `kina.dim = "M"`
    is a run-time integer and the shape variable M at once. `preconditions` holds
    the `requires` clauses of the signature (`#kina.clause`). `effects` is the effect row. Public
    functions are exported: they get a symbol, entry checks and a header line.
    `custom_vjp` names the function that is this one's pullback (`@vjp(of=f)`).

    ```mlir
    kina.func public @f(%x: !kina.tensor<f64, [N]>) -> f64 attributes {shape_vars = [#kina.var<"N">]} {
      %0 = kina.sum %x axes [0] : !kina.tensor<f64, [N]> -> f64
      kina.return %0 : f64
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<ArrayAttr>:$shape_vars, OptionalAttr<ArrayAttr>:$preconditions,
                       OptionalAttr<ArrayAttr>:$effects, OptionalAttr<FlatSymbolRefAttr>:$custom_vjp,
                       OptionalAttr<Kina_CheckpointAttr>:$checkpoint);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    /// The names of the shape variables, in order.
    ::llvm::SmallVector<::llvm::StringRef> getShapeVarNames();
  }];
}

def Kina_ReturnOp : Kina_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator, Kina_OwnershipOpInterface]> {
  let summary = "ends a function";
  let description = [{ Yields the function's results; their types equal the signature's. }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let hasVerifier = 1;
}

def Kina_CallOp : Kina_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                 Kina_OwnershipOpInterface]> {
  let summary = "calls a function under an explicit substitution";
  let description = [{
    `subst` gives every shape variable of the callee as a dimension over the caller's
    variables, so that any pass can check the call by substitution alone.

    ```mlir
    %0 = kina.call @f(%x) subst {N = #kina.dim<2*M>} : (!kina.tensor<f64, [2*M]>) -> f64
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, Kina_Subst:$subst,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `subst` $subst attr-dict `:` functional-type($operands, $results)";
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    bool consumesOperand(unsigned operand, ::kina::ParameterConsumption consumes) {
      return consumes(getCalleeAttr(), operand);
    }
  }];
}

def Kina_GlobalOp : Kina_Op<"global", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "an immutable module-level value";
  let description = [{
    Evaluated once per loaded module; the region yields its value. A declaration
    without a value (empty region) is a trailing parameter of every exported function
    that uses it, which elaboration has already made explicit.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type);
  let regions = (region MaxSizedRegion<1>:$init);
  let assemblyFormat = "$sym_name `:` $type ($init^)? attr-dict";
  let hasVerifier = 1;
}

def Kina_GetGlobalOp : Kina_Op<"get_global", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "borrows a module-level value";
  let description = [{ The result has the global's type. }];
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Kina_Any:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
}

#endif
