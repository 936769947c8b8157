"""Compiles a module of typed Kina in the stages behind differentiation and calls its
functions on NumPy arrays. The tools come from PATH, so that a test needs nothing but them."""

import ctypes as C
import os
import shutil
import subprocess
import tempfile

import numpy as np

try:
    import ml_dtypes
    BF16 = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BF16 = None

# DLPack's code and the width of each element type.
_CODES = {"f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64), "i32": (0, 32),
          "i8": (0, 8), "ui8": (1, 8), "i1": (6, 8), "index": (0, 64)}
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": BF16, "i64": np.int64,
          "i32": np.int32, "i8": np.int8, "ui8": np.uint8, "i1": np.bool_, "index": np.int64}


class _DLTensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32), ("ndim", C.c_int32),
                ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
                ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64)]


class _Tensor(C.Structure):
    _fields_ = [("dl", _DLTensor), ("deleter", C.c_void_p), ("owner", C.c_void_p)]


class CallError(Exception):
    def __init__(self, code, message):
        super().__init__(f"K0{code}: {message}")
        self.code = code
        self.message = message


def _aligned(array):
    """A compact copy at a multiple of 64 bytes."""
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _describe(dtype, shape, data):
    tensor = _Tensor()
    tensor.dl.data = data
    tensor.dl.device_type = 1
    tensor.dl.ndim = len(shape)
    tensor.dl.code, tensor.dl.bits = _CODES[dtype]
    tensor.dl.lanes = 1
    tensor.dl.shape = (C.c_int64 * max(len(shape), 1))(*shape)
    return tensor


class Module:
    """The public functions of a module. `call(name, arguments, results)` takes pairs of an element type
    and an array, and (element type, rank) of the results."""

    def __init__(self, text, flags=("--kina-lower-to-linalg", "--kina-codegen-cpu", "--kina-lower-to-llvm")):
        runtime = os.path.join(os.path.dirname(os.path.dirname(shutil.which("kina-opt"))), "lib")
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)
            with open(path("in.mlir"), "w") as file:
                file.write(text)
            subprocess.run(["kina-opt", *flags, path("in.mlir"), "-o", path("out.mlir")], check=True)
            subprocess.run(["mlir-translate", "--mlir-to-llvmir", "--allow-unregistered-dialect", path("out.mlir"), "-o", path("out.ll")], check=True)
            subprocess.run(["clang", "-O1", "-w", "-shared", "-fPIC", "-march=native", path("out.ll"), "-o",
                            path("out.so"), "-L" + runtime, "-lkina_runtime", "-Wl,-rpath," + runtime, "-lm"],
                           check=True)
            self.library = C.CDLL(path("out.so"))
            self.runtime = C.CDLL(os.path.join(runtime, "libkina_runtime.so"))
        self.runtime.kina_context_create.restype = C.c_void_p
        self.runtime.kina_context_message.restype = C.c_char_p
        self.context = C.c_void_p(self.runtime.kina_context_create(None))

    def call(self, name, arguments, results):
        arrays = [_aligned(np.asarray(value, DTYPES[dtype])) for dtype, value in arguments]
        inputs = [_describe(dtype, array.shape, array.ctypes.data) for (dtype, _), array in zip(arguments, arrays)]
        outputs = [_describe(dtype, (0,) * rank, None) for dtype, rank in results]
        pointers = lambda tensors: (C.POINTER(_Tensor) * max(len(tensors), 1))(*[C.pointer(t) for t in tensors])
        status = getattr(self.library, "_kina_entry_" + name)(self.context, pointers(inputs), pointers(outputs))
        if status:
            raise CallError(status, self.runtime.kina_context_message(self.context).decode())
        values = []
        for (dtype, rank), tensor in zip(results, outputs):
            shape = tuple(tensor.dl.shape[i] for i in range(rank))
            dtype = np.dtype(DTYPES[dtype])
            count = int(np.prod(shape, dtype=np.int64))
            data = C.string_at(tensor.dl.data, count * dtype.itemsize) if count else b""
            values.append(np.frombuffer(data, dtype).reshape(shape).copy())
            self.runtime.kina_tensor_release(C.byref(tensor))
        return values
