// The functions of Swift Testing that SimulatedTests replaces, under names of their own: see Originals.c.
