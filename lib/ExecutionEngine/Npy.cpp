//===- Npy.cpp - NumPy files ----------------------------------------------===//
//
// The format is the one that NumPy documents in numpy.lib.format: a magic text, a version,
// the length of a header, a Python dictionary as text, and the elements.
//
//===----------------------------------------------------------------------===//

#include "Kina/ExecutionEngine/Npy.h"
#include "Kina/Support/OutputFiles.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SwapByteOrder.h"

#include <cstring>

using namespace kina;

static constexpr llvm::StringLiteral kMagic = "\x93NUMPY";

namespace {

struct Header {
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t> shape;
};

/// Reads the dictionary of a header: keys and strings in either quote, True and False, tuples
/// of integers.
class HeaderParser {
public:
  explicit HeaderParser(llvm::StringRef text) : text(text) {}

  llvm::Expected<Header> parse() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!consume('{'))
      return fail();
    while (!consume('}')) {
      std::string key;
      if (!parseString(key) || !consume(':'))
        return fail();
      if (key == "descr") {
        skipSpace();
        if (text.starts_with("["))
          return llvm::createStringError("structured elements are not supported");
        if (!(hasDescr = parseString(header.descr)))
          return fail();
      } else if (key == "fortran_order") {
        skipSpace();
        header.fortranOrder = text.starts_with("True");
        if (!(hasOrder = text.consume_front("True") || text.consume_front("False")))
          return fail();
      } else if (key == "shape") {
        if (!(hasShape = parseShape(header.shape)))
          return fail();
      } else {
        return fail();
      }
      if (!consume(',') && !text.starts_with("}"))
        return fail();
    }
    skipSpace();
    if (!text.empty() || !hasDescr || !hasOrder || !hasShape)
      return fail();
    return header;
  }

private:
  static llvm::Error fail() { return llvm::createStringError("the header is malformed"); }

  void skipSpace() { text = text.ltrim(" \t\n\r"); }
  bool consume(char c) {
    skipSpace();
    return text.consume_front(llvm::StringRef(&c, 1));
  }
  bool parseString(std::string &out) {
    skipSpace();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return false;
    size_t end = text.find(text[0], 1);
    if (end == llvm::StringRef::npos)
      return false;
    out = text.slice(1, end).str();
    text = text.drop_front(end + 1);
    return true;
  }
  bool parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
    if (!consume('('))
      return false;
    while (!consume(')')) {
      skipSpace();
      int64_t size;
      if (text.consumeInteger(10, size) || size < 0 || shape.size() == 64)
        return false;
      text.consume_front("L"); // Python 2 wrote long integers so
      shape.push_back(size);
      if (!consume(',') && !text.starts_with(")"))
        return false;
    }
    return true;
  }

  llvm::StringRef text;
};

} // namespace

/// The element type without its byte order.
static std::optional<DType> getElementType(llvm::StringRef kind) {
  return llvm::StringSwitch<std::optional<DType>>(kind)
      .Case("f8", DType::F64)
      .Case("f4", DType::F32)
      .Case("f2", DType::F16)
      .Case("V2", DType::BF16)
      .Case("i8", DType::I64)
      .Case("i4", DType::I32)
      .Case("i1", DType::I8)
      .Case("u1", DType::U8)
      .Case("b1", DType::Bool)
      .Default(std::nullopt);
}

