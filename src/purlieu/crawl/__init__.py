"""Run crawls: visits, workers, the run itself."""
