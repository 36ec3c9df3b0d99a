"""Speed, memory and accuracy beside other libraries: one file per competitor, one per task (`make bench`)."""
