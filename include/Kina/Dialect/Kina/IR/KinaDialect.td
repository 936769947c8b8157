//===- KinaDialect.td - The typed core -------------------*- tablegen -*-===//

#ifndef KINA_DIALECT_TD
#define KINA_DIALECT_TD

include "mlir/IR/OpBase.td"

def Kina_Dialect : Dialect {
  let name = "kina";
  let summary = "the typed core of Kina: tensors with symbolic shapes, structured control flow, effects, derivatives";
  let description = [{
    What holds in this dialect: every value has a type, every tensor's shape is a
    list of `#kina.dim` in normal form over the shape variables of the enclosing
    `kina.func`, every call states its substitution, every name is resolved. What
    normal form could not settle stands in `kina.obligation`. The dialect begins
    with `--kina-elaborate` and ends with `--kina-lower-to-linalg`.
  }];
  let cppNamespace = "::kina";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif
