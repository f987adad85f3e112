#include <algorithm>
#include <attnspan/io/npy.hpp>
#include <attnspan/io/target_file.hpp>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "io_support.hpp"

using namespace attnspan;
using test::contains;

namespace {

/// The folder of public data that serves tests and is no part of the project.
std::optional<std::filesystem::path> shared_data(const std::string& test) {
    const char* const set = std::getenv("ATTNSPAN_SHARED_DATA");
    std::filesystem::path folder = set != nullptr ? set : SHARED_DATA;
    if (std::filesystem::exists(folder / "MANIFEST.md")) {
        return folder;
    }
    MESSAGE("SKIPPED: " << test << ": no public data in " << folder.string()
                        << "; set ATTNSPAN_SHARED_DATA to its folder");
    return std::nullopt;
}

double sum_of(const std::vector<double>& values) {
    return static_cast<double>(std::accumulate(values.begin(), values.end(), 0.0L));
}

Index nonzeros_of(const std::vector<double>& values) {
    return static_cast<Index>(values.size()) - std::count(values.begin(), values.end(), 0.0);
}

/// Facts from the data's manifest: independent readers (scipy, numpy, a strict Python reader) and exact sums.
struct MatrixFacts {
    std::string file;
    Index rows, cols, stored, nonzeros, explicit_zeros, duplicates;
    double sum;
};

struct ArrayFacts {
    std::string file;
    int version;
    std::string dtype;
    std::vector<Index> shape;
    bool fortran_order;
    Index nonzeros;
    double sum;
};

struct Refusal {
    std::string file;
    Index line;
    std::string part;
};

}  // namespace

TEST_CASE("public Matrix Market files have the facts of their manifest") {
    const auto folder = shared_data("public Matrix Market files");
    if (!folder) {
        return;
    }
    const std::vector<MatrixFacts> all{
        {"attention/s260k_L128_l2h3_streaming_4_32.mtx", 128, 128, 3978, 3978, 0, 0, 127.99999986633435},
        {"mtx/chesapeake.mtx", 39, 39, 170, 340, 0, 0, 340},
        {"mtx/cage5.mtx", 37, 37, 233, 233, 0, 0, 37},
        {"mtx/Ragusa16.mtx", 24, 24, 81, 81, 0, 0, 113},
        {"mtx/GD97_b.mtx", 47, 47, 132, 264, 0, 0, 40224.818200000002},
        {"mtx/jagmesh7.mtx", 1138, 1138, 4294, 7450, 0, 0, 7450},
        {"mtx/zenios.mtx", 2873, 2873, 15032, 1314, 14375, 0, 250.74511763684637},
        {"mtx/full_symmetric.mtx", 4, 4, 10, 16, 0, 0, 282.20434021949768},
        {"mtx/matrix_uint8.mtx", 7, 7, 12, 10, 2, 0, 299},
        {"mtx/dup_real_general.mtx", 3, 3, 6, 5, 0, 1, 120},
        {"graphs/1a8o_contacts.mtx", 66, 66, 287, 574, 0, 0, 7800},
        {"masks/sparse_transformer_local_L128_c32.mtx", 128, 128, 3600, 3600, 0, 0, 3600},
        {"masks/sparse_transformer_strided_L128_s32.mtx", 128, 128, 320, 320, 0, 0, 320},
        {"masks/streamingllm_L256_sink4_recent64.mtx", 256, 256, 15130, 15130, 0, 0, 15130},
        {"masks/longformer_L256_w32_g0_100.mtx", 256, 256, 16410, 16410, 0, 0, 16410},
        {"masks/deepspeed_fixed_L256_default_bidir.mtx", 256, 256, 28672, 28672, 0, 0, 28672},
    };
    for (const MatrixFacts& facts : all) {
        CAPTURE(facts.file);
        const auto duplicates = facts.duplicates > 0 ? io::Duplicates::sum : io::Duplicates::refuse;
        const auto read = io::read_target_file(*folder / facts.file, {.duplicates = duplicates});
        CHECK_NOTHROW(require_well_formed(read.matrix, facts.file));
        CHECK(read.matrix.rows == facts.rows);
        CHECK(read.matrix.cols == facts.cols);
        CHECK(read.stored == facts.stored);
        CHECK(read.matrix.nonzeros() == facts.nonzeros);
        CHECK(read.explicit_zeros == facts.explicit_zeros);
        CHECK(read.duplicates == facts.duplicates);
        CHECK(sum_of(read.matrix.value) == doctest::Approx(facts.sum).epsilon(1e-12));
    }
}

