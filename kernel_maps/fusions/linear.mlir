// A projection whose activation is applied before the sums leave the registers.
func.func @linear_activation(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = ck.linear %x, %w : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = ck.activation %y {kind = "silu", ck.params = ["kind", "alpha"]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
