"""How the default matcher is made: background statistics, features, weights, calibration, report, installation."""
