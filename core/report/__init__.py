"""The report: what a run or a comparison gave, as one page that needs nothing else."""
