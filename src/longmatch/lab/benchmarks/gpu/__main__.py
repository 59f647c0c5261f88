import sys

from longmatch.lab.benchmarks.gpu.benchmark import main

main(sys.argv[1:])
