import sys

from benchmarks.papers.gpu.benchmark import main

main(sys.argv[1:])
