"""`kerata.ops.image`: resizing, warping, cropping, patches, colour, filters. The same numbers on every backend."""

from kerata.core import lazy

__getattr__, __dir__, __all__ = lazy.attach(
    __name__,
    {
        "resizing": ["resize", "scale_and_translate"],
        "warping": ["affine_transform", "map_coordinates", "perspective_transform"],
        # It draws from seeds, which are a floor above.
        "kerata.random.elastic": ["elastic_transform"],
        "cropping": ["crop_images", "pad_images"],
        "patches": ["extract_patches", "extract_patches_3d"],
        "colour": ["hsv_to_rgb", "rgb_to_grayscale", "rgb_to_hsv"],
        "filters": ["gaussian_blur", "sobel_edges", "ssim"],
    },
)
