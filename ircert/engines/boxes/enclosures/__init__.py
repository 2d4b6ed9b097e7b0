"""Many boxes at once in floats with outward rounding: bounds of neurons, and secants without a kernel."""
