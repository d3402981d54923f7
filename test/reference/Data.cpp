//===- Data.cpp - operations that move values without changing them -------===//

#include "Pieces.h"

#include <algorithm>
#include <cmath>

namespace ck::reference {
namespace {

Status copy(Call &call) {
  if (Status status = call.expectShapes({{"output", call.in("input").shape}}); !status)
    return status;
  call.out("output").data = call.in("input").data;
  return Status::success();
}

/// "1,0,2" as a permutation of `rank` dims; empty if it is none.
std::vector<size_t> parsePermutation(const std::string &text, size_t rank) {
  std::vector<size_t> perm;
  std::vector<bool> used(rank, false);
  for (size_t i = 0; i < text.size(); i += 2) {
    size_t axis = static_cast<size_t>(text[i] - '0');
    bool separated = i + 1 == text.size() || text[i + 1] == ',';
    if (axis >= rank || used[axis] || !separated)
      return {};
    used[axis] = true;
    perm.push_back(axis);
  }
  return perm.size() == rank ? perm : std::vector<size_t>();
}

/// Dim i of the output is dim perm[i] of the input.
Status transpose(Call &call) {
  const Tensor &input = call.in("input");
  Tensor &output = call.out("output");
  size_t rank = input.shape.size();
  std::vector<size_t> perm = parsePermutation(call.word("perm"), rank);
  if (perm.size() != rank)
    return badCall("perm = \"" + call.word("perm") + "\" does not permute the dims of the input");
  std::vector<int64_t> shape, inputStride(rank, 1);
  for (size_t i = rank; i-- > 1;)
    inputStride[i - 1] = inputStride[i] * input.shape[i];
  for (size_t axis : perm)
    shape.push_back(input.shape[axis]);
  if (Status status = call.expectShapes({{"output", shape}}); !status)
    return status;
  for (int64_t i = 0; i < output.elements(); ++i) {
    int64_t rest = i, from = 0;
    for (size_t axis = rank; axis-- > 0;) {
      from += rest % shape[axis] * inputStride[perm[axis]];
      rest /= shape[axis];
    }
    output.data[i] = input.data[from];
  }
  return Status::success();
}

/// `whole` and `pieces` lie side by side along `axis`; calls move(element of whole, piece, element of piece) for each.
template <typename Move>
Status joinAlong(int64_t axis, const Tensor &whole, const std::vector<const Tensor *> &pieces, Move move) {
  int64_t rank = static_cast<int64_t>(whole.shape.size());
  if (axis < 0 || axis >= rank)
    return badCall("axis " + std::to_string(axis) + " is outside the tensor of rank " + std::to_string(rank));
  int64_t outer = 1, inner = 1, total = 0;
  for (int64_t i = 0; i < axis; ++i)
    outer *= whole.shape[i];
  for (int64_t i = axis + 1; i < rank; ++i)
    inner *= whole.shape[i];
  for (const Tensor *piece : pieces) {
    std::vector<int64_t> expected = whole.shape;
    expected[axis] = piece->extent(axis);
    if (piece->shape != expected)
      return badCall("the pieces differ in another dim than the axis");
    total += piece->extent(axis);
  }
  if (total != whole.shape[axis])
    return badCall("the extents of the pieces do not add up");
  for (int64_t o = 0; o < outer; ++o) {
    int64_t from = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
      int64_t width = pieces[p]->shape[axis];
      for (int64_t i = 0; i < width * inner; ++i)
        move((o * total + from) * inner + i, p, o * width * inner + i);
      from += width;
    }
  }
  return Status::success();
}

/// name0, name1, ... as far as they are there.
std::vector<const Tensor *> numbered(const std::map<std::string, Tensor> &operands, const std::string &name) {
  std::vector<const Tensor *> list;
  for (auto it = operands.find(name + "0"); it != operands.end();
       it = operands.find(name + std::to_string(list.size())))
    list.push_back(&it->second);
  return list;
}

Status split(Call &call) {
  const Tensor &input = call.in("input");
  return joinAlong(call.integer("axis"), input, numbered(call.outputs, "output"), [&](int64_t w, size_t p, int64_t i) {
    call.out("output" + std::to_string(p)).data[i] = input.data[w];
  });
}

Status concat(Call &call) {
  Tensor &output = call.out("output");
  std::vector<const Tensor *> pieces = numbered(call.inputs, "input");
  return joinAlong(call.integer("axis"), output, pieces,
                   [&](int64_t w, size_t p, int64_t i) { output.data[w] = pieces[p]->data[i]; });
}

/// The whole is as long as its pieces together.
void relatePieces(const char *whole, const std::string &piece, const Params &attrs,
                  std::map<std::string, std::vector<int64_t>> &shapes) {
  size_t axis = static_cast<size_t>(std::get<int64_t>(attrs.at("axis")));
  int64_t total = 0;
  for (const auto &[name, shape] : shapes)
    if (name != whole && name.compare(0, piece.size(), piece) == 0 && axis < shape.size())
      total += shape[axis];
  if (axis < shapes[whole].size())
    shapes[whole][axis] = total;
}

void relateSplit(const Params &attrs, std::map<std::string, std::vector<int64_t>> &shapes) {
  relatePieces("input", "output", attrs, shapes);
}

void relateConcat(const Params &attrs, std::map<std::string, std::vector<int64_t>> &shapes) {
  relatePieces("output", "input", attrs, shapes);
}

/// The lowest index wins ties; a NaN never wins unless there is nothing else, then the result is 0.
Status argmax(Call &call) {
  const Tensor &input = call.in("input");
  int64_t T = input.extent(0), V = input.extent(1);
  if (Status status = call.expectShapes({{"input", {T, V}}, {"output", {T}}}); !status)
    return status;
  for (int64_t t = 0; t < T; ++t) {
    int64_t best = -1;
    for (int64_t v = 0; v < V; ++v) {
      double value = input.data[t * V + v];
      if (!std::isnan(value) && (best < 0 || value > input.data[t * V + best]))
        best = v;
    }
    call.out("output").data[t] = static_cast<double>(std::max<int64_t>(best, 0));
  }
  return Status::success();
}

/// Plain random numbers hold no ties: repeats the maximum of some rows and blots out others.
bool prepareArgmax(Call &call, Random &random) {
  Tensor &input = call.inputs["input"];
  int64_t T = input.extent(0), V = input.extent(1);
  for (int64_t t = 0; t < T && V > 0; ++t) {
    double *row = input.data.data() + (t * V);
    int64_t kind = random.below(4);
    if (kind == 0)
      row[random.below(V)] = *std::max_element(row, row + V);
    if (kind == 1 && random.below(4) == 0)
      std::fill(row, row + V, notANumber);
  }
  return true;
}

Status lastRow(Call &call) {
  const Tensor &input = call.in("input");
  // The elements of a vector are rows too.
  bool vector = input.shape.size() == 1;
  int64_t T = input.extent(0), E = vector ? 1 : input.extent(1);
  Status status = vector ? call.expectShapes({{"input", {T}}, {"output", {1}}})
                         : call.expectShapes({{"input", {T, E}}, {"output", {1, E}}});
  if (!status)
    return status;
  if (T < 1)
    return invalid("input has no rows");
  for (int64_t e = 0; e < E; ++e)
    call.out("output").data[e] = input.data[(T - 1) * E + e];
  return Status::success();
}

/// Zeros, but for the last row (the last element of a vector).
Status lastRowGrad(Call &call) {
  const Tensor &dOutput = call.in("d_output"), &input = call.in("input");
  Tensor &dInput = call.out("d_input");
  std::vector<int64_t> row = input.shape;
  if (row.empty())
    return badCall("input has no dims");
  row[0] = 1;
  if (Status status = call.expectShapes({{"d_output", row}, {"d_input", input.shape}}); !status)
    return status;
  if (input.extent(0) < 1)
    return invalid("input has no rows");
  std::fill(dInput.data.begin(), dInput.data.end(), 0.0);
  std::copy(dOutput.data.begin(), dOutput.data.end(), dInput.data.end() - dOutput.elements());
  return Status::success();
}

/// dst[pos[t],:] = src[t,:], row after row; the other rows stay.
Status updateRows(Call &call) {
  const Tensor &src = call.in("src"), &pos = call.in("pos");
  Tensor &dst = call.out("dst");
  int64_t S = dst.extent(0), V = dst.extent(1), T = pos.extent(0);
  if (Status status = call.expectShapes({{"dst", {S, V}}, {"src", {T, V}}, {"pos", {T}}}); !status)
    return status;
  if (Status status = expectIndices("pos", pos, S); !status)
    return status;
  for (int64_t t = 0; t < T; ++t)
    std::copy_n(src.data.begin() + t * V, V, dst.data.begin() + pos.integer(t) * V);
  return Status::success();
}

bool prepareUpdateRows(Call &call, Random &random) {
  return fillIndices(call.inputs["pos"], call.in("dst").extent(0), random);
}

bool spoilUpdateRows(Call &call, Random &random) {
  return spoilIndex(call.inputs["pos"], call.in("dst").extent(0), random);
}

Status fanOut(Call &call) {
  const Tensor &input = call.in("input");
  if (Status status = call.expectShapes({{"a", input.shape}, {"b", input.shape}}); !status)
    return status;
  call.out("a").data = call.out("b").data = input.data;
  return Status::success();
}

} // namespace

