//===- ElementTypes.cpp - Inference of element types ----------------------===//

#include "ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kina::elaborate {

unsigned maskOf(Type element) {
  if (!element)
    return 0;
  if (element.isF64())
    return kF64;
  if (element.isF32())
    return kF32;
  if (element.isF16())
    return kF16;
  if (element.isBF16())
    return kBF16;
  if (element.isSignlessInteger(64))
    return kI64;
  if (element.isSignlessInteger(32))
    return kI32;
  if (element.isSignlessInteger(8))
    return kI8;
  if (element.isUnsignedInteger(8))
    return kU8;
  return element.isSignlessInteger(1) ? static_cast<unsigned>(kBool) : 0u;
}

Type ElementTypes::typeOf(unsigned singleton) {
  switch (singleton) {
  case kF64:
    return Float64Type::get(context);
  case kF32:
    return Float32Type::get(context);
  case kF16:
    return Float16Type::get(context);
  case kBF16:
    return BFloat16Type::get(context);
  case kI64:
    return IntegerType::get(context, 64);
  case kI32:
    return IntegerType::get(context, 32);
  case kI8:
    return IntegerType::get(context, 8);
  case kU8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  default:
    return IntegerType::get(context, 1);
  }
}

Type ElementTypes::fresh(unsigned mask, unsigned preferred) {
  unsigned id = classes.size();
  classes.push_back({id, mask, preferred});
  return HoleType::get(context, id);
}

unsigned ElementTypes::find(unsigned id) {
  while (classes[id].parent != id)
    id = classes[id].parent = classes[classes[id].parent].parent;
  return id;
}

unsigned ElementTypes::allowed(Type element) {
  if (auto hole = dyn_cast<HoleType>(element))
    return classes[find(hole.getId())].mask;
  return maskOf(element);
}

Type ElementTypes::resolve(Type element) {
  auto hole = dyn_cast_if_present<HoleType>(element);
  if (!hole)
    return element;
  const Class &root = classes[find(hole.getId())];
  return llvm::has_single_bit(root.mask) ? typeOf(root.mask) : HoleType::get(context, root.parent);
}

Type ElementTypes::resolveIn(Type type) {
  Type element = getElementType(type);
  return element && isa<HoleType>(element) ? withElementType(type, resolve(element)) : type;
}

bool ElementTypes::unify(Type a, Type b) {
  auto x = dyn_cast<HoleType>(a), y = dyn_cast<HoleType>(b);
  if (!x && !y)
    return a == b;
  if (!x)
    return restrict(b, maskOf(a));
  if (!y)
    return restrict(a, maskOf(b));
  unsigned i = find(x.getId()), j = find(y.getId());
  if (i == j)
    return true;
  unsigned mask = classes[i].mask & classes[j].mask;
  if (!mask)
    return false;
  // An integer literal that meets a float literal is one; the float's preference counts.
  unsigned preferred = classes[i].preferred;
  if (!(preferred & mask) || (classes[j].preferred & kFloats & mask))
    preferred = classes[j].preferred;
  classes[j].parent = i;
  classes[i].mask = mask;
  classes[i].preferred = preferred;
  return true;
}

bool ElementTypes::restrict(Type element, unsigned mask) {
  auto hole = dyn_cast<HoleType>(element);
  if (!hole)
    return (maskOf(element) & mask) != 0;
  Class &root = classes[find(hole.getId())];
  if (!(root.mask & mask))
    return false;
  root.mask &= mask;
  return true;
}

Type ElementTypes::finalize(Type element) {
  auto hole = dyn_cast<HoleType>(element);
  if (!hole)
    return element;
  Class &root = classes[find(hole.getId())];
  for (unsigned choice : {root.preferred, static_cast<unsigned>(kF32), static_cast<unsigned>(kI32)})
    if (root.mask & choice) {
      root.mask = choice;
      return typeOf(choice);
    }
  root.mask &= ~(root.mask - 1);
  return typeOf(root.mask);
}

} // namespace kina::elaborate
