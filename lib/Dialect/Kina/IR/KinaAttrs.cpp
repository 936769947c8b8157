//===- KinaAttrs.cpp - Attributes of the kina dialect ---------------------===//

#include "Kina/Dialect/Kina/IR/Dim.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "Kina/Dialect/Kina/IR/KinaEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Kina/Dialect/Kina/IR/KinaAttrs.cpp.inc"

namespace kina {

void KinaDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Kina/Dialect/Kina/IR/KinaAttrs.cpp.inc"
      >();
}

PlacementAttr PlacementAttr::getHost(MLIRContext *context) {
  return PlacementAttr::get(context, "host", "", 0);
}

// `<@host>`, `<@P>`, `<@cuda:global(0)>`; inside a tensor type without the brackets.
PlacementAttr parsePlacement(AsmParser &parser) {
  StringAttr name;
  if (parser.parseSymbolName(name))
    return {};
  if (failed(parser.parseOptionalColon()))
    return PlacementAttr::get(parser.getContext(), name.getValue(), "", 0);
  std::string space;
  int64_t device;
  if (parser.parseKeywordOrString(&space) || parser.parseLParen() || parser.parseInteger(device) ||
      parser.parseRParen())
    return {};
  return PlacementAttr::get(parser.getContext(), name.getValue(), space, device);
}
void printPlacement(AsmPrinter &printer, PlacementAttr place) {
  printer << '@' << place.getName();
  if (!place.getSpace().empty())
    printer << ':' << place.getSpace() << '(' << place.getDevice() << ')';
}

Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PlacementAttr place = parsePlacement(parser);
  return place && succeeded(parser.parseGreater()) ? place : PlacementAttr();
}
void PlacementAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printPlacement(printer, *this);
  printer << '>';
}

LogicalResult CheckpointAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     StringRef kind, int64_t value) {
  bool valued = kind == "k" || kind == "levels" || kind == "slots" || kind == "budget";
  if (!valued && kind != "auto" && kind != "sqrt")
    return emitError() << "checkpoint kind '" << kind
                       << "' is none of auto, sqrt, k, levels, slots, budget";
  if (valued && value < 1)
    return emitError() << "checkpoint " << kind << " must be at least 1, not " << value;
  if (!valued && value != 0)
    return emitError() << "checkpoint " << kind << " takes no value";
  return success();
}

bool isSubstitution(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  return dictionary && llvm::all_of(dictionary, [](NamedAttribute entry) {
           return isa<DimAttr, PlacementAttr>(entry.getValue());
         });
}

} // namespace kina
