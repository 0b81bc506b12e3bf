"""What people look at: matplotlib figures and, later, the report."""
