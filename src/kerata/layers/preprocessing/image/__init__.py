"""Image preprocessing and augmentation."""
