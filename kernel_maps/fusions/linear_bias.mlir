// As linear.mlir, with a bias.
func.func @linear_activation(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = ck.linear %x, %w bias %bias : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %z = ck.activation %y {kind = "silu", ck.params = ["kind", "alpha"]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
