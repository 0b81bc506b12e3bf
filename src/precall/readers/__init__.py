"""Files, read in one place, for the command line and for the engines.

``columns`` reads the columns of a file by their role, ``cells`` reads them cell by cell for private
releases, and ``large`` makes a file that is too large for memory readable in pieces.
"""
