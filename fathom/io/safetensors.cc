#include "fathom/io/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "fathom/base/error.h"
#include "fathom/base/text.h"
#include "fathom/io/atomic_file.h"
#include "fathom/io/file_bytes.h"
#include "fathom/io/json_text.h"

namespace fathom {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kNoChecksum = "00000000";

static_assert(std::endian::native == std::endian::little,
              "the file's numbers are little-endian and are copied as they are");

template <typename Number>
std::vector<double> DecodeNumbers(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof(Number));  // may be unaligned
    values[i] = number;
  }
  return values;
}

std::string_view AsBytes(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

// The CRC-32 of the parts, one behind the other, in hexadecimal digits.
std::string Checksum(std::span<const std::string_view> parts) {
  uLong crc = ::crc32(0, nullptr, 0);
  for (const std::string_view part : parts) {
    if (part.empty()) continue;  // of which zlib would take a null pointer for a wish to begin anew
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08lx", crc);
  return digits;
}

// Where the digits of the checksum stand in the text of a header; npos if they do not.
std::size_t ChecksumPlace(std::string_view header, const std::string& checksum) {
  const std::string key = "\"" + std::string(kChecksum) + "\":\"";
  const std::size_t found = header.find(key + checksum + "\"");
  return found == std::string_view::npos ? found : found + key.size();
}

// False if it does not fit 64 bits.
bool CountOf(const std::vector<std::uint64_t>& shape, std::uint64_t* product) {
  // A 0 anywhere makes the product 0, but sizes that overflow before it are refused all the same.
  *product = 1;
  return std::all_of(shape.begin(), shape.end(), [&](std::uint64_t size) {
    return !__builtin_mul_overflow(*product, size, product);
  });
}

class Reader {
 public:
  Reader(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  SafeTensors Read() {
    const Json header = ParseHeader(TakeHeader());
    if (!header.is_object()) Refuse("its header is not a JSON object");
    SafeTensors content;
    std::vector<Extent> extents;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        content.metadata = ReadMetadata(entry);
      } else {
        content.tensors.emplace(name, ReadTensor(name, entry, &extents));
      }
    }
    RequireCover(std::move(extents));
    CheckSum(content);
    return content;
  }

 private:
  struct Extent {
    std::uint64_t begin, end;
    std::string name;
  };

  template <typename... Parts>
  [[noreturn]] void Refuse(const Parts&... parts) const {
    ThrowError(name_, ": is damaged or no safetensors file: ", parts...,
               "; make or copy the file anew");
  }

  // Cuts the file into the header, which is returned, and data_.
  std::string_view TakeHeader() {
    const std::string_view bytes = bytes_;
    if (bytes.size() < kLengthBytes) Refuse("it has only ", bytes.size(), " bytes");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), kLengthBytes);
    if (length > kLongestHeader) {
      const std::string_view start = bytes.substr(0, kLengthBytes);
      const bool text = std::all_of(start.begin(), start.end(), [](char c) {
        return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n';
      });
      if (text) Refuse("it begins with the text ", Quoted(start));
      Refuse("its header would have ", length, " bytes");
    }
    if (length > bytes.size() - kLengthBytes) {
      Refuse("its header should have ", length, " bytes but the file ends after ",
             bytes.size() - kLengthBytes);
    }
    data_ = bytes.substr(kLengthBytes + length);
    return bytes.substr(kLengthBytes, length);
  }

  Json ParseHeader(std::string_view text) const {
    std::set<std::string> names;
    const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
      // The header nests name > shape > size; much deeper would only cost memory.
      if (depth > 3) Refuse("its header is nested too deeply");
      if (event == Json::parse_event_t::key && depth == 1 &&
          !names.insert(value.get<std::string>()).second) {
        Refuse("its header names ", Quoted(value.get<std::string>()), " twice");
      }
      return true;
    };
    try {
      return Json::parse(text, check);
    } catch (const Json::exception&) {
      Refuse("its header is not JSON");
    }
  }

  // A file that has a checksum must match it: all bytes count, with zeros for its own digits.
  void CheckSum(const SafeTensors& content) const {
    const auto found = content.metadata.find(kChecksum);
    if (found == content.metadata.end()) return;
    std::string head(bytes_.substr(0, bytes_.size() - data_.size()));
    const std::size_t place = ChecksumPlace(head, found->second);
    if (place == std::string::npos || found->second.size() != std::strlen(kNoChecksum))
      Refuse("its checksum is ", Quoted(found->second));
    head.replace(place, found->second.size(), kNoChecksum);
    const std::string_view parts[] = {head, data_};
    if (Checksum(parts) != found->second) Refuse("its content does not match its checksum");
  }

  std::map<std::string, std::string> ReadMetadata(const Json& entry) const {
    if (!entry.is_object()) Refuse("its metadata are not an object");
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) Refuse("metadata ", Quoted(key), " is not text");
      metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
  }

  // The list of whole numbers that is called `key`.
  std::vector<std::uint64_t> ReadSizes(const std::string& name, const Json& entry,
                                       const char* key) const {
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array()) {
      Refuse("array ", Quoted(name), " has no list '", key, "'");
    }
    std::vector<std::uint64_t> sizes;
    for (const Json& size : *list) {
      if (!size.is_number_unsigned()) {
        Refuse("'", key, "' of array ", Quoted(name),
               " holds what is no size: ", Quoted(JsonInAscii(size)));
      }
      sizes.push_back(size.get<std::uint64_t>());
    }
    return sizes;
  }

  Tensor ReadTensor(const std::string& name, const Json& entry,
                    std::vector<Extent>* extents) const {
    if (!entry.is_object()) Refuse("array ", Quoted(name), " is not described by an object");
    const auto type = entry.find("dtype");
    if (type == entry.end() || !type->is_string()) Refuse("array ", Quoted(name), " has no dtype");
    const auto dtype = type->get<std::string>();
    if (dtype != "F64" && dtype != "F32") {
      Refuse("array ", Quoted(name), " has dtype ", Quoted(dtype), "; only F64 and F32 are read");
    }
    Tensor tensor;
    tensor.shape = ReadSizes(name, entry, "shape");
    const std::vector<std::uint64_t> offsets = ReadSizes(name, entry, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_.size()) {
      Refuse("array ", Quoted(name), " lies outside the file");
    }
    const std::uint64_t length = offsets[1] - offsets[0];
    std::uint64_t expected = 0;
    if (!CountOf(tensor.shape, &expected) ||
        __builtin_mul_overflow(expected, dtype == "F64" ? 8U : 4U, &expected) ||
        expected != length) {
      Refuse("array ", Quoted(name), " has ", length, " bytes, which do not fit its shape");
    }
    const std::string_view bytes = data_.substr(offsets[0], length);
    tensor.values = dtype == "F64" ? DecodeNumbers<double>(bytes) : DecodeNumbers<float>(bytes);
    extents->push_back({offsets[0], offsets[1], name});
    return tensor;
  }

  void RequireCover(std::vector<Extent> extents) const {
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    std::uint64_t covered = 0;
    for (const Extent& extent : extents) {
      if (extent.begin < covered) Refuse("array ", Quoted(extent.name), " overlaps another");
      if (extent.begin > covered) Refuse("there is a gap before array ", Quoted(extent.name));
      covered = extent.end;
    }
    if (covered != data_.size()) {
      Refuse(data_.size() - covered, " bytes at its end belong to no array");
    }
  }

  const std::string& name_;
  std::string_view bytes_, data_;
};

}  // namespace

