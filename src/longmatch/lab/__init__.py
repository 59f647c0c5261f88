"""The laboratory: the systems of four papers and all they were compared with, their training and their evaluation.

It builds on the product, which never imports it. It needs torch, and labels wherever something is learnt from them.
"""
