// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
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
#include "view/printable.hpp"
#include "view/units.hpp"

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
  std::uint64_t cores = 0;
  bool replicate = false;
  std::uint64_t l1_small_bytes = 0, trace_region_bytes = 0;
};

// "8x4", "8,4": 8 and 4. Empty if it is neither, or if one of them is 0 or no count of anything.
std::optional<std::pair<std::uint64_t, std::uint64_t>> two_lengths(const std::string& text) {
  constexpr std::uint64_t kMost = 1u << 16;
  std::string ignored;
  const auto parsed = parse_shape(text, ignored);
  if (!parsed || !ignored.empty()) return std::nullopt;
  const auto& shape = parsed->tensor.shape;
  const auto counts = [](std::uint64_t length) { return length > 0 && length <= kMost; };
  if (shape.size() != 2 || !std::ranges::all_of(shape, counts)) return std::nullopt;
  return std::pair{shape[0], shape[1]};
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
    const auto grid = two_lengths(options.grid);
    if (!grid) return wrong("--grid is columns x rows, as in 8x8");
    tensor.grid = {grid->first, grid->second};
    tensor.cores = options.cores;
    if (tensor.cores > tensor.grid.cores()) {
      return wrong(fmt::format("--cores {}: a grid of {}x{} has only {}", tensor.cores,
                               tensor.grid.columns, tensor.grid.rows, tensor.grid.cores()));
    }
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

// Why the mesh is not to be had of the board that was named; "" if it is. Of an architecture, or of
// a device in use, it is not known how many chips there are.
std::string too_large_a_mesh(const FitOptions& options, std::uint64_t chips) {
  const explain::Board* board = options.board.empty() ? nullptr : find_board(options);
  if (!board || chips <= board->chips) return "";
  return fmt::format(
      "--mesh {} is {} chips, but {} has {}; --arch {} asks about any number of them",
      view::printable(options.mesh), chips, board->name, view::count_text(board->chips, "chip"),
      ledger::name(board->arch));
}

const ledger::DeviceView* find_device(const FitOptions& options, const ledger::Snapshot& snapshot,
                                      view::Selection& selection) {
  if (!options.device.empty()) {
    const auto found = selection.find(snapshot);
    return found ? *found : nullptr;
  }
  return snapshot.devices.empty() ? nullptr : &snapshot.devices.front();
}

std::uint64_t held_bytes(const ledger::LiveSpace& space) {
  std::uint64_t bytes = 0;
  for (const ledger::HeldBlock& block : space.picture.blocks) {
    bytes += block.range.end - block.range.begin;
  }
  return bytes;
}

// As the process that holds most of its DRAM has it.
std::optional<FitTarget> live_target(const collect::Collector& collector,
                                     const ledger::DeviceView& device) {
  const auto drams = collector.live_spaces(device.id, ledger::Space::kDram);
  const auto l1s = collector.live_spaces(device.id, ledger::Space::kL1);
  const ledger::LiveSpace* fullest = nullptr;
  for (const ledger::LiveSpace& space : drams) {
    if (!fullest || held_bytes(space) > held_bytes(*fullest)) fullest = &space;
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
  target.l1_grid = explain::compute_grid({device.grid_x, device.grid_y}, target.l1.banks);
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
        "there is no such board: name n150, n300, t3k or galaxy (wormhole_b0), p150 or "
        "p300 (blackhole)");
  }
  const ledger::DeviceView* device = find_device(options, collector.snapshot(), options.selection);
  if (!device && !options.device.empty()) {
    return none(
        fmt::format("there is no device {}; `ttmem status` lists them, and --board n150 asks "
                    "about an empty one",
                    options.device));
  }
  if (!device) return none("no device is in use: name a board, as in --board n150");
  if (auto target = live_target(collector, *device)) {
    const char* of_empty = options.l1_small_bytes != 0       ? "--l1-small"
                           : options.trace_region_bytes != 0 ? "--trace-region"
                                                             : nullptr;
    if (!of_empty) return *target;
    return Error{ErrorCode::kWrongKind,
                 fmt::format("{} is of an empty device, and device {} is in use: name a board, as "
                             "in --board n150",
                             of_empty, device->id)};
  }
  if (const explain::Board* board = board_of(*device)) return empty(*board);
  return none("the geometry of that device is not known: name a board, as in --board n150");
}

