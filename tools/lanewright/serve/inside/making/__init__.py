"""What ``make_model.py`` is made of; run by the lane's Python, needs NumPy alone."""
