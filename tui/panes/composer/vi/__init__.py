"""Vi keys for the composer: modes, motions and operators, as pure functions of a text and a cursor."""
