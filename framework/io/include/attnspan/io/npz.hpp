#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnspan/io/array_file.hpp"
#include "attnspan/io/matrix_market.hpp"
#include "attnspan/sparse.hpp"

namespace attnspan::io {

/// Whether these are the first bytes of a zip archive.
[[nodiscard]] bool is_zip(std::string_view bytes);

/// The arrays of a zip archive, as numpy.savez writes them: members NAME.npy, stored or compressed. Other members are
/// passed over. No member is read beyond the size that the archive says and memory holds, and its checksum must agree.
class Npz final : public ArrayFile {
public:
    /// @throws Error(data) for what is no zip archive, is cut short, or holds no array
    Npz(std::string_view bytes, std::string source);
    Npz(const Npz&) = delete;
    Npz& operator=(const Npz&) = delete;
    ~Npz() override;

    [[nodiscard]] const std::vector<std::string>& names() const override { return names_; }
    [[nodiscard]] NpyArray array(const std::string& name) const override;

    /// Whether scipy.sparse.save_npz made this: members `format`, `shape` and `data`.
    [[nodiscard]] bool is_sparse() const;
    /// The sparse matrix of weights >= 0: formats csr, csc and coo. Source: SciPy, scipy/sparse/_matrix_io.py.
    /// @throws Error(data) for other formats, indices that do not fit, weights that are negative or not finite, and
    /// duplicates unless they are summed; Error(resource)
    [[nodiscard]] ReadWeights sparse(Duplicates duplicates) const;

private:
    class Archive;

    [[nodiscard]] std::string place(const std::string& name) const { return source_ + ':' + name; }

    std::string source_;
    std::unique_ptr<Archive> archive_;
    std::vector<std::string> names_;
};

/// Writes a matrix as scipy.sparse.save_npz does, format csr, compressed, atomically. Equal matrices give equal bytes.
/// @throws Error(resource)
void write_sparse_npz(const std::filesystem::path& path, const SparseMatrix& matrix);

}  // namespace attnspan::io
