#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnspan/io/array_file.hpp"
#include "attnspan/matrix.hpp"

namespace attnspan::io {

/// Whether these bytes begin as a safetensors file does: a length, and a JSON object.
[[nodiscard]] bool is_safetensors(std::string_view bytes);

/// The tensors of a safetensors file; F64, F32, F16, BF16, I8 to I64, U8 to U64 and BOOL are read. Source:
/// github.com/huggingface/safetensors, README, "Format".
class Safetensors final : public ArrayFile {
public:
    /// Checks the whole header: the bytes of every tensor are there, one tensor behind the other.
    /// @throws Error(data)
    Safetensors(std::string_view bytes, std::string source);

    [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
    [[nodiscard]] NpyArray array(const std::string& name) const override;

private:
    struct Tensor {
        std::string dtype;
        std::vector<Index> shape;
        Index begin = 0;  ///< in data_
        Index end = 0;
    };

    [[nodiscard]] const Tensor& tensor(const std::string& name) const;

    std::string_view data_;  ///< behind the header
    std::string source_;
    std::vector<std::string> names_;
    std::vector<Tensor> tensors_;  ///< in the order of names_
};

struct NamedMatrix {
    std::string name;
    ConstMatrixView<double> matrix;
};

/// Writes the matrices as F64 tensors (rows x columns), their data in the order given, atomically. Names are distinct
/// UTF-8.
/// @throws Error(resource)
void write_safetensors(const std::filesystem::path& path, std::span<const NamedMatrix> matrices);

}  // namespace attnspan::io
