//===- SurfaceDialect.td - Parsed source, names unresolved -*- tablegen -*-===//

#ifndef KINA_SURFACE_DIALECT_TD
#define KINA_SURFACE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Surface_Dialect : Dialect {
  let name = "kina_surface";
  let summary = "Kina source as parsed: names, holes, and a location on every node";
  let description = [{
    What holds in this dialect: the text was well formed, and nothing more. Names are
    not resolved, types are as written or absent, shapes are unchecked.

    *Dynamic* syntax is operations: items at module level, statements and expressions in
    regions. Every expression returns one `!kina_surface.expr` that is used exactly once,
    by a later operation of the same block, so that expressions form trees; a variable is
    `kina_surface.name "x"`, not an SSA value. Operands stand before their user in source
    order. Every region has one block without arguments that ends in
    `kina_surface.yield`.

    *Static* syntax (types, dimensions, predicates, places, patterns, decorators,
    parameters, core forms) is the attribute tree `#kina_surface.syntax`.

    Every operation and every syntax node carries a `FileLineColRange` that covers its
    whole text; lines and columns count from 1, columns in bytes, and the end column is
    that of the first byte behind the node. The dialect begins with
    `kina-translate --import-kina` and ends with `--kina-elaborate`.
  }];
  let cppNamespace = "::kina::surface";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif
