"""Bounding boxes: formats, overlap, offsets from anchors, and what happens to them when images change."""
