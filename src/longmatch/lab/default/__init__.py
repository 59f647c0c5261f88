"""How the default matcher is made: background statistics, weights, calibration and probability."""
