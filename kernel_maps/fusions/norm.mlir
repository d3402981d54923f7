// A residual stream that grows and is normalised in one pass over its rows.
func.func @add_rms_norm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %sum = ck.add %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = ck.rms_norm %sum, %gamma {eps = 1.0e-5 : f64, gain = "weight", ck.params = ["eps"]}
      : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %sum, %y : tensor<?x?xf32>, tensor<?x?xf32>
}