TEST_CASE("public Matrix Market files that hold no weights are refused with their line") {
    const auto folder = shared_data("public Matrix Market files that are refused");
    if (!folder) {
        return;
    }
    const std::vector<Refusal> all{
        {"mtx/west0067.mtx", 15, "not negative"},
        {"mtx/lp_afiro.mtx", 85, "not negative"},
        {"mtx/skew_fp64.mtx", 1, "skew-symmetric"},
        {"mtx/coordinate_hermitian_row.mtx", 1, "complex"},
        {"mtx/nist_ex1_more_freeformat.mtx", 14, "\"-2.8E2\""},
        {"mtx/dup_real_general.mtx", 9, "line 8"},
        {"mtx/invalid_truncated_line_1.mtx", 5, "weight is missing"},
        {"mtx/invalid_indices_out_of_range_1.mtx", 5, "row is 5000"},
        {"mtx/mangled1.mtx", 1, "mangled"},
        {"graphs/cora.cites", 0, "text that begins with"},
        {"npy/object_array.npy", 0, "never unpickled"},
        {"npy/py2_long_shape.npy", 0, "(2,)"},
        {"attention/s260k_L64_l1_allheads.npy", 0, "slice = h"},
        {"attention/s260k_L128_l2h3_q.npy", 0, "not negative"},
    };
    for (const Refusal& refusal : all) {
        CAPTURE(refusal.file);
        const Error error = test::error_of([&] { return io::read_target_file(*folder / refusal.file); });
        CAPTURE(std::string(error.what()));
        CHECK(error.kind() == ErrorKind::data);
        CHECK(error.where().line == refusal.line);
        CHECK(contains(error, refusal.part));
    }
}