namespace {

// The header with its length, and then the numbers of each array, which stay where they are.
struct Layout {
  std::string header;
  std::vector<std::string_view> arrays;
};

Layout LayOut(const std::string& path, const SafeTensors& content) {
  Layout layout;
  Json header = Json::object();
  header[kMetadata] = content.metadata;
  header[kMetadata][kChecksum] = kNoChecksum;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : content.tensors) {
    std::uint64_t count = 0;
    FATHOM_CHECK(name != kMetadata && CountOf(tensor.shape, &count) &&
                 count == tensor.values.size());
    const std::string_view bytes = AsBytes(tensor.values);
    header[name] = {{"dtype", "F64"},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + bytes.size()}}};
    offset += bytes.size();
    layout.arrays.push_back(bytes);
  }
  std::string text;
  try {
    text = JsonText(header);
  } catch (const Json::exception&) {
    ThrowError(path, ": cannot write the file: a name or metadata text in it is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // so that the numbers are aligned in the file
  if (text.size() > kLongestHeader) {
    ThrowError(path, ": cannot write the file: its header would have ", text.size(),
               " bytes, more than readers accept (", kLongestHeader, ")");
  }
  const std::uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), kLengthBytes);
  std::vector<std::string_view> parts = layout.arrays;
  parts.insert(parts.begin(), text);
  text.replace(ChecksumPlace(text, kNoChecksum), std::strlen(kNoChecksum), Checksum(parts));
  layout.header = std::move(text);
  return layout;
}

}  // namespace

void WriteSafeTensors(const std::string& path, const SafeTensors& content) {
  Layout layout = LayOut(path, content);
  layout.arrays.insert(layout.arrays.begin(), layout.header);
  WriteFileAtomically(path, layout.arrays);
}

std::string SafeTensorsToBytes(const std::string& name, const SafeTensors& content) {
  Layout layout = LayOut(name, content);
  std::string bytes = std::move(layout.header);
  for (const std::string_view array : layout.arrays) bytes += array;
  return bytes;
}

SafeTensors ReadSafeTensors(const std::string& path) {
  const FileBytes file(path);
  return SafeTensorsFromBytes(file.name(), file.bytes());
}

SafeTensors SafeTensorsFromBytes(const std::string& name, std::string_view bytes) {
  return Reader(name, bytes).Read();
}

}  // namespace fathom
