"""Speed, memory and size, side by side with peers in one run: ``python -m benchmarks`` from a checkout. See README.md."""
