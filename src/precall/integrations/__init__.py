"""Thin bridges to other libraries; each is imported by its own name when it is wanted."""
