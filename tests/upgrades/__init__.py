"""Upgrades: databases that earlier releases have filled, and what migrations may do to them."""