std::vector<Operation> dataOperations() {
  Operation duplicate;
  duplicate.name = "copy";
  duplicate.inputs = {"input"};
  duplicate.outputs = {"output"};
  duplicate.evaluate = copy;

  Operation permutation;
  permutation.name = "transpose";
  permutation.inputs = {"input"};
  permutation.outputs = {"output"};
  permutation.defaults = {{"perm", std::string()}};
  permutation.evaluate = transpose;

  Operation cut;
  cut.name = "split";
  cut.inputs = {"input"};
  cut.outputs = {"output*"};
  cut.defaults = {{"axis", int64_t(0)}};
  cut.evaluate = split;
  cut.relate = relateSplit;

  Operation join;
  join.name = "concat";
  join.inputs = {"input*"};
  join.outputs = {"output"};
  join.defaults = {{"axis", int64_t(0)}};
  join.evaluate = concat;
  join.relate = relateConcat;

  Operation best;
  best.name = "argmax";
  best.inputs = {"input"};
  best.outputs = {"output"};
  best.evaluate = argmax;
  best.prepare = prepareArgmax;

  Operation last;
  last.name = "last_row";
  last.inputs = {"input"};
  last.outputs = {"output"};
  last.evaluate = lastRow;

  Operation lastGrad;
  lastGrad.name = "last_row_grad";
  lastGrad.inputs = {"d_output", "input"};
  lastGrad.outputs = {"d_input"};
  lastGrad.evaluate = lastRowGrad;

  Operation update;
  update.name = "update_rows";
  update.inputs = {"dst", "src", "pos"};
  update.outputs = {"dst"};
  update.evaluate = updateRows;
  update.prepare = prepareUpdateRows;
  update.spoil = spoilUpdateRows;

  Operation fan;
  fan.name = "fan_out";
  fan.inputs = {"input"};
  fan.outputs = {"a", "b"};
  fan.evaluate = fanOut;
  return {duplicate, permutation, cut, join, best, last, lastGrad, update, fan};
}

} // namespace ck::reference
