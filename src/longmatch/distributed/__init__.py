"""The same indexing and ranking on several machines, with Ray (`pip install 'longmatch[ray]'`).

`longmatch.distributed.on_ray.OnRay` is a way for `Library.add` to read and encode; `longmatch.distributed.ranking` asks
many questions at once. Ray and the store's file format load when they are first needed.
"""
