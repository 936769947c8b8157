//===- Predicates.cpp - Conjunctions, negations, what occurs in them ------===//

#include "Kina/Solver/Solver.h"
#include "Problem.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kina::solver {

PredAttr negate(PredAttr pred) {
  ArrayRef<DimAttr> dims = pred.getDims();
  auto parts = [&] { return llvm::map_to_vector(pred.getPreds(), negate); };
  switch (pred.getKind()) {
  case PredKind::EQ:
    return makeRelation(PredKind::NE, dims[0], dims[1]);
  case PredKind::NE:
    return makeRelation(PredKind::EQ, dims[0], dims[1]);
  case PredKind::LE:
    return makeRelation(PredKind::LT, dims[1], dims[0]);
  case PredKind::LT:
    return makeRelation(PredKind::LE, dims[1], dims[0]);
  case PredKind::Not:
    return pred.getPreds()[0];
  case PredKind::And:
    return makeOr(parts());
  case PredKind::Or:
    return makeAnd(parts());
  }
  llvm_unreachable("all kinds handled");
}

/// Moves `not` inwards until it is gone; inside `and` and `or` too.
static PredAttr withoutNot(PredAttr pred) {
  while (pred.getKind() == PredKind::Not) {
    PredAttr inner = pred.getPreds()[0];
    pred = negate(inner);
  }
  if (pred.getKind() != PredKind::And && pred.getKind() != PredKind::Or)
    return pred;
  SmallVector<PredAttr> parts = llvm::map_to_vector(pred.getPreds(), withoutNot);
  return ArrayRef(parts) == pred.getPreds() ? pred : PredAttr::get(pred.getContext(), pred.getKind(), {}, parts);
}

void splitConjunction(PredAttr pred, SmallVectorImpl<PredAttr> &parts) {
  pred = withoutNot(pred);
  if (pred.getKind() != PredKind::And) {
    parts.push_back(pred);
    return;
  }
  for (PredAttr part : pred.getPreds())
    splitConjunction(part, parts);
}

DimAttr getSlack(PredAttr relation) {
  bool strict = relation.getKind() == PredKind::LT;
  if (!strict && relation.getKind() != PredKind::LE)
    return {};
  DimAttr difference = subDims(relation.getDims()[1], relation.getDims()[0]);
  return strict ? subDims(difference, DimAttr::getConstant(relation.getContext(), 1)) : difference;
}

bool mentions(DimAttr dim, StringRef name) {
  for (DimTermAttr term : dim.getTerms())
    for (DimAtomAttr atom : term.getFactors())
      if (atom.getKind() == AtomKind::Name ? atom.getName() == name
                                           : llvm::any_of(atom.getArgs(), [&](DimAttr arg) { return mentions(arg, name); }))
        return true;
  return false;
}

static void collectConstants(DimAttr dim, ConstantSet &constants) {
  for (DimTermAttr term : dim.getTerms()) {
    constants.insert(term.getCoefficient());
    for (DimAtomAttr atom : term.getFactors())
      for (DimAttr arg : atom.getArgs())
        collectConstants(arg, constants);
  }
}

void collectConstants(PredAttr pred, ConstantSet &constants) {
  for (DimAttr dim : pred.getDims())
    collectConstants(dim, constants);
  for (PredAttr sub : pred.getPreds())
    collectConstants(sub, constants);
}

/// So many names are found faster one after the other.
static constexpr size_t kFewNames = 12;

void Problem::addName(StringRef name, int64_t lowest) {
  names.push_back(name);
  least.push_back(lowest);
  if (names.size() < kFewNames)
    return;
  for (; position.size() < names.size();)
    position.try_emplace(names[position.size()], position.size());
}

int64_t Problem::getLeast(StringRef name) const {
  if (!position.empty()) {
    auto it = position.find(name);
    return it == position.end() ? INT64_MIN : least[it->second];
  }
  for (auto [known, value] : llvm::zip_equal(names, least))
    if (known == name)
      return value;
  return INT64_MIN;
}

static bool isNonlinear(DimAttr dim) {
  return llvm::any_of(dim.getTerms(), [](DimTermAttr term) {
    return term.getFactors().size() > 1 || llvm::any_of(term.getFactors(), [](DimAtomAttr atom) {
             return (atom.getKind() == AtomKind::FloorDiv && !atom.getArgs()[1].isConstant()) ||
                    llvm::any_of(atom.getArgs(), [](DimAttr arg) { return isNonlinear(arg); });
           });
  });
}
static bool isNonlinear(PredAttr pred) {
  return llvm::any_of(pred.getDims(), [](DimAttr dim) { return isNonlinear(dim); }) ||
         llvm::any_of(pred.getPreds(), [](PredAttr part) { return isNonlinear(part); });
}

bool Problem::isNonlinear() const {
  return (goal && solver::isNonlinear(goal)) || llvm::any_of(facts, [](PredAttr fact) { return solver::isNonlinear(fact); });
}

bool isSimpler(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto total = [](ArrayRef<int64_t> values) {
    uint64_t sum = 0;
    for (int64_t value : values)
      sum = llvm::SaturatingAdd(sum, magnitude(value));
    return sum;
  };
  uint64_t x = total(a), y = total(b);
  if (x != y)
    return x < y;
  for (auto [v, w] : llvm::zip_equal(a, b))
    if (v != w)
      return isSimpler(v, w);
  return false;
}

} // namespace kina::solver
