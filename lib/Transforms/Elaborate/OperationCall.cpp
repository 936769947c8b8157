//===- OperationCall.cpp - Arguments of operations ------------------------===//

#include "Elaborator.h"

using namespace mlir;

namespace kina::elaborate {

InFlightDiagnostic OperationCall::error(DiagCode code) {
  failed = true;
  return e.report(loc, code);
}

const Val *OperationCall::find(StringRef keyword, bool positional) {
  for (auto [index, key] : llvm::enumerate(keywords))
    if (!used[index] && key == keyword && !key.empty()) {
      used[index] = true;
      return &args[index];
    }
  if (!positional)
    return nullptr;
  for (auto [index, key] : llvm::enumerate(keywords))
    if (!used[index] && key.empty()) {
      used[index] = true;
      return &args[index];
    }
  return nullptr;
}

Value OperationCall::optionalValue(StringRef keyword) {
  const Val *found = find(keyword);
  if (!found)
    return {};
  Val val = *found;
  FailureOr<Value> value = e.asValue(val, loc, "'" + name + "'");
  if (mlir::failed(value)) {
    failed = true;
    return {};
  }
  return *value;
}

Value OperationCall::value(StringRef keyword) {
  unsigned before = e.errors;
  Value result = optionalValue(keyword);
  if (!result && e.errors == before)
    error(DiagCode::K0205) << "'" << name << "' needs an argument '" << keyword << "'";
  return result;
}

/// The integer that a value is known to be while compiling.
static std::optional<int64_t> constantOf(const Val &val) {
  return val.isScalar() && val.sym ? val.sym.getConstantValue() : std::nullopt;
}

std::optional<int64_t> OperationCall::integer(StringRef keyword, bool positional) {
  const Val *found = find(keyword, positional);
  if (!found)
    return std::nullopt;
  std::optional<int64_t> value = constantOf(*found);
  if (!value)
    error(DiagCode::K0206) << "'" << keyword << "' of '" << name << "' must be an integer that is written out";
  return value;
}

static std::optional<int64_t> normalizeAxis(OperationCall &call, int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  InFlightDiagnostic diag = call.error(DiagCode::K0201);
  diag << "axis " << axis << " is out of range for rank " << rank;
  if (rank > 0)
    attachHelp(diag) << "axes are numbered from 0: the last one is " << rank - 1;
  return std::nullopt;
}

std::optional<int64_t> OperationCall::axis(Type operand, StringRef keyword, bool positional) {
  std::optional<int64_t> value = integer(keyword, positional);
  return value ? normalizeAxis(*this, *value, getRank(operand)) : std::nullopt;
}

std::optional<SmallVector<int64_t>> OperationCall::integers(StringRef keyword) {
  const Val *found = find(keyword, /*positional=*/false);
  if (!found)
    return std::nullopt;
  SmallVector<int64_t> values;
  if (std::optional<int64_t> value = constantOf(*found)) {
    values.push_back(*value);
    return values;
  }
  if (found->kind == Val::Kind::List || found->kind == Val::Kind::Tuple)
    for (const Val &member : found->members) {
      std::optional<int64_t> value = constantOf(member);
      if (!value)
        break;
      values.push_back(*value);
    }
  if (values.empty() || values.size() != found->members.size()) {
    error(DiagCode::K0206) << "'" << keyword << "' of '" << name << "' must be integers that are written out";
    return std::nullopt;
  }
  return values;
}

std::optional<SmallVector<int64_t>> OperationCall::axes(Type operand) {
  int64_t rank = getRank(operand);
  std::optional<SmallVector<int64_t>> given = integers("axis");
  if (!given && !failed)
    given = integers("axes");
  else if (llvm::is_contained(keywords, "axes") && !failed)
    error(DiagCode::K0205) << "'" << name << "' takes 'axis' or 'axes', not both";
  if (failed)
    return std::nullopt;
  // One that is written without its keyword.
  if (!given)
    if (const Val *found = find("axis")) {
      if (std::optional<int64_t> value = constantOf(*found)) {
        given = SmallVector<int64_t>{*value};
      } else {
        error(DiagCode::K0206) << "'" << name << "' takes one operand, and its axis as 'axis='; "
                               << "the binary form of an element-wise maximum is 'max(a, b)'";
        return std::nullopt;
      }
    }
  if (!given)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> result;
  for (int64_t axis : *given) {
    std::optional<int64_t> normal = normalizeAxis(*this, axis, rank);
    if (!normal)
      return std::nullopt;
    result.push_back(*normal);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    error(DiagCode::K0201) << "an axis of '" << name << "' is given twice";
    return std::nullopt;
  }
  return result;
}

bool OperationCall::boolean(StringRef keyword, bool fallback) {
  const Val *found = find(keyword, /*positional=*/false);
  if (!found)
    return fallback;
  if (found->isScalar())
    if (auto constant = found->value.getDefiningOp<ConstantOp>())
      if (auto value = dyn_cast<BoolAttr>(constant.getValue()))
        return value.getValue();
  error(DiagCode::K0206) << "'" << keyword << "' of '" << name << "' must be true or false";
  return fallback;
}

double OperationCall::number(StringRef keyword, double fallback) {
  const Val *found = find(keyword, /*positional=*/false);
  if (!found)
    return fallback;
  if (found->isScalar())
    if (auto constant = found->value.getDefiningOp<ConstantOp>()) {
      if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
        return value.getValueAsDouble();
      if (auto value = dyn_cast<IntegerAttr>(constant.getValue()); value && !value.getType().isInteger(1))
        return static_cast<double>(value.getInt());
    }
  error(DiagCode::K0206) << "'" << keyword << "' of '" << name << "' must be a number that is written out";
  return fallback;
}

std::optional<SmallVector<DimAttr>> OperationCall::shape(StringRef keyword, const Twine &what) {
  const Val *found = find(keyword);
  if (!found) {
    error(DiagCode::K0205) << "'" << name << "' needs " << what << ", a list of sizes such as [B, 3]";
    return std::nullopt;
  }
  FailureOr<SmallVector<DimAttr>> dims = e.asShape(*found, loc);
  if (mlir::failed(dims)) {
    failed = true;
    return std::nullopt;
  }
  return *dims;
}

bool OperationCall::finish() {
  for (auto [index, isUsed] : llvm::enumerate(used))
    if (!isUsed) {
      if (keywords[index].empty())
        error(DiagCode::K0205) << "'" << name << "' has too many arguments";
      else if (llvm::count(keywords, keywords[index]) > 1)
        error(DiagCode::K0205) << "'" << keywords[index] << "' of '" << name << "' is given twice";
      else
        error(DiagCode::K0205) << "'" << name << "' takes no '" << keywords[index] << "'";
      return false;
    }
  if (typeArgument) {
    error(DiagCode::K0205) << "'" << name << "' takes no element type";
    return false;
  }
  return !failed;
}

bool OperationCall::requireFloat(Value value) {
  bool good = value && e.restrictElement(value, kFloats, loc, "'" + name + "' needs floats");
  failed |= !good;
  return good;
}

bool OperationCall::requireNumber(Value value) {
  bool good = value && e.restrictElement(value, kNumbers, loc, "'" + name + "' needs numbers");
  failed |= !good;
  return good;
}

std::optional<std::string> nearest(StringRef name, ArrayRef<std::string> candidates) {
  std::optional<std::string> best;
  // The distance takes quadratic time, and nobody mistypes a name of this length.
  constexpr size_t kLongest = 64;
  if (name.size() > kLongest)
    return best;
  unsigned limit = std::max<unsigned>(1, name.size() / 3), bestDistance = limit + 1;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > kLongest)
      continue;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, limit);
    // A name of which nothing is left is not close.
    if (distance < bestDistance && distance < name.size() && candidate != name) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace kina::elaborate
