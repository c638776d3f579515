"""Clusters: attempts' checks run on the workers of a Dask cluster, each on the same files and tools."""
