"""Files, commits and Beam: how values reach core and how its answers are kept."""
