"""Models in words: their hypotheses as text, what their features are worth, one row explained."""
