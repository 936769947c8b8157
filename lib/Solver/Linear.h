//===- Linear.h - Polynomial relations as linear ones over monomials ------===//
//
// Every product of atoms is a column of its own. What the columns have to do with each other
// is said in further rows: least values, products of bounds, what a quotient, a minimum and a
// maximum are. No values of the names satisfy what no values of the columns do; the
// converse is false.
//
//===----------------------------------------------------------------------===//

#ifndef KINA_LIB_SOLVER_LINEAR_H
#define KINA_LIB_SOLVER_LINEAR_H

#include "Problem.h"

namespace kina::solver {

class LinearSystem {
public:
  struct Row {
    /// Column and coefficient, no column twice.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 4> entries;
    int64_t constant = 0;
    bool isEquation = false;
  };

  LinearSystem(mlir::MLIRContext *context, LeastLookup least) : context(context), least(least) {}

  /// A null dimension adds nothing: the system says less then.
  void addNonNegative(DimAttr dim) { add(dim, false); }
  void addZero(DimAttr dim) { add(dim, true); }

  /// Adds what the columns have to do with each other.
  void addDefinitions();

  /// Whether no rational values of the columns satisfy all rows (bounds rounded to integers).
  bool isRationallyEmpty() const;

  bool contains(DimTermAttr monomial) const { return columnOf.contains(monomial); }
  llvm::ArrayRef<DimTermAttr> getColumns() const { return columns; }
  llvm::ArrayRef<Row> getRows() const { return rows; }
  /// A row without columns is false.
  bool isContradictory() const { return contradictory; }

private:
  void add(DimAttr dim, bool isEquation);
  void define(DimTermAttr monomial);

  mlir::MLIRContext *context;
  LeastLookup least;
  /// Products of atoms, each with coefficient 1.
  llvm::SmallVector<DimTermAttr> columns;
  llvm::DenseMap<DimTermAttr, unsigned> columnOf;
  llvm::SmallVector<Row> rows;
  unsigned defined = 0;
  bool contradictory = false;
};

} // namespace kina::solver

#endif
