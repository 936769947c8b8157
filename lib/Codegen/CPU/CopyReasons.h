//===- CopyReasons.h - What copies say of themselves -----------*- C++ -*-===//
//
// Why a loop copies a tensor is known where tensors have names and the copy is made, and
// whether it does where they are buffers. The copy's location carries it from one to the
// other, so that no pass on the way has to know of it.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_CODEGEN_CPU_COPYREASONS_H
#define KINA_LIB_CODEGEN_CPU_COPYREASONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <optional>

namespace kina {

/// The tensor of one loop state becomes that of another; names, "" where there is none.
struct TakenOver {
  std::string from, to;
};

/// The metadata is told from that of SourceNames.h by being a dictionary.
inline mlir::Location setTakenOver(mlir::Location loc, const TakenOver &reason) {
  mlir::MLIRContext *context = loc.getContext();
  auto text = [&](llvm::StringRef key, llvm::StringRef name) {
    return mlir::NamedAttribute(mlir::StringAttr::get(context, key), mlir::StringAttr::get(context, name));
  };
  return mlir::FusedLoc::get(
      {loc}, mlir::DictionaryAttr::get(context, {text("from", reason.from), text("to", reason.to)}), context);
}

inline std::optional<TakenOver> getTakenOver(mlir::Location loc) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc);
  auto names = fused ? llvm::dyn_cast_or_null<mlir::DictionaryAttr>(fused.getMetadata()) : mlir::DictionaryAttr();
  auto from = names ? names.getAs<mlir::StringAttr>("from") : mlir::StringAttr();
  auto to = names ? names.getAs<mlir::StringAttr>("to") : mlir::StringAttr();
  if (!from || !to)
    return std::nullopt;
  return TakenOver{from.getValue().str(), to.getValue().str()};
}

} // namespace kina

#endif
