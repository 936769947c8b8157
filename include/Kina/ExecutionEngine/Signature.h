//===- Signature.h - What a compiled function takes and gives --*- C++ -*-===//

#ifndef KINA_EXECUTIONENGINE_SIGNATURE_H
#define KINA_EXECUTIONENGINE_SIGNATURE_H

#include "Kina/Dialect/Kina/IR/Spellings.h"
#include "Kina/ExecutionEngine/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kina {

/// An error of a call: a failed check of the entry or of the compiled code.
class CallError : public llvm::ErrorInfo<CallError> {
public:
  static char ID;

  CallError(int32_t code, std::string message) : code(code), message(std::move(message)) {}
  /// What `context` recorded.
  explicit CallError(const kina_context *context);

  /// The digits of a K08xx code.
  int32_t code;
  std::string message;
  llvm::SmallVector<int64_t> values;
  /// "" if the error has no place in the source.
  std::string file;
  int32_t line = 0, column = 0;

  /// `file:3:7: error[K0803]: message`.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// The signature of a function of the C ABI. Refers to attributes of the context of the module
/// that it came from.
class Signature {
public:
  struct Parameter {
    /// The source name, "" if none is known.
    std::string name;
    DType dtype;
    /// A size where it is known without the shape variables, else ShapedType::kDynamic.
    llvm::SmallVector<int64_t> shape;
    /// The sizes over the shape variables; empty if the typed signature is not known.
    llvm::SmallVector<DimAttr> dims;
    /// The shape variable that an `index` parameter stands for, or null.
    DimAttr variable;
  };

  /// The signature of `function`, a `kina.func` or, lowered, a `func.func`. Fails with a message
  /// for a type that the C ABI has no form for.
  static llvm::Expected<Signature> get(mlir::FunctionOpInterface function);

  llvm::StringRef getName() const { return name; }
  llvm::ArrayRef<Parameter> getParameters() const { return parameters; }
  llvm::ArrayRef<Parameter> getResults() const { return results; }

  /// The shape variables, with their least values, and the preconditions on them. The entry
  /// of the compiled function checks both.
  llvm::ArrayRef<ShapeVarAttr> getVariables() const { return variables; }
  llvm::ArrayRef<ClauseAttr> getClauses() const { return clauses; }
  /// How the user wrote the sizes.
  const Spellings &getSpellings() const { return spellings; }

private:
  std::string name;
  llvm::SmallVector<Parameter> parameters, results;
  llvm::SmallVector<ShapeVarAttr> variables;
  llvm::SmallVector<ClauseAttr> clauses;
  Spellings spellings;
};

} // namespace kina

#endif
