"""Fits on several machines, with the model of one.

`fit`, `predict` and `predict_proba` work on Dask collections (the extra `dask`); `radboost.distributed.mpi` has a `fit`
for MPI (the extra `mpi`). There are no estimators of its own: what comes back is the ordinary one.
"""

from radboost.distributed.cluster import fit
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.predicting import predict, predict_proba

__all__ = ["WorkerLostError", "fit", "predict", "predict_proba"]
