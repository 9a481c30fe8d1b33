// Named arrays of numbers in one file, in the safetensors layout: 8 bytes of header length, a JSON
// header with the name, type, shape and place of each array, then the numbers, little-endian.
// Reading runs no code and trusts nothing.
#ifndef FATHOM_IO_SAFETENSORS_H_
#define FATHOM_IO_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct Tensor {
  std::vector<std::uint64_t> shape;  // empty for a single number
  std::vector<double> values;        // row-major; as many as the product of the shape

  bool operator==(const Tensor&) const = default;
};

struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  bool operator==(const SafeTensors&) const = default;
};

// The entry of the metadata that WriteSafeTensors adds: eight hexadecimal digits, the CRC-32 of all
// bytes of the file with zeros in place of these digits.
inline constexpr const char* kChecksum = "checksum";

// Writes 64-bit numbers, bit by bit as they are, and all or nothing (see atomic_file.h). Equal
// contents give equal files. Throws Error with the path and the reason if the disk is full, a
// folder is missing, or a name or metadata text is not UTF-8.
void WriteSafeTensors(const std::string& path, const SafeTensors& content);

// Reads 64- and 32-bit numbers. Throws Error with the file and the reason unless the file is
// complete and consistent to the byte: every array inside the file, none overlapping, nothing left
// over, and its checksum right if it has one. The checksum stays in the metadata.
SafeTensors ReadSafeTensors(const std::string& path);

// The same bytes without a file; `name` stands for the path in messages.
std::string SafeTensorsToBytes(const std::string& name, const SafeTensors& content);
SafeTensors SafeTensorsFromBytes(const std::string& name, std::string_view bytes);

}  // namespace fathom

#endif  // FATHOM_IO_SAFETENSORS_H_
