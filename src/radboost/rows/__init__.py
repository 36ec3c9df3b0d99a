"""Training rows on their way into the engine: read, checked, binned, sorted, watched."""