// ---- the command -------------------------------------------------------------------------------

int fit(FitOptions& options) {
  collect::Options collecting;
  collecting.process = options.selection.process();
  collect::Collector collector(collecting);
  collector.refresh();
  if (const std::string why = options.selection.missing_process(collector.snapshot());
      !why.empty()) {
    return complain(why, kNotFound);
  }
  view::FitAnswer answer;
  const auto tensors = listed_tensors(options, answer.variable);
  if (!tensors) return complain(tensors.error());
  if (answer.variable != options.solve) {
    return complain(
        options.solve.empty()
            ? fmt::format("--solve {0} asks for the largest {0} that fits", answer.variable)
            : fmt::format("--solve {0} needs that word in a shape, as in --shape {0},32,4096",
                          view::printable(options.solve)),
        kUsage);
  }
  const auto target = find_target(collector, options);
  if (!target) return complain(target.error());
  if (!options.mesh.empty()) {
    const auto mesh = two_lengths(options.mesh);
    if (!mesh) return complain("--mesh is rows x columns, as in 2x4", kUsage);
    answer.chips = mesh->first * mesh->second;
    const std::string why = too_large_a_mesh(options, answer.chips);
    if (!why.empty()) return complain(why, kUsage);
  }
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
    "A file lists tensors: CSV (name,shape,dtype,layout,memory, or as its first line names them;\n"
    "shapes as 1x32x64), JSON (a list of objects with these names), or .safetensors, of which "
    "only\n"
    "the header is read.\n"
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
      .add_option("--dtype", options.dtype,
                  "Data type (default bfloat16); for a file: of all its tensors")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"bfloat16", "float32", "uint32", "int32", "uint16", "uint8", "int8",
                             "bfloat8_b", "bfloat4_b", "fp8_e4m3"}));
  command.add_option("--layout", options.layout, "tile or row_major")
      ->type_name("LAYOUT")
      ->default_str("tile")
      ->check(CLI::IsMember({"tile", "row_major"}));
  command.add_option("--memory", options.memory, "dram or l1")
      ->type_name("MEMORY")
      ->default_str("dram")
      ->check(CLI::IsMember({"dram", "l1"}));
  CLI::Option* shard =
      command.add_option("--shard", options.sharding, "Shard by height, width, block or nd")
          ->type_name("KIND")
          ->check(CLI::IsMember({"height", "width", "block", "nd"}));
  CLI::Option* shard_shape =
      command.add_option("--shard-shape", options.shard_shape, "Shape of a shard, as in 32,64")
          ->type_name("SHAPE");
  shard->needs(shard_shape);
  shard_shape->needs(shard);
  CLI::Option* grid =
      command.add_option("--grid", options.grid, "Cores that shards are spread over, as in 8x8")
          ->type_name("CxR")
          ->needs(shard);
  command.add_option("--cores", options.cores, "Number of these cores, if not all of the grid")
      ->type_name("N")
      ->check(positive_number)
      ->needs(grid);
  command.add_option("--tile", options.tile, "Size of a tile (default 32x32)")->type_name("HxW");
}

void add_device_options(CLI::App& command, FitOptions& options) {
  CLI::Option* device =
      command.add_option("--device", options.device, "Device as it is now, by id or unique id")
          ->type_name("DEVICE")
          ->each([&options](const std::string& value) { options.selection.add("device", value); });
  add_selection(command, "pid", "Device as this process has it now; or PID/START",
                options.selection);
  command.add_option("--board", options.board, "An empty n150, n300, t3k, galaxy, p150 or p300")
      ->type_name("BOARD")
      ->excludes(device)
      ->excludes("--pid");
  command.add_option("--arch", options.arch, "An empty device of wormhole_b0 or blackhole")
      ->type_name("ARCH")
      ->excludes(device)
      ->excludes("--pid");
  command.add_option("--l1-small", options.l1_small_bytes, "l1_small_size of an empty device")
      ->type_name("BYTES")
      ->excludes(device);
  command
      .add_option("--trace-region", options.trace_region_bytes,
                  "trace_region_size of an empty device")
      ->type_name("BYTES")
      ->excludes(device);
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