TEST_CASE("public .npy files have the facts of their manifest") {
    const auto folder = shared_data("public .npy files");
    if (!folder) {
        return;
    }
    const std::vector<ArrayFacts> all{
        {"attention/s260k_L128_l0h0.npy", 1, "<f4", {128, 128}, false, 8256, 127.9999998090115},
        {"attention/s260k_L128_l0h5.npy", 1, "<f4", {128, 128}, false, 8256, 127.99999992051761},
        {"attention/s260k_L128_l2h3.npy", 1, "<f4", {128, 128}, false, 8256, 127.99999989708891},
        {"attention/s260k_L128_l4h6.npy", 1, "<f4", {128, 128}, false, 8256, 128.00000010178013},
        {"attention/s260k_L128_l2h3_q.npy", 1, "<f8", {128, 8}, false, 1024, 1481.7001914783521},
        {"attention/s260k_L128_l2h3_k.npy", 1, "<f8", {128, 8}, false, 1024, 2505.5201786757912},
        {"attention/s260k_L64_l1_allheads.npy", 1, "<f4", {8, 64, 64}, false, 16627, 512.00000013773604},
        {"attention/s260k_L256_l3h1.npy", 1, "<f4", {256, 256}, false, 32896, 256.00000044466407},
        {"attention/ppocr4_L96_b0h2.npy", 1, "<f4", {96, 96}, false, 9216, 96.000000588581315},
        {"attention/ppocr4_L96_b1h5.npy", 1, "<f4", {96, 96}, false, 9216, 95.99999941536953},
        {"attention/ppocr4_L96_b1_allheads_f16.npy", 1, "<f2", {8, 96, 96}, false, 71402, 767.99652075767517},
        {"attention/ppocr4_L96_b1h5_q.npy", 1, "<f4", {96, 15}, false, 1440, 58.456608118733129},
        {"attention/ppocr4_L96_b1h5_k.npy", 1, "<f4", {96, 15}, false, 1440, 3.2138209709792136},
        {"attention/bert_sst2_0006_l0h0.npy", 1, "<f8", {64, 64}, false, 1856, 64.000100000000003},
        {"attention/bert_sst2_0006_l4h7.npy", 1, "<f8", {64, 64}, false, 1372, 63.994},
        {"attention/bert_sst2_0006_l9h2.npy", 1, "<f8", {64, 64}, false, 1854, 64.001199999999997},
        {"attention/gpt2_L9_l0h0.npy", 1, "<f4", {9, 9}, false, 45, 8.9999999888241291},
        {"attention/gpt2_L9_l5h1.npy", 1, "<f4", {9, 9}, false, 45, 9.0000001232399853},
        {"attention/gpt2_L9_l5h1_q.npy", 1, "<f4", {9, 64}, false, 576, -183.21373832598329},
        {"attention/gpt2_L9_l5h1_k.npy", 1, "<f4", {9, 64}, false, 576, 78.249854547902942},
        {"attention/gpt2_L9_l11_allheads_fortran.npy", 1, "<f4", {12, 9, 9}, true, 540, 107.99999966446319},
        {"attention/bert_base_L15_l2h0.npy", 1, "<f4", {15, 15}, false, 225, 14.999999797778305},
        {"npy/s260k_L128_l0h0_be_f8.npy", 1, ">f8", {128, 128}, false, 8256, 128},
        {"npy/bert_sst2_0006_l0h0_v2.npy", 2, "<f4", {64, 64}, false, 1856, 64.000100059201941},
        {"npy/npyz_c_order_i8.npy", 1, "<i8", {2, 3, 4}, false, 24, 84},
        {"npy/npyz_f_order_i8.npy", 1, "<i8", {2, 3, 4}, true, 24, 84},
        {"npy/npyjs_65x65_f2.npy", 1, "<f2", {65, 65}, false, 4204, 534198},
        {"npy/ndarraynpy_f8_be_fortran.npy", 1, ">f8", {2, 3, 4}, true, 23, 276},
        {"npy/py2_long_shape.npy", 1, "<f8", {2}, false, 2, 2},
    };
    for (const ArrayFacts& facts : all) {
        CAPTURE(facts.file);
        const io::NpyHeader header = io::read_npy_header(*folder / facts.file);
        CHECK(header.version == facts.version);
        CHECK(header.dtype == facts.dtype);
        CHECK(header.fortran_order == facts.fortran_order);
        const io::NpyArray array = io::read_npy(*folder / facts.file);
        CHECK(array.shape == facts.shape);
        CHECK(nonzeros_of(array.values) == facts.nonzeros);
        CHECK(sum_of(array.values) == doctest::Approx(facts.sum).epsilon(1e-12));
    }
}

TEST_CASE("public arrays stored twice are equal: C and Fortran order, either byte order") {
    const auto folder = shared_data("public arrays stored twice");
    if (!folder) {
        return;
    }
    CHECK(io::read_npy(*folder / "npy/npyz_c_order_i8.npy").values ==
          io::read_npy(*folder / "npy/npyz_f_order_i8.npy").values);
    // Rows of every head of the Fortran-ordered stack sum to 1, which a wrong order would not give.
    for (Index head = 0; head < 12; ++head) {
        const auto read = io::read_target_file(*folder / "attention/gpt2_L9_l11_allheads_fortran.npy", {.slice = head});
        for (Index i = 0; i < 9; ++i) {
            CHECK(read.matrix.row_nonzeros(i) == i + 1);
            const auto row = read.matrix.row_values(i);
            CHECK(std::accumulate(row.begin(), row.end(), 0.0) == doctest::Approx(1).epsilon(2e-7));
        }
    }
}
