"""Floor 2: symbolic tensors, the graph that calls on them make, and the plan that runs it."""
