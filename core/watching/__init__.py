"""What people who watch a Hub are told: who asks for what, how often something happens, and how long it takes."""
