"""How layers keep and multiply quantized weights: a mode is written once, a layer only names its weights."""
