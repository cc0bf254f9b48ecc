// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/reading_options.hpp"
#include "cli/weight_list.hpp"
#include "collect/collector.hpp"
#include "explain/fit.hpp"

namespace ttmem::cli {
namespace {

using explain::FitTarget;
using explain::TensorSpec;

struct FitOptions {
  view::Selection selection;  // device, process
  FormatChoice format;
  std::string shape, file, dtype, layout, memory, sharding, shard_shape, grid, tile, board, arch,
      mesh;
  std::string device;  // as it was asked for; "" = not
  std::string solve;
  std::optional<std::int64_t> shard_dimension;
  bool replicate = false;
  std::uint64_t l1_small_bytes = 0, trace_region_bytes = 0;
};

// "8x8": 64; "2,4": 8. 0 if it is neither.
std::uint64_t product(const std::string& text) {
  std::string ignored;
  const auto shape = parse_shape(text, ignored);
  if (!shape || !ignored.empty() || shape->tensor.shape.size() != 2) return 0;
  return shape->tensor.shape[0] * shape->tensor.shape[1];
}

// ---- the tensors -------------------------------------------------------------------------------

// Everything but the shape. A wrong word is wrong usage.
Result<TensorSpec> usual_tensor(const FitOptions& options) {
  const auto wrong = [](const std::string& what) { return Error{ErrorCode::kWrongKind, what}; };
  TensorSpec tensor;
  tensor.type =
      *ledger::named<explain::DataType>(options.dtype.empty() ? "bfloat16" : options.dtype);
  tensor.layout = *ledger::named<explain::TensorLayout>(options.layout);
  tensor.space = *ledger::named<ledger::Space>(options.memory);
  tensor.sharding = *ledger::named<explain::Sharding>(options.sharding);
  std::string ignored;
  if (!options.shard_shape.empty()) {
    const auto shard = parse_shape(options.shard_shape, ignored);
    if (!shard || !ignored.empty())
      return wrong("--shard-shape is numbers with commas, as in 32,64");
    tensor.shard = shard->tensor.shape;
  }
  if (!options.grid.empty()) {
    tensor.cores = product(options.grid);
    if (tensor.cores == 0) return wrong("--grid is columns x rows, as in 8x8");
  }
  if (!options.tile.empty()) {
    const auto tile = parse_shape(options.tile, ignored);
    if (!tile || !ignored.empty() || tile->tensor.shape.size() != 2) {
      return wrong("--tile is height x width, as in 32x32");
    }
    tensor.tile_height = tile->tensor.shape[0];
    tensor.tile_width = tile->tensor.shape[1];
  }
  return tensor;
}

Result<std::vector<ListedTensor>> listed_tensors(const FitOptions& options, std::string& variable) {
  const auto usual = usual_tensor(options);
  if (!usual) return usual.error();
  if (!options.file.empty()) {
    return read_weight_list(options.file, *usual, !options.dtype.empty(), variable);
  }
  auto one = parse_shape(options.shape, variable);
  if (!one) return one.error();
  const auto shape = one->tensor.shape;
  one->tensor = *usual;
  one->tensor.shape = shape;
  return std::vector<ListedTensor>{*one};
}

// What one chip of the mesh has of them. That there is such a part was asked before.
std::vector<TensorSpec> on_one_chip(std::vector<TensorSpec> tensors, const FitOptions& options,
                                    std::uint64_t chips) {
  if (!options.shard_dimension) return tensors;
  for (TensorSpec& tensor : tensors) {
    if (auto part = part_of(tensor, *options.shard_dimension, chips)) tensor = std::move(*part);
  }
  return tensors;
}

// Why one of them cannot be spread over the chips; "" if all can.
std::string undividable(const std::vector<TensorSpec>& tensors, const FitOptions& options,
                        std::uint64_t chips) {
  if (!options.shard_dimension) return "";
  for (const TensorSpec& tensor : tensors) {
    const auto part = part_of(tensor, *options.shard_dimension, chips);
    if (part) continue;
    return fmt::format("--shard-dim {}: {}{}", *options.shard_dimension,
                       tensor.name.empty() ? "" : tensor.name + ": ", part.error().message);
  }
  return "";
}

// ---- the device --------------------------------------------------------------------------------

// Both, if both are named.
const explain::Board* find_board(const FitOptions& options) {
  for (const explain::Board& board : explain::boards()) {
    const bool named = options.board.empty() || options.board == board.name;
    if (named && (options.arch.empty() || options.arch == ledger::name(board.arch))) return &board;
  }
  return nullptr;
}

const ledger::DeviceView* find_device(const FitOptions& options, const ledger::Snapshot& snapshot,
                                      view::Selection& selection) {
  if (!options.device.empty()) {
    const auto found = selection.find(snapshot);
    return found ? *found : nullptr;
  }
  return snapshot.devices.empty() ? nullptr : &snapshot.devices.front();
}

// As the process that holds most on it has it.
std::optional<FitTarget> live_target(const collect::Collector& collector,
                                     const ledger::DeviceView& device) {
  const auto drams = collector.live_spaces(device.id, ledger::Space::kDram);
  const auto l1s = collector.live_spaces(device.id, ledger::Space::kL1);
  const ledger::LiveSpace* fullest = nullptr;
  for (const ledger::LiveSpace& space : drams) {
    if (!fullest || space.picture.blocks.size() > fullest->picture.blocks.size()) fullest = &space;
  }
  if (!fullest) return std::nullopt;
  FitTarget target;
  target.device =
      fmt::format("device {} as process {} has it", device.id, fullest->process->label());
  target.arch = device.arch;
  target.dram = fullest->picture;
  for (const ledger::LiveSpace& space : l1s) {
    if (space.process->is(*fullest->process)) target.l1 = space.picture;
  }
  return target;
}

const explain::Board* board_of(const ledger::DeviceView& device) {
  for (const explain::Board& board : explain::boards()) {
    if (device.board == board.name) return &board;
  }
  for (const explain::Board& board : explain::boards()) {
    if (device.arch == board.arch) return &board;
  }
  return nullptr;
}

Result<FitTarget> find_target(const collect::Collector& collector, FitOptions& options) {
  const auto none = [](const std::string& why) { return Error{ErrorCode::kNotFound, why}; };
  const auto empty = [&](const explain::Board& board) {
    return explain::empty_target(board, options.l1_small_bytes, options.trace_region_bytes);
  };
  if (!options.board.empty() || !options.arch.empty()) {
    if (const explain::Board* board = find_board(options)) return empty(*board);
    return none(
        "there is no such board: name n150, n300, t3k or galaxy (wormhole_b0), or p150 "
        "(blackhole)");
  }
  const ledger::DeviceView* device = find_device(options, collector.snapshot(), options.selection);
  if (!device && !options.device.empty()) {
    return none(
        fmt::format("there is no device {}; `ttmem status` lists them, and --board n150 asks "
                    "about an empty one",
                    options.device));
  }
  if (!device) return none("no device is in use: name a board, as in --board n150");
  if (auto target = live_target(collector, *device)) return *target;
  if (const explain::Board* board = board_of(*device)) return empty(*board);
  return none("the geometry of that device is not known: name a board, as in --board n150");
}

// ---- the command -------------------------------------------------------------------------------

int fit(FitOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collect::Collector collector(collecting);
  collector.refresh();
  view::FitAnswer answer;
  const auto tensors = listed_tensors(options, answer.variable);
  if (!tensors) return complain(tensors.error().message, kUsage);
  if (!answer.variable.empty() != !options.solve.empty()) {
    return complain(
        options.solve.empty()
            ? fmt::format("--solve {0} asks for the largest {0} that fits", answer.variable)
            : "--solve needs that word in a shape, as in --shape batch,32,4096",
        kUsage);
  }
  const auto target = find_target(collector, options);
  if (!target) return complain(target.error().message, kNotFound);
  if (!options.mesh.empty()) answer.chips = product(options.mesh);
  if (answer.chips == 0) return complain("--mesh is rows x columns, as in 2x4", kUsage);
  const auto make = [&](std::uint64_t value) {
    return on_one_chip(with_value(*tensors, value), options, answer.chips);
  };
  if (const std::string why = undividable(with_value(*tensors, 1), options, answer.chips);
      !why.empty()) {
    return complain(why, kUsage);
  }
  answer.device = target->device;
  answer.empty = target->empty;
  if (!answer.variable.empty()) answer.solved = explain::largest_that_fits(make, *target);
  answer.fit = explain::fit(make(std::max<std::uint64_t>(answer.solved.value_or(1), 1)), *target);
  Output output;
  options.format.print(fit_formats(), output, collector.snapshot(), answer);
  const int code = output.finish();
  return code != kOk || answer.fit.fits ? code : static_cast<int>(kNotFound);
}

constexpr const char* kFitExamples =
    "Computes what a tensor takes, to the byte, and places it into the holes of a device as it is\n"
    "now, or of an empty one. Exit code 1 if it does not fit.\n"
    "A file lists tensors: CSV (name,shape,dtype,layout,memory; shapes as 1x32x64), JSON (a list "
    "of\n"
    "objects with these names), or .safetensors, of which only the header is read.\n"
    "Examples:\n"
    "  ttmem fit --shape 1,32,4096,4096 --dtype bfloat8_b --board n150\n"
    "  ttmem fit --shape 2048,64 --memory l1 --shard height --shard-shape 32,64 --grid 8x8\n"
    "  ttmem fit --file model.safetensors --dtype bfloat8_b --mesh 2x4 --shard-dim -1\n"
    "  ttmem fit --shape batch,32,4096,128 --solve batch --device 0";

void add_tensor_options(CLI::App& command, FitOptions& options) {
  CLI::Option* shape =
      command.add_option("--shape", options.shape, "Shape of the tensor, as in 1,32,4096")
          ->type_name("SHAPE");
  command.add_option("--file", options.file, "List of tensors: CSV, JSON or safetensors")
      ->type_name("FILE")
      ->excludes(shape);
  command
      .add_option("--dtype", options.dtype, "Data type (bfloat16); for a file: of all its tensors")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "int8",
                             "bfloat8_b", "bfloat4_b"}));
  command.add_option("--layout", options.layout, "tile or row_major")
      ->type_name("LAYOUT")
      ->default_str("tile")
      ->check(CLI::IsMember({"tile", "row_major"}));
  command.add_option("--memory", options.memory, "dram or l1")
      ->type_name("MEMORY")
      ->default_str("dram")
      ->check(CLI::IsMember({"dram", "l1"}));
  command.add_option("--shard", options.sharding, "Shard by height, width, block or nd")
      ->type_name("KIND")
      ->check(CLI::IsMember({"height", "width", "block", "nd"}));
  command.add_option("--shard-shape", options.shard_shape, "Shape of a shard, as in 32,64")
      ->type_name("SHAPE");
  command.add_option("--grid", options.grid, "Cores that shards are spread over, as in 8x8")
      ->type_name("CxR");
  command.add_option("--tile", options.tile, "Size of a tile (32x32)")->type_name("HxW");
}

