//===- Signature.cpp - Signatures of the C ABI ----------------------------===//

#include "Kina/ExecutionEngine/Signature.h"

#include "Kina/Dialect/Kina/IR/KinaOps.h"

using namespace mlir;
using namespace kina;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

char CallError::ID;

CallError::CallError(const kina_context *context)
    : code(kina_context_code(context)), message(kina_context_message(context)),
      file(kina_context_file(context)), line(kina_context_line(context)),
      column(kina_context_column(context)) {
  for (int32_t i = 0; i < kina_context_num_values(context); ++i)
    values.push_back(kina_context_value(context, i));
}

void CallError::log(llvm::raw_ostream &os) const {
  if (!file.empty())
    os << file << ':' << line << ':' << column << ": ";
  os << "error[K" << llvm::format("%04d", code) << "]: " << message;
}

//===----------------------------------------------------------------------===//
// Reading a signature
//===----------------------------------------------------------------------===//

/// Describes a value of type `type`, whose typed form is `typed` if it is known.
static std::optional<Signature::Parameter> describe(Type type, Type typed) {
  Signature::Parameter parameter;
  // Buffers don't tell ui8 from i8; the typed form does.
  Type element = kina::getElementType(typed ? typed : type);
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && !shaped.hasRank())
    return std::nullopt;
  if (!element)
    element = shaped ? shaped.getElementType() : type;
  std::optional<DType> dtype = kina::getDType(element);
  if (!dtype)
    return std::nullopt;
  parameter.dtype = *dtype;
  if (typed && isa<kina::TensorType>(typed))
    llvm::append_range(parameter.dims, kina::getShape(typed));
  if (shaped)
    llvm::append_range(parameter.shape, shaped.getShape());
  else
    for (DimAttr dim : parameter.dims)
      parameter.shape.push_back(dim.getConstantValue().value_or(ShapedType::kDynamic));
  if (parameter.dims.size() != parameter.shape.size())
    parameter.dims.clear();
  return parameter;
}

llvm::Expected<Signature> Signature::get(FunctionOpInterface function) {
  Signature signature;
  signature.name = function.getName().str();
  signature.spellings = Spellings(function);
  ArrayRef<Type> inputs = function.getArgumentTypes(), outputs = function.getResultTypes();
  ArrayAttr variables, clauses;
  FunctionType typed;
  if (auto op = dyn_cast<FuncOp>(*function)) {
    typed = op.getFunctionType();
    variables = op.getShapeVarsAttr();
    clauses = op.getPreconditionsAttr();
  } else {
    if (auto attribute = function->getAttrOfType<TypeAttr>(kFunctionTypeAttrName))
      typed = dyn_cast<FunctionType>(attribute.getValue());
    variables = function->getAttrOfType<ArrayAttr>(kShapeVarsAttrName);
    clauses = function->getAttrOfType<ArrayAttr>(kRequiresAttrName);
  }
  if (typed && (typed.getNumInputs() != inputs.size() || typed.getNumResults() != outputs.size()))
    typed = nullptr;

  auto fail = [&](const char *what, size_t index) {
    return llvm::createStringError(what + std::to_string(index) + " of `" + signature.name +
                                   "` has no form in the C ABI");
  };
  for (auto [index, type] : llvm::enumerate(inputs)) {
    std::optional<Parameter> parameter = describe(type, typed ? typed.getInput(index) : Type());
    if (!parameter)
      return fail("parameter ", index);
    if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameArgAttrName))
      parameter->name = name.str();
    if (auto variable = function.getArgAttrOfType<StringAttr>(index, kDimArgAttrName))
      parameter->variable = DimAttr::getName(function.getContext(), variable.getValue());
    signature.parameters.push_back(std::move(*parameter));
  }
  for (auto [index, type] : llvm::enumerate(outputs)) {
    std::optional<Parameter> result = describe(type, typed ? typed.getResult(index) : Type());
    if (!result)
      return fail("result ", index);
    signature.results.push_back(std::move(*result));
  }
  if (variables)
    llvm::append_range(signature.variables, variables.getAsRange<ShapeVarAttr>());
  if (clauses)
    llvm::append_range(signature.clauses, clauses.getAsRange<ClauseAttr>());
  return signature;
}
