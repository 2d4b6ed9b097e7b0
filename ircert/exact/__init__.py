"""Linear algebra and linear programs in integers: mathematics that never sees a question."""
