"""Install the built wheel in empty environments, one for each supported combination, and try it.

``python -m tools.wheel_matrix`` (``--help`` lists the choices) makes the rows of
``docs/version_matrix.md``: each version of cuDNN from each of its packages, and the lowest and the
newest dependencies on the oldest and the newest Python. ``check`` runs in the environments.
"""
