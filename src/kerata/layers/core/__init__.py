"""Layers that everything else is made with: inputs, dense, embeddings, masks."""
