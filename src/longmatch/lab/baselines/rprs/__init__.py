"""RPRS (Askari et al., 2024): how large a part of each document answers the other, by sentence vectors."""
