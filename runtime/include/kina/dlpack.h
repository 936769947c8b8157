/*===- dlpack.h - The DLPack 1.x ABI ------------------------------*- C -*-===*\
|*                                                                            *|
|* The structures through which array libraries exchange tensors, declared   *|
|* here because distributions still ship version 0.6, which has no versioned *|
|* form. The asserts below pin the layout.                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef KINA_DLPACK_H
#define KINA_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1)

typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLCUDAManaged = 13
} DLDeviceType;

typedef struct {
  int32_t device_type; /* a DLDeviceType */
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLOpaqueHandle = 3,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6
} DLDataTypeCode;

typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: compact, row-major */
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

#ifdef __cplusplus
}

static_assert(sizeof(void *) != 8 || sizeof(DLTensor) == 48, "DLPack ABI");
static_assert(sizeof(void *) != 8 || sizeof(DLManagedTensor) == 64, "DLPack ABI");
static_assert(sizeof(void *) != 8 || sizeof(DLManagedTensorVersioned) == 80, "DLPack ABI");
static_assert(sizeof(DLDataType) == 4 && sizeof(DLDevice) == 8, "DLPack ABI");
static_assert(sizeof(void *) != 8 || offsetof(DLTensor, shape) == 24, "DLPack ABI");
static_assert(sizeof(void *) != 8 || offsetof(DLTensor, byte_offset) == 40, "DLPack ABI");
static_assert(sizeof(void *) != 8 || offsetof(DLManagedTensorVersioned, flags) == 24, "DLPack ABI");
static_assert(sizeof(void *) != 8 || offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "DLPack ABI");
#endif

#endif /* KINA_DLPACK_H */
