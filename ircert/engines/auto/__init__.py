"""The engine `auto`: instant answers first, then engines by what they declare."""