void add_device_options(CLI::App& command, FitOptions& options) {
  command.add_option("--device", options.device, "Device as it is now, by id or unique id")
      ->type_name("DEVICE")
      ->each([&options](const std::string& value) { options.selection.add("device", value); });
  command.add_option("--board", options.board, "An empty n150, n300, t3k, galaxy or p150")
      ->type_name("BOARD");
  command.add_option("--arch", options.arch, "An empty device of wormhole_b0 or blackhole")
      ->type_name("ARCH");
  command.add_option("--l1-small", options.l1_small_bytes, "l1_small_size of an empty device")
      ->type_name("BYTES");
  command
      .add_option("--trace-region", options.trace_region_bytes,
                  "trace_region_size of an empty device")
      ->type_name("BYTES");
  CLI::Option* mesh =
      command.add_option("--mesh", options.mesh, "Rows and columns of a mesh, as in 2x4")
          ->type_name("RxC");
  CLI::Option* replicate =
      command
          .add_flag("--replicate", options.replicate, "Put all of it on every chip (the default)")
          ->needs(mesh);
  command
      .add_option("--shard-dim", options.shard_dimension, "Spread this dimension over the chips")
      ->type_name("N")
      ->needs(mesh)
      ->excludes(replicate);
}

}  // namespace

void register_fit(CLI::App& app, Action& action) {
  auto options = std::make_shared<FitOptions>();
  options->layout = "tile";
  options->memory = "dram";
  options->sharding = "interleaved";
  CLI::App* command =
      app.add_subcommand("fit", "Tell what a tensor takes, and whether it would fit");
  command->footer(kFitExamples);
  add_tensor_options(*command, *options);
  add_device_options(*command, *options);
  command
      ->add_option("--solve", options->solve, "Find the largest value of this word in the shapes")
      ->type_name("WORD");
  options->format.offer(*command, fit_formats(), "Print text or json");
  command->callback([options, &action] {
    if (options->shape.empty() && options->file.empty()) {
      throw CLI::RequiredError("--shape or --file");
    }
    action = [options] { return fit(*options); };
  });
}

}  // namespace ttmem::cli
