"""What the front ends show of checks: signs beside the lines, and the findings to go to."""
