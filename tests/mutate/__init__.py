"""Mutations: small faults put into a room's code, one at a time, to see whether the room's tests fail.

``python3 -m tests.mutate edits/placing`` chooses sixty faults by a seed, runs for each only those tests of
the room that execute the changed line, and prints the faults that no test noticed. No file is changed.

Neither of the known programs fits. ``cosmic-ray`` writes each fault into the source file and starts a new
Python with all of pytest for it, which is seconds a fault before the first test runs. ``mutmut`` leaves out
everything outside functions, so the tables that most rooms are made of; it copies the project to another
folder, where tests that look for files beside the project fail; and it makes all faults of all files, where a
seeded sample over files and kinds is wanted. Both also let hypothesis shrink every failure.

- ``operators`` finds the faults of one file.
- ``choosing`` draws the sample and leaves out what changes nothing.
- ``reach`` notes once which test executes which line.
- ``trial`` runs the tests on one fault after the other, each in a fork.
- ``warm`` puts a fault into the code of a process that has imported and collected all of it.
- ``finder`` imports a module anew with a fault in it, for faults that act while it is imported.
- ``equivalent.toml`` names the faults that cannot change behaviour, each with its reason.

A test that starts another Python sees the code without the fault; a fork of the test's process sees it.
"""
