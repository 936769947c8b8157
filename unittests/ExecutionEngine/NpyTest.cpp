//===- NpyTest.cpp - NumPy files ------------------------------------------===//

#include "Kina/ExecutionEngine/Npy.h"
#include "gtest/gtest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace kina;

/// The text of a file of this version; the header is padded as NumPy does.
static std::string makeFile(std::string header, const std::string &data, int version = 1) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += char(version);
  text += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    text += char(header.size() >> (8 * byte));
  return text + header + data;
}

static std::string describe(const char *descr, const char *order, const char *shape) {
  return std::string("{'descr': '") + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }";
}

static std::string getError(const std::string &bytes) {
  auto tensor = parseNpy(bytes);
  return tensor ? "no error" : llvm::toString(tensor.takeError());
}

static Tensor parse(const std::string &bytes) {
  auto tensor = parseNpy(bytes);
  if (!tensor) {
    ADD_FAILURE() << llvm::toString(tensor.takeError());
    return llvm::cantFail(Tensor::create(DType::F64, {}));
  }
  return *tensor;
}

TEST(Npy, EndianOrderAndVersions) {
  std::string little({1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0});
  std::string big({0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6});
  for (int version : {1, 2, 3}) {
    Tensor c = parse(makeFile(describe("<i4", "False", "(2, 3)"), little, version));
    EXPECT_EQ(toString(c.getShape()), "[2, 3]");
    EXPECT_EQ(c.getInteger(1), 2);
    Tensor swapped = parse(makeFile(describe(">i4", "False", "(2, 3)"), big, version));
    EXPECT_EQ(swapped.getInteger(5), 6);
    Tensor fortran = parse(makeFile(describe("<i4", "True", "(2, 3)"), little, version));
    int64_t expected[] = {1, 3, 5, 2, 4, 6};
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(fortran.getInteger(i), expected[i]);
  }
  Tensor scalar = parse(makeFile(describe("<f2", "False", "()"), std::string("\x00\x3e", 2)));
  EXPECT_EQ(scalar.getDouble(0), 1.5);
  Tensor flags = parse(makeFile(describe("|b1", "False", "(3,)"), std::string("\0\1\2", 3)));
  EXPECT_EQ(flags.getAs<uint8_t>()[2], 1);
  EXPECT_EQ(parse(makeFile(describe("|u1", "False", "(0, 5)"), "")).getNumElements(), 0);
}

TEST(Npy, RoundTrip) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kina-npy", directory));
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32,
                      DType::I8, DType::U8, DType::Bool})
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 2}}) {
      Tensor tensor = llvm::cantFail(Tensor::create(dtype, shape));
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        tensor.setDouble(i, double(i));
      std::string path = (directory + "/x.npy").str();
      ASSERT_FALSE(bool(writeNpy(path, tensor)));
      auto again = readNpy(path);
      ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
      EXPECT_EQ(again->getDType(), dtype);
      EXPECT_EQ(again->getShape(), llvm::ArrayRef(shape));
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        EXPECT_EQ(again->getDouble(i), tensor.getDouble(i));
      auto buffer = llvm::MemoryBuffer::getFile(path);
      ASSERT_TRUE(bool(buffer));
      EXPECT_EQ(((*buffer)->getBufferSize() - tensor.getNumBytes()) % 64, 0u);
      llvm::sys::fs::remove(path);
    }
  // Nothing is left but what was asked for.
  std::error_code error;
  EXPECT_EQ(llvm::sys::fs::directory_iterator(directory, error),
            llvm::sys::fs::directory_iterator());
  llvm::sys::fs::remove(directory);
}

TEST(Npy, Errors) {
  EXPECT_EQ(getError(""), "not a .npy file");
  EXPECT_EQ(getError("PK\3\4 a zip file"), "not a .npy file");
  EXPECT_EQ(getError("\x93NUMPY\1"), "the file is truncated in its header");
  EXPECT_EQ(getError(std::string("\x93NUMPY\x02\x00\xff\xff", 10)),
            "the file is truncated in its header");
  EXPECT_EQ(getError(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)),
            "the file is truncated in its header");
  EXPECT_EQ(getError(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12)),
            "version 9 of the format is unknown");
  EXPECT_EQ(getError(makeFile(describe("<f8", "False", "(2,)"), "12345678")),
            "the file is truncated: shape [2] needs more data than the 8 bytes there are");
  EXPECT_EQ(getError(makeFile(describe("<f8", "False", "(4611686018427387904, 4)"), "")),
            "shape [4611686018427387904, 4] has more elements than can be counted");
  EXPECT_EQ(getError(makeFile(describe("|O", "False", "(2,)"), "1234")),
            "the elements are Python objects, not numbers");
  EXPECT_EQ(getError(makeFile(describe("<c16", "False", "(2,)"), "1234")),
            "element type '<c16' is not supported");
  EXPECT_EQ(getError(makeFile("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
                              "")),
            "structured elements are not supported");
  for (const char *header :
       {"", "{", "{}", "{'descr'}", "{'descr': '<f8'}", "{'descr': '<f8", "[1]",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}"})
    EXPECT_EQ(getError(makeFile(header, "12345678")), "the header is malformed") << header;
}

TEST(Npy, Files) {
  auto missing = readNpy("/nowhere/x.npy");
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "cannot read '/nowhere/x.npy': No such file or directory");
  auto directory = readNpy("/");
  EXPECT_EQ(llvm::toString(directory.takeError()), "cannot read '/': it is a directory");
  Tensor tensor = llvm::cantFail(Tensor::create(DType::F64, {}));
  EXPECT_NE(llvm::toString(writeNpy("/nowhere/x.npy", tensor)).find("cannot write"),
            std::string::npos);
  EXPECT_EQ(llvm::toString(writeNpy("/", tensor)), "cannot write `/`: it is a directory");
  EXPECT_EQ(llvm::toString(writeNpy("/dev/full", tensor)),
            "cannot write `/dev/full`: No space left on device");
}
