"""What ``train_model.py`` is made of; run by the lane's Python."""