/// Copies elements in Fortran order to C order.
static void transposeFromFortran(const char *source, char *target, llvm::ArrayRef<int64_t> shape,
                                 size_t width) {
  llvm::SmallVector<int64_t> index(shape.size(), 0), strides;
  int64_t stride = 1;
  for (int64_t size : shape) {
    strides.push_back(stride);
    stride *= size;
  }
  for (int64_t element = 0; element < stride; ++element) {
    int64_t offset = 0;
    for (auto [i, step] : llvm::zip_equal(index, strides))
      offset += i * step;
    memcpy(target + element * width, source + offset * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

llvm::Expected<Tensor> kina::parseNpy(llvm::StringRef bytes) {
  if (!bytes.starts_with(kMagic))
    return llvm::createStringError("not a .npy file");
  if (bytes.size() < 10)
    return llvm::createStringError("the file is truncated in its header");
  unsigned version = uint8_t(bytes[6]);
  if (version < 1 || version > 3)
    return llvm::createStringError("version " + std::to_string(version) +
                                   " of the format is unknown");
  size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start)
    return llvm::createStringError("the file is truncated in its header");
  uint64_t length = version == 1 ? llvm::support::endian::read16le(bytes.data() + 8)
                                 : llvm::support::endian::read32le(bytes.data() + 8);
  if (length > bytes.size() - start)
    return llvm::createStringError("the file is truncated in its header");
  llvm::Expected<Header> header = HeaderParser(bytes.substr(start, length)).parse();
  if (!header)
    return header.takeError();

  llvm::StringRef kind = header->descr;
  bool bigEndian = kind.starts_with(">");
  if (!kind.empty() && llvm::StringRef("<>|=").contains(kind[0]))
    kind = kind.drop_front();
  if (kind == "O")
    return llvm::createStringError("the elements are Python objects, not numbers");
  std::optional<DType> dtype = getElementType(kind);
  if (!dtype)
    return llvm::createStringError("element type '" + header->descr + "' is not supported");

  llvm::StringRef data = bytes.substr(start + length);
  std::optional<int64_t> elements = getNumElements(header->shape);
  size_t width = kina::getNumBytes(*dtype);
  if (!elements)
    return llvm::createStringError("shape " + toString(header->shape) +
                                   " has more elements than can be counted");
  if (uint64_t(*elements) > data.size() / width)
    return llvm::createStringError("the file is truncated: shape " + toString(header->shape) +
                                   " needs more data than the " + std::to_string(data.size()) +
                                   " bytes there are");
  llvm::Expected<Tensor> tensor = Tensor::create(*dtype, header->shape);
  if (!tensor || *elements == 0)
    return tensor;
  auto *target = static_cast<char *>(tensor->getData());
  if (header->fortranOrder)
    transposeFromFortran(data.data(), target, header->shape, width);
  else
    memcpy(target, data.data(), *elements * width);
  if (bigEndian == llvm::sys::IsLittleEndianHost && width > 1)
    for (int64_t i = 0; i < *elements; ++i)
      std::reverse(target + i * width, target + (i + 1) * width);
  if (*dtype == DType::Bool)
    for (uint8_t &value : tensor->getAs<uint8_t>())
      value = value != 0;
  return tensor;
}

llvm::Expected<Tensor> kina::readNpy(llvm::StringRef path) {
  auto failed = [&](const llvm::Twine &message) {
    return llvm::createStringError("cannot read '" + path + "': " + message);
  };
  if (llvm::sys::fs::is_directory(path))
    return failed("it is a directory");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failed(buffer.getError().message());
  llvm::Expected<Tensor> tensor = parseNpy((*buffer)->getBuffer());
  if (!tensor)
    return failed(llvm::toString(tensor.takeError()));
  return tensor;
}

void kina::printNpy(llvm::raw_ostream &os, const Tensor &tensor) {
  static constexpr llvm::StringLiteral kinds[] = {"f8", "f4", "f2", "V2", "i8",
                                                  "i4", "i1", "u1", "b1", "i8"};
  llvm::StringRef kind = kinds[unsigned(tensor.getDType())];
  bool hasOrder = getNumBytes(tensor.getDType()) > 1;
  std::string shape;
  for (int64_t size : tensor.getShape())
    shape += std::to_string(size) + (tensor.getRank() == 1 ? "," : ", ");
  if (tensor.getRank() > 1)
    shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" +
                       std::string(!hasOrder                          ? "|"
                                   : llvm::sys::IsLittleEndianHost ? "<"
                                                                     : ">") +
                       kind.str() + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // NumPy pads so that the data is 64-byte aligned.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  os << kMagic << '\1' << '\0';
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  os.write(length, 2);
  os << header;
  os.write(static_cast<const char *>(tensor.getData()), tensor.getNumBytes());
}

llvm::Error kina::writeNpy(llvm::StringRef path, const Tensor &tensor) {
  return writeFiles(OutputFile{path.str(), [&](llvm::raw_ostream &os) { printNpy(os, tensor); }});
}
