#include "plugins/dnnl/executor/assembler.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/bounded_results.h"
#include "plugins/dnnl/executor/program_builder.h"
#include "plugins/dnnl/executor/tensor_places.h"

namespace ephost_dnnl {
namespace {

// Where an operation's output should be placed, known before the operation is assembled.
struct OutputPlacement {
  // The port whose memory the output may be written to, if it gets exactly this layout.
  std::optional<uint32_t> port;
  std::optional<Descriptor> port_layout;
  // The layout from which the only consumer can make a row-major tensor without moving it.
  std::optional<Descriptor> preferred;
};

// The inverse of a permutation.
Dims inverse(const Dims& permutation) {
  Dims result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    result[static_cast<std::size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return result;
}

// Whether the library lets the output share the memory of the first input.
bool works_in_place(const Op& op) {
  return get_if<Eltwise>(op) != nullptr || get_if<Binary>(op) != nullptr ||
         get_if<Softmax>(op) != nullptr || get_if<BatchNormalization>(op) != nullptr ||
         get_if<LayerNormalization>(op) != nullptr || get_if<Conversion>(op) != nullptr;
}

// Carries the placement of a view's output over to its input, which has no other use.
void inherit(const Recipe& recipe, const Op& op, const OutputPlacement& output,
             OutputPlacement& input) {
  if (!output.port) return;
  const auto* transpose = get_if<Transpose>(op);
  input.port_layout = transpose != nullptr
                          ? transpose_view(*output.port_layout, inverse(transpose->permutation))
                          : reshape_view(*output.port_layout, recipe.dims(op.inputs[0]));
  if (input.port_layout) input.port = output.port;
}

std::vector<OutputPlacement> find_output_placements(const Recipe& recipe) {
  std::vector<OutputPlacement> placements(recipe.tensors.size());
  for (uint32_t i = 0; i < recipe.outputs.size(); ++i) {
    OutputPlacement& placement = placements[recipe.outputs[i].tensor];
    if (placement.port) continue;
    placement.port = i;
    const TensorId tensor = recipe.outputs[i].tensor;
    placement.port_layout = row_major(recipe.dims(tensor), recipe.type(tensor));
  }
  const std::vector<uint32_t> uses = count_uses(recipe);
  for (auto op = recipe.ops.rbegin(); op != recipe.ops.rend(); ++op) {
    const bool is_view = get_if<Reshape>(*op) != nullptr || get_if<Transpose>(*op) != nullptr;
    if (!is_view || uses[op->inputs[0]] != 1) continue;
    OutputPlacement& input = placements[op->inputs[0]];
    inherit(recipe, *op, placements[op->output], input);
    if (const auto* transpose = get_if<Transpose>(*op)) {
      input.preferred = row_major_after(recipe.dims(op->inputs[0]), transpose->permutation,
                                        recipe.type(op->inputs[0]));
    }
  }
  return placements;
}

class Assembler {
 public:
  Assembler(const Recipe& recipe, ConstantSource& constants, const dnnl::engine& engine,
            ChooseFunction choose)
      : recipe_(recipe),
        engine_(engine),
        choose_(choose),
        builder_(engine),
        places_(recipe, constants, builder_),
        output_placements_(find_output_placements(recipe)) {}

  Program assemble() && {
    for (uint32_t i = 0; i < recipe_.outputs.size(); ++i) {
      ports_.push_back(builder_.add_port(Place::kOutput, i));
    }
    for (const Op& op : recipe_.ops) {
      if (const auto* transpose = get_if<Transpose>(op)) {
        alias(op, [&](const Descriptor& layout) {
          return transpose_view(layout, transpose->permutation);
        });
      } else if (get_if<Reshape>(op) != nullptr) {
        alias(op, [&](const Descriptor& layout) {
          return reshape_view(layout, recipe_.dims(op.output));
        });
      } else {
        compute(op);
      }
    }
    for (uint32_t i = 0; i < recipe_.outputs.size(); ++i) deliver(i);
    return std::move(builder_).finish();
  }

 private:
  template <class View>
  void alias(const Op& op, const View& view) {
    places_.alias(op.inputs[0], op.output, view, describe(op));
    places_.release(op.inputs[0]);
  }

  [[nodiscard]] PrimitiveRequest request(const Op& op) const {
    PrimitiveRequest result;
    result.op = &op;
    for (const TensorId input : op.inputs) result.inputs.push_back(places_.operand(input));
    for (const PostOp& post_op : op.post_ops) {
      result.post_op_operands.push_back(post_op.has_operand() ? places_.operand(post_op.operand)
                                                              : Operand{});
    }
    result.output_dims = recipe_.dims(op.output);
    result.output_type = recipe_.type(op.output);
    result.preferred_output = output_placements_[op.output].preferred;
    return result;
  }

  [[nodiscard]] uint32_t index_of(const Op& op) const {
    return static_cast<uint32_t>(&op - recipe_.ops.data());
  }

  Placement require(const Op& op, TensorId tensor, const Descriptor& layout) {
    try {
      return places_.require(tensor, layout, describe(op));
    } catch (const NoPrimitive& error) {
      throw OpFailed(index_of(op), error.what());
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
      throw OpFailed(index_of(op), describe(op) + ": " + error.what());
    }
  }

  void compute(const Op& op) {
    const PrimitiveChoice choice = choose_(request(op), engine_);
    std::vector<ProgramBuilder::Argument> arguments;
    for (const ChosenInput& input : choice.inputs) {
      const TensorId tensor =
          input.is_post_op_operand ? op.post_ops[input.index].operand : op.inputs[input.index];
      const Placement placement = require(op, tensor, input.layout);
      arguments.push_back({input.argument, placement.buffer, placement.layout});
    }
    for (const TensorId input : op.inputs) places_.release(input);
    for (const PostOp& post_op : op.post_ops) {
      if (post_op.has_operand()) places_.release(post_op.operand);
    }
    for (const ParameterArgument& parameter : choice.parameters) {
      arguments.push_back(
          {parameter.argument, builder_.add_parameter(parameter.bytes), parameter.layout});
    }
    const uint32_t buffer = output_buffer(op, choice.output, arguments);
    arguments.push_back({DNNL_ARG_DST, buffer, choice.output});
    const uint32_t index = index_of(op);
    if (choice.own != nullptr) {
      builder_.add_own_step(choice.own, arguments, describe(op), index);
    } else {
      builder_.add_step(choice.descriptor, arguments, describe(op), index,
                        bounded_result(op, recipe_.type(op.output)));
    }
    // Every output form divides the dimensions of a row-major layout, or has the tensor's own.
    places_.place(op.output,
                  {buffer, reshape_view(choice.output, recipe_.dims(op.output)).value()});
  }

  // The buffer for the output. With a sum, it already holds the operand.
  uint32_t output_buffer(const Op& op, const Descriptor& layout,
                         const std::vector<ProgramBuilder::Argument>& arguments) {
    const auto sum =
        std::find_if(op.post_ops.begin(), op.post_ops.end(),
                     [](const PostOp& post_op) { return post_op.kind == PostOpKind::kSum; });
    if (sum != op.post_ops.end()) return accumulator(op, sum->operand, layout, arguments);
    if (const std::optional<uint32_t> port = port_for(op, layout)) return *port;
    if (works_in_place(op) && can_take_over(arguments[0], layout, arguments, 1)) {
      return arguments[0].buffer;
    }
    return builder_.add_workspace(layout.get_size());
  }

  [[nodiscard]] std::optional<uint32_t> port_for(const Op& op, const Descriptor& layout) const {
    const OutputPlacement& placement = output_placements_[op.output];
    const std::optional<Descriptor> seen = reshape_view(layout, recipe_.dims(op.output));
    if (!placement.port || !seen || !same_layout(*seen, *placement.port_layout)) {
      return std::nullopt;
    }
    return ports_[*placement.port];
  }

  // Whether the output may overwrite a workspace buffer: nothing reads the buffer later, and the
  // step itself reads it through exactly `readers` arguments.
  [[nodiscard]] bool can_take_over(const ProgramBuilder::Argument& candidate,
                                   const Descriptor& layout,
                                   const std::vector<ProgramBuilder::Argument>& arguments,
                                   int64_t readers) const {
    const auto reads = std::count_if(
        arguments.begin(), arguments.end(),
        [&](const ProgramBuilder::Argument& other) { return other.buffer == candidate.buffer; });
    return builder_.place(candidate.buffer) == Place::kWorkspace && reads == readers &&
           same_layout(candidate.layout, layout) && places_.is_dead(candidate.buffer);
  }

  // The buffer that a sum accumulates into: the operand's own if nothing reads it later, else a
  // copy.
  uint32_t accumulator(const Op& op, TensorId operand, const Descriptor& layout,
                       const std::vector<ProgramBuilder::Argument>& arguments) {
    for (const Placement& placement : places_.placements(operand)) {
      const std::optional<Descriptor> seen = reshape_view(placement.layout, dims_of(layout));
      if (seen && can_take_over({0, placement.buffer, *seen}, layout, arguments, 0)) {
        return placement.buffer;
      }
    }
    const Placement source = places_.require(operand, layout, describe(op));
    const std::optional<uint32_t> port = port_for(op, layout);
    const uint32_t copy = port ? *port : builder_.add_workspace(layout.get_size());
    builder_.add_reorder(source.buffer, layout, copy, layout, describe(op));
    return copy;
  }

  // Copies an output to its port's memory unless it is there already.
  void deliver(uint32_t port) {
    const TensorId tensor = recipe_.outputs[port].tensor;
    const Descriptor wanted = row_major(recipe_.dims(tensor), recipe_.type(tensor));
    for (const Placement& placement : places_.placements(tensor)) {
      if (placement.buffer == ports_[port]) return;
    }
    const std::string label = "output " + std::to_string(port);
    const Operand operand = places_.operand(tensor);
    const Placement source =
        places_.require(tensor, operand.is_constant ? wanted : operand.layout, label);
    builder_.add_reorder(source.buffer, source.layout, ports_[port], wanted, label);
  }

  const Recipe& recipe_;
  const dnnl::engine& engine_;
  const ChooseFunction choose_;
  ProgramBuilder builder_;
  TensorPlaces places_;
  std::vector<OutputPlacement> output_placements_;
  std::vector<uint32_t> ports_;
};

}  // namespace

Program assemble(const Recipe& recipe, ConstantSource& constants, const dnnl::engine& engine,
                 ChooseFunction choose) {
  return Assembler(recipe, constants, engine, choose).assemble();
}

}  // namespace ephost_dnnl
