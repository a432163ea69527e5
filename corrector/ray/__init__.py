"""``python -m corrector.ray``: the corrector over a cluster, as a Ray Data job. Needs the extra ``[ray]``.

    pieces.py   the input cut into pieces that workers read by themselves
    rows.py     lines of text and JSON Lines, corrected with every other byte kept
    table.py    Parquet
    job.py      the workers, the counting, and the output folder that appears when all is done
"""
