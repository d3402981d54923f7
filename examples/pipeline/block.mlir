// The feed-forward half of a decoder block on up to 64 rows: x + W2 (silu(W1 n) * W3 n), n = rms_norm(x).
module attributes {ck.model = "block", ck.numerics = "f32"} {
  ck.buffer @norm weight : tensor<64xf32>
  ck.buffer @w_gate weight : tensor<172x64xf32>
  ck.buffer @w_up weight : tensor<172x64xf32>
  ck.buffer @w_down weight : tensor<64x172xf32>

  func.func @prefill(%x: tensor<?x64xf32> {ck.input = "x", ck.dims = ["T"]})
      -> (tensor<?x64xf32> {ck.output = "y"}) attributes {ck.entry, ck.bounds = {T = 64 : i64}} {
    %norm = ck.param @norm : tensor<64xf32>
    %w_gate = ck.param @w_gate : tensor<172x64xf32>
    %w_up = ck.param @w_up : tensor<172x64xf32>
    %w_down = ck.param @w_down : tensor<64x172xf32>
    %n = ck.rms_norm %x, %norm {eps = 1.0e-5 : f64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> loc("n")
    %gate = ck.linear %n, %w_gate : (tensor<?x64xf32>, tensor<172x64xf32>) -> tensor<?x172xf32> loc("gate")
    %up = ck.linear %n, %w_up : (tensor<?x64xf32>, tensor<172x64xf32>) -> tensor<?x172xf32> loc("up")
    %hidden = ck.glu %gate, %up {act = "silu"} : (tensor<?x172xf32>, tensor<?x172xf32>) -> tensor<?x172xf32> loc("hidden")
    %down = ck.linear %hidden, %w_down : (tensor<?x172xf32>, tensor<64x172xf32>) -> tensor<?x64xf32> loc("down")
    %y = ck.add %x, %down : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32> loc("y")
    return %y : tensor<?x64xf32>
  }
}
