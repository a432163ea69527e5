"""A language server: editors show corrections as they are typed, and make them. ``python -m corrector.lsp`` needs the extra ``[lsp]``."""
