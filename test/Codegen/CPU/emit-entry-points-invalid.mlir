// RUN: kina-opt %s --kina-emit-entry-points=module=m --verify-diagnostics --split-input-file

// expected-error @below {{argument 0 of type 'memref<?xf32, strided<[2]>>' has no form in the C ABI}}
func.func @strided(%x: memref<?xf32, strided<[2]>>) {
  return
}

// -----

// expected-error @below {{result 0 of type 'complex<f32>' has no form in the C ABI}}
func.func @complex() -> complex<f32> {
  %x = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  return %x : complex<f32>
}

// -----

// expected-error @below {{a function of a compiled module cannot be called `kina_abi_version`}}
func.func @kina_abi_version() {
  return
}
