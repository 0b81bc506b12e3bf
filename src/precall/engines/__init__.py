"""Data larger than memory, or larger than a machine.

Engines move data and know no statistics: ``arrow.rank``, ``dask.rank`` and ``spark.rank`` return
the same :class:`~precall.Ranking` as :func:`precall.rank`, and everything else runs on that.
All three run the one pair of passes in ``_twopass``.
"""
