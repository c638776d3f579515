"""Shows on public projects: what is said of races, checks, surgery and failing commands, used for real."""
