//===- KinaTypes.cpp - Types of the kina dialect --------------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "Kina/Dialect/Kina/IR/KinaTypes.cpp.inc"

namespace kina {

// In KinaAttrs.cpp: the placement's spelling is shared by attribute and type.
PlacementAttr parsePlacement(AsmParser &parser);
void printPlacement(AsmPrinter &printer, PlacementAttr place);

void KinaDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Kina/Dialect/Kina/IR/KinaTypes.cpp.inc"
      >();
}

bool isElementType(Type type) {
  if (type.isUnsignedInteger(8) || isa<HoleType>(type))
    return true;
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() || type.isSignlessInteger(64) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(8) || type.isSignlessInteger(1);
}

Type getElementType(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.getElementType();
  return type.isIntOrIndexOrFloat() || isa<HoleType>(type) ? type : Type();
}

ArrayRef<DimAttr> getShape(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<DimAttr>();
}

PlacementAttr getPlacement(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? tensor.getPlacement() : PlacementAttr::getHost(type.getContext());
}

Type getTensorOrScalar(Type elementType, ArrayRef<DimAttr> shape, PlacementAttr placement) {
  if (shape.empty() && placement.isHost())
    return elementType;
  return TensorType::get(elementType.getContext(), elementType, shape, placement);
}

Type withElementType(Type type, Type elementType) {
  return getTensorOrScalar(elementType, getShape(type), getPlacement(type));
}

Type withShape(Type type, ArrayRef<DimAttr> shape) {
  return getTensorOrScalar(getElementType(type), shape, getPlacement(type));
}

bool isScalarOrTensorOf(Type type, llvm::function_ref<bool(Type)> element) {
  Type elementType = getElementType(type);
  return elementType && (isElementType(elementType) || elementType.isIndex()) && element(elementType);
}

bool hasTangent(Type type) {
  if (auto tape = dyn_cast<TapeType>(type))
    type = tape.getElement();
  return isScalarOrTensorOf(type, [](Type element) { return isa<FloatType>(element); });
}

Type getBoxType(Type operand, ArrayRef<Attribute> sizes, ArrayRef<int64_t> dropped) {
  SmallVector<DimAttr> shape;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
      shape.push_back(cast<DimAttr>(size));
  return withShape(operand, shape);
}

bool TensorType::hasStaticShape() const {
  return llvm::all_of(getShape(), [](DimAttr dim) { return dim.isConstant(); });
}

LogicalResult TensorType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                 ArrayRef<DimAttr> shape, PlacementAttr placement) {
  if (!isElementType(elementType))
    return emitError() << "element type " << elementType
                       << " is none of f64, f32, f16, bf16, i64, i32, i8, ui8, i1";
  if (shape.empty() && placement.isHost())
    return emitError() << "a tensor of rank 0 on the host is the scalar " << elementType;
  for (auto [axis, dim] : llvm::enumerate(shape))
    if (std::optional<int64_t> size = dim.getConstantValue(); size && *size < 0)
      return emitError() << "axis " << axis << " (0-based) has the negative size " << *size;
  return success();
}

Type TensorType::parse(AsmParser &parser) {
  SMLoc at = parser.getCurrentLocation();
  Type elementType;
  SmallVector<DimAttr> shape;
  if (parser.parseLess() || parser.parseType(elementType) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        shape.push_back(parseDim(parser));
        return success(static_cast<bool>(shape.back()));
      }))
    return {};
  PlacementAttr placement = PlacementAttr::getHost(parser.getContext());
  if (succeeded(parser.parseOptionalComma())) {
    placement = parsePlacement(parser);
    if (!placement)
      return {};
  }
  if (parser.parseGreater())
    return {};
  return TensorType::getChecked([&] { return parser.emitError(at); }, parser.getContext(), elementType,
                                shape, placement);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", [";
  llvm::interleaveComma(getShape(), printer, [&](DimAttr dim) { printer << toString(dim); });
  printer << ']';
  if (!getPlacement().isHost()) {
    printer << ", ";
    printPlacement(printer, getPlacement());
  }
  printer << '>';
}

// `<f64 -> (f64, f32)>`, `none` where nothing is resumed with.
Type ContType::parse(AsmParser &parser) {
  Type resume;
  SmallVector<Type> results;
  if (parser.parseLess() || parser.parseType(resume) || parser.parseArrow() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                     [&] { return parser.parseType(results.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  return ContType::get(parser.getContext(), resume, results);
}

void ContType::print(AsmPrinter &printer) const {
  printer << '<' << getResume() << " -> (";
  llvm::interleaveComma(getResults(), printer);
  printer << ")>";
}

LogicalResult TapeType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type element, TapeForm) {
  if (!getElementType(element))
    return emitError() << "a tape holds scalars or tensors, not " << element;
  return success();
}

} // namespace kina
