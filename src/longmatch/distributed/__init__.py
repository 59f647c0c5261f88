"""The same indexing and ranking on several machines, with Ray (`pip install 'longmatch[ray]'`).

`longmatch.distributed.indexing.RayBackend` is a backend of `Library.add`; `longmatch.distributed.ranking` ranks for
many queries. Ray and the store's file format are imported when first needed.
"""
